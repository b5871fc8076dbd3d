"""Sizes of the rows of couplings, for bounds of the error of *probability*."""

from math import log2
from typing import Protocol

from basepar_core.expressions import Expression
from basepar_core.mechanism import Coupling, Joint, JointValue

from .couplings import DENOMINATOR
from .family import Family
from .sizes import Size, total

#: log₂ of numerator and denominator of the length of a coupled joint's axis (`couplings`).
_AXIS_LENGTH = 2 * log2(DENOMINATOR)


class Known(Protocol):
    """Sizes of what rows are made of (`bounds.Bounds`)."""

    family: Family
    lengths: Size

    def ends(self, joint: Joint) -> Size: ...

    def frames(self, joint: Joint) -> Size: ...

    def points(self, joint: Joint) -> Size: ...

    def expression(self, node: Expression) -> Size: ...


def coupled_sizes(of: Known) -> list[Size]:
    """Of the rows of all couplings."""
    return [_row(of, one) for one in of.family.mechanism.couplings]


def _row(of: Known, coupling: Coupling) -> Size:
    """A sum over the values' rows, each by its coefficient over the length of an axis."""
    return total(
        [
            _value(of, of.family.mechanism.value(name))
            + of.expression(coefficient)
            + Size(0.0, _AXIS_LENGTH)
            for name, coefficient in coupling.terms
        ],
        log2(len(coupling.terms)),
    )


def _value(of: Known, value: JointValue) -> Size:
    """Derivatives of a joint value: along an axis, with its arms where the value slides."""
    joint = value.joint
    row = of.ends(joint) + of.frames(joint) * 4.0 + Size(0.0, 10.0)
    if not value.is_length:
        return row
    return row + of.points(joint) * 2.0 + of.lengths + Size(0.0, 16.0)
