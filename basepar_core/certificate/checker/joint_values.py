"""Joint values in natural coordinates: their forms, rates and second derivatives, for the checker.

A length along an axis is a quadratic form in (1, unknowns); an angle has two, proportional to its
cosine c and sine s, and its rate is (c ṡ − s ċ)/(c² + s²); a distance is the root of one. Nothing
here knows twists or angular velocities.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from .expressions import MalformedError
from .joints import KINDS
from .natural import (
    Joint,
    Mechanism,
    Quadratic,
    Three,
    bend,
    difference,
    dot,
    product,
    sized,
    slope,
    value,
)


class FormlessError(ValueError):
    """A joint value that this checker has no forms of."""


@dataclass(frozen=True)
class Along:
    """A value: a form of its own (a length), c and s (an angle), or d² (a distance of points)."""

    forms: tuple[Quadratic, ...]
    apart: bool = False

    @property
    def is_angle(self) -> bool:
        return len(self.forms) == 2

    def value(self, x: Sequence[arb], near: float) -> arb:
        """At (1, unknowns); an angle is the one nearest to `near`."""
        at = [value(form, x) for form in self.forms]
        if self.apart:
            return at[0].sqrt()
        if not self.is_angle:
            return at[0]
        base = arb(near)
        c, s = base.cos(), base.sin()
        return base + arb.atan2(at[1] * c - at[0] * s, at[0] * c + at[1] * s)

    def slope(self, x: Sequence[Any]) -> dict[int, Any]:
        """Derivatives of a length or an angle by unknown from 1, wherever x is."""
        return self._combined(x, [slope(form, x) for form in self.forms])

    def rate(self, x: Sequence[arb], v: Sequence[arb]) -> arb:
        """Of the value along rates v of the unknowns (from 0)."""
        if self.apart:
            distance = value(self.forms[0], x).sqrt()
            return _along(slope(self.forms[0], x), v) / (2 * distance)
        return _along(self.slope(x), v)

    def acceleration(self, x: Sequence[arb], v: Sequence[arb], a: Sequence[arb]) -> arb:
        """Second derivative; of lengths along axes and of angles, where rotors sit."""
        return self.rate(x, a) + self.bend(x, [arb(0), *v])

    def bend(self, x: Sequence[arb], v: Sequence[arb]) -> arb:
        """What rates v (unknowns from 1; v[0] is 0) of rigid bodies add to the acceleration.

        c² + s² keeps its value then, so that the angle's is that of c s̈ − s c̈.
        """
        changes = [{0: bend(form, v)} for form in self.forms]
        return self._combined(x, changes)[0]

    def _combined(self, x: Sequence[Any], changes: Sequence[dict[int, Any]]) -> dict[int, Any]:
        if not self.is_angle:
            return changes[0]
        c, s = (value(form, x) for form in self.forms)
        square = c * c + s * s
        found = {i: c * y / square for i, y in changes[1].items()}
        for i, y in changes[0].items():
            less = s * y / square
            found[i] = found[i] - less if i in found else -less
        return found


def _along(row: dict[int, arb], v: Sequence[arb]) -> arb:
    return sum((entry * v[i - 1] for i, entry in row.items()), arb(0))


def joint_value(
    mechanism: Mechanism, joints: Sequence[Joint], name: str, length: Callable[[Three], Any]
) -> Along:
    """Forms of a joint value, such as `A` or `B.2`; `length` of an axis in these numbers.

    Raises
    ------
    FormlessError
        There is no such joint, or it has no such value with forms.
    """
    label, _, number = name.partition(".")
    joint = next((joint for joint in joints if joint.name == label), None)
    if joint is None:
        raise FormlessError(f"there is no joint {label!r}")
    place = int(number or 1) - 1
    first, second = joint.bodies
    one, two = joint.axes
    lengths, angles = KINDS[joint.kind].lengths, KINDS[joint.kind].angles
    if not 0 <= place < len(lengths) + len(angles):
        raise FormlessError(
            f"joint {joint.name}: this checker has no form of its value {place + 1}"
        )
    if place < len(lengths):
        gap = difference(mechanism.place(second, joint.at[1]), mechanism.place(first, joint.at[0]))
        axis = one[lengths[place]]
        return Along((product(mechanism.place(first, _unit(axis, length), True), gap),))
    seen = angles[place - len(lengths)]
    # An axis y is z × x: longer than x by z's length.
    if seen == "-":
        z = mechanism.place(first, one["z"], True)
        c = mechanism.place(second, two["x"], True)
        s = mechanism.place(second, _over(length(two["z"]), two["y"]), True)
        return Along((product(c, z), {key: -x for key, x in product(s, z).items()}))
    w = mechanism.place(second, two[seen], True)
    c = mechanism.place(first, one["x"], True)
    s = mechanism.place(first, _over(length(one["z"]), one["y"]), True)
    return Along((product(c, w), product(s, w)))


def _unit(v: Three, length: Callable[[Three], Any]) -> Three:
    return _over(length(v), v)


def _over(divisor: Any, v: Three) -> Three:
    return sized(1 / divisor, v)


def ball_length(v: Three) -> arb:
    """Length of an axis in balls."""
    length = dot(v, v).sqrt()
    if length.contains(0):
        raise MalformedError("an axis has no direction")
    return length
