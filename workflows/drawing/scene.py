"""Where everything of a mechanism is on paper, in its assembled pose and a few of its motion.

Spatial mechanisms are seen in an oblique parallel projection.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.dynamics import (
    Model,
    Outcome,
    carried,
    cycle,
    excitation,
    kinematics,
    places,
    trace,
)
from basepar_core.mechanism import GROUND, JointType, joint_type

from .overlay import Overlay
from .pitch_circles import pitch_circles
from .shapes import outlines
from .views import end_in_words, paper_of

#: Poses of the motion behind the assembled one.
GHOSTS = 7
#: Share of the size that an axis reaches to either side of its joint, and a rail beyond what
#: slides on it; points of a body count as one below this share.
AXIS, RAIL, SAME = 0.07, 0.1, 1e-6


class Scene:
    """Points of every body at every drawn pose, on paper: m, the assembled pose first.

    Attributes
    ----------
    size
        Of the mechanism, m.
    paths
        The file's points in the world, (point, 3, sample), the assembled place first.
    circles
        Pitch circles.
    outlines
        Bodies and outlines (2, corner) of their shapes, in the assembled pose.
    note
        Where the motion ends early; "" where it does not.
    overlay
        What is drawn over it.
    """

    def __init__(self, model: Model, values: Mapping[str, float], overlay: Overlay | None = None):
        self.overlay = overlay
        self.model, self.it, self.values = model, model.mechanism, dict(values)
        columns = {name: np.array([value]) for name, value in values.items()}
        motion = self._motion()
        targets = np.column_stack([model.assembled.coordinates, motion])
        path = trace(model, columns, targets)
        shown = self._shown(path, targets)
        dims = kinematics.geometry(self.it, columns).over_samples()
        self.at = kinematics.poses(model.topology, dims, path.q[:, :, shown])
        self.poses = len(shown)
        self.paths = self._paths(columns, dims, path.q[:, :, : self._last(path, targets)])
        self.marked = self.paths[:, :, shown]
        self.outlines = outlines(model, {**self.it.nominal, **columns}, dims, path.q[:, :, :1])
        self.note = end_in_words(model, path, targets)
        self.view = paper_of(model)
        extent = np.concatenate([self.joint_points(k) for k in range(len(self.it.joints))], axis=1)
        self.size = float(np.ptp(extent, axis=1).max()) or 1.0
        self.circles = pitch_circles(self.it, self.at, self.values, self.size)

    def _motion(self) -> np.ndarray:
        start = self.model.assembled.coordinates
        if self.it.cycle is not None:
            return cycle(self.it, start).q
        if self.it.excitation is not None:
            return excitation(self.it, start).q
        return start[:, None]

    @staticmethod
    def _last(path: Any, targets: np.ndarray) -> int:
        """How many poses close, the assembled one at least."""
        if path.outcome[0] == Outcome.CLOSED:
            return int(targets.shape[1])
        return max(1, int(np.nan_to_num(path.where[0])))

    def _paths(
        self, columns: dict[str, np.ndarray], dims: kinematics.Geometry, q: np.ndarray
    ) -> np.ndarray:
        known: dict[str, Any] = {**self.it.nominal, **columns}
        local = carried(self.it.points, known)[..., None]
        return places(self.model, dims, q, self.it.points, local)[:, :, 0]

    def _shown(self, path: Any, targets: np.ndarray) -> list[int]:
        """The assembled pose, then a few along the motion as far as it closes."""
        last = self._last(path, targets)
        ghosts = np.unique(np.linspace(1, max(last - 1, 1), GHOSTS).astype(int))
        return [0, *(int(k) for k in ghosts if 0 < k < last)]

    def paper(self, points: np.ndarray) -> np.ndarray:
        """(2, …) of world points (3, …)."""
        return np.tensordot(self.view, points, 1)

    def joint_points(self, k: int, side: int = 0) -> np.ndarray:
        """Origin of a joint's frame (2, pose)."""
        origin = (self.at.P1, self.at.P2)[side][k]
        return self.paper(np.broadcast_to(origin, (3, 1, self.poses))[:, 0])

    def joint_axis(self, k: int, number: int = 2, side: int = 0) -> np.ndarray:
        """Direction of an axis of a joint's frame, its z (2, pose)."""
        frame = (self.at.X1, self.at.X2)[side][k]
        return self.paper(np.broadcast_to(frame[:, number], (3, 1, self.poses))[:, 0])

    def shape(self, k: int) -> JointType:
        """What the table says of a joint's type."""
        return joint_type(self.it.joints[k].type)

    def is_slot(self, k: int) -> bool:
        """Whether a pin runs in a slot there."""
        return self.shape(k).slides == "x"

    def slides(self, k: int) -> bool:
        """Whether one body slides along a line of the other."""
        return len(self.shape(k).slides) == 1

    def stands(self, k: int) -> bool:
        """Whether a joint carries a body on the ground at a point."""
        holds = any(self.shape(k).locks(self.it.planar)) and not self.shape(k).is_slide
        return GROUND in self.it.joints[k].bodies and holds

    @cached_property
    def bodies(self) -> list[np.ndarray]:
        """Per body its joints and points (2, point, pose); its origin where they are too few."""
        return [self._corners(body.name, k) for k, body in enumerate(self.it.bodies)]

    def _corners(self, name: str, number: int) -> np.ndarray:
        found = [
            self.joint_points(k, side)
            for k, joint in enumerate(self.it.joints)
            for side, body in enumerate(joint.bodies)
            if body == name
        ]
        found += [
            self.paper(line)
            for point, line in zip(self.it.points, self.marked, strict=True)
            if point.body == name
        ]
        points = self._distinct(np.stack(found, axis=1))
        # Too few to be seen: the origin helps, and at the end of a chain the centre of mass.
        for more in (np.zeros(3), self._centre(number))[: 2 if len(found) == 1 else 1]:
            if points.shape[1] < 2:
                R, p = self.at.R[number], self.at.p[number]
                there = np.einsum("ij...,j->i...", R, more) + p
                extra = self.paper(np.broadcast_to(there, (3, 1, self.poses))[:, 0])
                points = self._distinct(np.concatenate([points, extra[:, None]], axis=1))
        return points

    def _distinct(self, points: np.ndarray) -> np.ndarray:
        """Points (2, point, pose) that lie apart in the first pose, whatever the scale."""
        apart = [0]
        for k in range(1, points.shape[1]):
            gaps = np.abs(points[:, k, 0, None] - points[:, apart, 0]).max(axis=0)
            if gaps.min() > SAME * self.size:
                apart.append(k)
        return points[:, apart]

    def _centre(self, number: int) -> np.ndarray:
        """A body's centre of mass in its frame, where it is known; else the origin."""
        if not self.it.has_inertias or self.it.planar:
            return np.zeros(3)
        phi = self.it.inertial_parameters({**self.it.nominal, **self.values})
        m, *first = phi.reshape(len(self.it.bodies), -1)[number, :4]
        return np.array(first) / m if m > 0 else np.zeros(3)

    def mark(self, k: int) -> np.ndarray:
        """Where a joint's mark stands: a slide's between its two ends, off the pins there."""
        ends = [self.joint_points(k, side)[:, 0] for side in (0, 1)]
        between = not self.it.planar and GROUND not in self.it.joints[k].bodies
        return (ends[0] + ends[1]) / 2 if between and self.shape(k).is_slide else ends[1]

    def axis(self, k: int) -> np.ndarray:
        """Ends (2, 2) of a line along a joint's axis."""
        here, reach = self.mark(k), self.joint_axis(k)[:, 0] * self.size * AXIS
        return np.stack([here - reach, here + reach], axis=1)

    def guide(self, k: int) -> np.ndarray:
        """Ends (2, 2) of what a joint slides along: as far as it goes in the drawn poses."""
        (axis,) = self.shape(k).directions
        # The rail is the ground's, or the first body's.
        side = 1 if self.it.joints[k].bodies[1] == GROUND else 0
        frame = (self.at.X1, self.at.X2)[side][k]
        offset = (self.at.P2[k] - self.at.P1[k]) * (1 if side == 0 else -1)
        way = np.broadcast_to((frame[:, axis] * offset).sum(axis=0), (1, self.poses))[0]
        low, high = float(way.min()) - RAIL * self.size, float(way.max()) + RAIL * self.size
        start, along = self.joint_points(k, side)[:, 0], self.joint_axis(k, axis, side)[:, 0]
        return np.stack([start + low * along, start + high * along], axis=1)

    def tube(self, k: int) -> np.ndarray | None:
        """Ends (2, 2) of a strut: from one body's end to the other's; None on the ground."""
        if GROUND in self.it.joints[k].bodies:
            return None
        return np.stack([self.joint_points(k, side)[:, 0] for side in (0, 1)], axis=1)

    @cached_property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower left and upper right corner of all that is drawn, (2,) each."""
        if self.overlay is None:
            return self.own_box
        every = self.overlay.extent(*self.own_box)
        return every.min(axis=1), every.max(axis=1)

    @cached_property
    def own_box(self) -> tuple[np.ndarray, np.ndarray]:
        """The same of the mechanism alone."""
        lines = [corners.reshape(2, -1) for corners in self.bodies]
        lines += [self.guide(k) for k in range(len(self.it.joints)) if self.slides(k)]
        lines += [self.joint_points(k).reshape(2, -1) for k in range(len(self.it.joints))]
        lines += [one.line for one in self.circles]
        lines += [outline for _, outline in self.outlines]
        lines.append(self.paper(self.paths.swapaxes(0, 1)).reshape(2, -1))
        every = np.concatenate(lines, axis=1)
        return every.min(axis=1), every.max(axis=1)

    @cached_property
    def shortest(self) -> float:
        """The shortest body's longest side in the assembled pose, m; those of points left out."""
        at = [corners[:, :, 0] for corners in self.bodies]
        sides = [np.linalg.norm(a[:, :, None] - a[:, None], axis=0).max() for a in at]
        return float(min((s for s in sides if s > 1e-3 * max(sides)), default=np.inf))
