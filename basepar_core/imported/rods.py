"""Rods between two balls: they turn about their own line, and nothing else sees it.

A ball's three values are coordinates together or not at all. Of a rod one of them, the turn about
its line, is free, and the loop determines the others: so one of its balls becomes a universal
joint and a hinge along the line (decision 138).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from scipy.spatial.transform import Rotation

from basepar_core.arrays import Array

from .draft import NOTHING, WORLD, Connection, Draft, End, Link, Merged, merge, value_names
from .frames import are_alike, basis, floats, seen
from .kinds import FIXED, REVOLUTE, SPHERICAL, UNIVERSAL
from .rationals import UNITS, Vec, across, direction, dot, upright

#: Balls that are closer (m) are one ball to spare.
SHORTEST = 1e-9
#: The joints in the ball's place, and a rod's turns about two axes across it, then along it.
WORDS = "across", "along"
#: What the start of a ball is written to, rad.
PARTS = 10**9


@dataclass(frozen=True)
class _Rod:
    """A ball of a rod: its connection, which end is the rod's, and the way to the other ball in
    the axes of the rod's body, m."""

    ball: Connection
    end: int
    way: Array


def part_rods(draft: Draft) -> None:
    """Read one ball of every rod between two as a universal joint and a hinge along the rod.

    Parameters
    ----------
    draft
        Without mistakes; changed in place, with a note for every rod.
    """
    merged = merge(replace(draft, notes=[]))
    for rod in list(_rods(draft, merged)):
        _part(draft, merged, rod)


def _part(draft: Draft, merged: Merged, rod: _Rod) -> None:
    ball, near, far = rod.ball, 1 - rod.end, rod.end
    ends = ball.ends[near], ball.ends[far]
    link = ball.links[far]
    local = merged.carried[link][1].inverse()
    axes = [local.turned(axis) for axis in _axes(rod.way)]
    here, there = basis(ends[1]), basis(ends[0])
    first, second = (seen(axes[k], here, there) for k in (0, 1))
    names = [f"{ball.name} {word}" for word in WORDS]
    stub = f"{link} {WORDS[1]}"
    universal = Connection(
        names[0],
        UNIVERSAL,
        (ball.links[near], stub),
        (End(ends[0].at, first, second), End(ends[1].at, axes[1], axes[0])),
    )
    end = End(ends[1].at, axes[2], axes[0])
    hinge = Connection(names[1], REVOLUTE, (stub, link), (end, end))
    bends, spin = (value_names(one.name, one.kind) for one in (universal, hinge))
    turns = _turns(ball, far, here, axes)
    begun = {n: t for n, t in zip((*bends, *spin), turns, strict=True) if t}
    made = [replace(one, start={n: t for n, t in begun.items() if n in names})
            for one, names in ((universal, bends), (hinge, spin))]  # fmt: skip
    place = draft.connections.index(ball)
    draft.connections[place : place + 1] = made
    draft.links.append(Link(stub, NOTHING))
    draft.preferred += spin
    draft.avoided += bends
    draft.notes.append(
        f"joint {ball.name!r} holds a rod between two balls: a universal joint, then a hinge "
        f"along the rod"
    )


def _axes(way: Array) -> tuple[Vec, Vec, Vec]:
    """Two axes across a way, then one along it: those of the frame where it is along one."""
    line, most = direction(way.tolist()), int(np.argmax(np.abs(way)))
    if sum(map(bool, line)) == 1:
        return UNITS[(most + 1) % 3], UNITS[(most + 2) % 3], UNITS[most]
    frame = upright(z=line, x=across(line))
    return frame.turned(UNITS[0]), frame.turned(UNITS[1]), frame.turned(UNITS[2])


def _turns(ball: Connection, far: int, here: Sequence[Vec], axes: Sequence[Vec]) -> list[Fraction]:
    """Turns about a rod's axes where its ball is turned as the assembly begins."""
    names = value_names(ball.name, ball.kind)
    turned = np.array([float(ball.start.get(name, 0)) for name in names]) * (1 if far else -1)
    units = [np.array(floats(v)) / np.sqrt(float(dot(v, v))) for v in here]
    frame = Rotation.from_matrix(np.array(list(map(floats, axes))).T)
    vector = np.stack(units, axis=1) @ turned
    angles = (frame.inv() * Rotation.from_rotvec(vector) * frame).as_euler("XYZ")
    return [Fraction(round(PARTS * x), PARTS) for x in angles]


