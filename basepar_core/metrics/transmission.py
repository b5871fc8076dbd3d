"""The transmission angle: how well a coupler pushes the body that it drives."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import cross, dot
from basepar_core.mechanism import GROUND, Joint, Mechanism, joint_type

from .analytic import angle_of, length, size
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .targets import Target

WORDS = ("transmission_angle",)


def metrics(mechanism: Mechanism, _: Sequence[Target]) -> dict[str, CycleMetric]:
    """By name."""
    found = {}
    for B, C, D in _triples(mechanism):
        words = (
            f"least transmission angle over the cycle at joint {C}, between the lines to {B} and "
            f"to {D} (the normal of its axis if {D} slides); at most a right angle"
        )
        value = partial(_least, B=B, C=C, D=D)
        found[f"transmission_angle({B},{C},{D})"] = CycleMetric(value, "rad", words)
    return found


def _triples(mechanism: Mechanism) -> Iterator[tuple[str, str, str]]:
    """Joints B, C, D: a coupler with B and C, and a body with C and D that drives or is driven."""
    joints = [
        joint
        for joint in mechanism.joints
        if set(joint_type(joint.type).slides) <= {"z"} and joint_type(joint.type).values
    ]
    of = {body: [one for one in joints if body in one.bodies] for body in _bodies(joints)}
    for C in joints:
        if GROUND in C.bodies or joint_type(C.type).is_slide:
            continue
        for coupler, output in (C.bodies, C.bodies[::-1]):
            for B in of[coupler]:
                for D in of[output]:
                    if len({B.name, C.name, D.name}) == 3 and not joint_type(B.type).is_slide:
                        yield B.name, C.name, D.name


def _bodies(joints: Sequence[Joint]) -> set[str]:
    return {body for joint in joints for body in joint.bodies}


def _least(cycle: ClosedCycle, B: str, C: str, D: str) -> Array:
    joints = {joint.name: place for place, joint in enumerate(cycle.model.mechanism.joints)}
    b, c, d = (joints[name] for name in (B, C, D))
    slides = joint_type(cycle.model.mechanism.joints[d].type).is_slide
    found = np.empty(cycle.count, cycle.q.dtype)
    for part, at, _ in cycle._blocks():
        coupler = at.P2[b] - at.P2[c]
        other = at.X1[d][:, 2] if slides else at.P2[d] - at.P2[c]
        sine, cosine = length(cross(coupler, other)), size(dot(coupler, other))
        angle = angle_of(cosine, sine) if slides else angle_of(sine, cosine)
        found[part] = np.broadcast_to(angle, cycle._size(part)).min(axis=-1)
    return found
