"""Pages that load nothing: their shell, their colours, and the policy that says what may run."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
