"""What every room calls an array; docstrings say its shape, and its type where not float64."""

from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray
