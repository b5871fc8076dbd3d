"""Bodies that turn about the line through two balls and move nothing else, read off the graph."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.expressions import evaluate

from .joint_types import joint_type
from .mechanism import GROUND, Joint, Mechanism

#: Sine of the angle by which a ball may be off a tube's axis: rounding of what a file computes.
ON_LINE = 1e-9


@dataclass(frozen=True, slots=True)
class IdleSpin:
    """Bodies that turn together about a line, and move nothing else.

    Attributes
    ----------
    bodies
        In file order.
    joints
        What holds them: two balls; of half a telescopic strut a ball and the tube; or any joints.
    line
        A point (m) and a unit vector in the first body's frame; None where it is the line through
        two balls.
    """

    bodies: tuple[str, ...]
    joints: tuple[str, ...]
    line: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __str__(self) -> str:
        turns = "turns" if len(self.bodies) == 1 else "turn"
        text = f"{' and '.join(self.bodies)} {turns} idly between {' and '.join(self.joints)}"
        if self.line is None:
            return text
        point, way = (", ".join(f"{x + 0.0:.4g}" for x in v) for v in self.line)
        return f"{text} (about [{way}] through [{point}] of {self.bodies[0]})"


def idle_spins(bodies: Sequence[str], joints: Sequence[Joint]) -> tuple[IdleSpin, ...]:
    """Bodies that the rest holds by two spherical joints only, in file order.

    Parameters
    ----------
    bodies
        Names of all bodies.
    joints
        All joints between them and the ground.
    """
    groups = {name: {name} for name in (GROUND, *bodies)}
    for joint in joints:
        if not joint_type(joint.type).is_ball:
            first, second = (groups[name] for name in joint.bodies)
            first |= second
            groups |= dict.fromkeys(first, first)
    found: list[IdleSpin] = []
    for body in bodies:
        inside = groups[body]
        names = tuple(name for name in bodies if name in inside)
        balls = [
            joint.name
            for joint in joints
            if joint_type(joint.type).is_ball
            and not joint_type(joint.type).is_free
            and len(inside & set(joint.bodies)) == 1
        ]
        if GROUND not in inside and names[0] == body and len(balls) == 2:
            found.append(IdleSpin(names, (balls[0], balls[1])))
    return tuple(found)


def free_spins(it: Mechanism) -> tuple[IdleSpin, ...]:
    """Idle spins as `idle_spins` finds them, but both halves of a telescopic strut for themselves.

    Where a cylindrical joint lies on the line through the balls, and no coordinate or coupling
    states its angle, either half turns without the other.
    """
    stated = {*it.coordinates, *(name for one in it.couplings for name, _ in one.terms)}
    found: list[IdleSpin] = []
    for spin in idle_spins([body.name for body in it.bodies], it.joints):
        inside = [joint for joint in it.joints if set(joint.bodies) <= set(spin.bodies)]
        free = len(inside) == 1 and _is_tube(inside[0]) and inside[0].values[1] not in stated
        halves = _halves(it, spin, inside[0]) if free else []
        found += halves or [spin]
    return tuple(found)


def _is_tube(joint: Joint) -> bool:
    """Whether it slides along an axis and turns about it."""
    kind = joint_type(joint.type)
    return kind.slides == kind.turns == "z"


def _halves(it: Mechanism, spin: IdleSpin, tube: Joint) -> list[IdleSpin]:
    """Spins of two bodies with a tube between them; none if a ball is off its axis."""
    found: list[IdleSpin] = []
    for body, frame in zip(tube.bodies, tube.frames, strict=True):
        balls = [
            (joint.name, joint.frames[joint.bodies.index(body)])
            for joint in it.joints
            if joint.name in spin.joints and body in joint.bodies
        ]
        if len(balls) != 1:
            return []
        ((name, ball),) = balls
        way, axis = (np.array(evaluate(v, it.nominal)) for v in (ball.at, frame.axis))
        way = way - np.array(evaluate(frame.at, it.nominal))
        if np.abs(np.cross(way, axis)).max() > ON_LINE * np.abs(axis).max() * np.abs(way).max():
            return []
        found.append(IdleSpin((body,), (name, tube.name)))
    return found
