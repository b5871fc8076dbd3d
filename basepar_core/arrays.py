"""What every room calls an array; docstrings say its shape, and its type where not float64."""

from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray


def writable(array: Array) -> Array:
    """C-contiguous and writable: kernels are compiled once, for arrays of this kind.

    A frozen array, or one in another order, would compile them again; it is copied.
    """
    return np.require(array, requirements=("C", "W"))
