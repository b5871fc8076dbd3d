"""Friction, rotors, offsets, springs and dampers in balls, for the maker of certificates.

As `columns` has them, from twists of the joints' bodies; a spherical joint's values are left
out: the checker has no forms of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import arb

from basepar_core.dynamics import Column, DriveLaw, joint_value
from basepar_core.errors import UsageError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import Friction, Mechanism, Spring, joint_type
from basepar_core.symbolic import add, cross, dot, minus, scale
from basepar_core.variable_precision import (
    ARB,
    ZERO,
    Closed,
    Geometry,
    JointFrames,
    Poses,
    Twists,
    Vec,
    exact,
)


def check(mechanism: Mechanism, chosen: Sequence[Column]) -> None:
    """Reject columns that no certificate can have.

    Raises
    ------
    UsageError
        They are laws of drives, or act on values of spherical or free joints.
    """
    drives = [one.name for one in chosen if isinstance(one.source, DriveLaw)]
    if drives:
        raise UsageError(
            f"No certificate has {', '.join(drives)}: a file names no laws of drives. Leave them "
            f"out of the columns.",
            drives,
        )
    ball_joints = [
        one.name
        for one in chosen
        if (name := joint_value(one)) and joint_type(mechanism.value(name).joint.type).is_ball
    ]
    if ball_joints:
        raise UsageError(
            f"No certificate has {', '.join(ball_joints)}: values of such joints are no "
            f"polynomials of its coordinates. Leave them out of `with=`.",
            ball_joints,
        )


@dataclass(frozen=True)
class Laws:
    """A mechanism's force-law columns at one precision; `known` are its symbols' values."""

    mechanism: Mechanism
    dims: Geometry
    known: dict[str, arb]
    chosen: Sequence[Column]

    def rows(self, closed: Closed, moving: Twists, pushed: Twists) -> list[list[arb]]:
        """Entries (mode, column) at velocities and accelerations of a closed sample."""
        table = [self._column(one, closed, moving, pushed) for one in self.chosen]
        return [[column[k] for column in table] for k in range(len(closed.modes))]

    def _column(self, column: Column, closed: Closed, moving: Twists, pushed: Twists) -> list[arb]:
        at, source = closed.poses, column.source
        if (name := joint_value(column)) is None:
            force, along = self._between(source, at, moving)
            return [force * along(mode) for mode in closed.modes]
        value = self.mechanism.value(name)
        frames, place = self.dims.joints[value.number], value.place
        modes = [_rate(frames, place, at, mode) for mode in closed.modes]
        if isinstance(source, Spring):
            force = _value(frames, place, at, self._near(name)) - self._number(source.rest)
        else:
            force = _force(column.kind, frames, place, at, moving, pushed)
        return [force * mode for mode in modes]

    def _number(self, expression: Any) -> arb:
        (found,) = evaluate([expression], self.known, ARB)
        return ZERO + found

    def _near(self, name: str) -> float | None:
        stated = dict(self.mechanism.assembly.values)
        return float(evaluate([stated[name]], {})[0]) if name in stated else None

    def _between(self, source: Any, at: Poses, moving: Twists) -> tuple[arb, Any]:
        """Force of a spring or damper between points, and how its length changes along twists."""
        assert not isinstance(source, Friction)
        number = self.mechanism.body_index
        first, second = (number[name] for name in source.bodies)
        arms: list[Vec] = []
        for body, point in zip((first, second), source.points, strict=True):
            x, y, z = (self._number(entry) for entry in point)
            arms.append(at.turned(body, (x, y, z)))
        there = minus(add(at.origin(second), arms[1]), add(at.origin(first), arms[0]))
        length = dot(there, there).sqrt()
        u = scale(1 / length, there)

        def along(v: Twists) -> arb:
            two = add(v.slide(second), cross(v.spin(second), arms[1]))
            one = add(v.slide(first), cross(v.spin(first), arms[0]))
            return dot(u, minus(two, one))

        if isinstance(source, Spring):
            return length - self._number(source.rest), along
        return along(moving), along


def _force(
    kind: str, joint: JointFrames, place: int, at: Poses, moving: Twists, pushed: Twists
) -> arb:
    rate = _rate(joint, place, at, moving)
    match kind:
        case "viscous":
            return rate
        case "coulomb":
            return arb(1) if rate.mid() > 0 else arb(-1)
        case "offset":
            return arb(1)
    return _acceleration(joint, place, at, moving, pushed)


def _axes(joint: JointFrames, at: Poses) -> tuple[list[Vec], list[Vec]]:
    one, two = joint.axes
    return (
        [at.turned(joint.first, e) for e in one],
        [at.turned(joint.second, e) for e in two],
    )


def _direction(joint: JointFrames, place: int, at: Poses) -> tuple[Vec | None, Vec | None]:
    """What spin and slide are multiplied by, world."""
    (x, y, z), (_, _, other) = _axes(joint, at)
    shape = joint_type(joint.kind)
    if place in shape.lengths:
        return None, (x, y, z)[shape.directions[place]]
    if shape.turns != "zz":
        return z, None
    normal = cross(z, other)
    one = cross(other, normal) if place == 0 else cross(normal, z)
    return scale(1 / dot(normal, normal), one), None


def _relative(joint: JointFrames, at: Poses, v: Twists) -> tuple[Vec, Vec]:
    """Spin of the second body, and slide of its joint's point, seen from the first."""
    r2 = at.turned(joint.second, joint.at[1])
    arm = minus(add(at.origin(joint.second), r2), at.origin(joint.first))
    there = add(v.slide(joint.second), cross(v.spin(joint.second), r2))
    here = add(v.slide(joint.first), cross(v.spin(joint.first), arm))
    return minus(v.spin(joint.second), v.spin(joint.first)), minus(there, here)