# Which bodies are rods.


def _rods(draft: Draft, merged: Merged) -> Iterator[_Rod]:
    """Bodies, or several that are welded to each other, that two balls hold and nothing else."""
    rigid = _Rigid(draft, merged)
    held: dict[str, list[tuple[Connection, int]]] = {}
    for one in draft.connections:
        for end, link in enumerate(one.links):
            if one.kind != FIXED:
                held.setdefault(rigid.group[merged.carried[link][0]], []).append((one, end))
    named = {*draft.coordinates, *draft.preferred}
    taken: set[str] = set()
    for group, joints in held.items():
        if group == WORLD or len(joints) != 2 or {one.kind for one, _ in joints} != {SPHERICAL}:
            continue
        first, second = (rigid.point(*joint) for joint in joints)
        for (one, end), way in zip(joints, (second - first, first - second), strict=True):
            busy = named & {*value_names(one.name, one.kind)} or one.springs or one.friction
            if busy or one.name in taken or not are_alike(one.ends):
                continue
            if np.abs(way).max() > SHORTEST and _closes(draft, merged, rigid, one):
                taken.add(one.name)
                yield _Rod(one, end, rigid.turned_back(merged.carried[one.links[end]][0], way))
                break


def _closes(draft: Draft, merged: Merged, rigid: "_Rigid", ball: Connection) -> bool:
    """Whether a way leads around a ball: it is part of a loop."""
    start, goal = (rigid.group[merged.carried[link][0]] for link in ball.links)
    reached, more = {start}, True
    while more:
        more = False
        for one in draft.connections:
            ends = {rigid.group[merged.carried[link][0]] for link in one.links}
            if one is not ball and len(ends & reached) == 1 and len(ends) == 2:
                reached |= ends
                more = True
    return goal in reached


class _Rigid:
    """Bodies that are welded to each other: by body the first of its group, and where it is in
    that one's frame."""

    def __init__(self, draft: Draft, merged: Merged):
        self.merged = merged
        welds = [merged.joined(one) for one in draft.connections if one.kind == FIXED]
        self.group: dict[str, str] = {}
        self._poses: dict[str, tuple[Array, Array]] = {}
        for body in (WORLD, *merged.bodies):
            if body not in self.group:
                self._grow(body, welds)

    def _grow(self, first: str, welds: Sequence[tuple[tuple[str, str], tuple[End, End]]]) -> None:
        self.group[first], self._poses[first] = first, (np.eye(3), np.zeros(3))
        ends = [first]
        while ends:
            body = ends.pop()
            for bodies, frames in welds:
                if body not in bodies or bodies[0] == bodies[1]:
                    continue
                side = bodies.index(body)
                other = bodies[1 - side]
                if other in self.group:
                    continue
                (R, p), (A, a) = self._poses[body], _frame(frames[side])
                B, b = _frame(frames[1 - side])
                turn = R @ A @ B.T
                self.group[other], self._poses[other] = first, (turn, p + R @ a - turn @ b)
                ends.append(other)

    def turned_back(self, body: str, v: Array) -> Array:
        """A direction of its group in a body's axes."""
        found: Array = self._poses[body][0].T @ v
        return found

    def point(self, one: Connection, end: int) -> Array:
        """Of a joint, in the frame of its body's group."""
        bodies, ends = self.merged.joined(one)
        R, p = self._poses[bodies[end]]
        found: Array = p + R @ np.array(floats(ends[end].at))
        return found


def _frame(end: End) -> tuple[Array, Array]:
    """Axes and origin of a joint's frame in its body."""
    x, y, z = (np.array(floats(v)) for v in basis(end))
    R = np.stack([v / np.linalg.norm(v) for v in (x, y, z)], axis=1)
    return R, np.array(floats(end.at))
