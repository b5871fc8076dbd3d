"""Closure equations of all joints along a series of poses: gaps, and rows of the Jacobian.

Three kinds of equation: points coincide along a world axis, a point keeps its distance from a
plane, two directions stay perpendicular. Rows are by the twists of the bodies, world axes:
velocity of the origin, then angular velocity.
"""

from .arithmetic import IDENTITY
from .coupled_series import coupling_gap, coupling_row
from .frames import locks
from .placed_rows import Layout, Poses, Row, distance, negative, way_of
from .random_points import PlacedJoint, Point
from .series import Series, SeriesVec, Truncated


def gaps(point: Point, ring: Truncated, at: Poses, planar: bool) -> list[Series]:
    """Residuals of all equations."""
    found: list[Series] = []
    for joint in point.joints:
        first = joint.bodies[0]
        across, about = locks(joint.kind, planar)
        if across != "":
            way = way_of(joint, ring, at)
            if across is None:
                found += way[: 2 if planar else 3]
            else:
                found += [
                    ring.dot(ring.turned(at.R[first], getattr(joint.axes[0], name)), way)
                    for name in across
                ]
        found += [ring.dot(*_pair(joint, ring, at, names)) for names in about]
    return found + [coupling_gap(one, point, ring, at) for one in point.further]


def jacobian(point: Point, ring: Truncated, at: Poses, layout: Layout) -> list[Row]:
    """Derivatives of `gaps` by the twists."""
    rows: list[Row] = []
    for joint in point.joints:
        across, about = locks(joint.kind, layout.planar)
        if across is None:
            rows += _coincide(joint, ring, at, layout)
        elif across:
            rows += [distance(joint, ring, at, layout, name) for name in across]
        for names in about:
            u, w = _pair(joint, ring, at, names)
            normal = ring.cross(u, w)
            row: Row = {}
            layout.put(row, joint.bodies[0], (0, 0, 0), normal)
            layout.put(row, joint.bodies[1], (0, 0, 0), negative(ring, normal))
            rows.append(row)
    return rows + [coupling_row(one, point, ring, at, layout) for one in point.further]


def _pair(
    joint: PlacedJoint, ring: Truncated, at: Poses, names: str
) -> tuple[SeriesVec, SeriesVec]:
    one, two = (getattr(joint.axes[side], names[side]) for side in (0, 1))
    first, second = joint.bodies
    return ring.turned(at.R[first], one), ring.turned(at.R[second], two)


def _coincide(joint: PlacedJoint, ring: Truncated, at: Poses, layout: Layout) -> list[Row]:
    arms = [ring.turned(at.R[b], a) for b, a in zip(joint.bodies, joint.at, strict=True)]
    rows = []
    for k in layout.linear:
        e = IDENTITY[k]
        row: Row = {}
        layout.put(row, joint.bodies[1], e, ring.cross(arms[1], e))
        layout.put(row, joint.bodies[0], negative(ring, e), ring.cross(e, arms[0]))
        rows.append(row)
    return rows
