"""Rotations and numbers of other formats as exact rational ones.

The mechanism format wants joint axes whose lengths are equal as an identity, so a rotation comes
as a quaternion of whole numbers: its matrix is exactly orthogonal. Angles and quaternions are met
to `ANGLE` (rad); what is a multiple of 90° to `NOISE`, or as printed where that is asked for, is
exact: structure (parallel, perpendicular) and not measurement.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

import numpy as np

#: A rotation is met to this many rad, so that torques of files that are written and read back
#: agree to 1e-12 where loops lose a digit.
ANGLE = 1e-14
#: One composed of several, likewise: finer, so that it loses nothing to what it is made of.
COMPOSED = 1e-14
#: Numbers of a rotation above this are shortened: files have up to 60 digits, axes have squares.
LONG = 10**15
#: Below this an angle (rad) or a share of a direction's length is noise of whoever wrote the file.
NOISE = 1e-9
#: A length (m) below this likewise: computed ones are rounded at 1e-14, and 1e-9 is seen in
#: torques (decision 177).
SHORTEST = 1e-12

Vec = tuple[Fraction, Fraction, Fraction]
Quaternion = tuple[int, int, int, int]
ZERO: Vec = (Fraction(0), Fraction(0), Fraction(0))
UNITS: tuple[Vec, Vec, Vec] = tuple(  # type: ignore[assignment]
    tuple(Fraction(int(i == k)) for i in range(3)) for k in range(3)
)


def decimal(value: float) -> Fraction:
    """A float as the shortest decimal that reads as it: what a file has printed."""
    return Fraction(Decimal(repr(float(value))))


def length(value: float) -> Fraction:
    """A length as printed, noise left out; 1e-14 m is the rounding of one that was computed."""
    return Fraction(0) if abs(value) < SHORTEST else decimal(round(float(value), 14))


def vector(values: Sequence[float]) -> Vec:
    """A point, as printed."""
    x, y, z = map(length, values)
    return x, y, z


def centre(values: Sequence[float]) -> Vec:
    """A centre of mass, as printed: unlike a joint's point it makes no structure by being zero."""
    x, y, z = (decimal(round(float(value), 14)) for value in values)
    return x, y, z


def direction(values: Sequence[float]) -> Vec:
    """A direction over its largest component, entries that are noise left out.

    Raises
    ------
    ValueError
        It is zero.
    """
    most = max(map(abs, values), default=0.0)
    if not most > 0:
        raise ValueError("this direction is zero")
    x, y, z = (simple(x / most) if abs(x) > NOISE * most else Fraction(0) for x in values)
    return x, y, z


def simple(x: float) -> Fraction:
    """The simplest of the fractions p/q, q up to a power of ten, within `ANGLE` of a number."""
    for digits in range(1, 17):
        found = Fraction(x).limit_denominator(10**digits)
        if abs(found - Fraction(x)) <= ANGLE:
            return found
    return Fraction(x)


def quarters(angle: float, as_printed: bool = False) -> tuple[int, float] | None:
    """A multiple of 90° that an angle is: which, and how far the angle is from it (rad).

    Within `NOISE` it always is. As printed also where the multiple is within one unit of the last
    printed digit, of two digits or more after the point: `1.57` and `1.5708` are 90° then.
    """
    turns = round(angle / (math.pi / 2))
    off = abs(angle - turns * (math.pi / 2))
    if off <= NOISE:
        return turns, off
    digits = max(-int(Decimal(repr(float(angle))).as_tuple().exponent), 0)
    if as_printed and turns != 0 and digits >= 2 and off <= 10.0**-digits:
        return turns, off
    return None


def half_turn(angle: float, as_printed: bool = False) -> tuple[int, int]:
    """Whole numbers in the ratio of cosine to sine of half an angle."""
    exact = quarters(angle, as_printed)
    if exact is not None:
        return ((1, 0), (1, 1), (0, 1), (-1, 1))[exact[0] % 4]
    half = math.remainder(angle, 2 * math.pi) / 2
    c, s = math.cos(half), math.sin(half)
    if abs(s) <= abs(c):
        t = simple(s / c)
        return t.denominator, t.numerator
    t = simple(c / s)
    return t.numerator, t.denominator


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Rotation b, then a (frames: b inside a), common factors taken out."""
    w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    common = math.gcd(w, x, y, z)
    return w // common, x // common, y // common, z // common


def from_rpy(roll: float, pitch: float, yaw: float, as_printed: bool = False) -> Quaternion:
    """Rotation about the fixed x, then y, then z axis (URDF's rpy)."""
    (a, x), (b, y), (c, z) = (half_turn(angle, as_printed) for angle in (roll, pitch, yaw))
    return product((c, 0, 0, z), product((b, 0, y, 0), (a, x, 0, 0)))


def from_floats(values: Sequence[float]) -> Quaternion:
    """A quaternion w, x, y, z of any length."""
    largest = max(values, key=abs)
    ratios = [x / largest for x in values]
    parts = [simple(x) if abs(x) > NOISE else Fraction(0) for x in ratios]
    # Equal components are structure: 90° about an axis has two.
    parts = [Fraction(round(x)) if abs(abs(x) - 1) < NOISE else x for x in parts]
    common = math.lcm(*(x.denominator for x in parts))
    w, x, y, z = (int(part * common) for part in parts)
    divisor = math.gcd(w, x, y, z)
    return shortened((w // divisor, x // divisor, y // divisor, z // divisor))


def shortened(turn: Quaternion) -> Quaternion:
    """A rotation to `COMPOSED` where its numbers are long."""
    most = max(map(abs, turn))
    if most < LONG:
        return turn
    w, x, y, z = (round(Fraction(x, most) / Fraction(COMPOSED)) for x in turn)
    return w, x, y, z


@dataclass(frozen=True)
class Pose:
    """A frame in another: where its origin is, how it is turned."""

    at: Vec = ZERO
    turn: Quaternion = (1, 0, 0, 0)

    @cached_property
    def matrix(self) -> tuple[Vec, Vec, Vec]:
        """Rows of the rotation matrix, exact."""
        w, x, y, z = (Fraction(k) for k in self.turn)
        square = w * w + x * x + y * y + z * z
        rows = (
            (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
        )
        return tuple(tuple(x / square for x in row) for row in rows)  # type: ignore[return-value]

    def turned(self, v: Vec) -> Vec:
        """A direction of this frame in the other."""
        x, y, z = (
            sum((a * b for a, b in zip(row, v, strict=True)), Fraction(0)) for row in self.matrix
        )
        return x, y, z

    def point(self, v: Vec) -> Vec:
        """A point of this frame in the other."""
        x, y, z = (a + b for a, b in zip(self.at, self.turned(v), strict=True))
        return x, y, z

    def then(self, inner: "Pose") -> "Pose":
        """A frame that is given in this one, in the other."""
        return Pose(self.point(inner.at), product(self.turn, inner.turn))

    @property
    def short(self) -> "Pose":
        """The same with a short rotation."""
        return Pose(self.at, shortened(self.turn))

    def inverse(self) -> "Pose":
        """The other frame in this one."""
        w, x, y, z = self.turn
        back = Pose(ZERO, (w, -x, -y, -z))
        a, b, c = back.turned(self.at)
        return Pose((-a, -b, -c), back.turn)


def least_aligned(axis: Vec) -> Vec:
    """The first of x and y that an axis is not (nearly) along: a reference for it."""
    size = max(map(abs, axis))
    for unit, others in ((UNITS[0], axis[1:]), (UNITS[1], (axis[0], axis[2]))):
        if any(abs(x) > size / 1000 for x in others):
            return unit
    return UNITS[2]


def upright(z: Vec, x: Vec) -> Pose:
    """A rational rotation with given axes, which are perpendicular to rounding."""
    up, along = (np.array([float(c) for c in v]) for v in (z, x))
    up, along = up / np.linalg.norm(up), along / np.linalg.norm(along)
    R = np.stack([along, np.cross(up, along), up], axis=1)
    # The quaternion is the eigenvector of this symmetric matrix (Bar-Itzhack, 2000).
    K = np.empty((4, 4))
    K[0, 0] = np.trace(R)
    K[0, 1:] = K[1:, 0] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1:, 1:] = R + R.T - np.trace(R) * np.eye(3)
    return Pose(ZERO, from_floats(np.linalg.eigh(K)[1][:, -1].tolist()))


def across(axis: Vec) -> Vec:
    """A direction at right angles to an axis."""
    (a, b, c), (x, y, z) = axis, least_aligned(axis)
    return b * z - c * y, c * x - a * z, a * y - b * x


def dot(a: Vec, b: Vec) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def cross(a: Vec, b: Vec) -> Vec:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def minus(a: Vec, b: Vec) -> Vec:
    x, y, z = (p - q for p, q in zip(a, b, strict=True))
    return x, y, z


def plus(a: Vec, b: Vec) -> Vec:
    x, y, z = (p + q for p, q in zip(a, b, strict=True))
    return x, y, z
