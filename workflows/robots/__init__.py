"""Mechanisms as robots' files: URDF with its dialects of loops, MJCF, SDF.

    found = robot_file(model, "mjcf")
    found.text

What a dialect cannot represent is rejected, all of it at once, with the dialects that can.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
