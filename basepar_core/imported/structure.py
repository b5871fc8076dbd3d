"""Structure that dimensions of a file have but for their last digits.

Parallel axes of one body, axes that meet, several of them in one point, points on axes, and equal
lengths of a plane loop: what is so within a tolerance is made so, before loops are closed by the
least change of points. A loop that is closed by points alone may be closed at one pose; with its
structure it is at all.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from .draft import WORLD, Draft, End, merge
from .kinds import REVOLUTE, SPHERICAL
from .rationals import Pose, Vec

#: Directions that differ by less (rad), points that are closer (m), are the same.
SAME = 1e-12
#: Sine of the least angle of axes that meet, and how closely they do once they were made to (m).
SKEW, MEET = 0.1, 1e-10
#: No axis turns by more (rad), however short the links are.
TURN = 1e-3
#: Moved points have this many decimals.
DECIMALS = 16

#: How far something moved (m; of an axis rad over the longest length), and what.
Move = tuple[float, str]


@dataclass
class _Side:
    """One side of a joint: number of the connection, which end, the body's name, the link's pose
    in the body, the joint's frame there."""

    joint: int
    end: int
    body: str
    pose: Pose
    frame: End
    name: str

    @property
    def axis(self) -> Array:
        """Unit vector."""
        axis = np.array([float(x) for x in self.frame.axis])
        found: Array = axis / np.linalg.norm(axis)
        return found

    @property
    def point(self) -> Array:
        return np.array([float(x) for x in self.frame.at])

    def shift(self, by: Array) -> Move:
        """Move its point, m in the body's axes."""
        x, y, z = (
            a + Fraction(str(round(float(b), DECIMALS)))
            for a, b in zip(self.frame.at, by, strict=True)
        )
        self.frame = replace(self.frame, at=(x, y, z))
        return float(np.linalg.norm(by)), self.name


def recognised(draft: Draft, tolerance: float) -> tuple[Draft, list[Move]]:
    """The draft with its structure made exact, and what moved how far.

    Parameters
    ----------
    tolerance
        m, of lengths; axes turn by no more than it over the longest distance of two joints.
    """
    sides = _sides(draft)
    bodies = {side.body: [s for s in sides if s.body == side.body] for side in sides}
    longest = max((_span(group) for group in bodies.values()), default=0.0) or 1.0
    moves: list[Move] = []
    for group in bodies.values():
        moves += _parallel(draft, sides, group, min(tolerance / longest, TURN))
    for group in bodies.values():
        moves += _meeting(draft, group, tolerance)
    moves += _common(draft, sides, tolerance)
    links = {
        tuple(sorted((side.joint, side.end) for side in pair)): pair
        for loop in _plane_loops(draft, sides)
        for pair in loop
    }
    moves += _equal(list(links.values()), tolerance)
    made = Draft(**{**vars(draft), "notes": [*draft.notes]})
    ends = {
        (side.joint, side.end): side.frame.seen_from(side.pose.inverse().short) for side in sides
    }
    made.connections = [
        replace(one, ends=(ends[k, 0], ends[k, 1])) for k, one in enumerate(draft.connections)
    ]
    return made, moves


def _sides(draft: Draft) -> list[_Side]:
    carried = merge(Draft(**{**vars(draft), "notes": []})).carried
    found = []
    for k, one in enumerate(draft.connections):
        for end, (link, frame) in enumerate(zip(one.links, one.ends, strict=True)):
            body, pose = carried[link]
            where = link.strip(chr(0)) or "the ground"
            side = _Side(k, end, body, pose, frame.seen_from(pose), f"{one.name} in {where}")
            found.append(side)
    return found


def _span(group: Sequence[_Side]) -> float:
    """The longest distance of two joints of a body, m."""
    points = [side.point for side in group]
    return max((float(np.linalg.norm(a - b)) for a, b in combinations(points, 2)), default=0.0)


def _has_axis(draft: Draft, side: _Side) -> bool:
    return joint_type(draft.connections[side.joint].kind).turns == "z"


