"""Friction, rotors, offsets, springs and dampers in natural coordinates, for the checker.

Each column of W is a force law on a joint value x, or on the distance x of two points, times
∂x/∂(pin). A length along an axis is a quadratic form in (1, unknowns); an angle has two, its
cosine c and sine s, and its rate is c ṡ − s ċ; a distance is the root of one. Nothing here knows
twists or angular velocities, from which the maker has its columns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from .expressions import MalformedError, Numbers
from .joints import KINDS
from .natural import (
    Joint,
    Mechanism,
    Quadratic,
    bend,
    difference,
    dot,
    product,
    sized,
    slope,
    value,
)
from .nominal import FUNCTIONS, ball

ON_VALUES = ("viscous", "coulomb", "offset", "rotor", "stiffness")
BETWEEN_POINTS = ("stiffness", "damping")


class LawError(ValueError):
    """A column that is none, or that this checker has no forms for."""


@dataclass(frozen=True)
class Along:
    """What a column acts on: a form of its own (a length), c and s (an angle), or d² (points)."""

    forms: tuple[Quadratic, ...]
    apart: bool = False

    def value(self, x: Sequence[arb], near: float) -> arb:
        """At (1, unknowns); an angle is the one nearest to `near`."""
        at = [value(form, x) for form in self.forms]
        if self.apart:
            return at[0].sqrt()
        if len(at) == 1:
            return at[0]
        base = arb(near)
        c, s = base.cos(), base.sin()
        return base + arb.atan2(at[1] * c - at[0] * s, at[0] * c + at[1] * s)

    def rate(self, x: Sequence[arb], v: Sequence[arb]) -> arb:
        """Of the value along rates v of the unknowns (from 0)."""
        return self._combined(x, [_along(form, x, v) for form in self.forms])

    def acceleration(self, x: Sequence[arb], v: Sequence[arb], a: Sequence[arb]) -> arb:
        """Second derivative; of lengths along axes and of angles, where rotors sit."""
        full = [arb(0), *v]
        bent = [_along(form, x, a) + bend(form, full) for form in self.forms]
        return self._combined(x, bent)  # of an angle: d(c ṡ − s ċ) = c s̈ − s c̈

    def _combined(self, x: Sequence[arb], changes: Sequence[arb]) -> arb:
        if self.apart:
            return changes[0] / (2 * value(self.forms[0], x).sqrt())
        if len(changes) == 1:
            return changes[0]
        c, s = (value(form, x) for form in self.forms)
        return c * changes[1] - s * changes[0]


def _along(form: Quadratic, x: Sequence[arb], v: Sequence[arb]) -> arb:
    return sum((entry * v[i - 1] for i, entry in slope(form, x).items()), arb(0))


@dataclass(frozen=True)
class Law:
    """One column: its kind, what it acts on, and the value at which a spring is at rest."""

    kind: str
    along: Along
    rest: arb
    near: float

    def entries(
        self,
        x: Sequence[arb],
        modes: Sequence[Sequence[arb]],
        v: Sequence[arb],
        a: Sequence[arb],
    ) -> list[arb]:
        """The column at one motion: one entry per pin."""
        force = self._force(x, v, a)
        return [force * self.along.rate(x, mode) for mode in modes]

    def _force(self, x: Sequence[arb], v: Sequence[arb], a: Sequence[arb]) -> arb:
        match self.kind:
            case "viscous" | "damping":
                return self.along.rate(x, v)
            case "coulomb":
                rate = self.along.rate(x, v)
                if rate.contains(0):
                    raise UnsignedError("a speed of dry friction has no sign in these balls")
                return arb(1) if rate > 0 else arb(-1)
            case "offset":
                return arb(1)
            case "rotor":
                return self.along.acceleration(x, v, a)
        return self.along.value(x, self.near) - self.rest


class UnsignedError(ValueError):
    """More digits may show the sign of a speed."""


def laws(
    mechanism: Mechanism,
    joints: Sequence[Joint],
    numbers: Numbers,
    stated: Mapping[str, str],
    pose: Sequence[Fraction],
) -> list[Law]:
    """The mechanism's force-law columns in these numbers.

    Parameters
    ----------
    mechanism, joints, numbers
        As in `natural`.
    stated
        Joint values of the file's assembly: an angle's spring counts turns from there, or else
        is within a half turn of zero.
    pose
        Unknowns of the assembled pose.

    Raises
    ------
    LawError
        No forms, or no such column.
    """
    start = [arb(1), *(arb(float(x)) for x in pose)]
    plain = Numbers(float, {"pi": math.pi}, functions=_FLOATS)
    smooth = Numbers(ball, {**numbers.values, "pi": arb.pi()}, functions=FUNCTIONS)
    found = []
    for given in mechanism.columns:
        along = _acts_on(mechanism, joints, numbers, given)
        rest = smooth.of(given["rest"]) if "rest" in given else arb(0)
        near = 0.0
        if len(along.forms) == 2:
            text = stated.get(str(given["on"]))
            c, s = (float(value(form, start)) for form in along.forms)
            near = math.atan2(s, c) if text is None else float(plain.of(text))
        found.append(Law(given["kind"], along, rest, near))
    return found


_FLOATS: Mapping[str, Any] = {name: getattr(math, name) for name in ("sqrt", "sin", "cos", "tan")}


def _acts_on(
    mechanism: Mechanism, joints: Sequence[Joint], numbers: Numbers, given: Mapping[str, Any]
) -> Along:
    spring = {"rest"} if given["kind"] == "stiffness" else set()
    if "on" in given:
        _must(given, {"name", "kind", "on"} | spring, ON_VALUES)
        name, _, number = str(given["on"]).partition(".")
        joint = next((joint for joint in joints if joint.name == name), None)
        if joint is None:
            raise LawError(f"there is no joint {name!r}")
        return _of_joint(mechanism, joint, int(number or 1) - 1)
    _must(given, {"name", "kind", "bodies", "points"} | spring, BETWEEN_POINTS)
    ends = [
        mechanism.place(mechanism.number(body), [numbers.of(text) for text in point])
        for body, point in zip(given["bodies"], given["points"], strict=True)
    ]
    apart = difference(ends[1], ends[0])
    return Along((product(apart, apart),), apart=True)


def _must(given: Mapping[str, Any], keys: set[str], kinds: Sequence[str]) -> None:
    if set(given) != keys or given["kind"] not in kinds:
        raise LawError(f"{given.get('name')!r} is no column of a certificate")


def _of_joint(mechanism: Mechanism, joint: Joint, place: int) -> Along:
    first, second = joint.bodies
    one, two = ({k: _unit(v) for k, v in axes.items()} for axes in joint.axes)
    lengths, angles = KINDS[joint.kind].lengths, KINDS[joint.kind].angles
    if not 0 <= place < len(lengths) + len(angles):
        raise LawError(f"joint {joint.name}: this checker has no form of its value {place + 1}")
    if place < len(lengths):
        gap = difference(mechanism.place(second, joint.at[1]), mechanism.place(first, joint.at[0]))
        return Along((product(mechanism.place(first, one[lengths[place]], True), gap),))
    seen = angles[place - len(lengths)]
    if seen == "-":
        z = mechanism.place(first, one["z"], True)
        c, s = (mechanism.place(second, two[k], True) for k in "xy")
        return Along((product(c, z), {key: -x for key, x in product(s, z).items()}))
    w = mechanism.place(second, two[seen], True)
    c, s = (mechanism.place(first, one[k], True) for k in "xy")
    return Along((product(c, w), product(s, w)))


def _unit(v: Sequence[arb]) -> list[arb]:
    length = dot(v, v).sqrt()
    if length.contains(0):
        raise MalformedError("an axis has no direction")
    return sized(1 / length, v)
