"""How large the polynomial is that must vanish when a null vector is tested at a random point.

One number bounds its degree in the point's parameters and the log₂ of its coefficients' sum:
products, and sums brought over a common denominator, add weights (and a bit for the sum), and
Cramer's rule adds those of all rows. Everything is rounded up without mercy: a point then says
some 30 bits instead of 45.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import log2
from typing import Any

from .couplings import weights
from .expressions import Numbers
from .natural import Mechanism

#: A rotation is a quotient of forms of degree 2 in two parameters and its axis, a free one of
#: degree 2 in four; 3×3 products of such have 27 terms.
_TURN = 64.0


class _Weight:
    """Adds up whatever is done with it."""

    def __init__(self, size: float):
        self.size = size

    def _with(self, other: Any) -> "_Weight":
        return _Weight(self.size + (other.size if isinstance(other, _Weight) else 8.0) + 1)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _with
    __truediv__ = __rtruediv__ = _with

    def __neg__(self) -> "_Weight":
        return self


def _weigher(symbols: Mapping[str, Mapping[str, Any]], each: float) -> Numbers:
    """Weights of expressions in symbols of this weight."""

    def number(x: Fraction) -> _Weight:
        return _Weight(log2(abs(x.numerator) + x.denominator))

    values = {name: _Weight(each) for name in (*symbols, "pi")}
    return Numbers(number, values, {name: (_Weight(4.0), _Weight(4.0)) for name in symbols})


def total_weight(
    mechanism: Mechanism,
    symbols: Mapping[str, Mapping[str, Any]],
    relations: Sequence[Mapping[str, Any]],
    vectors: Sequence[Mapping[str, str]],
) -> float:
    """Of any of the vectors times any row of the energies."""
    plain = _weigher(symbols, 2.0)

    def of(texts: Sequence[str]) -> float:
        return float(sum(plain.of(text).size for text in texts))

    def vectors_of(joint: Mapping[str, Any], *slots: str) -> float:
        return sum(of(v) for slot in slots for v in joint[slot])

    # Every orientation is a product over at most all joints and relations.
    turn = _TURN * (1 + len(mechanism.bodies))
    for joint in mechanism.joints:
        turn += _TURN + 16 * vectors_of(joint, "axis", "reference")
    for relation in relations:
        axes = relation.get("axes", relation.get("rotation", ()))
        turn += _TURN + 16 * sum(of(v) for v in axes)
    count = len(mechanism.bodies)
    rows = [
        4 * turn + 8 * vectors_of(joint, "at", "axis", "reference") + 32
        for joint in mechanism.joints
        for _ in range(6)
    ]
    lengths = sum(rows) + 16 * len(rows)
    # Six equations a body for its axes, and six a joint, in natural coordinates.
    slopes = [row + 4 * lengths for row in rows] + [4 * turn] * (6 * count)
    solved = _weigher(symbols, 2.0 + lengths)
    slopes += weights(
        mechanism, max(rows), lengths, lambda texts: sum(solved.of(text).size for text in texts)
    )
    modes = sum(slopes) + 16 * len(slopes)
    # What rows of slender bodies are multiplied by is of degree 6 in two points or an axis.
    slender = 16 * (max(rows) + lengths) * len(mechanism.forms)
    heaviest = max(sum(solved.of(text).size for text in entries.values()) for entries in vectors)
    return float(2 * modes + 4 * turn + of(mechanism.gravity) + heaviest + slender + 256)
