"""A random point of a family over a prime field."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flint import nmod, nmod_mat
from flint.utils.flint_exceptions import DomainError

from .expressions import Numbers, names_of
from .joints import KINDS
from .natural import Joint, Mechanism, cross, dot, less, sized
from .rotations import Columns, about, after, back, bringing, turned


class UnconfirmedError(Exception):
    """The family has no points that this checker knows how to find."""


class RedrawError(Exception):
    """This draw has no point."""


@dataclass(frozen=True)
class PlacedPoint:
    """Symbols with solved lengths, joints there, and (1, unknowns).

    `surplus` is by how much such points' dimension exceeds the number of symbols.
    """

    numbers: Numbers
    joints: Sequence[Joint]
    x: list[nmod]
    surplus: int


@dataclass(frozen=True)
class _Edge:
    free: int
    bodies: tuple[int, int]
    joint: Joint | None = None
    relation: Mapping[str, Any] | None = None


def place(
    mechanism: Mechanism,
    relations: Sequence[Mapping[str, Any]],
    bound: Sequence[str],
    numbers: Numbers,
    rng: random.Random,
    p: int,
) -> PlacedPoint:
    """A point with these symbols, as far as they are not lengths that closure solves for.

    `bound` are symbols that are not: angles, and those of algebraic relations.

    Raises
    ------
    UnconfirmedError
        Orientations or lengths do not close.
    RedrawError
        This draw has none.
    """
    draw = _Draw(rng, p)
    joints = mechanism.frames(numbers)
    R, turns = _orientations(mechanism, relations, joints, numbers, draw)
    lengths = _lengths(mechanism, relations, bound, numbers, draw)
    numbers, positions, free = _solved(mechanism, joints, lengths, numbers, R, draw)
    x = [nmod(1, p)]
    for body, at in enumerate(positions):
        if mechanism.planar:
            x += [*at, R[body][0][0], R[body][0][1]]
        else:
            x += [*at, *(entry for column in R[body] for entry in column)]
    return PlacedPoint(numbers, mechanism.frames(numbers), x, turns + free - len(lengths))


class _Draw:
    def __init__(self, rng: random.Random, p: int):
        self.rng, self.p = rng, p

    def __call__(self) -> nmod:
        return nmod(self.rng.randrange(self.p), self.p)


# Orientations.


def _edges(
    mechanism: Mechanism, relations: Sequence[Mapping[str, Any]], joints: Sequence[Joint]
) -> list[_Edge]:
    found = []
    for relation in relations:
        one, two = (mechanism.number(body) for body in relation["bodies"])
        found.append(_Edge(0 if "rotation" in relation else 1, (one, two), relation=relation))
    for joint in joints:
        free = KINDS[joint.kind].free
        if free < (1 if mechanism.planar else 3):  # others do not restrict orientations
            found.append(_Edge(free, joint.bodies, joint=joint))
    return sorted(found, key=lambda edge: edge.free)


def _orientations(
    mechanism: Mechanism,
    relations: Sequence[Mapping[str, Any]],
    joints: Sequence[Joint],
    numbers: Numbers,
    draw: _Draw,
) -> tuple[list[Columns], int]:
    """Of all bodies, the ground last; along a forest that prefers what restricts most.

    And how many angles were free.
    """
    count = len(mechanism.bodies)
    group = list(range(count + 1))
    forest: list[_Edge] = []
    chords: list[_Edge] = []
    for edge in _edges(mechanism, relations, joints):
        one, two = (group[k] for k in edge.bodies)
        (chords if one == two else forest).append(edge)
        group = [one if g == two else g for g in group]
    still = [[nmod(int(i == j), draw.p) for i in range(3)] for j in range(3)]
    found: dict[int, Columns] = {-1: still}
    left = list(forest)
    turns = sum(edge.free for edge in forest)
    while len(found) < count + 1:
        for edge in [e for e in left if (e.bodies[0] in found) != (e.bodies[1] in found)]:
            one, two = edge.bodies
            relative = _relative(edge, numbers, draw)
            if one in found and two not in found:
                found[two] = after(found[one], relative)
            elif two in found and one not in found:
                found[one] = after(found[two], back(relative))
        left = [e for e in left if e.bodies[0] not in found or e.bodies[1] not in found]
        if not any((e.bodies[0] in found) != (e.bodies[1] in found) for e in left):
            root = next((k for k in range(count) if k not in found), None)
            if root is not None:
                found[root] = _any(mechanism.planar, draw)
                turns += 1 if mechanism.planar else 3
    for edge in chords:
        if not _holds(edge, found, numbers):
            name = edge.joint.name if edge.joint else "a relation"
            raise UnconfirmedError(f"orientations in the loop through {name} must be solved for")
    return [found[k] for k in range(count)] + [found[-1]], turns


def _any(planar: bool, draw: _Draw) -> Columns:
    axis = [nmod(0, draw.p), nmod(0, draw.p), nmod(1, draw.p)]
    return about(axis if planar else [draw(), draw(), draw()], draw(), draw())


def _relative(edge: _Edge, numbers: Numbers, draw: _Draw) -> Columns:
    """The second's orientation seen from the first; random where it is free."""
    if edge.relation is not None:
        if "rotation" in edge.relation:
            rows = [[numbers.of(text) for text in row] for row in edge.relation["rotation"]]
            return back(rows)
        u, w = ([numbers.of(text) for text in axis] for axis in edge.relation["axes"])
        return after(about(u, draw(), draw()), bringing(w, u))
    assert edge.joint is not None
    one, two = edge.joint.axes
    if edge.free == 0:
        return [
            [
                sum(
                    (one[k][i] * two[k][j] / dot(one[k], one[k]) for k in "yz"),
                    one["x"][i] * two["x"][j] / dot(one["x"], one["x"]),
                )
                for i in range(3)
            ]
            for j in range(3)
        ]
    z1, z2 = one["z"], two["z"]
    if edge.free == 1:
        return after(about(z1, draw(), draw()), bringing(z2, z1))
    inner = after(bringing(z2, _perpendicular(z1, dot(z2, z2), draw)), about(z2, draw(), draw()))
    return after(about(z1, draw(), draw()), inner)


