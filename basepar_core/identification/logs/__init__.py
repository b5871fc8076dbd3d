"""Raw logs of machines: tables of numbers, what their columns are, and a record made of them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
