"""The report of a sweep: one self-contained HTML page for engineers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
