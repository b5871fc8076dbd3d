"""Readers of mechanism files, one module per section; all mistakes of a file at once."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
