"""Inverse dynamics as a straight-line program, from which exports write code."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
