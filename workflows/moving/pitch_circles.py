"""Pitch circles of gears by frames and formulas, so that they follow a variant's dimensions."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from basepar_core.dynamics import Model, Outcome, kinematics, trace
from basepar_core.expressions import Expression, evaluate
from workflows.drawing import pitch_circles

#: Corners of a circle, and how near a frame's origin is to a circle's middle, in sizes.
CORNERS, NEAR = 46, 1e-6
#: Poses near the assembly in which points are seen to stand.
POSES = 4


@dataclass(frozen=True)
class Circle:
    """A body's circle: its radius is |share| times the distance of two frames' origins.

    `centre` and `other` are frames (2 k + side of joint k); `centre` is in the body itself,
    `other` in `partner`. The ground is the last body.
    """

    body: int
    partner: int
    centre: int
    other: int
    share: Expression

    def radius(self, model: Model, values: Mapping[str, float], apart: float) -> float:
        """In m, where the two origins are so far apart."""
        (share,) = evaluate([self.share], {**model.mechanism.nominal, **values})
        return abs(float(share)) * apart


def circles(model: Model) -> list[Circle]:
    """Pitch circles of a planar mechanism whose middles are origins of its joints' frames."""
    it = model.mechanism
    if not (it.planar and it.couplings):
        return []
    start = model.assembled.coordinates
    # Coordinates move in different ratios, so that what stands does so for any motion.
    ways = model.loops.step * (1 + np.arange(len(start))) / len(start)
    targets = start[:, None] + ways[:, None] * np.arange(POSES)
    path = trace(model, {}, targets)
    if path.outcome[0] != Outcome.CLOSED:
        return []
    at = kinematics.poses(model.topology, kinematics.geometry(it, {}).over_samples(), path.q)
    ends = np.array([np.broadcast_to(P, (3, 1, POSES))[:2, 0, 0] for P in _ends(at)])
    size = float(np.ptp(ends, axis=0).max()) or 1.0
    found = pitch_circles(it, at, {}, size)
    middles = [_frame(model, ends, one.body, one.centre, NEAR * size) for one in found]
    made = []
    for k, one in enumerate(found):  # in pairs
        here, there, partner = middles[k], middles[k ^ 1], found[k ^ 1].body
        if here is not None and there is not None:
            bodies = len(it.bodies) + 1
            made.append(Circle(one.body % bodies, partner % bodies, here, there, one.share))
    return made


def _ends(at: kinematics.Poses) -> list[np.ndarray]:
    """Origins of all frames: per joint the first, then the second."""
    return [P for pair in zip(at.P1, at.P2, strict=True) for P in pair]


def _frame(
    model: Model, ends: np.ndarray, body: int, point: np.ndarray, near: float
) -> int | None:
    """The body's frame that stands at a point of the first pose."""
    index = model.mechanism.body_index
    for k, joint in enumerate(model.mechanism.joints):
        for side, name in enumerate(joint.bodies):
            if index[name] == body and np.abs(ends[2 * k + side] - point).max() < near:
                return 2 * k + side
    return None


def around(centre: np.ndarray, radius: float) -> np.ndarray:
    """Corners (corner, 2) of a circle, the last of them the first."""
    turn = np.linspace(0, 2 * np.pi, CORNERS)
    return np.asarray(centre) + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
