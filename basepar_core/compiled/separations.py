"""Least distances between convex shapes along a cycle, below zero where they overlap.

Shapes are hulls of corners. Apart, their distance is that of a corner and a side (in space, of
two middle lines); where they overlap, minus the least shift that parts them, by the sides'
normals (the separating axes). The plain path is `metrics.clearances.separation`.
"""

import numpy as np

from basepar_core.compiled.simd import (
    WIDTH,
    door,
    kernel,
    lanes,
    larger,
    least,
    set_to,
    smaller,
    some,
    spread,
    sqrt,
    where,
)

_FAR = np.inf


@kernel
def _within_line(share):
    """A share of a line between its ends."""
    return smaller(larger(share, spread(0.0)), spread(1.0))


@kernel
def _apart(A, B, s):
    """Least distance² of corners of B from sides of A."""
    found, count = spread(_FAR), len(A) // 2
    for i in range(max(1, count if count > 2 else count - 1)):
        j = (i + 1) % count
        x, y = A[2 * i, s], A[2 * i + 1, s]
        dx, dy = A[2 * j, s] - x, A[2 * j + 1, s] - y
        size = dx * dx + dy * dy
        size = where(size > 0.0, size, spread(1.0))
        for k in range(len(B) // 2):
            ax, ay = B[2 * k, s] - x, B[2 * k + 1, s] - y
            share = _within_line((ax * dx + ay * dy) / size)
            ax, ay = ax - share * dx, ay - share * dy
            found = smaller(ax * ax + ay * ay, found)
    return found


@kernel
def _span(A, s, x, y):
    """How far a shape reaches along a direction: from, to."""
    low = high = A[0, s] * x + A[1, s] * y
    for i in range(1, len(A) // 2):
        here = A[2 * i, s] * x + A[2 * i + 1, s] * y
        low, high = smaller(here, low), larger(here, high)
    return low, high


@kernel
def _gap(A, B, s, x, y):
    """How far along a line one of both lies beyond the other; below zero: overlap."""
    low, high = _span(A, s, x, y)
    first, last = _span(B, s, x, y)
    return larger(first - high, low - last)


@kernel
def _gaps(A, B, s):
    """The greatest gap along the normals of A's sides; of a line also along itself."""
    widest, count = spread(-_FAR), len(A) // 2
    for i in range(count if count > 2 else count - 1):
        j = (i + 1) % count
        dx, dy = A[2 * j, s] - A[2 * i, s], A[2 * j + 1, s] - A[2 * i + 1, s]
        size = sqrt(dx * dx + dy * dy)
        is_side = size > 0.0
        size = where(is_side, size, spread(1.0))
        dx, dy = dx / size, dy / size
        here = _gap(A, B, s, dy, -dx)
        if count == 2:
            here = larger(_gap(A, B, s, dx, dy), here)
        widest = where(is_side, larger(here, widest), widest)
    return widest


@kernel
def _in_plane(A, B, s):
    """Signed distances of two hulls."""
    gap = larger(_gaps(A, B, s), _gaps(B, A, s))
    beyond = (gap > 0.0) | (gap == -_FAR)
    if not some(beyond):
        return gap
    return where(beyond, sqrt(smaller(_apart(A, B, s), _apart(B, A, s))), gap)


@kernel
def _in_space(P, Q, s):
    """Distances of two lines, each from its first corner to its last."""
    a = b = c = d = e = f = spread(0.0)
    m, n = len(P) - 3, len(Q) - 3
    for x in range(3):
        u, w = P[m + x, s] - P[x, s], Q[n + x, s] - Q[x, s]
        r = P[x, s] - Q[x, s]
        a, b, c = a + u * u, b + u * w, c + w * w
        d, e, f = d + u * r, e + w * r, f + r * r
    none, one = spread(0.0), spread(1.0)
    det, has, other = a * c - b * b, a > 0.0, c > 0.0
    askew = det > 1e-14 * a * c
    p = where(askew, _within_line((b * e - c * d) / where(askew, det, one)), none)
    t = where(other, (b * p + e) / where(other, c, one), none)
    a_or_1 = where(has, a, one)
    at_start = where(has, _within_line(-d / a_or_1), none)
    at_end = where(has, _within_line((b - d) / a_or_1), none)
    before, behind = (t < 0.0) | (c == 0.0), t > 1.0
    p = where(before, at_start, where(behind, at_end, p))
    t = _within_line(t)
    square = a * p * p + c * t * t - 2.0 * b * p * t + 2.0 * d * p - 2.0 * e * t + f
    return sqrt(larger(square, none))


@kernel
def _undefined(A, s):
    """0 where all corners have places, else nan."""
    found = spread(0.0)
    for row in range(len(A)):
        found += 0.0 * A[row, s]
    return found


@kernel
def _corners(shape, v, rows):
    """A shape's corners (corner · axis, sample), the last sample again beyond it."""
    samples, axes = shape.shape[3], shape.shape[2]
    for i in range(shape.shape[1]):
        for x in range(axes):
            set_to(rows[axes * i + x, :samples], shape[v, i, x])
            rows[axes * i + x, samples:] = shape[v, i, x, samples - 1]


@door
def least_apart(A, B, found, place):
    """Least signed distance of two shapes, and the sample where it is.

    Parameters
    ----------
    A, B
        (variant, corner, axis, sample), m.
    found, place
        (variant,), filled; nan and 0 where no sample has places of all corners.
    """
    axes, samples = A.shape[2], A.shape[3]
    room = samples + (-samples) % WIDTH
    first, second = np.empty((A.shape[1] * axes, room)), np.empty((B.shape[1] * axes, room))
    every = np.empty((1, room))
    a, b, here = lanes(first), lanes(second), lanes(every)
    for v in range(A.shape[0]):
        _corners(A, v, first)
        _corners(B, v, second)
        nearest = spread(_FAR)
        for s in range(0, room, WIDTH):
            away = _in_space(a, b, s) if axes == 3 else _in_plane(a, b, s)
            here[0, s] = away + _undefined(a, s) + _undefined(b, s)
            nearest = smaller(here[0, s], nearest)
        closest = least(nearest)
        found[v], place[v] = closest if closest < _FAR else np.nan, 0
        for s in range(samples):
            if every[0, s] == found[v]:
                place[v] = s
                break
