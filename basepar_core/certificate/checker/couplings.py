"""Linear relations of joint values, for the checker: gears, racks, screws, mimic joints.

Σ coefficient · value = offset, each value by its forms in natural coordinates. A pose tells an
angle up to whole turns only: which of them is meant, the document's `values` state. Over prime
fields rates alone are restricted: the offset is free there, as if it were a symbol of its own,
and π is a number like any other.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from flint import arb, nmod

from .exact import Field, Ratio
from .expressions import MalformedError, Numbers
from .joint_values import Along, ball_length, joint_value
from .natural import Joint, Mechanism, Three, dot
from .nominal import FUNCTIONS, ball
from .points import UnconfirmedError

#: Digits after the point of the joint values that a document states.
VALUE_DECIMALS = 6
#: What rounding to them may change, and a hair: some values lie exactly in between.
_HALF = Fraction(501, 1000 * 10**VALUE_DECIMALS)


@dataclass(frozen=True)
class Term:
    """A joint value with its coefficient; an angle is the one nearest to `near` (rad)."""

    name: str
    factor: Any
    along: Along
    near: float = 0.0


@dataclass(frozen=True)
class Coupling:
    """One relation in some numbers."""

    terms: tuple[Term, ...]
    offset: Any

    def gap(self, x: Sequence[arb]) -> arb:
        """By how much it is missed at (1, unknowns)."""
        values = (term.factor * term.along.value(x, term.near) for term in self.terms)
        return sum(values, -self.offset)

    def slope(self, x: Sequence[Any]) -> dict[int, Any]:
        """Derivatives of the gap, by unknown from 1."""
        row: dict[int, Any] = {}
        for term in self.terms:
            for i, entry in term.along.slope(x).items():
                scaled = term.factor * entry
                row[i] = row[i] + scaled if i in row else scaled
        return row

    def bend(self, x: Sequence[arb], v: Sequence[arb]) -> arb:
        """What rates v (unknowns from 1; v[0] is 0) add to the gap's second derivative."""
        return sum((term.factor * term.along.bend(x, v) for term in self.terms), arb(0))

    def fault(self, x: Sequence[arb], values: Mapping[str, Fraction]) -> str:
        """What is wrong with the stated angles at a closed pose; empty if nothing."""
        for term in self.terms:
            if term.along.is_angle:
                seen = term.along.value(x, term.near)
                if not abs(seen - ball(values[term.name])) <= ball(_HALF):
                    return f"{term.name} is {seen.str(12)} rad in the closed pose"
        return ""


def angles_of(mechanism: Mechanism, joints: Sequence[Joint]) -> set[str]:
    """Angles that stand in couplings."""
    named = {name for given in mechanism.couplings for name in given["values"]}
    return {name for name in named if joint_value(mechanism, joints, name, ball_length).is_angle}


def pose_keys(mechanism: Mechanism) -> tuple[str, ...]:
    """What a document states of its pose besides."""
    return ("values",) if mechanism.couplings else ()


def weights(
    mechanism: Mechanism, row: float, lengths: float, of: Callable[[Sequence[str]], float]
) -> list[float]:
    """Of the couplings' rows: a row each, of joints' rows, lengths, and coefficients."""
    return [
        sum(4 * (row + lengths) + of([text]) for text in given["values"].values())
        for given in mechanism.couplings
    ]


def in_balls(
    mechanism: Mechanism,
    joints: Sequence[Joint],
    numbers: Numbers,
    values: Mapping[str, Fraction],
) -> list[Coupling]:
    """All couplings; `values` are the angles at the pose, to `VALUE_DECIMALS`.

    Raises
    ------
    MalformedError
        A coupling is none, or `values` are of other angles.
    """
    smooth = numbers.smooth(FUNCTIONS)
    if set(values) != angles_of(mechanism, joints):
        raise MalformedError("values are those of all angles in couplings")
    found = []
    for given in _stated(mechanism):
        terms = tuple(
            Term(
                name,
                numbers.of(text),
                joint_value(mechanism, joints, name, ball_length),
                float(values.get(name, 0)),
            )
            for name, text in given["values"].items()
        )
        found.append(Coupling(terms, smooth.of(given["offset"])))
    return found


class PrimeField:
    """The couplings of a family over prime fields.

    Lengths of axes must be rational numbers, the same for all geometries: a root taken modulo p
    has either sign, and the other one reverses the coupling.
    """

    def __init__(self, mechanism: Mechanism, symbols: Mapping[str, Mapping[str, Any]]):
        self.mechanism = mechanism
        #: What points are drawn for, besides.
        self.stated = mechanism.couplings
        self.lengths: dict[str, Fraction] = {}
        if not mechanism.couplings:
            return
        joints = mechanism.frames(Field(symbols).numbers)
        for given in _stated(mechanism):
            for name in given["values"]:

                def noted(v: Three, name: str = name) -> Fraction:
                    self.lengths[name] = _rational_length(name, dot(v, v))
                    return self.lengths[name]

                joint_value(mechanism, joints, name, noted)

    def at(self, joints: Sequence[Joint], numbers: Numbers, p: int) -> list[Coupling]:
        """At a point, in its numbers; offsets play no part."""
        zero = nmod(0, p)

        def term(name: str, text: str) -> Term:
            length = self.lengths[name]
            there = nmod(length.numerator, p) / nmod(length.denominator, p)
            along = joint_value(self.mechanism, joints, name, lambda v: there)
            return Term(name, numbers.of(text), along)

        return [
            Coupling(tuple(term(*one) for one in given["values"].items()), zero)
            for given in self.mechanism.couplings
        ]


def _rational_length(name: str, square: Ratio) -> Fraction:
    """The root of a rational function that is the square of a rational number.

    Raises
    ------
    UnconfirmedError
        It is none.
    """
    field, top, bottom = square.field, *map(square.field.reduced, (square.top, square.bottom))
    share = top.leading_coefficient() / bottom.leading_coefficient()
    found = Fraction(int(share.p), int(share.q))
    root = Fraction(isqrt(max(found.numerator, 0)), isqrt(found.denominator))
    if root * root != found or not (square - field.number(found)).is_zero():
        raise UnconfirmedError(
            f"the axis of {name} has no rational length, so that its ratio has no sign"
        )
    return root


def _stated(mechanism: Mechanism) -> Sequence[Mapping[str, Any]]:
    for given in mechanism.couplings:
        if set(given) != {"name", "values", "offset"} or not given["values"]:
            raise MalformedError("a coupling has a name, values and an offset")
    return mechanism.couplings
