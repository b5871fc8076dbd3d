"""Stretches in which a joint stands still: friction holds it there, by how much no law says."""

import numpy as np

from basepar_core.arrays import Array

#: A joint stands where it stays this long (s) below this share of its usual (95 %) speed. A sine
#: passes through its turning point in 0.02/(2π f): faster, unless one of its periods takes 12 s
#: or more.
LONG, SHARE = 0.25, 0.01
#: What the motion around a standstill is left out for (s): gears let go before the joint runs.
RIM = 0.05
#: Step of the speeds (s): long enough for an encoder's counts to average out.
STEP = 0.05
#: A joint whose range is below this share of the largest of its kind does not move at all.
RANGE = 1e-3


def standing(t: Array, q: Array, lengths: Array) -> Array:
    """Where each joint stands still (coordinate, sample), bool.

    Parameters
    ----------
    t
        (sample,), s, increasing.
    q
        (coordinate, sample), rad or m; nan where not measured.
    lengths
        (coordinate,) bool: which are lengths; they are compared with each other only.
    """
    found = np.zeros(q.shape, dtype=bool)
    grid = np.arange(t[0], t[-1] + STEP, STEP)
    ranges = np.nanmax(q, axis=1) - np.nanmin(q, axis=1)
    for k, row in enumerate(q):
        known = np.isfinite(row)
        if ranges[k] <= RANGE * ranges[lengths == lengths[k]].max():
            found[k] = True
            continue
        steps = np.abs(np.diff(np.interp(grid, t[known], row[known])))
        slow = steps < SHARE * np.quantile(steps, 0.95)
        for first, last in _runs(slow):
            if (last - first) * STEP >= LONG:
                # Towards the ends of the log the rim is standstill too.
                found[k] |= (t > grid[first] - RIM) & (t < grid[last] + RIM)
    return found


def _runs(flags: Array) -> list[tuple[int, int]]:
    """First place and place behind the last of each run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(int), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
