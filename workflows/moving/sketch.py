"""What is drawn of a mechanism: lines, marks and names, each held by the bodies that carry it.

A drawing is *drafted* once from what the mechanism is: its corners are places that it names, such
as a joint's frame. At given dimensions and poses a draft becomes a *sketch*, whose corners are
numbers; the page does the same (`sketch.js`), so that it can draw any variant by itself. Whoever
knows the bodies' poses then knows where everything is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from basepar_core.dynamics import Model, carried, kinematics, rotate_back
from basepar_core.expressions import ZERO
from basepar_core.mechanism import GROUND, Joint, joint_type

from .pitch_circles import Circle, around, circles

#: (body, of, number, axis, shift): a place that a body carries; the ground is the last body.
#: `of`: frame (number 2 k + side of joint k), point (number of the file's points), origin, mass
#: (its centre). `shift` along the frame's axis is a share of the mechanism's size.
Place: TypeAlias = tuple[int, str, int, int, float]
#: (body, x, y, z): a place in a body's frame, m.
Vertex: TypeAlias = tuple[int, float, float, float]
#: Share of the mechanism's size that an axis reaches to either side of its joint, and a rail
#: beyond what slides on it.
AXIS, RAIL = 0.06, 0.1


@dataclass(frozen=True)
class Draft:
    """What is drawn, by places.

    Attributes
    ----------
    lines
        {kind, body (whose colour; the ground's is ink), at (places)}; kinds: bar (a body's
        outline where there are more than two places), tube (between two bodies), axis, rail and
        slot. The last two are along an axis of a frame, as far as a joint slides:
        `over` [joint, side of its guide, axis].
    marks
        {name, kind (of mark), driven, filled, ground, ends (its two places), at (places whose
        middle it is), along (places of a direction)}.
    points
        {name, body, at}.
    circles
        Pitch circles of gears.
    """

    lines: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)
    circles: list[Circle] = field(default_factory=list)


@dataclass(frozen=True)
class Sketch:
    """A draft in numbers: `lines`, `marks` and `points` as there, with vertices for places.

    Lines of the kind `pitch` are circles; the last corner is the middle where the body moves.
    """

    lines: list[dict[str, Any]]
    marks: list[dict[str, Any]]
    points: list[dict[str, Any]]


def draft(model: Model) -> Draft:
    """The drawing of a mechanism, whatever its dimensions."""
    it = model.mechanism
    count = len(it.bodies)
    ends = [_Ends(it.body_index, k, joint) for k, joint in enumerate(it.joints)]
    made = Draft(circles=circles(model))
    for k, point in enumerate(it.points):
        body = it.body_index[point.body] % (count + 1)
        made.points.append({"name": point.name, "body": body, "at": (body, "point", k, 0, 0.0)})
    for number in range(count):
        made.lines.append({"kind": "bar", "body": number, "at": _outline(model, number, ends)})
    for one in ends:
        made.lines.extend(_guides(one, it.planar))
        made.marks.append(_mark(one, it.planar, it.actuated))
    return made


class _Ends:
    """A joint's two frames, as places of its bodies."""

    def __init__(self, index: Mapping[str, int], number: int, joint: Joint) -> None:
        self.joint, self.number, self.shape = joint, number, joint_type(joint.type)
        self.grounded = [body == GROUND for body in joint.bodies]
        self.bodies = [index[body] % len(index) for body in joint.bodies]

    def place(self, side: int, axis: int = 2, shift: float = 0.0) -> Place:
        """The frame's origin, or a place on one of its axes."""
        return self.bodies[side], "frame", 2 * self.number + side, axis, shift


def _outline(model: Model, number: int, ends: list[_Ends]) -> list[Place]:
    """A body's corners; where there are too few, its origin and its centre of mass help.

    Two joints at one place of a file are one corner.
    """
    it = model.mechanism
    own = [
        (one.joint.frames[side].at, one.place(side))
        for one in ends
        for side in (0, 1)
        if one.bodies[side] == number
    ]
    own += [
        (point.at, (number, "point", k, 0, 0.0))
        for k, point in enumerate(it.points)
        if point.body == it.bodies[number].name
    ]
    places = list(dict(reversed(own)).values())[::-1]
    if len(places) < 2 and (ZERO, ZERO, ZERO) not in dict(own):
        places.append((number, "origin", 0, 0, 0.0))
    if len(places) < 2 and it.has_inertias:
        places.append((number, "mass", number, 0, 0.0))
    return places


def _guides(one: _Ends, planar: bool) -> list[dict[str, Any]]:
    """What a joint's second body slides along, and an axis about which it turns in space."""
    made: list[dict[str, Any]] = []
    if len(one.shape.slides) == 1:
        (axis,) = one.shape.directions
        # The rail is the ground's, or the first body's.
        side = 1 if one.grounded[1] else 0
        kind = "slot" if one.shape.slides == "x" else "rail"
        at = [one.place(side, axis), one.place(side, axis)]
        over = [one.number, side, axis]
        made.append({"kind": kind, "body": one.bodies[side], "at": at, "over": over})
        if kind == "rail" and not any(one.grounded):
            tube = [one.place(0), one.place(1)]
            made.append({"kind": "tube", "body": one.bodies[0], "at": tube})
    elif not planar and "z" in one.shape.turns:
        span = [one.place(0, 2, -AXIS), one.place(0, 2, AXIS)]
        made.append({"kind": "axis", "body": one.bodies[0], "at": span})
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
        "ends": [one.place(0), one.place(1)],
        "at": [one.place(0), one.place(1)] if between else [one.place(1)],
        "along": [one.place(0), one.place(0, axis, 1.0)],
    }


