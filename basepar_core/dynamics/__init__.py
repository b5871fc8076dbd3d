"""The plain path: joints, topology, loop closure, motion, the observation matrix W, energies."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
