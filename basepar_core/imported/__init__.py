"""Mechanisms from other formats: URDF with its dialects of loops, SDF, MJCF.

    found = read_file("arm.urdf")
    found.text         # a mechanism file, which reads back to `found.mechanism`

Files are parsed by their own libraries, which are extras. What cannot be represented is rejected,
all of it at once and by name; what is left out is listed in the file.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
