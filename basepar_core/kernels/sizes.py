"""Longest vectors of all bodies, and tiles of columns on their way to W."""

from .lanes import LANES, kernel

_1, _2 = LANES, 2 * LANES
#: Rows of `Work.sizes`: squares of the longest ω, α, a, v and virtual ω, sums of the terms.
OMEGA, ALPHA, PULL, SPEED, SPIN, TERMS = 0, 1, 2, 3, 4, 5


@kernel
def longer(vectors, e, first, count, sizes, row):
    """Keep the square of the longest vector: of count numbers of vectors[e] from first on."""
    f = first * LANES
    if count == 3:
        for l in range(LANES):
            x, y, z = vectors[e, f + l], vectors[e, f + _1 + l], vectors[e, f + _2 + l]
            sizes[row, l] = max(sizes[row, l], x * x + y * y + z * z)
    elif count == 2:
        for l in range(LANES):
            x, y = vectors[e, f + l], vectors[e, f + _1 + l]
            sizes[row, l] = max(sizes[row, l], x * x + y * y)
    else:
        for l in range(LANES):
            x = vectors[e, f + l]
            sizes[row, l] = max(sizes[row, l], x * x)


@kernel
def store(tile, count, W, v, column, k, s0):
    """Rows of a tile to columns of W."""
    for j in range(count):
        out = W[v, column + j, k, s0 : s0 + LANES]  # a view: its index needs no sign check
        for l in range(LANES):
            out[l] = tile[0, j * LANES + l]
