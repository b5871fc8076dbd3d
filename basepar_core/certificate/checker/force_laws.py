"""Friction, rotors, offsets, springs and dampers in natural coordinates, for the checker.

Each column of W is a force law on a joint value x, or on the distance x of two points, times
∂x/∂(pin), all by the forms of x (`joint_values`). Nothing here knows twists or angular
velocities, from which the maker has its columns.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb

from .expressions import Numbers
from .joint_values import Along, ball_length, joint_value
from .natural import Joint, Mechanism, difference, product, value
from .nominal import FUNCTIONS

ON_VALUES = ("viscous", "coulomb", "offset", "rotor", "stiffness")
BETWEEN_POINTS = ("stiffness", "damping")


class LawError(ValueError):
    """A column that is none."""


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
    LawError, FormlessError
        No such column, or none with forms.
    """
    start = [arb(1), *(arb(float(x)) for x in pose)]
    plain = Numbers(float, {"pi": math.pi}, functions=_FLOATS)
    smooth = numbers.smooth(FUNCTIONS)
    found = []
    for given in mechanism.columns:
        along = _acts_on(mechanism, joints, numbers, given)
        rest = smooth.of(given["rest"]) if "rest" in given else arb(0)
        near = 0.0
        if along.is_angle:
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
        return joint_value(mechanism, joints, str(given["on"]), ball_length)
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
