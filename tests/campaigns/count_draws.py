"""What families of mechanisms are drawn from: rational lengths, directions and arcs."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

Rng = np.random.Generator
G = "ground"
#: Of length 65, in units of 1/100 m.
ROUND = [
    (s * x, t * y)
    for pair in ((16, 63), (33, 56), (25, 60), (39, 52))
    for x, y in (pair, pair[::-1])
    for s, t in product((1, -1), repeat=2)
]
#: Rational right angles: cosine and sine.
ARCS = [(Fraction(a, h), Fraction(b, h)) for a, b, h in ((3, 4, 5), (5, 12, 13), (8, 15, 17))]


def scale(rng: Rng) -> Fraction:
    """A length of the unit."""
    return Fraction(int(rng.choice([1, 2, 3, 4])), 400)


def ways(rng: Rng, count: int, apart: float = 0.3) -> list[tuple[Fraction, Fraction]]:
    """Vectors of one length, no two neighbours nearly parallel."""
    k = scale(rng)
    found: list[tuple[int, int]] = []
    while len(found) < count:
        new = ROUND[int(rng.integers(len(ROUND)))]
        if not found or abs(new[0] * found[-1][1] - new[1] * found[-1][0]) > apart * 65**2:
            found.append(new)
    return [(x * k, y * k) for x, y in found]


def plus(a: Any, b: Any, share: Any = 1) -> tuple[Any, ...]:
    """a + share b."""
    return tuple(x + share * y for x, y in zip(a, b, strict=True))


def coarse(rng: Rng, size: int = 2) -> tuple[Fraction, ...]:
    """A point on a grid, so that many coincide."""
    return tuple(Fraction(int(x), 10) for x in rng.integers(-6, 7, size))


def sign(rng: Rng) -> int:
    """One or minus one."""
    return int(rng.choice([-1, 1]))
