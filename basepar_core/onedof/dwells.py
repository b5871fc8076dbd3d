"""Compiled: the longest stretch of a turn on which a curve stays within a band."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def longest(tracks, count, bands, found):
    """Most intervals of consecutive nodes within a band, at most `count`, for every variant.

    Parameters
    ----------
    tracks
        (variant, node): two turns, one after the other.
    bands, found
        (variant,): widths; the results.
    """
    nodes = tracks.shape[1]
    # Candidates for the least and the greatest of the stretch, those first that leave it first.
    low, high = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for v in range(len(tracks)):
        x = tracks[v]
        start, best = 0, 0
        low_first, low_end, high_first, high_end = 0, 0, 0, 0
        for k in range(nodes):
            while low_end > low_first and x[low[low_end - 1]] >= x[k]:
                low_end -= 1
            while high_end > high_first and x[high[high_end - 1]] <= x[k]:
                high_end -= 1
            low[low_end], high[high_end] = k, k
            low_end += 1
            high_end += 1
            while x[high[high_first]] - x[low[low_first]] > bands[v]:
                start += 1
                if low[low_first] < start:
                    low_first += 1
                if high[high_first] < start:
                    high_first += 1
            best = max(best, k - start)
        found[v] = min(best, count)
