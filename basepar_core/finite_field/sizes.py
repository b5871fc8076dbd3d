"""How large numerators and denominators of rational functions are: degree, and log₂ of a norm."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """Degree and log₂ of the 1-norm of numerator and denominator, each at most this."""

    degree: float = 0.0
    height: float = 0.0

    def __add__(self, other: "Size") -> "Size":
        """Size of a product, or of a sum of two over a common denominator less one bit."""
        return Size(self.degree + other.degree, self.height + other.height)

    def __mul__(self, count: float) -> "Size":
        return Size(self.degree * count, self.height * count)


def total(sizes: Sequence[Size], extra: float = 0.0) -> Size:
    """Size of a product; with `extra` bits for the number of terms, of a sum."""
    return Size(sum(s.degree for s in sizes), sum(s.height for s in sizes) + extra)
