"""Units of mechanism files: what they multiply by, and which quantities they measure.

Radians and degrees are numbers (deg = π/180). Hz counts cycles, a dimension of its own, so that
a frequency is never taken for an angular velocity: 2π would be lost without a sound.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from .tree import ONE, Call, Expression, Number, Pi, evaluate, multiply

#: Base dimensions, in the order in which they are printed.
_BASES = ("kg", "m", "s", "cycle")
_NONE = (Fraction(0),) * len(_BASES)


@dataclass(frozen=True, slots=True)
class Dimension:
    """Powers of kg, m, s and cycle. They are fractions only on the way to `sqrt(a)*sqrt(a)`."""

    powers: tuple[Fraction, ...] = _NONE

    def __mul__(self, other: "Dimension") -> "Dimension":
        return Dimension(tuple(a + b for a, b in zip(self.powers, other.powers, strict=True)))

    def __truediv__(self, other: "Dimension") -> "Dimension":
        return Dimension(tuple(a - b for a, b in zip(self.powers, other.powers, strict=True)))

    def __pow__(self, exponent: Fraction | int) -> "Dimension":
        return Dimension(tuple(power * exponent for power in self.powers))

    def __str__(self) -> str:
        """Its SI unit as a file would write it, `no unit` for a number."""
        return _COMMON.get(self) or _spelled(self.powers)


def _spelled(powers: tuple[Fraction, ...]) -> str:
    def factors(sign: int) -> list[str]:
        return [
            base if power * sign == 1 else f"{base}^{power * sign}"
            for base, power in zip(_BASES, powers, strict=True)
            if power * sign > 0
        ]

    above, below = "*".join(factors(1)), "/".join(factors(-1))
    if not below:
        return above or "no unit"
    return f"{above or '1'}/{below}"


def _dimension(kg: int = 0, m: int = 0, s: int = 0, cycle: int = 0) -> Dimension:
    return Dimension(tuple(map(Fraction, (kg, m, s, cycle))))


NUMBER = Dimension()
LENGTH = _dimension(m=1)

_COMMON: Mapping[Dimension, str] = {
    _dimension(kg=1, m=1, s=-2): "N",
    _dimension(kg=1, m=2, s=-2): "N*m",
    _dimension(kg=1, m=2, s=-1): "N*m*s",
    _dimension(kg=1, s=-1): "N*s/m",
    _dimension(kg=1, s=-2): "N/m",
    _dimension(kg=1, m=2, s=-3): "W",
    _dimension(cycle=1, s=-1): "Hz",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as written, its dimension, and what it multiplies by: factor·π^pi."""

    text: str
    dimension: Dimension = NUMBER
    factor: Fraction = Fraction(1)
    pi: int = 0

    @property
    def is_angle(self) -> bool:
        """Whether it is rad, deg or rev itself, the units that make a symbol an angle."""
        return self.text in ("rad", "deg", "rev")

    @property
    def size(self) -> float:
        """SI value of one of it."""
        return float(evaluate([self.scale(ONE)], {})[0])

    def scale(self, expression: Expression) -> Expression:
        """The SI value of that many of this unit."""
        over_pi = Call("/", (ONE, Pi()))
        circles = [Pi() if self.pi > 0 else over_pi] * abs(self.pi)
        if isinstance(expression, Number):
            return multiply(Number(expression.value * self.factor), *circles)
        return multiply(expression, Number(self.factor), *circles)

    def __mul__(self, other: "Unit") -> "Unit":
        return Unit(
            f"{self.text}*{other.text}",
            self.dimension * other.dimension,
            self.factor * other.factor,
            self.pi + other.pi,
        )

    def __truediv__(self, other: "Unit") -> "Unit":
        below = f"({other.text})" if re.search(r"[*/]", other.text) else other.text
        return Unit(
            f"{self.text or '1'}/{below}",
            self.dimension / other.dimension,
            self.factor / other.factor,
            self.pi - other.pi,
        )

    def __pow__(self, exponent: int) -> "Unit":
        base = f"({self.text})" if re.search(r"[*/^]", self.text) else self.text
        return Unit(
            f"{base}^{exponent}",
            self.dimension**exponent,
            self.factor**exponent,
            self.pi * exponent,
        )


#: Every unit a file may name; others are products, quotients and powers of these.
UNITS: Mapping[str, Unit] = {
    unit.text: unit
    for unit in (
        Unit("m", LENGTH),
        Unit("mm", LENGTH, Fraction(1, 1000)),
        Unit("cm", LENGTH, Fraction(1, 100)),
        Unit("inch", LENGTH, Fraction(254, 10_000)),
        Unit("kg", _dimension(kg=1)),
        Unit("g", _dimension(kg=1), Fraction(1, 1000)),
        Unit("s", _dimension(s=1)),
        Unit("ms", _dimension(s=1), Fraction(1, 1000)),
        Unit("N", _dimension(kg=1, m=1, s=-2)),
        Unit("J", _dimension(kg=1, m=2, s=-2)),
        Unit("W", _dimension(kg=1, m=2, s=-3)),
        Unit("rad"),
        Unit("deg", factor=Fraction(1, 180), pi=1),
        Unit("rev", factor=Fraction(2), pi=1),
        Unit("rpm", _dimension(s=-1), Fraction(1, 30), pi=1),
        Unit("Hz", _dimension(cycle=1, s=-1)),
    )
}

#: No unit at all: what a bare literal is in where a plain number is expected.
DIMENSIONLESS = Unit("")


def meant_power(word: str) -> str:
    """`s^2` for `s2`: a unit with its power, as files write it; nothing for other words."""
    match = re.fullmatch(r"([A-Za-z]+)([0-9])", word)
    return f"{match[1]}^{match[2]}" if match and match[1] in UNITS else ""
