"""What a sweep is: its specification, file format, plans, filters, families, own metrics."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
