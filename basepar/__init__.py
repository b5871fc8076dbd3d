"""Base parameters, inverse dynamics, sweeps and design studies of mechanisms.

>>> import basepar
>>> model = basepar.load("four-bar")
>>> model.base().rank
8
>>> model.torque(q=[[0.6]], qd=[[1.0]], qdd=[[0.0]]).shape
(1, 1)

Arrays go in and out in SI (rad or m, s, kg, N m or N), with any leading dimensions. Every name is
loaded when it is first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
