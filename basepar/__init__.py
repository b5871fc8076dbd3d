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

from typing import Any

import lazy_loader

from .foreign import check_names

_named, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    check_names()
    return _named(name)
