"""Couplings of joint values over GF(p): their coefficients at a point of the family.

A coupling restricts rates. Which values it starts from, its offset, is free in the family: an
angle is no rational function of a pose, and its rate is. π is a number like any other, drawn at
random.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import cos, sin, sqrt
from typing import Any

from flint import nmod

from basepar_core.errors import FamilyError
from basepar_core.expressions import Expression
from basepar_core.mechanism import Frame, Mechanism, joint_type
from basepar_core.symbolic import dot

from .evaluation import Evaluator
from .frames import Axes, frame_axes

#: Denominators of axes' lengths: directions are written with few digits.
DENOMINATOR = 10**6


@dataclass(frozen=True)
class Term:
    """A joint value of a coupling: of which joint, and what its rate counts by.

    Attributes
    ----------
    joint
        Number of the joint in the mechanism.
    axis
        The axis x, y or z of its first body along which the value slides; "" of an angle, which
        turns about z.
    factor
        The coupling's coefficient; of a slide over the length of its axis, in whose multiples
        slides come.
    length
        Length of that axis, for an angle of z.
    """

    joint: int
    axis: str
    factor: nmod
    length: nmod


PlacedCoupling = tuple[Term, ...]


def coefficients_of(mechanism: Mechanism) -> list[Expression]:
    """All coefficients."""
    return [x for coupling in mechanism.couplings for _, x in coupling.terms]


def may_have_pi(mechanism: Mechanism) -> bool:
    """Whether coefficients may have π, as those of screws do."""
    return bool(mechanism.couplings)


def place_couplings(mechanism: Mechanism, evaluator: Evaluator) -> tuple[PlacedCoupling, ...]:
    """A mechanism's couplings at values of its symbols.

    Raises
    ------
    FamilyError
        As `_length`.
    """
    return tuple(
        tuple(_term(mechanism, evaluator, *term) for term in coupling.terms)
        for coupling in mechanism.couplings
    )


def _term(mechanism: Mechanism, evaluator: Evaluator, name: str, coefficient: Expression) -> Term:
    value = mechanism.value(name)
    axis = joint_type(value.joint.type).slides[value.place] if value.is_length else ""
    length = _length(mechanism, value.joint.frames[0], axis or "z", evaluator)
    factor = evaluator.scalar(coefficient)
    return Term(value.number, axis, factor / length if axis else factor, length)


def _length(mechanism: Mechanism, frame: Frame, axis: str, evaluator: Evaluator) -> nmod:
    """Length of a frame's axis, which must be one rational number for all geometries.

    A root taken in the field would have either sign, and the other one reverses the coupling.

    Raises
    ------
    FamilyError
        It is irrational, or symbols change it.
    """
    nominal = mechanism.nominal
    angles = {name: (cos(x), sin(x)) for name, x in nominal.items()}
    real = _square(frame_axes(frame, Evaluator(float, nominal, angles)), axis)
    length = evaluator.number(Fraction(sqrt(float(real))).limit_denominator(DENOMINATOR))
    if length * length != _square(frame_axes(frame, evaluator), axis):
        raise FamilyError(
            f"A coupled joint of {mechanism.name!r} has an axis whose length is irrational, or "
            f"changes with symbols, so that its ratio has no sign over finite fields. Write a "
            f"direction of a fixed rational length, such as [3, 4] or [cos(a), sin(a)]."
        )
    return length


def _square(axes: Axes, name: str) -> Any:
    axis = getattr(axes, name)
    return dot(axis, axis)
