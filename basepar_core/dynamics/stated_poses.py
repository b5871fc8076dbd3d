"""Poses of bodies that the file states: how far from them the bodies are found."""

from dataclasses import dataclass

import numpy as np

from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism

from . import spatial
from .body_newton import Bodies
from .kinematics import Geometry


@dataclass(frozen=True, slots=True)
class FoundPose:
    """A body whose pose is stated, and where and how it stands, m and rad.

    `off` is how far the farthest of its joints is from where the stated pose has it, m: a rod's
    turn about itself is often stated anyhow.
    """

    body: str
    at: tuple[float, ...]
    rotation: tuple[float, ...]
    off: float


def poses_off(mechanism: Mechanism, dims: Geometry, at: Bodies) -> list[FoundPose]:
    """All bodies whose poses are stated, with how far off they are at given poses."""
    found = []
    for pose in mechanism.assembly.poses:
        k = mechanism.body_index[pose.body]
        numbers = np.array(evaluate([*pose.at, *pose.rotation], mechanism.nominal), float)
        turn, shift = at.R[k] - spatial.matrix(numbers[3:]), at.p[k] - numbers[:3]
        ends = [
            origin[..., 0]
            for joint, side in zip(mechanism.joints, dims.joints, strict=True)
            for body, origin in zip(
                joint.bodies, (side.first_origin, side.second_origin), strict=True
            )
            if body == pose.body
        ]
        off = max(float(np.linalg.norm(shift + turn @ end)) for end in ends)
        place, rotation = (
            tuple(map(float, x)) for x in (at.p[k], spatial.rotation_vector(at.R[k]))
        )
        found.append(FoundPose(pose.body, place, rotation, off))
    return found
