"""Closure equations of all joints along a series of poses: gaps, and rows of the Jacobian.

Three kinds of equation: points coincide along a world axis, a point keeps its distance from a
plane, two directions stay perpendicular. Rows are by the twists of the bodies, world axes:
velocity of the origin, then angular velocity.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from flint import nmod_poly

from .arithmetic import IDENTITY
from .couplings import PlacedCoupling, Term
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
    """Where a body's twist stands: (x, y, z, then angular), in the plane (x, y, angle); and how
    many inertial parameters it has."""

    def __init__(self, point: Point, planar: bool):
        self.planar = planar
        self.size = 3 if planar else 6
        self.parameters = 4 if planar else 10
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
        first = joint.bodies[0]
        across, about = locks(joint.kind, planar)
        if across != "":
            way = _way(joint, ring, at)
            if across is None:
                found += way[: 2 if planar else 3]
            else:
                found += [
                    ring.dot(ring.turned(at.R[first], getattr(joint.axes[0], name)), way)
                    for name in across
                ]
        found += [ring.dot(*_pair(joint, ring, at, names)) for names in about]
    return found + [_coupling_gap(coupling, point, ring, at) for coupling in point.couplings]


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
    return rows + [_coupling_row(one, point, ring, at, layout) for one in point.couplings]


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


def _coupling_gap(coupling: PlacedCoupling, point: Point, ring: Truncated, at: Poses) -> nmod_poly:
    """Σ coefficient · (value − value at the start)."""
    total = nmod_poly([0], ring.prime)
    for term in coupling:
        total += term.factor * _travel(term, point.joints[term.joint], ring, at)
    return total


def _travel(term: Term, joint: PlacedJoint, ring: Truncated, at: Poses) -> nmod_poly:
    """How far a value is from where it started; a slide in units of its axis over its length."""
    first, second = joint.bodies
    one, two = joint.axes
    if term.axis:
        n = ring.turned(at.R[first], getattr(one, term.axis))
        way = _polynomial(ring.dot(n, _way(joint, ring, at)), ring)
        return way - way[0]
    x2 = ring.turned(at.R[second], two.x)
    cosine, sine = (
        _polynomial(ring.dot(ring.turned(at.R[first], axis), x2), ring) for axis in (one.x, one.y)
    )
    sine *= 1 / term.length
    rate = cosine * sine.derivative() - sine * cosine.derivative()
    size = cosine * cosine + sine * sine
    return (
        rate.mul_low(size.inverse_series_trunc(ring.order), ring.order)
        .integral()
        .truncate(ring.order)
    )


def _polynomial(value: Series, ring: Truncated) -> nmod_poly:
    return nmod_poly([value], ring.prime) if isinstance(value, int) else value


def _way(joint: PlacedJoint, ring: Truncated, at: Poses) -> SeriesVec:
    """From the joint's point on its first body to that on its second."""
    ends = [
        ring.add(at.p[body], ring.turned(at.R[body], spot))
        for body, spot in zip(joint.bodies, joint.at, strict=True)
    ]
    return ring.minus(ends[1], ends[0])


def _coupling_row(
    coupling: PlacedCoupling, point: Point, ring: Truncated, at: Poses, layout: Layout
) -> Row:
    row: Row = {}
    for term in coupling:
        joint = point.joints[term.joint]
        if term.axis:
            own = _distance(joint, ring, at, layout, term.axis)
            factor = term.factor
        else:
            n = ring.turned(at.R[joint.bodies[0]], joint.axes[0].z)
            own, factor = {}, term.factor / term.length
            layout.put(own, joint.bodies[1], (0, 0, 0), n)
            layout.put(own, joint.bodies[0], (0, 0, 0), _negative(ring, n))
        for place, x in own.items():
            scaled = _polynomial(x, ring) * factor
            row[place] = row[place] + scaled if place in row else scaled
    return row
