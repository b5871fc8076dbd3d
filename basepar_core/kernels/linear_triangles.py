"""Compiled: the triangle of one large matrix after the other, vectors running along its rows.

For matrices whose columns no longer fit a core's cache in `LANES` variants at once. Householder
without pivoting, of the columns asked for alone; two reflections of four columns at a time.
"""

import numpy as np

from ..spatial import Array
from .lanes import door, kernel
from .vectors import WIDTH, lanes, number, set_number, spread, total


def triangles_of(W: Array, chosen: Array, order: Array) -> Array:
    """Transposed R factors (chosen, column, row) of W[chosen][:, order], without pivoting.

    Parameters
    ----------
    W
        (variant, parameter, row), contiguous; at least as many rows as columns in `order`.
    chosen, order
        Variants and columns by index.
    """
    width = len(order)
    found = np.zeros((len(chosen), width, width))
    rows = -(-W.shape[2] // WIDTH) * WIDTH
    # Four columns more than needed, of zeros: they complete the last group of four.
    fill_triangles(W, chosen, order, np.zeros((width + 4, rows)), found)
    return found


@kernel
def _copied(W, variant, order, A):
    for j in range(order.size):
        for r in range(W.shape[2]):
            set_number(A, j, r, W[variant, order[j], r])


@kernel
def _mirror(A, k, found, i, rows):
    """Column k becomes R's column, in found[i], and a reflection onto axis k; 2/v²."""
    start, square = k // WIDTH * WIDTH, spread(0.0)
    for r in range(k):
        found[i, k, r] = number(A, k, r)
    for r in range(start, k):
        set_number(A, k, r, 0.0)
    for r in range(start, rows, WIDTH):
        x = A[k, r]
        square += x * x
    whole = total(square)
    size, first = np.sqrt(whole), number(A, k, k)
    signed, product = size if first >= 0.0 else -size, whole + size * abs(first)
    set_number(A, k, k, first + signed)
    found[i, k, k] = -signed
    return 1.0 / product if product > 0.0 else 0.0


@kernel
def _product(A, k, j, start, rows):
    found = spread(0.0)
    for r in range(start, rows, WIDTH):
        found += A[k, r] * A[j, r]
    return total(found)


@kernel
def _reflect_pair(A, k, j, one, two, cross, start, rows):
    """Columns j to j + 3 by the reflections in columns k, then k + 1, whose product is `cross`."""
    a, b, c, d = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    e, f, g, h = spread(0.0), spread(0.0), spread(0.0), spread(0.0)
    for r in range(start, rows, WIDTH):
        u, v = A[k, r], A[k + 1, r]
        x, y, z, w = A[j, r], A[j + 1, r], A[j + 2, r], A[j + 3, r]
        a += u * x
        b += u * y
        c += u * z
        d += u * w
        e += v * x
        f += v * y
        g += v * z
        h += v * w
    p, q, s, t = one * total(a), one * total(b), one * total(c), one * total(d)
    p2, q2, s2, t2 = (
        spread(two * (total(e) - p * cross)),
        spread(two * (total(f) - q * cross)),
        spread(two * (total(g) - s * cross)),
        spread(two * (total(h) - t * cross)),
    )
    p1, q1, s1, t1 = spread(p), spread(q), spread(s), spread(t)
    for r in range(start, rows, WIDTH):
        u, v = A[k, r], A[k + 1, r]
        A[j, r] -= p1 * u + p2 * v
        A[j + 1, r] -= q1 * u + q2 * v
        A[j + 2, r] -= s1 * u + s2 * v
        A[j + 3, r] -= t1 * u + t2 * v


@door
def fill_triangles(W, chosen, order, A, found):
    """`triangles_of`; A (column + 6, rows filled up) is scratch, zero on entry."""
    rows, width, A = A.shape[1], order.size, lanes(A)
    for i in range(chosen.size):
        _copied(W, chosen[i], order, A)
        for k in range(0, width, 2):
            start = k // WIDTH * WIDTH
            one = _mirror(A, k, found, i, rows)
            if k + 1 == width:
                break
            share = spread(one * _product(A, k, k + 1, start, rows))
            for r in range(start, rows, WIDTH):
                A[k + 1, r] -= share * A[k, r]
            two = _mirror(A, k + 1, found, i, rows)
            cross = _product(A, k, k + 1, start, rows)
            for j in range(k + 2, width, 4):
                _reflect_pair(A, k, j, one, two, cross, start, rows)
