"""Least distances between convex shapes along a cycle, below zero where they overlap.

Shapes are hulls of corners. Apart, their distance is that of a corner and a side (in space, of
two middle lines); where they overlap, minus the least shift that parts them, by the sides'
normals (the separating axes). The plain path is `metrics.clearances.separation`.
"""

import numpy as np

from basepar_core.compiled.simd import door, inlined, kernel

_FAR = np.inf


@inlined
def _to_side(px, py, ax, ay, bx, by):
    """Distance² of a point from a line segment in the plane."""
    dx, dy = bx - ax, by - ay
    size = dx * dx + dy * dy
    share = ((px - ax) * dx + (py - ay) * dy) / size if size > 0.0 else 0.0
    share = min(max(share, 0.0), 1.0)
    x, y = px - ax - share * dx, py - ay - share * dy
    return x * x + y * y


@kernel
def _apart(A, B, v, s):
    """Least distance² of corners of B from sides of A."""
    least, count = _FAR, A.shape[1]
    for i in range(max(1, count if count > 2 else count - 1)):
        j = (i + 1) % count
        for k in range(B.shape[1]):
            here = _to_side(
                B[v, k, 0, s],
                B[v, k, 1, s],
                A[v, i, 0, s],
                A[v, i, 1, s],
                A[v, j, 0, s],
                A[v, j, 1, s],
            )
            least = min(least, here)
    return least


@kernel
def _gap(A, B, v, s, x, y):
    """How far along a unit direction all of B lies beyond all of A; below zero: overlap."""
    high, low = -_FAR, _FAR
    for i in range(A.shape[1]):
        high = max(high, A[v, i, 0, s] * x + A[v, i, 1, s] * y)
    for k in range(B.shape[1]):
        low = min(low, B[v, k, 0, s] * x + B[v, k, 1, s] * y)
    return low - high


@kernel
def _gaps(A, B, v, s):
    """The greatest gap along the normals of A's sides; of a line also along itself."""
    widest, count = -_FAR, A.shape[1]
    for i in range(count if count > 2 else count - 1):
        j = (i + 1) % count
        dx, dy = A[v, j, 0, s] - A[v, i, 0, s], A[v, j, 1, s] - A[v, i, 1, s]
        size = np.sqrt(dx * dx + dy * dy)
        if size == 0.0:
            continue
        dx, dy = dx / size, dy / size
        widest = max(widest, max(_gap(A, B, v, s, dy, -dx), _gap(A, B, v, s, -dy, dx)))
        if count == 2:
            widest = max(widest, max(_gap(A, B, v, s, dx, dy), _gap(A, B, v, s, -dx, -dy)))
    return widest


@inlined
def _middle(P, Q, v, s):
    """Distance² of two lines in space, each from its first corner to its last."""
    a = b = c = d = e = f = 0.0
    m, n = P.shape[1] - 1, Q.shape[1] - 1
    for x in range(3):
        u = P[v, m, x, s] - P[v, 0, x, s]
        w = Q[v, n, x, s] - Q[v, 0, x, s]
        r = P[v, 0, x, s] - Q[v, 0, x, s]
        a, b, c = a + u * u, b + u * w, c + w * w
        d, e, f = d + u * r, e + w * r, f + r * r
    det, t = a * c - b * b, 0.0
    p = min(max((b * e - c * d) / det, 0.0), 1.0) if det > 1e-14 * a * c else 0.0
    if c > 0.0:
        t = (b * p + e) / c
    if t < 0.0 or c == 0.0:
        t, p = 0.0, (min(max(-d / a, 0.0), 1.0) if a > 0.0 else 0.0)
    elif t > 1.0:
        t, p = 1.0, (min(max((b - d) / a, 0.0), 1.0) if a > 0.0 else 0.0)
    return max(a * p * p + c * t * t - 2 * b * p * t + 2 * d * p - 2 * e * t + f, 0.0)


@door
def least_apart(A, B, found, where):
    """Least signed distance of two shapes, and the sample where it is.

    Parameters
    ----------
    A, B
        (variant, corner, axis, sample), m.
    found, where
        (variant,), filled.
    """
    variants, samples = A.shape[0], A.shape[3]
    for v in range(variants):
        found[v], where[v] = _FAR, 0
        for s in range(samples):
            if A.shape[2] == 3:
                here = np.sqrt(_middle(A, B, v, s))
            else:
                here = max(_gaps(A, B, v, s), _gaps(B, A, v, s))
                if here > 0.0 or here == -_FAR:
                    here = np.sqrt(min(_apart(A, B, v, s), _apart(B, A, v, s)))
            if here < found[v]:
                found[v], where[v] = here, s
