"""The transmission angle: how well a coupler pushes the body that it drives."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import cross
from basepar_core.mechanism import GROUND, Joint, Mechanism, joint_type

from .analytic import angle_of, length, size
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .rates import axis_points, second_origin
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
    mechanism = cycle.model.mechanism
    joints = {joint.name: place for place, joint in enumerate(mechanism.joints)}
    b, c, d = (joints[name] for name in (B, C, D))
    slides = joint_type(mechanism.joints[d].type).is_slide
    if mechanism.planar:
        coupler, other = _lines(cycle, *(mechanism.joints[k] for k in (b, c, d)))
        return _angle(coupler, other, slides).min(axis=-1)
    found = np.empty(cycle.count, cycle.q.dtype)
    for part, at, _ in cycle._blocks():
        coupler = at.P2[b] - at.P2[c]
        other = at.X1[d][:, 2] if slides else at.P2[d] - at.P2[c]
        found[part] = np.broadcast_to(_angle(coupler, other, slides), cycle._size(part)).min(-1)
    return found


def _lines(cycle: ClosedCycle, B: Joint, C: Joint, D: Joint) -> tuple[Array, Array]:
    """Of a planar mechanism the coupler and what its angle is to, (axis, variant, sample)."""
    ends = axis_points(D) if joint_type(D.type).is_slide else (second_origin(C), second_origin(D))
    places = cycle._places([second_origin(B), second_origin(C), *ends])
    b, c, start, end = np.moveaxis(places, (1, 2), (0, 1))
    return b - c, end - start


def _angle(coupler: Array, other: Array, slides: bool) -> Array:
    """Angle (variant, sample), at most a right one; to the normal of a slide's axis."""
    if len(coupler) == 2:
        sine = size(coupler[0] * other[1] - coupler[1] * other[0])
    else:
        sine = length(cross(coupler, other))
    cosine = size((coupler * other).sum(axis=0))
    return angle_of(cosine, sine) if slides else angle_of(sine, cosine)
