"""Longest vectors of all bodies, which W's rounding is measured by."""

from basepar_core.compiled.simd import LANES, WIDTH, inlined, kernel, larger, sqrt

_1, _2 = LANES, 2 * LANES
#: Rows of `Work.sizes`: squares of the longest ω, α, a, sums of the terms.
OMEGA, ALPHA, PULL, TERMS = 0, 1, 2, 3


@kernel
def longer(vectors, e, first, count, sizes, row):
    """Keep the square of the longest vector: of count numbers of vectors[e] from first on."""
    f = first * LANES
    if count == 3:
        for l in range(0, LANES, WIDTH):
            x, y, z = vectors[e, f + l], vectors[e, f + _1 + l], vectors[e, f + _2 + l]
            sizes[row, l] = larger(sizes[row, l], x * x + y * y + z * z)
    elif count == 2:
        for l in range(0, LANES, WIDTH):
            x, y = vectors[e, f + l], vectors[e, f + _1 + l]
            sizes[row, l] = larger(sizes[row, l], x * x + y * y)
    else:
        for l in range(0, LANES, WIDTH):
            x = vectors[e, f + l]
            sizes[row, l] = larger(sizes[row, l], x * x)


@kernel
def clear(sizes, first, last):
    """Nothing is long yet."""
    for row in range(first, last + 1):
        for l in range(0, LANES, WIDTH):
            sizes[row, l] = 0.0


@inlined
def finish_common(sizes):
    """What coordinates have in common, once all bodies are measured: squares of α + ω², and √."""
    for l in range(0, LANES, WIDTH):
        turning = sqrt(sizes[ALPHA, l]) + sizes[OMEGA, l]
        sizes[ALPHA, l] = turning * turning
        sizes[OMEGA, l] = 2 * turning * sqrt(sizes[PULL, l])


@inlined
def add_terms(sizes, spans, k, fresh):
    """Add coordinate k's squares of products to the sums, for the samples that count.

    Of speed · pull, speed · turning + spin · pull, spin · turning, from their squares.
    """
    for l in range(0, LANES, WIDTH):
        counted, speed, spin = fresh[l], spans[2 * k, l], spans[2 * k + 1, l]
        pull, turning, mixed = sizes[PULL, l], sizes[ALPHA, l], sizes[OMEGA, l]
        sizes[TERMS, l] += counted * (speed * pull)
        both = speed * turning + spin * pull + mixed * sqrt(speed * spin)
        sizes[TERMS + 1, l] += counted * both
        sizes[TERMS + 2, l] += counted * (spin * turning)