def _parallel(
    draft: Draft, sides: Sequence[_Side], group: Sequence[_Side], most: float
) -> Iterator[Move]:
    """Axes of one body that are parallel within an angle (rad), each along the first of them."""
    axial = [side for side in group if _has_axis(draft, side)]
    for k, side in enumerate(axial):
        for first in axial[:k]:
            angle = math.asin(min(float(np.linalg.norm(np.cross(first.axis, side.axis))), 1.0))
            if angle > most:
                continue
            if angle > SAME and (along := _along(sides, first, side)):
                side.frame = replace(side.frame, axis=along)
                yield angle, f"axis of {side.name} (to that of {first.name})"
            break


def _along(sides: Sequence[_Side], first: _Side, side: _Side) -> Vec | None:
    """A direction along the first's axis, exactly as long as the joint's axis in its other body;
    None where no rational numbers have that length."""
    other = next(s for s in sides if s.joint == side.joint and s.end != side.end)
    square = _square(other.frame.axis) / _square(first.frame.axis)
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if (top * top, bottom * bottom) != (square.numerator, square.denominator):
        return None
    factor = Fraction(top, bottom) * (1 if first.axis @ side.axis > 0 else -1)
    x, y, z = (factor * a for a in first.frame.axis)
    return x, y, z


def _square(v: Vec) -> Fraction:
    return sum((a * a for a in v), Fraction(0))


def _meeting(draft: Draft, group: Sequence[_Side], most: float) -> Iterator[Move]:
    """Axes of one body that pass a point closely meet there, three and more in the point with the
    least sum of squares; points close to axes are on them: either side moves by half."""
    pencil: list[_Side] = []
    while found := _pencil([s for s in group if _has_axis(draft, s) and s not in pencil], most):
        point = _nearest(found)
        for side in found:
            gap = _across(side, point)
            if np.linalg.norm(gap) > SAME:
                yield side.shift(gap)
        pencil += found
    for one, two in combinations(group, 2):
        axial = [side for side in (one, two) if _has_axis(draft, side)]
        if not axial or (one in pencil and two in pencil):
            continue
        apart = two.point - one.point
        if len(axial) == 2:
            across = np.cross(one.axis, two.axis)
            size = float(np.linalg.norm(across))
            if size < SKEW:  # nearly parallel: they meet nowhere
                continue
            gap = across / size * (apart @ across / size)
        else:
            gap = apart - axial[0].axis * (apart @ axial[0].axis)
        if SAME < np.linalg.norm(gap) <= most:
            shares = [0.0 if side in pencil else 1.0 for side in (one, two)]
            for side, share, sign in zip((one, two), shares, (1, -1), strict=True):
                if share:
                    yield side.shift(sign * gap / sum(shares))


def _pencil(axial: Sequence[_Side], most: float) -> list[_Side]:
    """The most of these axes, three at least, that pass one point closely."""
    best: list[_Side] = []
    for pair in combinations(axial, 2):
        if np.linalg.norm(np.cross(pair[0].axis, pair[1].axis)) < SKEW:
            continue
        near = [s for s in axial if np.linalg.norm(_across(s, _nearest(pair))) <= most]
        if not near:  # the two pass each other, and nothing is where they are closest
            continue
        point = _nearest(near)
        near = [s for s in near if np.linalg.norm(_across(s, point)) <= most]
        best = max(best, near, key=len)
    return best if len(best) > 2 else []


def _nearest(axial: Sequence[_Side]) -> Array:
    """The point with the least sum of squared distances from some axes."""
    across = [np.eye(3) - np.outer(side.axis, side.axis) for side in axial]
    moments = [P @ side.point for P, side in zip(across, axial, strict=True)]
    found: Array = np.linalg.solve(sum(across), sum(moments))
    return found


def _across(side: _Side, point: Array) -> Array:
    """From an axis to a point, at right angles."""
    apart = point - side.point
    found: Array = apart - side.axis * (apart @ side.axis)
    return found


