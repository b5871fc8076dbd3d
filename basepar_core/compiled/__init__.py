"""Compiled kernels for W and the closing of loops: what the plain path computes, faster.

`api.py` is the door. The plain path (`closure.py`, `regressor.py`) says what is computed and is
what the kernels are tested against; mechanisms they do not take (`backend.why_plain`) stay there.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
