"""What every room calls an array; docstrings say its shape, and its type where not float64."""

from typing import TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray


def independent_rows(rows: Array) -> tuple[Array, Array]:
    """The order in which rows are most independent: each next one is the longest that is left.

    A QR with column pivoting of the transpose, for small matrices. SciPy's costs more than all
    of `basepar show` to import.

    Parameters
    ----------
    rows
        (row, column).

    Returns
    -------
    Places of the first min(row, column) rows in this order, and the length that was left of each
    without what those before it span: the diagonal of R.
    """
    rest = np.array(rows, float)
    count = min(rest.shape)
    order, left = np.zeros(count, int), np.zeros(count)
    waiting = np.ones(len(rest), bool)
    for k in range(count):
        lengths = np.where(waiting, np.linalg.norm(rest, axis=1), -1.0)
        order[k] = chosen = int(lengths.argmax())
        waiting[chosen], left[k] = False, lengths[chosen]
        if left[k] > 0:
            unit = rest[chosen] / left[k]
            for _ in range(2):  # once more for what rounding left of it
                rest -= np.outer(rest @ unit, unit)
    return order, left