def _perpendicular(u: Sequence[nmod], square: nmod, draw: _Draw) -> list[nmod]:
    """A random vector across u of a given squared length; half of the draws have one."""
    e = cross(u, [draw(), draw(), draw()])
    f = cross(u, e)
    a = draw()
    b2 = (square - a * a * dot(e, e)) / dot(f, f)
    try:
        b = b2.sqrt()
    except DomainError:
        raise RedrawError from None
    return [a * x + b * y for x, y in zip(e, f, strict=True)]


def _holds(edge: _Edge, R: Mapping[int, Columns], numbers: Numbers) -> bool:
    one, two = (R[k] for k in edge.bodies)
    if edge.free == 0:
        relative = _relative(edge, numbers, None)  # type: ignore[arg-type]
        return list(map(list, after(one, relative))) == list(map(list, two))
    if edge.relation is not None:
        axes = [[numbers.of(text) for text in axis] for axis in edge.relation["axes"]]
    else:
        assert edge.joint is not None
        axes = [list(side["z"]) for side in edge.joint.axes]
    here, there = turned(one, axes[0]), turned(two, axes[1])
    return bool(dot(here, there) == 0) if edge.free == 2 else here == there


# Positions and lengths.


def _lengths(
    mechanism: Mechanism,
    relations: Sequence[Mapping[str, Any]],
    bound: Sequence[str],
    numbers: Numbers,
    draw: _Draw,
) -> list[str]:
    """Symbols in which all points are affine and on which no direction depends."""
    slots = [v for joint in mechanism.joints for k in ("axis", "reference") for v in joint[k]]
    slots += [axis for r in relations for axis in (*r.get("axes", ()), *r.get("rotation", ()))]
    fixed = {name for v in [*slots, mechanism.gravity] for text in v for name in names_of(text)}
    fixed |= set(bound)
    points = [text for joint in mechanism.joints for v in joint["at"] for text in v]
    for text in points:
        names = sorted(names_of(text) - fixed)
        a, b = ({n: draw() for n in names} for _ in range(2))
        zero = {n: 0 * x for n, x in a.items()}
        both = {n: a[n] + b[n] for n in names}
        try:
            f = [_with(numbers, values).of(text) for values in (a, b, both, zero)]
        except ZeroDivisionError:
            f = [draw() for _ in range(4)]
        if f[0] + f[1] != f[2] + f[3]:
            fixed |= set(names)
    moving = {
        name
        for joint in mechanism.joints
        for body, v in zip(joint["bodies"], joint["at"], strict=True)
        if body != "ground"
        for text in v
        for name in names_of(text)
    }
    every = {name for text in points for name in names_of(text)} - fixed
    return sorted(every, key=lambda name: (name in moving, name))


