"""What commands run: sweeps, routes to base parameters, checks of stores and workers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
