"""Working precision, expressions and small vectors in `arb`.

python-flint keeps one precision for the whole process, so it is set here only, for the length
of a `with` block, under a lock: two threads would compute in each other's precision.
"""

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb, ctx, fmpq

from basepar_core.expressions import OPERATORS
from basepar_core.symbolic import dot

Vec = tuple[arb, arb, arb]
Matrix = tuple[Vec, Vec, Vec]
Quaternion = tuple[arb, arb, arb, arb]

BITS_PER_DIGIT = math.log2(10)
_LOCK = threading.RLock()


@contextmanager
def working(bits: int) -> Iterator[None]:
    """Compute with this many bits inside the block; before and after with what was set."""
    with _LOCK, ctx.workprec(bits):
        yield


def bits_of(digits: float) -> int:
    """Bits that hold so many decimal digits."""
    return math.ceil(digits * BITS_PER_DIGIT)


def exact(value: Fraction | float | int) -> arb:
    """A rational number at working precision; a float is the binary rational that it is."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(value)


def log2_size(x: arb) -> float:
    """Logarithm of an upper bound of |x|, for sizes that no float holds; inf where unknown."""
    bound = x.abs_upper()
    if not bound.is_finite():
        return math.inf
    mantissa, exponent = bound.mid().man_exp()
    return math.log2(int(mantissa)) + int(exponent) if mantissa else -math.inf


def ball(log2_radius: float) -> arb:
    """All numbers no larger than 2^log2_radius (rounded up to a whole power of two)."""
    if log2_radius == -math.inf:
        return arb(0)
    # A hair more than the logarithm: it was computed in floats.
    return arb(0, arb(2) ** math.ceil(log2_radius + 1e-6))


def _extreme(choose: Callable[[arb, arb], arb]) -> Callable[..., arb]:
    return lambda first, *others: reduce(choose, others, arb(first))


#: Arithmetic for `expressions.evaluate`.
ARB: Mapping[str, Callable[..., Any]] = {
    **OPERATORS,
    "number": exact,
    "pi": arb.pi,
    "sqrt": lambda x: x.sqrt(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.tan(),
    "abs": abs,
    "min": _extreme(lambda a, b: a.min(b)),
    "max": _extreme(lambda a, b: a.max(b)),
}

ZERO: arb = arb(0)
ONE: arb = arb(1)
ORIGIN: Vec = (ZERO, ZERO, ZERO)
UNITS: Matrix = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


def unit(v: Vec) -> Vec:
    """v over its length."""
    length = dot(v, v).sqrt()
    return (v[0] / length, v[1] / length, v[2] / length)


def of_quaternion(q: Sequence[arb]) -> Matrix:
    """Rotation of a quaternion of any length; exactly orthogonal within its balls."""
    w, x, y, z = q
    s = 2 / (w * w + x * x + y * y + z * z)
    return (
        (1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)),
    )


def turned_by(turn: Vec, q: Quaternion) -> Quaternion:
    """(1, turn/2) times q: a small turn (rad, to second order) after the rotation of q."""
    a, b, c = turn[0] / 2, turn[1] / 2, turn[2] / 2
    w, x, y, z = q
    return (
        w - a * x - b * y - c * z,
        x + a * w + b * z - c * y,
        y - a * z + b * w + c * x,
        z + a * y - b * x + c * w,
    )
