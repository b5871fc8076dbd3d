"""Closure equations of all joints along a series of poses: gaps, and rows of the Jacobian.

Three kinds of equation: points coincide along a world axis, a point keeps its distance from a
plane, two directions stay perpendicular. Rows are by the twists of the bodies, world axes:
velocity of the origin, then angular velocity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .arithmetic import IDENTITY
from .frames import locks
from .random_points import PlacedJoint, Point
from .series import Series, SeriesMatrix, SeriesVec, Truncated

#: Coefficients by number of the twist coordinate.
Row = dict[int, Series]


@dataclass(frozen=True)
class Poses:
    """Orientations and positions as series, the ground last."""

    R: Sequence[SeriesMatrix]
    p: Sequence[SeriesVec]


class Layout:
    """Where a body's twist stands: (x, y, z, then angular), in the plane (x, y, angle)."""

    def __init__(self, point: Point, planar: bool):
        self.planar = planar
        self.size = 3 if planar else 6
        self.linear = (0, 1) if planar else (0, 1, 2)
        self.angular = ((2, 2),) if planar else ((0, 3), (1, 4), (2, 5))
        self.bodies = len(point.R) - 1
        self.width = self.size * self.bodies

    def put(self, row: Row, body: int, v: SeriesVec, w: SeriesVec) -> None:
        """Add a body's coefficients to a row; the ground does not move."""
        if body < 0:
            return
        top = self.size * body
        for k in self.linear:
            self._put(row, top + k, v[k])
        for k, place in self.angular:
            self._put(row, top + place, w[k])

    @staticmethod
    def _put(row: Row, place: int, value: Series) -> None:
        if not (type(value) is int and value == 0):
            row[place] = row[place] + value if place in row else value

    def twist(self, column: Sequence[Series], body: int) -> tuple[SeriesVec, SeriesVec]:
        """Velocity of the origin and angular velocity of a body, world."""
        top = self.size * body
        v: list[Series] = [0, 0, 0]
        w: list[Series] = [0, 0, 0]
        for k in self.linear:
            v[k] = column[top + k]
        for k, place in self.angular:
            w[k] = column[top + place]
        return (v[0], v[1], v[2]), (w[0], w[1], w[2])


def gaps(point: Point, ring: Truncated, at: Poses, planar: bool) -> list[Series]:
    """Residuals of all equations."""
    found: list[Series] = []
    for joint in point.joints:
        first, second = joint.bodies
        across, about = locks(joint.kind, planar)
        if across != "":
            way = ring.minus(
                ring.add(at.p[second], ring.turned(at.R[second], joint.at[1])),
                ring.add(at.p[first], ring.turned(at.R[first], joint.at[0])),
            )
            if across is None:
                found += way[: 2 if planar else 3]
            else:
                found += [
                    ring.dot(ring.turned(at.R[first], getattr(joint.axes[0], name)), way)
                    for name in across
                ]
        found += [ring.dot(*_pair(joint, ring, at, names)) for names in about]
    return found


def jacobian(point: Point, ring: Truncated, at: Poses, layout: Layout) -> list[Row]:
    """Derivatives of `gaps` by the twists."""
    rows: list[Row] = []
    for joint in point.joints:
        across, about = locks(joint.kind, layout.planar)
        if across is None:
            rows += _coincide(joint, ring, at, layout)
        elif across:
            rows += [_distance(joint, ring, at, layout, name) for name in across]
        for names in about:
            u, w = _pair(joint, ring, at, names)
            normal = ring.cross(u, w)
            row: Row = {}
            layout.put(row, joint.bodies[0], (0, 0, 0), normal)
            layout.put(row, joint.bodies[1], (0, 0, 0), _negative(ring, normal))
            rows.append(row)
    return rows


def _pair(
    joint: PlacedJoint, ring: Truncated, at: Poses, names: str
) -> tuple[SeriesVec, SeriesVec]:
    one, two = (getattr(joint.axes[side], names[side]) for side in (0, 1))
    first, second = joint.bodies
    return ring.turned(at.R[first], one), ring.turned(at.R[second], two)


def _negative(ring: Truncated, v: SeriesVec) -> SeriesVec:
    return ring.minus((0, 0, 0), v)


def _coincide(joint: PlacedJoint, ring: Truncated, at: Poses, layout: Layout) -> list[Row]:
    arms = [ring.turned(at.R[b], a) for b, a in zip(joint.bodies, joint.at, strict=True)]
    rows = []
    for k in layout.linear:
        e = IDENTITY[k]
        row: Row = {}
        layout.put(row, joint.bodies[1], e, ring.cross(arms[1], e))
        layout.put(row, joint.bodies[0], _negative(ring, e), ring.cross(e, arms[0]))
        rows.append(row)
    return rows


def _distance(joint: PlacedJoint, ring: Truncated, at: Poses, layout: Layout, name: str) -> Row:
    first, second = joint.bodies
    n = ring.turned(at.R[first], getattr(joint.axes[0], name))
    arm = ring.turned(at.R[second], joint.at[1])
    end = ring.add(at.p[second], arm)
    row: Row = {}
    layout.put(row, second, n, ring.cross(arm, n))
    # Normal and start turn with the first body: together about its origin.
    lever = ring.minus(end, at.p[first])
    layout.put(row, first, _negative(ring, n), ring.cross(n, lever))
    return row
