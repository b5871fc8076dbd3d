"""One chunk of variants, from geometry to arrays: a pure function."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