def _rate(joint: JointFrames, place: int, at: Poses, v: Twists) -> arb:
    about, along = _direction(joint, place, at)
    spin, slide = _relative(joint, at, v)
    if about is not None:
        return dot(about, spin)
    assert along is not None
    return dot(along, slide)


def _acceleration(
    joint: JointFrames, place: int, at: Poses, moving: Twists, pushed: Twists
) -> arb:
    """Second derivative of a value; directions are fixed in the first body, or as good as."""
    about, along = _direction(joint, place, at)
    w1, w2 = moving.spin(joint.first), moving.spin(joint.second)
    spin, slide = _relative(joint, at, moving)
    spin_dot, slide_dot = _relative(joint, at, pushed)
    if about is not None:
        return dot(about, minus(spin_dot, cross(w1, spin)))
    assert along is not None
    r2 = at.turned(joint.second, joint.at[1])
    arm = minus(add(at.origin(joint.second), r2), at.origin(joint.first))
    pull = minus(cross(w2, cross(w2, r2)), cross(w1, cross(w1, arm)))
    return dot(along, minus(add(slide_dot, pull), scale(2, cross(w1, slide))))


def _value(joint: JointFrames, place: int, at: Poses, near: float | None) -> arb:
    (x, y, z), (x2, y2, z2) = _axes(joint, at)
    shape = joint_type(joint.kind)
    if place in shape.lengths:
        r1, r2 = at.turned(joint.first, joint.at[0]), at.turned(joint.second, joint.at[1])
        gap = minus(add(at.origin(joint.second), r2), add(at.origin(joint.first), r1))
        return dot((x, y, z)[shape.directions[place]], gap)
    if shape.turns == "zz":
        c, s = (dot(x, z2), dot(y, z2)) if place == 0 else (dot(x2, z), -dot(y2, z))
    else:
        c, s = dot(x, x2), dot(y, x2)
    if near is None:
        near = math.atan2(float(s), float(c))
    base = exact(near)
    return base + arb.atan2(s * base.cos() - c * base.sin(), c * base.cos() + s * base.sin())
