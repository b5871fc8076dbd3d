"""Reduced models: criteria, the path of eliminations, reduced torques and mass matrices."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