def _with(numbers: Numbers, values: Mapping[str, nmod]) -> Numbers:
    return Numbers(numbers.number, {**numbers.values, **values}, numbers.angles)


def _solved(
    mechanism: Mechanism,
    joints: Sequence[Joint],
    lengths: Sequence[str],
    numbers: Numbers,
    R: Sequence[Columns],
    draw: _Draw,
) -> tuple[Numbers, list[list[nmod]], int]:
    """Symbols and positions that close all joints at these orientations; how many were free."""
    size, count = (2 if mechanism.planar else 3), len(mechanism.bodies)
    nothing = {name: nmod(0, draw.p) for name in lengths}
    base = mechanism.frames(_with(numbers, nothing))
    slopes = [
        mechanism.frames(_with(numbers, {**nothing, name: nmod(1, draw.p)})) for name in lengths
    ]
    first = size * count
    width = first + len(lengths) + 1
    rows = []
    for k, joint in enumerate(base):
        gap = [[nmod(0, draw.p)] * width for _ in range(3)]
        arms = [_arm(joint, R)] + [less(_arm(s[k], R), _arm(joint, R)) for s in slopes]
        for i in range(size):
            for sign, body in ((1, joint.bodies[1]), (-1, joint.bodies[0])):
                if body >= 0:
                    gap[i][size * body + i] = nmod(sign, draw.p)
        for i in range(3):
            gap[i][-1] = arms[0][i]
            for j in range(len(lengths)):
                gap[i][first + j] = arms[1 + j][i]
        rows += _locked(mechanism, joints[k], gap, R)
    free = [draw() for _ in range(width - 1)]
    solution, rank = _solve(rows, free, draw.p)
    zero = [name for name, x in zip(lengths, solution[first:], strict=True) if x == 0]
    if zero:
        raise UnconfirmedError(f"random orientations close only where {', '.join(zero)} vanish")
    positions = [solution[size * k : size * (k + 1)] for k in range(count)]
    solved = _with(numbers, dict(zip(lengths, solution[first:], strict=True)))
    return solved, positions, len(free) - rank


def _arm(joint: Joint, R: Sequence[Columns]) -> list[nmod]:
    """From the first's point to the second's, were both origins the same."""
    (one, two), (a, b) = joint.bodies, joint.at
    return less(turned(R[two], b), turned(R[one], a))


def _locked(
    mechanism: Mechanism, joint: Joint, gap: Sequence[Sequence[nmod]], R: Sequence[Columns]
) -> list[list[nmod]]:
    points, along = mechanism.locks(joint.kind)
    rows = [list(row) for row in gap[: 2 if mechanism.planar else 3]] if points else []
    for name in along:
        axis = turned(R[joint.bodies[0]], joint.axes[0][name])
        scaled = [sized(x, row) for x, row in zip(axis, gap, strict=True)]
        rows.append([a + b + c for a, b, c in zip(*scaled, strict=True)])
    return rows


def _solve(rows: Sequence[Sequence[nmod]], free: Sequence[nmod], p: int) -> tuple[list[nmod], int]:
    """A solution of rows · (x, 1) = 0 with given values where x is free; rank of the rows."""
    if not rows:
        return list(free), 0
    reduced, rank = nmod_mat(len(rows), len(rows[0]), [int(x) for r in rows for x in r], p).rref()
    table = reduced.tolist()[:rank]
    pivots = [next(k for k, x in enumerate(row) if x != 0) for row in table]
    if pivots and pivots[-1] == len(free):
        raise UnconfirmedError("the loops do not close at random orientations")
    x = list(free)
    for row, pivot in zip(table, pivots, strict=True):
        others = [row[k] * x[k] for k in range(pivot + 1, len(free)) if k not in pivots]
        x[pivot] = -sum(others, row[-1])
    return x, rank
