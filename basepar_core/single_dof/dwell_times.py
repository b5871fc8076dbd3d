"""Compiled: the longest stretch of a turn on which a curve stays within a band."""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def _reached(inner, outer, low, high, band):
    """Share of an interval until the band is full; least and greatest value there."""
    top, bottom = low + band, high - band
    if outer > top:
        return (top - inner) / (outer - inner), low, top
    if outer < bottom:
        return (inner - bottom) / (inner - outer), bottom, high
    return 1.0, min(low, outer), max(high, outer)


@numba.njit(cache=True, nogil=True)
def _grown(x, start, end, low, high, band):
    """Intervals from node to node, and what fits of those beside them, one end first or other.

    With where they begin.
    """
    best, begin = 0.0, float(start)
    for order in range(2):
        length, least, most, first = float(end - start), low, high, float(start)
        for step in range(2):
            share = 0.0
            if order == step:
                if start > 0:
                    share, least, most = _reached(x[start], x[start - 1], least, most, band)
                    first -= share
            elif end + 1 < len(x):
                share, least, most = _reached(x[end], x[end + 1], least, most, band)
            length += share
        if length > best:
            best, begin = length, first
    return best, begin


@numba.njit(cache=True, nogil=True)
def longest(tracks, count, bands, found, begins):
    """Most intervals in a row within a band, at most `count`, for every variant.

    Ends lie between nodes, on straight lines: what is found changes smoothly with a curve.

    Parameters
    ----------
    tracks
        (variant, node): two turns, one after the other.
    bands, found, begins
        (variant,): widths; the results, and the places from the first node where they begin.
    """
    nodes = tracks.shape[1]
    # Candidates for the least and the greatest of the stretch, those first that leave it first.
    low, high = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    for v in range(len(tracks)):
        x = tracks[v]
        start, best, begin = 0, 0.0, 0.0
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
            if k - start + 2 > best:
                least, most = x[low[low_first]], x[high[high_first]]
                length, first = _grown(x, start, k, least, most, bands[v])
                if length > best:
                    best, begin = length, first
        found[v], begins[v] = min(best, float(count)), begin % count
