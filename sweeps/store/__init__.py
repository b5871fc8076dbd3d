"""The store on disk: chunk files, records, seals, locks, status, check and repair."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
