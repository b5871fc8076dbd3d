"""Compiled: the triangle of one variant's matrix after the other, vectors running along its rows.

Rows are many where columns are few, and `LANES` variants at once leave a core's cache. Householder
without pivoting, of the columns asked for alone; two reflections of four columns at a time.
"""

from functools import lru_cache

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled.simd import (
    WIDTH,
    door,
    inlined,
    kernel,
    lanes,
    number,
    set_number,
    some,
    spread,
    total,
)

from .workspace import zeros


def triangles_of(W: Array, chosen: Array, order: Array) -> Array:
    """Transposed R factors (chosen, column, row) of W[chosen][:, order], without pivoting.

    Rows that are zero in the first columns cost nothing there: an arm's torques depend on what
    is carried alone, so that the first body has only the first joint's rows.

    Parameters
    ----------
    W
        (variant, parameter, row), contiguous; at least as many rows as columns in `order`.
    chosen, order
        Variants and columns by index.
    """
    width = len(order)
    found = np.zeros((len(chosen), width, width))
    fill_triangles(W, chosen, order, *_room(width, W.shape[2]), found)
    return found


@lru_cache(maxsize=1)
def _room(width: int, rows: int) -> tuple[Array, Array]:
    """Scratch, kept: new memory would cost a chunk of few variants as much as its triangles.

    Four columns more than needed, of zeros, complete the last group of four.
    """
    return zeros((width + 4, -(-rows // WIDTH) * WIDTH)), np.empty(width, np.int64)


@inlined
def _copied(W, rows, first, order, A, ends):
    """Columns of one variant, from W[first] on; ends: behind it all columns up to j are zero."""
    end = 0
    for j in range(order.size):
        source, whole = first + order[j], rows // WIDTH * WIDTH
        for r in range(0, whole, WIDTH):
            x = W[source, r]
            A[j, r] = x
            if some(x != 0.0):
                end = max(end, r + WIDTH)
        for r in range(whole, rows):
            x = number(W, source, r)
            set_number(A, j, r, x)
            if x != 0.0:
                end = max(end, whole + WIDTH)
        if whole < rows:
            for r in range(rows, whole + WIDTH):
                set_number(A, j, r, 0.0)
        ends[j] = end


@kernel
def _mirror(A, k, found, end):
    """Column k becomes R's column, in found, and a reflection onto axis k; 2/v²."""
    start, square = k // WIDTH * WIDTH, spread(0.0)
    for r in range(k):
        found[k, r] = number(A, k, r)
    for r in range(start, k):
        set_number(A, k, r, 0.0)
    for r in range(start, end, WIDTH):
        x = A[k, r]
        square += x * x
    whole = total(square)
    size, first = np.sqrt(whole), number(A, k, k)
    signed, product = size if first >= 0.0 else -size, whole + size * abs(first)
    set_number(A, k, k, first + signed)
    found[k, k] = -signed
    return 1.0 / product if product > 0.0 else 0.0


@kernel
def _product(A, k, j, start, rows):
    found = spread(0.0)
    for r in range(start, rows, WIDTH):
        found += A[k, r] * A[j, r]
    return total(found)


@inlined
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
def fill_triangles(W, chosen, order, A, ends, found):
    """`triangles_of`; scratch: A (column + 4, rows filled up) and ends (column)."""
    rows, columns, width, filled = W.shape[2], W.shape[1], order.size, A.shape[1]
    flat, A = lanes(W.reshape(-1, rows)), lanes(A)
    for i in range(chosen.size):
        _copied(flat, rows, chosen[i] * columns, order, A, ends)
        triangle(A, ends, width, filled, found[i])


@kernel
def triangle(A, ends, width, filled, found):
    """The transposed R factor of A (column, row), whose columns become reflections.

    A has four columns and up to WIDTH − 1 rows more than needed. `ends`: behind it all columns up
    to j are zero.
    """
    for j in range(width, width + 4):  # what is no number would stay
        for r in range(0, filled, WIDTH):
            A[j, r] = 0.0
    for k in range(0, width, 2):
        start, end = k // WIDTH * WIDTH, ends[min(k + 1, width - 1)]
        one = _mirror(A, k, found, end)
        if k + 1 == width:
            break
        share = spread(one * _product(A, k, k + 1, start, end))
        for r in range(start, end, WIDTH):
            A[k + 1, r] -= share * A[k, r]
        two = _mirror(A, k + 1, found, end)
        cross = _product(A, k, k + 1, start, end)
        for j in range(k + 2, width, 4):
            _reflect_pair(A, k, j, one, two, cross, start, end)
