"""Results as files of other programs: torque code, LaTeX, tables."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
