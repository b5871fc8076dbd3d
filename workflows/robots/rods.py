"""Rods that turn about their own line, as the two balls that hold them.

The mechanism format has a universal joint and a hinge along the rod in the place of one of its
balls, with a massless body between them, so that the rod's turn about its line can be a coordinate
(decision 138). Simulators that integrate every body have no body without mass, and do have balls.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from .coupled_values import coupled
from .kinds import REVOLUTE, SPHERICAL, UNIVERSAL
from .parts import Joint, Pose, Robot

#: Axes of a universal joint and a hinge that meet closer than this (m), and directions that are at
#: right angles to this (a cosine), are a ball: files have 17 digits.
MEETS = 1e-12


@dataclass(frozen=True)
class _Rod:
    """A universal joint and a hinge with a massless body between them."""

    stub: str
    universal: Joint
    hinge: Joint


def with_balls(robot: Robot) -> Robot:
    """The same with a ball in the place of every universal joint and hinge that move like one.

    Only of links without inertia that nothing else holds, and whose joint values nothing names but
    as coordinates: those are lost, as a ball has none of one value.
    """
    # One at a time: two massless bodies may share a joint.
    while (rod := next(_rods(robot), None)) is not None:
        robot = _joined(robot, rod)
    return robot


def undriven(before: Robot, after: Robot) -> list[str]:
    """A note of driven joint values that went into balls, where the file has no motor."""
    gone = [one for one in before.actuated if one not in after.actuated]
    if not gone:
        return []
    listed = ", ".join(gone)
    return [f"No motor drives {listed}: a ball turns there, which has no values of one axis"]


def _rods(robot: Robot) -> Iterator[_Rod]:
    named = coupled(robot) | {*robot.laws}
    if {*robot.actuated} != {*robot.coordinates}:  # the file names its drives
        named |= {*robot.actuated}
    for stub, inertia in robot.links.items():
        if inertia is None or inertia.mass or inertia.central.any():
            continue
        held = [one for one in robot.joints if stub in one.links]
        if sorted(one.kind for one in held) != [REVOLUTE, UNIVERSAL]:
            continue
        hinge, universal = sorted(held, key=lambda one: one.kind)
        free = named.isdisjoint((*hinge.values, *universal.values))
        if (
            free
            and _far(universal, stub)[0] != _far(hinge, stub)[0]
            and _meet(universal, hinge, stub)
        ):
            yield _Rod(stub, universal, hinge)


def _far(one: Joint, stub: str) -> tuple[str, int]:
    """The link that a joint leads to from the stub, and which of its two that is."""
    side = 1 - one.links.index(stub)
    return one.links[side], side


def _meet(universal: Joint, hinge: Joint, stub: str) -> bool:
    """Whether the hinge's axis passes the universal joint's point, across the axis that the stub
    has of it: then no value of theirs but one leaves a turn out."""
    cross, along = (one.frames[one.links.index(stub)] for one in (universal, hinge))
    axis, apart = along.R[:, 2], along.p - cross.p
    off = np.linalg.norm(apart - axis * (axis @ apart))
    return bool(off < MEETS and abs(axis @ cross.R[:, 2]) < MEETS)


def _joined(robot: Robot, rod: _Rod) -> Robot:
    """From the universal joint's far link to the hinge's, at zero where both are."""
    near, side = _far(rod.universal, rod.stub)
    far, _ = _far(rod.hinge, rod.stub)
    first = _between(rod.universal, near).then(_between(rod.hinge, rod.stub))
    frame = Pose(np.eye(3), rod.universal.frames[side].p)
    frames = (frame, first.inverse.then(frame))
    name = rod.universal.name.removesuffix("_across")
    taken = {one.name for one in robot.joints}
    values = tuple(f"{name}.{k + 1}" for k in range(3))
    ball = Joint(
        rod.universal.name if name in taken else name,
        SPHERICAL,
        (near, far),
        frames,
        values,
        (0.0,) * 3,
    )
    gone = {*rod.universal.values, *rod.hinge.values}
    joints = [
        ball if one is rod.universal else one for one in robot.joints if one is not rod.hinge
    ]
    return replace(
        robot,
        links={name: one for name, one in robot.links.items() if name != rod.stub},
        poses={name: one for name, one in robot.poses.items() if name != rod.stub},
        joints=tuple(joints),
        coordinates=tuple(one for one in robot.coordinates if one not in gone),
        actuated=tuple(one for one in robot.actuated if one not in gone),
    )


def _between(one: Joint, link: str) -> Pose:
    """The other link of a joint seen from this one, at zero."""
    return one.relative if one.links[0] == link else one.relative.inverse
