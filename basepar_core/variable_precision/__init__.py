"""The mechanism in variable precision: another formulation than float64's, python-flint inside.

Here every body has its own pose and every joint its equations (float64 follows a spanning tree
in joint coordinates), so that a mistake in one would show against the other. Numbers are `arb`;
iterations take midpoints, because balls would only grow.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