def _common(draft: Draft, sides: Sequence[_Side], most: float) -> Iterator[Move]:
    """Points of a hinge at which it meets axes in its one body and in its other one, and that are
    close to each other: all of these axes meet in one point. Either side moves by half."""
    for one, two in zip(sides[::2], sides[1::2], strict=True):
        if draft.connections[one.joint].kind != REVOLUTE:
            continue
        gaps = [
            far - near for near in _meets(draft, sides, one) for far in _meets(draft, sides, two)
        ]
        gap = min(gaps, key=abs, default=0.0)
        if SAME < abs(gap) <= most:
            yield one.shift(-gap / 2 * one.axis)
            yield two.shift(gap / 2 * two.axis)


def _meets(draft: Draft, sides: Sequence[_Side], side: _Side) -> Iterator[float]:
    """How far along a hinge's axis others of its body meet it, m."""
    for other in sides:
        if other.body != side.body or other is side or not _has_axis(draft, other):
            continue
        if np.linalg.norm(np.cross(side.axis, other.axis)) > SKEW:
            point = _nearest([side, other])
            if np.linalg.norm(_across(side, point)) <= MEET:
                yield float((point - side.point) @ side.axis)


def _plane_loops(draft: Draft, sides: Sequence[_Side]) -> Iterator[list[tuple[_Side, _Side]]]:
    """Loops of revolute joints whose axes are parallel, balls among them: by body, its two sides
    in the loop."""
    pairs = [(sides[2 * k], sides[2 * k + 1]) for k in range(len(draft.connections))]
    above: dict[str, tuple[_Side, _Side]] = {}  # of a body, the joint towards the ground
    kept, grown = set[int](), True
    while grown:
        grown = False
        for near, far in (way for a, b in pairs for way in ((a, b), (b, a))):
            if (near.body == WORLD or near.body in above) and far.body not in {WORLD, *above}:
                above[far.body] = near, far
                kept.add(near.joint)
                grown = True
    for a, b in pairs:
        if a.joint in kept:
            continue
        loop = _loop(above, a, b)
        kinds = {draft.connections[side.joint].kind for pair in loop for side in pair}
        axial = [[side for side in pair if _has_axis(draft, side)] for pair in loop]
        if kinds <= {REVOLUTE, SPHERICAL} and all(
            len(pair) == 1
            or (pair and np.linalg.norm(np.cross(pair[0].axis, pair[1].axis)) < SAME)
            for pair in axial
        ):
            yield [(one, two) if _has_axis(draft, one) else (two, one) for one, two in loop]


def _loop(
    above: Mapping[str, tuple[_Side, _Side]], a: _Side, b: _Side
) -> list[tuple[_Side, _Side]]:
    """The bodies that a closing joint's loop passes, each with where it comes in and goes out."""
    ways = []
    for side in (a, b):
        way, body = [], side.body
        while body in above:
            way.append(above[body])
            body = way[-1][0].body
        ways.append(way)
    while all(ways) and ways[0][-1][1].body == ways[1][-1][1].body:
        for way in ways:
            way.pop()
    found, ends = [], []
    for entry, way in zip((a, b), ways, strict=True):
        for near, far in way:
            found.append((entry, far))
            entry = near
        ends.append(entry)
    return [*found, (ends[0], ends[1])]


def _equal(links: Sequence[tuple[_Side, _Side]], most: float) -> Iterator[Move]:
    """Lengths across the axes of links of plane loops that are equal within a tolerance, each made
    the mean of its kind: both its points move by half of what is missing."""
    lengths = []
    for one, two in links:
        apart = two.point - one.point
        apart = apart - one.axis * (apart @ one.axis)
        lengths.append((float(np.linalg.norm(apart)), apart, one, two))
    lengths.sort(key=lambda entry: entry[0])
    groups: list[list[tuple[float, Array, _Side, _Side]]] = []
    for entry in lengths:
        if groups and entry[0] - groups[-1][0][0] <= most:
            groups[-1].append(entry)
        else:
            groups.append([entry])
    for group in groups:
        mean = sum(entry[0] for entry in group) / len(group)
        for length, apart, one, two in group:
            if length > SAME and abs(mean - length) > SAME:
                missing = apart / length * (mean - length)
                yield one.shift(-missing / 2)
                yield two.shift(missing / 2)