@dataclass(frozen=True)
class Placed:
    """Where a draft's places are, in one variant.

    Attributes
    ----------
    dims, at
        Its geometry (…, 1, 1) and its poses (…, 1, frame).
    points, masses
        (point, 3) and (body, 3) m, in their bodies.
    size
        Of the whole mechanism, m.
    """

    dims: kinematics.Geometry
    at: kinematics.Poses
    points: np.ndarray
    masses: np.ndarray
    size: float

    def vertex(self, place: Place, shift: float | None = None) -> Vertex:
        """A place in numbers, moved by its own share or by so many m."""
        body, of, number, axis, share = place
        if of != "frame":
            table = {"point": self.points, "mass": self.masses}.get(of, np.zeros((1, 3)))
            x, y, z = map(float, table[number])
            return body, x, y, z
        sides = self.dims.joints[number // 2]
        origin, axes = (
            (sides.second_origin, sides.second_axes)
            if number % 2
            else (sides.first_origin, sides.first_axes)
        )
        far = share * self.size if shift is None else shift
        x, y, z = map(float, origin[:, 0, 0] + far * axes[:, axis, 0, 0])
        return body, x, y, z

    def apart(self, one: int, other: int) -> float:
        """Between two frames' origins in the first pose, m."""
        ends = [(self.at.P1, self.at.P2)[frame % 2][frame // 2] for frame in (one, other)]
        first, second = (np.reshape(np.broadcast_to(P, P.shape), (3, -1))[:, 0] for P in ends)
        return float(np.linalg.norm(second - first))

    def line(self, line: dict[str, Any]) -> dict[str, Any]:
        """A line's corners, a guide's as far as its joint slides and a little farther."""
        if "over" not in line:
            return {**line, "at": [self.vertex(place) for place in line["at"]]}
        k, side, axis = line["over"]
        frames, offset = (self.at.X1, self.at.X2)[side][k], self.at.P2[k] - self.at.P1[k]
        way = rotate_back(frames, offset if side == 0 else -offset)[axis]
        ends = (float(np.min(way)) - RAIL * self.size, float(np.max(way)) + RAIL * self.size)
        at = [self.vertex(place, end) for place, end in zip(line["at"], ends, strict=True)]
        return {"kind": line["kind"], "body": line["body"], "at": at}


def sketch(model: Model, values: Mapping[str, float], made: Draft, placed: Placed) -> Sketch:
    """A draft in numbers.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        The variant's symbols, SI; missing ones are nominal.
    made, placed
        The draft, and where its places are.
    """
    lines = [placed.line(line) for line in made.lines]
    for one in made.circles:
        radius = one.radius(model, values, placed.apart(one.centre, one.other))
        _, x, y, _ = placed.vertex((one.body, "frame", one.centre, 0, 0.0))
        corners = [(one.body, *map(float, at), 0.0) for at in around(np.array([x, y]), radius)]
        # A spoke shows how it turns; a ring that stands has none.
        spoke = [(one.body, x, y, 0.0)] if one.body < len(model.mechanism.bodies) else []
        lines.append({"kind": "pitch", "body": one.body, "at": corners + spoke})
    marks = [
        {**mark, **{key: [placed.vertex(p) for p in mark[key]] for key in ("ends", "at", "along")}}
        for mark in made.marks
    ]
    points = [{**point, "at": placed.vertex(point["at"])} for point in made.points]
    return Sketch(lines, marks, points)


def local_points(model: Model, values: Mapping[str, float]) -> np.ndarray:
    """The file's points in their bodies, (point, 3) m."""
    it = model.mechanism
    found: np.ndarray = carried(it.points, {**it.nominal, **values})[..., 0]
    return found


def centres(model: Model, values: Mapping[str, float]) -> np.ndarray:
    """Bodies' centres of mass, (body, 3) m; their origins where they are unknown."""
    it = model.mechanism
    found = np.zeros((len(it.bodies), 3))
    if it.has_inertias:
        phi = it.inertial_parameters({**it.nominal, **values}).reshape(len(it.bodies), -1)
        width = 2 if it.planar else 3
        massive = phi[:, 0] > 0
        found[massive, :width] = phi[massive, 1 : 1 + width] / phi[massive, :1]
    return found
