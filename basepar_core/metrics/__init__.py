"""Numbers of a design over its cycle: strokes, dwells, steady regimes, and their slopes."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
