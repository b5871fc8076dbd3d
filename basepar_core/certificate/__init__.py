"""Certificates of base parameters: made here, checked by `checker`, which shares no code."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
