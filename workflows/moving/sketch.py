"""What is drawn of a mechanism: lines, marks and names, each held by the bodies that carry it.

A *vertex* is (body, x, y, z): a place in a body's frame, m; the ground is the last body. Whoever
knows the bodies' poses knows where everything is, in Python and in the page.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from basepar_core.dynamics import Model, carried, kinematics, rotate_back
from basepar_core.mechanism import GROUND, Joint, joint_type
from workflows.drawing import pitch_circles

Vertex: TypeAlias = tuple[int, float, float, float]
#: Share of the mechanism's size that an axis reaches to either side of its joint, and a rail
#: beyond what slides on it.
AXIS, RAIL = 0.06, 0.1
#: Points of a body count as one below this share of its farthest point.
SAME = 1e-6


@dataclass(frozen=True)
class Sketch:
    """What is drawn.

    Attributes
    ----------
    lines
        {kind, body (whose colour; the ground's is ink), at (vertices)}; kinds: bar (a body's
        outline where there are more than two vertices), tube (between two bodies), rail, slot,
        axis, pitch.
    marks
        {name, kind (of mark), driven, filled, ground, at (vertices whose middle it is),
        along (vertices of a direction)}.
    points
        {name, body, at}.
    """

    lines: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)


def sketch(
    model: Model,
    values: Mapping[str, float],
    dims: kinematics.Geometry,
    at: kinematics.Poses,
    size: float,
) -> Sketch:
    """The sketch of one variant.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Its symbols, SI; missing ones are nominal.
    dims, at
        Its geometry (…, 1) and its poses (…, 1, frame).
    size
        Of the whole mechanism, m.
    """
    it = model.mechanism
    ends = [_Ends(it.body_index, dims, k, joint) for k, joint in enumerate(it.joints)]
    local = carried(it.points, {**it.nominal, **values})[..., 0]
    made = Sketch()
    ground = len(it.bodies)
    for point, place in zip(it.points, local, strict=True):
        body = it.body_index[point.body] % (ground + 1)
        made.points.append({"name": point.name, "body": body, "at": _vertex(body, place)})
    for number in range(ground):
        own = [one.vertex(side) for one in ends for side in (0, 1) if one.bodies[side] == number]
        own += [one["at"] for one in made.points if one["body"] == number]
        corners = _distinct(own, model, number, values)
        made.lines.append({"kind": "bar", "body": number, "at": corners})
    for k, one in enumerate(ends):
        made.lines.extend(_guides(one, it.planar, at, k, size))
        made.marks.append(_mark(one, it.planar, it.actuated))
    for circle in pitch_circles(it, at, dict(values), size):
        made.lines.append(_pitch(circle.body % (ground + 1), circle.line, circle.centre, at))
    return made


class _Ends:
    """A joint's two frames, in its bodies."""

    def __init__(
        self, index: Mapping[str, int], dims: kinematics.Geometry, k: int, joint: Joint
    ) -> None:
        self.joint, self.shape = joint, joint_type(joint.type)
        self.grounded = [body == GROUND for body in joint.bodies]
        count = len([name for name in index if name != GROUND])
        self.bodies = [index[body] % (count + 1) for body in joint.bodies]
        table = dims.joints[k]
        self.origins = [table.first_origin[:, 0, 0], table.second_origin[:, 0, 0]]
        self.axes = [table.first_axes[:, :, 0, 0], table.second_axes[:, :, 0, 0]]

    def vertex(self, side: int, axis: int = 2, shift: float = 0.0) -> Vertex:
        """The frame's origin, or a place on one of its axes."""
        return _vertex(self.bodies[side], self.origins[side] + shift * self.axes[side][:, axis])

    def span(self, side: int, axis: int, low: float, high: float) -> list[Vertex]:
        return [self.vertex(side, axis, low), self.vertex(side, axis, high)]


def _vertex(body: int, place: np.ndarray) -> Vertex:
    x, y, z = map(float, place)
    return body, x, y, z


def _distinct(
    own: list[Vertex], model: Model, number: int, values: Mapping[str, float]
) -> list[Vertex]:
    """Vertices that lie apart; the origin and the centre of mass help where they are too few."""
    more = [(number, 0.0, 0.0, 0.0), _centre(model, number, values)]
    found: list[Vertex] = []
    for count, one in enumerate([*own, *more]):
        if count >= len(own) and len(found) > 1:
            break
        reach = max((abs(x) for vertex in (*own, one) for x in vertex[1:]), default=1.0) or 1.0
        gaps = [max(abs(a - b) for a, b in zip(one[1:], f[1:], strict=True)) for f in found]
        if all(gap > SAME * reach for gap in gaps):
            found.append(one)
    return found


def _centre(model: Model, number: int, values: Mapping[str, float]) -> Vertex:
    """A body's centre of mass, where it is known; else its origin."""
    it = model.mechanism
    place = np.zeros(3)
    if it.has_inertias:
        phi = it.inertial_parameters({**it.nominal, **values}).reshape(len(it.bodies), -1)[number]
        width = 2 if it.planar else 3
        if phi[0] > 0:
            place[:width] = phi[1 : 1 + width] / phi[0]
    return _vertex(number, place)


def _guides(
    one: _Ends, planar: bool, at: kinematics.Poses, k: int, size: float
) -> list[dict[str, Any]]:
    """What a joint's second body slides along, and an axis about which it turns in space."""
    made: list[dict[str, Any]] = []
    if one.shape.is_slide or one.shape.slides == "x":
        (axis,) = one.shape.directions
        # The rail is the ground's, or the first body's.
        side = 1 if one.grounded[1] else 0
        frames, offset = (at.X1, at.X2)[side][k], at.P2[k] - at.P1[k]
        way = rotate_back(frames, offset if side == 0 else -offset)[axis]
        low, high = float(np.min(way)) - RAIL * size, float(np.max(way)) + RAIL * size
        kind = "rail" if one.shape.is_slide else "slot"
        rail = one.span(side, axis, low, high)
        made.append({"kind": kind, "body": one.bodies[side], "at": rail})
        if one.shape.is_slide and not any(one.grounded):
            tube = [one.vertex(0), one.vertex(1)]
            made.append({"kind": "tube", "body": one.bodies[0], "at": tube})
    elif not planar and "z" in (*one.shape.slides, *one.shape.turns):
        made.append(
            {
                "kind": "axis",
                "body": one.bodies[0],
                "at": one.span(0, 2, -AXIS * size, AXIS * size),
            }
        )
    return made


def _mark(one: _Ends, planar: bool, actuated: tuple[str, ...]) -> dict[str, Any]:
    between = one.shape.is_slide and not planar and not any(one.grounded)
    axis = one.shape.directions[0] if one.shape.slides in ("x", "z") else 2
    holds = any(one.shape.locks(planar)) and not one.shape.is_slide
    return {
        "name": one.joint.name,
        "kind": one.shape.mark[0],
        "driven": any(name in actuated for name in one.joint.values),
        "filled": one.shape.filled,
        # Which of its two places stands on the ground, if any.
        "ground": one.grounded.index(True) if holds and any(one.grounded) else -1,
        "ends": [one.vertex(0), one.vertex(1)],
        "at": [one.vertex(0), one.vertex(1)] if between else [one.vertex(1)],
        "along": [one.vertex(0), one.vertex(0, axis, 1.0)],
    }


def _pitch(
    body: int, line: np.ndarray, centre: np.ndarray, at: kinematics.Poses
) -> dict[str, Any]:
    """A pitch circle in its body's frame, with a spoke that shows how it turns."""
    turn = np.reshape(at.R[body], (3, 3, -1))[:, :, 0]
    origin = np.reshape(at.p[body], (3, -1))[:, 0]
    around = np.vstack([line[:, ::4], np.zeros(line[:, ::4].shape[1])])
    middle = np.append(centre, 0.0)
    inside = turn.T @ (np.column_stack([around, middle]) - origin[:, None])
    corners = [_vertex(body, place) for place in inside.T]
    moves = body < len(at.R) - 1
    return {"kind": "pitch", "body": body, "at": [*corners] if moves else corners[:-1]}
