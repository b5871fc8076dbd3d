"""Frames of joints, exact: directions of one body as another one has them."""

from collections.abc import Sequence
from fractions import Fraction

from .draft import End
from .rationals import Vec, cross, dot

Basis = tuple[Vec, Vec, Vec]


def basis(end: End) -> Basis:
    """x, y, z of a joint's frame: at right angles to each other, of any lengths."""
    z, r = end.axis, end.reference
    share = dot(r, z) / dot(z, z)
    a, b, c = (p - share * q for p, q in zip(r, z, strict=True))
    return (a, b, c), cross(z, (a, b, c)), z


def are_alike(ends: tuple[End, End]) -> bool:
    """Whether a joint's frames in its two bodies have the same lengths, so that directions of one
    body have rational ones in the other."""
    pairs = zip(*map(basis, ends), strict=True)
    return all(dot(a, a) == dot(b, b) != 0 for a, b in pairs)


def seen(v: Vec, here: Basis, there: Basis) -> Vec:
    """The direction that has the same components along other axes of the same lengths."""
    shares = [dot(v, e) / dot(e, e) for e in here]
    x, y, z = (sum((s * e[k] for s, e in zip(shares, there, strict=True)), Fraction(0))
               for k in range(3))  # fmt: skip
    return x, y, z


def floats(v: Sequence[Fraction]) -> list[float]:
    """Of a vector."""
    return [float(x) for x in v]
