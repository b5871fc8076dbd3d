"""What rows of closure equations are made of: poses as series, places of twists, distances."""

from collections.abc import Sequence
from dataclasses import dataclass

from flint import nmod_poly

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


def negative(ring: Truncated, v: SeriesVec) -> SeriesVec:
    """−v."""
    return ring.minus((0, 0, 0), v)


def distance(joint: PlacedJoint, ring: Truncated, at: Poses, layout: Layout, name: str) -> Row:
    """Derivative of the way between a joint's points along an axis of its first body."""
    first, second = joint.bodies
    n = ring.turned(at.R[first], getattr(joint.axes[0], name))
    arm = ring.turned(at.R[second], joint.at[1])
    end = ring.add(at.p[second], arm)
    row: Row = {}
    layout.put(row, second, n, ring.cross(arm, n))
    # Normal and start turn with the first body: together about its origin.
    lever = ring.minus(end, at.p[first])
    layout.put(row, first, negative(ring, n), ring.cross(n, lever))
    return row


def polynomial(value: Series, ring: Truncated) -> nmod_poly:
    """A series as a polynomial, constants too."""
    return nmod_poly([value], ring.prime) if isinstance(value, int) else value


def way_of(joint: PlacedJoint, ring: Truncated, at: Poses) -> SeriesVec:
    """From the joint's point on its first body to that on its second."""
    ends = [
        ring.add(at.p[body], ring.turned(at.R[body], spot))
        for body, spot in zip(joint.bodies, joint.at, strict=True)
    ]
    return ring.minus(ends[1], ends[0])
