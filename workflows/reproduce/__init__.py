"""Source papers recomputed: their tables and figures against ours, number by number.

Each paper is a module with `reproduce(say, figures)` and a YAML file of its printed numbers
beside it; `comparison` is what they share.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
