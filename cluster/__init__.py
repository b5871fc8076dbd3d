"""basepar's places to compute, each by its own commands, and a Dask client there."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
