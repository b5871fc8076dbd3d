"""Zeros of sampled functions: where a joint turns back."""

from itertools import pairwise

import numpy as np


def sign_changes(q, values):
    """Where a sampled function crosses zero, by straight lines; (crossing,)."""
    found = [
        a[0] + (b[0] - a[0]) * a[1] / (a[1] - b[1])
        for a, b in pairwise(zip(q, values, strict=True))
        if (a[1] < 0) != (b[1] < 0)
    ]
    return np.array(found)
