"""Two balls between the same two bodies: they turn about the line through both, as a hinge does.

MJCF writes a hinge that closes a loop so, as two connects. The points' distances in the two bodies
must agree: exactly they do where MuJoCo computes one of them from the other, else to as many
digits as were printed, and then two balls leave nothing that moves (decision 177).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from .draft import Connection, Draft, End, Merged, merge, value_names
from .frames import basis, floats, seen
from .kinds import REVOLUTE, SPHERICAL
from .rationals import UNITS, Pose, Vec, across, dot, minus, plus, upright

#: Distances that differ by less (m) agree: points are met to 1e-14 m.
EXACT = 1e-12
#: Balls that are closer (m) are one ball twice.
SHORTEST = 1e-9
#: Where a hinge begins is written to so many parts of a rad.
PARTS = 1000


@dataclass(frozen=True)
class _Pair:
    """Two balls, and by body of the first one their two points in its link."""

    balls: tuple[Connection, Connection]
    points: tuple[tuple[Vec, Vec], tuple[Vec, Vec]]

    @property
    def ways(self) -> tuple[Vec, Vec]:
        """From the first to the second, in both links."""
        (a, b), (p, q) = self.points
        return minus(b, a), minus(q, p)

    @property
    def lengths(self) -> tuple[float, float]:
        """Of these, m."""
        one, two = (math.sqrt(dot(way, way)) for way in self.ways)
        return one, two


def pair_balls(draft: Draft, tolerance: float) -> None:
    """Read two balls between the same two bodies as a hinge about the line through them.

    Parameters
    ----------
    draft
        Without mistakes; changed in place, with notes.
    tolerance
        m: distances of the two balls in the two bodies may differ by so much; the hinge is half
        way between them then. Zero: by rounding only.
    """
    for pair in list(_pairs(draft, merge(replace(draft, notes=[])))):
        one, two = pair.lengths
        if min(one, two) < SHORTEST:
            continue
        named = " and ".join(repr(ball.name) for ball in pair.balls)
        off = abs(one - two)
        if off > max(EXACT, tolerance):
            draft.notes.append(
                f"{named} hold two points of the same bodies, whose distances differ by "
                f"{off:.1e} m; give `repair=` of no less than that to read a hinge"
            )
            continue
        hinge = _hinge(pair, off > EXACT)
        first, second = pair.balls
        draft.connections[draft.connections.index(first)] = hinge
        draft.connections.remove(second)
        draft.avoided.append(hinge.name)
        draft.notes.append(
            f"{named} hold two points of the same bodies: the hinge {hinge.name!r} about the line "
            f"through them"
        )
        if off > EXACT:
            draft.notes.append(
                f"repaired: points of the hinge {hinge.name!r}, whose distances differ in its two "
                f"bodies, moved along it by {off / 4:.3g} m"
            )


def _pairs(draft: Draft, merged: Merged) -> Iterator[_Pair]:
    """Balls that nothing drives, pulls or rubs, two between the same bodies; three are a weld."""
    named = {*draft.coordinates, *draft.preferred}
    named |= {name for one in draft.couplings for name in one.terms}
    found: dict[frozenset[str], list[Connection]] = {}
    for one in draft.connections:
        bodies = frozenset(merged.carried[link][0] for link in one.links)
        found.setdefault(bodies, []).append(one)
    for bodies, joints in found.items():
        if len(joints) != 2 or len(bodies) != 2 or {one.kind for one in joints} != {SPHERICAL}:
            continue
        busy = any(one.springs or one.friction for one in joints)
        values = {name for one in joints for name in value_names(one.name, one.kind)}
        if not busy and named.isdisjoint(values):
            first, second = joints
            others = [
                _point(merged, second, end, link)
                for link in first.links
                for end in (0, 1)
                if merged.carried[second.links[end]][0] == merged.carried[link][0]
            ]
            here, there = (end.at for end in first.ends)
            yield _Pair((first, second), ((here, others[0]), (there, others[1])))


def _point(merged: Merged, one: Connection, end: int, link: str) -> Vec:
    """Of a joint, in another link of the same body."""
    if one.links[end] == link:
        return one.ends[end].at
    own, other = merged.carried[one.links[end]][1], merged.carried[link][1]
    return other.inverse().then(own).point(one.ends[end].at)


def _hinge(pair: _Pair, half_way: bool) -> Connection:
    """About the line through both points; at zero where the first ball is."""
    ball, other = pair.balls
    here, there = map(basis, ball.ends)
    near = _upright(pair.ways[0], across(pair.ways[0]))
    far = _upright(pair.ways[1], seen(near.turned(UNITS[0]), here, there))
    ends = []
    for (first, second), frame in zip(pair.points, (near, far), strict=True):
        at = _middle(first, second) if half_way else first
        ends.append(End(at, frame.turned(UNITS[2]), frame.turned(UNITS[0])))
    name = f"{ball.name} {other.name}"
    turned = [float(ball.start.get(value, 0)) for value in value_names(ball.name, ball.kind)]
    units = [np.array(floats(v)) / np.linalg.norm(floats(v)) for v in here]
    angle = np.array(turned) @ np.array(units) @ np.array(floats(ends[0].axis))
    start = {name: Fraction(round(PARTS * float(angle)), PARTS)} if any(turned) else {}
    return Connection(name, REVOLUTE, ball.links, (ends[0], ends[1]), start=start)


def _upright(z: Vec, x: Vec) -> Pose:
    """A rotation with an axis z, and x as nearly as that allows."""
    share = dot(x, z) / dot(z, z)
    a, b, c = (p - share * q for p, q in zip(x, z, strict=True))
    return upright(z=z, x=(a, b, c))


def _middle(a: Vec, b: Vec) -> Vec:
    x, y, z = (x / 2 for x in plus(a, b))
    return x, y, z
