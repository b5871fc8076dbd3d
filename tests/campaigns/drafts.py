"""Bodies and joints of a random mechanism, placed where every joint closes at value zero."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import permutations, product
from operator import mul
from typing import Any

import numpy as np

from basepar_core.mechanism import JOINT_TYPES
from tests.mechanisms import C, E, F, P, R, Rows, S, U, _point, _rotation

Point = list[Fraction]
#: A joint's axes by its type; a point by the joint's place in its loop.
Frames = Callable[[str], Rows]
Points = Callable[[int], Point]

#: Freedoms of each type.
FREEDOMS = {name: one.values for name, one in JOINT_TYPES.items() if one.spatial}


def _cube() -> list[Rows]:
    """Rotations that map the axes onto each other."""
    found = []
    for p in permutations(range(3)):
        for signs in product((1, -1), repeat=3):
            rows = [[s if c == k else 0 for c in range(3)] for k, s in zip(p, signs, strict=True)]
            if np.linalg.det(np.array(rows)) > 0:
                found.append([[Fraction(x) for x in row] for row in rows])
    return found


CUBE = _cube()
IDENTITY = [[Fraction(int(i == j)) for j in range(3)] for i in range(3)]


@dataclass
class Placed:
    """A joint in the world at zero: axes as columns x, y, z of F, and its point."""

    kind: str
    first: str
    second: str
    F: Rows
    at: Point


@dataclass
class Draft:
    """A mechanism on its way."""

    rng: np.random.Generator
    planar: bool
    style: dict[str, str]
    joints: list[Placed] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)

    def pick(self, *options: Any, weights: Sequence[float] | None = None) -> Any:
        p = None if weights is None else np.array(weights) / sum(weights)
        return options[int(self.rng.choice(len(options), p=p))]

    def body(self) -> str:
        self.bodies.append(f"b{len(self.bodies) + 1}")
        return self.bodies[-1]

    def point(self) -> Point:
        if self.style["points"] == "coarse":
            at = [Fraction(int(k), 2) for k in self.rng.integers(-1, 2, 3)]
        else:
            at = _point(self.rng)
        return [*at[:2], Fraction(0)] if self.planar else at

    def axes(self, kind: str) -> Rows:
        """A joint's axes, by the mechanism's style."""
        if self.planar:
            turn = self.turn()
            if kind != P:
                return turn
            return [[turn[r][1], turn[r][2], turn[r][0]] for r in range(3)]  # z in the plane
        match self.style["axes"]:
            case "grid":
                return self.pick(*CUBE)
            case "parallel":
                turn = self.turn() if self.style["bodies"] == "skew" else IDENTITY
                if kind in (P,):  # slides across, sometimes along
                    return [[turn[r][1], turn[r][2], turn[r][0]] for r in range(3)]
                return turn
        return _rotation(self.rng)

    def turn(self) -> Rows:
        """A rotation about z with rational entries."""
        m, n = self.pick((1, 0), (2, 1), (3, 2), (4, 1), (1, 1))
        c, s = Fraction(m * m - n * n, m * m + n * n), Fraction(2 * m * n, m * m + n * n)
        one, zero = Fraction(1), Fraction(0)
        return [[c, -s, zero], [s, c, zero], [zero, zero, one]]

    def add(
        self, kind: str, first: str, second: str, F: Rows | None = None, at: Point | None = None
    ):
        self.joints.append(
            Placed(kind, first, second, F or self.axes(kind), self.point() if at is None else at)
        )


def tree(draft: Draft, count: int, parents: list[str]) -> list[str]:
    parents = list(parents)
    made = []
    for _ in range(count):
        kinds = (R, P, E, F) if draft.planar else (R, P, C, U, S, E, F)
        weights = (6, 3, 1, 0.3) if draft.planar else (6, 3, 1, 1, 1, 1, 0.3)
        kind = draft.pick(*kinds, weights=weights)
        parent, body = draft.pick(*parents), draft.body()
        draft.add(kind, parent, body)
        parents.append(body)
        made.append(body)
    return made


def closed_loop(draft: Draft, base: str) -> list[str]:
    """One loop through `base`; its moving bodies."""
    if draft.planar:
        makers = [_planar_loop, _parallelogram]
        weights = [0.6, 0.4]
    else:
        makers = [_skew_loop, _planar_loop, _parallelogram, _spherical_loop, _sarrus]
        weights = [0.35, 0.25, 0.15, 0.15, 0.1]
    return draft.pick(*makers, weights=weights)(draft, base)


def _ring(
    draft: Draft, base: str, kinds: Sequence[str], frames: Frames, points: Points
) -> list[str]:
    names = [base, *(draft.body() for _ in kinds[1:]), base]
    for k, kind in enumerate(kinds):
        one, two = names[k], names[k + 1]
        if draft.rng.uniform() < 0.3:
            one, two = two, one
        draft.add(kind, one, two, frames(kind), points(k))
    return names[1:-1]


def _skew_loop(draft: Draft, base: str) -> list[str]:
    want = 6 + int(draft.rng.integers(1, 3))
    kinds: list[str] = []
    while sum(FREEDOMS[k] for k in kinds) < want:
        left = want - sum(FREEDOMS[k] for k in kinds)
        kinds.append(draft.pick(*[k for k in (R, R, P, C, U, S, E) if FREEDOMS[k] <= left]))
    return _ring(draft, base, kinds, draft.axes, lambda k: draft.point())


def _flat(draft: Draft) -> tuple[Frames, Callable[[Fraction, Fraction], Point]]:
    """Frames and points of a loop that moves in a plane across z, which may be turned."""
    world = IDENTITY if draft.planar or draft.style["bodies"] != "skew" else _rotation(draft.rng)

    def frames(kind: str) -> Rows:
        turn = draft.turn()
        if kind == P:
            turn = [[turn[r][1], turn[r][2], turn[r][0]] for r in range(3)]
        return _times(world, turn)

    def placed(x: Fraction, y: Fraction) -> Point:
        z = Fraction(0) if draft.planar else Fraction(int(draft.rng.integers(-2, 3)), 4)
        return [
            sum((world[i][k] * v for k, v in enumerate((x, y, z))), Fraction(0)) for i in range(3)
        ]

    return frames, placed


def _planar_loop(draft: Draft, base: str) -> list[str]:
    count = 3 + int(draft.rng.integers(1, 3))
    kinds = [draft.pick(R, R, R, P) for _ in range(count)]
    if kinds.count(P) > 2:
        kinds[0] = kinds[1] = R
    if not draft.planar and draft.rng.uniform() < 0.2:
        kinds[-1] = draft.pick(S, C, U)
    frames, placed = _flat(draft)
    spots = {(int(x), int(y)) for x, y in draft.rng.integers(-2, 3, (count, 2))}
    while len(spots) < count:
        spots.add(tuple(int(v) for v in draft.rng.integers(-3, 4, 2)))  # type: ignore[arg-type]
    order = [sorted(spots)[i] for i in draft.rng.permutation(count)]
    return _ring(
        draft,
        base,
        kinds,
        frames,
        lambda k: placed(Fraction(order[k][0], 4), Fraction(order[k][1], 4)),
    )


def _parallelogram(draft: Draft, base: str) -> list[str]:
    frames, placed = _flat(draft)
    u, v = (
        [Fraction(int(x), 4) for x in pair]
        for pair in draft.pick(((1, 2), (3, 0)), ((0, 2), (3, 1)), ((2, 1), (-1, 2)))
    )
    a = [Fraction(int(x), 4) for x in draft.rng.integers(-1, 2, 2)]
    corners = [
        a,
        [a[0] + u[0], a[1] + u[1]],
        [a[0] + u[0] + v[0], a[1] + u[1] + v[1]],
        [a[0] + v[0], a[1] + v[1]],
    ]
    return _ring(draft, base, [R] * 4, frames, lambda k: placed(*corners[k]))


def _spherical_loop(draft: Draft, base: str) -> list[str]:
    centre = draft.point()
    count = draft.pick(4, 5)
    return _ring(draft, base, [R] * count, lambda kind: _rotation(draft.rng), lambda k: centre)


def _sarrus(draft: Draft, base: str) -> list[str]:
    """Three parallel hinges and three others across: the platform slides straight."""
    x_axis = [[Fraction(v) for v in row] for row in ((0, 0, 1), (1, 0, 0), (0, 1, 0))]
    y_axis = [[Fraction(v) for v in row] for row in ((0, 1, 0), (0, 0, 1), (1, 0, 0))]
    order = iter([x_axis] * 3 + [y_axis] * 3)
    return _ring(draft, base, [R] * 6, lambda kind: next(order), lambda k: draft.point())


def _times(A: Rows, B: Rows) -> Rows:
    columns = list(zip(*B, strict=True))
    return [[sum(map(mul, row, column), Fraction(0)) for column in columns] for row in A]
