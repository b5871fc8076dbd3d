"""Orientations of all bodies at random, as the joints allow.

The graph of what restricts relative orientation (prismatic and fixed joints fully, one axis in
common, universal joints) is spanned most restrictive first; along the forest every orientation
is a rational function of free quaternions (a, b u) about the hinges. An edge outside the forest
often holds by itself (parallel axes, planar loops in space); where it does not, the last hinges
of its loop are solved for: a quadratic, so half of the draws have no root in the field. Where
every draw has one, the closure splits into two components and is rejected.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from basepar_core.errors import FamilyError
from basepar_core.symbolic import dot, product, times, transpose

from .arithmetic import (
    IDENTITY,
    Draw,
    Matrix,
    Scalar,
    Vec,
    aligning,
    quadratic_root,
    rotation,
    turning_onto,
    turns_to_component,
)
from .frames import JointFrames


class RedrawError(Exception):
    """This draw has no point over this field; another may."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Two bodies (−1: ground) whose relative orientation is restricted.

    `source` is the joint's number, or of a detected relation ~number (negative).
    """

    first: int
    second: int
    freedoms: int
    source: int
    name: str


class Part(NamedTuple):
    """One factor of a relative rotation: fixed, or about a hinge's axis by a free angle."""

    fixed: Matrix | None
    axis: Vec | None = None
    hinge: tuple[int, int] = (-1, 0)
    sign: int = 1


@dataclass(frozen=True)
class Forest:
    """Spanning forest of the orientation graph.

    Attributes
    ----------
    edges
        All edges.
    steps
        In order of use: (edge or −1 for a free root, body near, body far).
    chords
        Edges outside the forest.
    above
        Per body the step that reaches it.
    """

    edges: tuple[Edge, ...]
    steps: tuple[tuple[int, int, int], ...]
    chords: tuple[int, ...]

    @property
    def above(self) -> dict[int, tuple[int, int, int]]:
        return {step[2]: step for step in self.steps}


def span(edges: Sequence[Edge], bodies: int) -> Forest:
    """Kruskal's forest, most restrictive edges first, detected relations before joints."""
    group = [*range(bodies), -1]

    def root(k: int) -> int:
        while group[k] != k:
            k = group[k]
        return k

    order = sorted(range(len(edges)), key=lambda k: (edges[k].freedoms, edges[k].source >= 0, k))
    kept = []
    for k in order:
        one, two = root(edges[k].first), root(edges[k].second)
        if one != two:
            group[max(one, two)] = min(one, two)  # the ground stays the root of its tree
            kept.append(k)
    chords = tuple(k for k in order if k not in kept)
    return Forest(tuple(edges), tuple(_steps(edges, kept, bodies)), chords)


def _steps(edges: Sequence[Edge], kept: Sequence[int], bodies: int) -> list[tuple[int, int, int]]:
    reached, waiting, steps = {-1}, sorted(kept), []
    while len(reached) <= bodies:
        k = next((k for k in waiting if reached & {edges[k].first, edges[k].second}), None)
        if k is None:
            free = min(set(range(bodies)) - reached)
            steps.append((-1, -1, free))
            reached.add(free)
            continue
        waiting.remove(k)
        near, far = edges[k].first, edges[k].second
        if near not in reached:
            near, far = far, near
        steps.append((k, near, far))
        reached.add(far)
    return steps


@dataclass
class Closing:
    """What was learnt about square roots.

    Per chord that needs one, draws with and without it; universal joints that start from one.
    """

    with_root: dict[int, int] = field(default_factory=dict)
    without: dict[int, int] = field(default_factory=dict)
    starts: set[int] = field(default_factory=set)


class Orientation:
    """Orientations of one draw.

    Attributes
    ----------
    R
        Per body, the ground last.
    freedoms
        Number of independent parameters they were drawn from.
    """

    def __init__(
        self,
        forest: Forest,
        frames: Sequence[JointFrames],
        fixed: Sequence[Matrix | tuple[Vec, Vec]],
        draw: Draw,
        planar: bool,
        closing: Closing,
    ):
        self.forest, self.draw, self.closing = forest, draw, closing
        self.frames, self.detected = frames, fixed
        self.parts = [self._parts(k, edge) for k, edge in enumerate(forest.edges)]
        self.angle: dict[tuple[int, int], tuple[Scalar, Scalar]] = {
            part.hinge: (draw(), draw())
            for parts in self.parts
            for part in parts
            if part.axis is not None
        }
        used = {step[0] for step in forest.steps}
        self.freedoms = sum(forest.edges[k].freedoms for k in used if k >= 0)
        self.roots: dict[int, Matrix] = {}
        for k, _, body in forest.steps:
            if k < 0:
                self.freedoms += 1 if planar else 3
                axis = IDENTITY[2] if planar else draw.vector()
                self.roots[body] = rotation(axis, draw(), draw())
        self._place()
        self._close()

    # Relative rotations of the edges.

    def _parts(self, k: int, edge: Edge) -> list[Part]:
        if edge.source < 0:
            relation = self.detected[~edge.source]
            if len(relation) == 3:
                return [Part(relation)]
            u, w = relation
            return [Part(None, u, (k, 0)), Part(aligning(u, w))]
        joint = self.frames[edge.source]
        u, w = joint.axes[0].z, joint.axes[1].z
        if edge.freedoms == 0:
            return [Part(joint.relative())]
        if edge.freedoms == 1:
            return [Part(None, u, (k, 0)), Part(aligning(u, w))]
        return [Part(None, u, (k, 0)), Part(self._across(k, u, w)), Part(None, w, (k, 1))]

    def _across(self, edge: int, u: Vec, w: Vec) -> Matrix:
        """Some rotation C with u · C w = 0: where to start a universal joint from.

        All orientations of the joint are reached from any such start, so that a square root
        here is no restriction.
        """
        if dot(u, w) == 0:
            return tuple(tuple(x + 0 * u[0] for x in row) for row in IDENTITY)  # type: ignore[return-value]
        self.closing.starts.add(edge)
        for _ in range(60):  # each has a root with probability 1/2
            k = self.draw.vector()
            found = quadratic_root(*turns_to_component(k, u, w, 0), 1)
            if found is not None:
                return rotation(k, *found)
        raise RedrawError

    def _matrix(self, part: Part) -> Matrix:
        if part.axis is None:
            assert part.fixed is not None
            return transpose(part.fixed) if part.sign < 0 else part.fixed
        a, b = self.angle[part.hinge]
        return rotation(part.axis, a, part.sign * b)

    def _over(self, parts: Sequence[Part]) -> Matrix:
        result: Matrix | None = None
        for part in parts:
            matrix = self._matrix(part)
            result = matrix if result is None else product(result, matrix)
        return IDENTITY if result is None else result

    def _walk(self, k: int, near: int) -> list[Part]:
        """Factors of an edge from one of its bodies to the other."""
        if self.forest.edges[k].first == near:
            return self.parts[k]
        return [part._replace(sign=-part.sign) for part in reversed(self.parts[k])]

    def _place(self) -> None:
        bodies = len(self.forest.steps)
        self.R: list[Matrix] = [IDENTITY] * (bodies + 1)
        for k, near, far in self.forest.steps:
            if k < 0:
                self.R[far] = self.roots[far]
            else:
                self.R[far] = product(self.R[near], self._over(self._walk(k, near)))

    # Chords.

    def _close(self) -> None:
        locked: set[tuple[int, int]] = set()
        for k in self.forest.chords:
            edge = self.forest.edges[k]
            parts = self._between(edge.first, edge.second)
            if not self._holds(k):
                self._solve(k, parts, locked)
                self._place()
                if not self._holds(k):
                    raise RedrawError
                self.freedoms -= 3 - edge.freedoms
                locked |= {part.hinge for part in parts}

    def _holds(self, k: int) -> bool:
        """Whether the relative orientation of a chord is one that its joint allows."""
        edge = self.forest.edges[k]
        relative = product(transpose(self.R[edge.first]), self.R[edge.second])
        if edge.freedoms == 2:
            u, w = self.parts[k][0].axis, self.parts[k][2].axis
            assert u is not None
            assert w is not None
            return dot(u, times(relative, w)) == 0
        if edge.freedoms == 1:
            u, aligned = self.parts[k][0].axis, self.parts[k][1].fixed
            assert u is not None
            assert aligned is not None
            w = times(transpose(aligned), u)
            return all(x == y for x, y in zip(times(relative, w), u, strict=True))
        target = self._matrix(self.parts[k][0])
        return all(
            x == y
            for one, two in zip(relative, target, strict=True)
            for x, y in zip(one, two, strict=True)
        )

    def _between(self, first: int, second: int) -> list[Part]:
        """Factors of the relative rotation of two bodies along the forest."""
        above = self.forest.above

        def way(body: int) -> list[tuple[int, int, int]]:
            found = []
            while body >= 0:
                found.append(above[body])
                body = above[body][1]
            return found

        up, down = way(first), way(second)
        while up and down and up[-1] == down[-1]:
            up.pop()
            down.pop()
        parts = [part for k, _, far in up for part in self._walk(k, far)]
        return parts + [part for k, near, _ in reversed(down) for part in self._walk(k, near)]

    def _solve(self, k: int, parts: list[Part], locked: set[tuple[int, int]]) -> None:
        """Turn as many hinges of a loop as its chord locks freedoms."""
        edge = self.forest.edges[k]
        free = [
            i for i, part in enumerate(parts) if part.axis is not None and part.hinge not in locked
        ]
        for chosen in combinations(reversed(free), 3 - edge.freedoms):
            try:
                if self._turn(k, parts, sorted(chosen)):
                    return
            except ZeroDivisionError:
                continue
        raise FamilyError(
            f"The orientations of the loop closed by {edge.name!r} cannot be solved for: it "
            f"shares its hinges with other loops, or has too few of them in different directions."
        )

    def _turn(self, k: int, parts: list[Part], chosen: list[int]) -> bool:
        """Solve for the chosen hinges; False where they cannot change what is asked."""
        edge, own = self.forest.edges[k], self.parts[k]
        before = self._over(parts[: chosen[0]])
        after = self._over(parts[chosen[-1] + 1 :])
        if edge.freedoms == 2:
            assert own[0].axis is not None
            assert own[2].axis is not None
            u, w = times(transpose(before), own[0].axis), times(after, own[2].axis)
            return self._to_component(k, parts[chosen[0]], u, w, 0)
        middle = self._over(parts[chosen[0] + 1 : chosen[1]])
        one, two = parts[chosen[0]], parts[chosen[1]]
        if edge.freedoms == 1:
            assert own[0].axis is not None
            assert own[1].fixed is not None
            target = times(transpose(before), own[0].axis)
            w = times(transpose(own[1].fixed), own[0].axis)
            return self._aim(k, one, middle, two, times(after, w), target)
        three = parts[chosen[2]]
        last = self._over(parts[chosen[1] + 1 : chosen[2]])
        assert three.axis is not None
        wanted = product(product(transpose(before), self._matrix(own[0])), transpose(after))
        aim = times(wanted, three.axis)
        if not self._aim(k, one, middle, two, times(last, three.axis), aim):
            return False
        outer = product(product(product(self._matrix(one), middle), self._matrix(two)), last)
        left = product(transpose(outer), wanted)
        probe = next(e for e in IDENTITY if any(x != 0 for x in _off(e, three.axis)))
        self._set(three, turning_onto(three.axis, probe, times(left, probe)))
        return True

    def _aim(self, k: int, one: Part, middle: Matrix, two: Part, vector: Vec, target: Vec) -> bool:
        """Turn two hinges so that Rot₁ · middle · Rot₂ · vector = target."""
        assert one.axis is not None
        seen = times(transpose(middle), one.axis)
        if not self._to_component(k, two, seen, vector, dot(one.axis, target)):
            return False
        moved = times(middle, times(self._matrix(two), vector))
        self._set(one, turning_onto(one.axis, moved, target))
        return True

    def _to_component(self, k: int, part: Part, u: Vec, w: Vec, e: Scalar) -> bool:
        """Turn one hinge so that u · Rot w = e."""
        assert part.axis is not None
        form = turns_to_component(part.axis, u, w, e)
        if all(x == 0 for x in form):
            return False
        sign = 1 if int(self.draw()) & 1 else -1
        found = quadratic_root(*form, sign)
        tally = self.closing.without if found is None else self.closing.with_root
        tally[k] = tally.get(k, 0) + 1
        if found is None:
            raise RedrawError
        self._set(part, found)
        return True

    def _set(self, part: Part, angle: tuple[Scalar, Scalar]) -> None:
        self.angle[part.hinge] = (angle[0], part.sign * angle[1])


def _off(e: Vec, axis: Vec) -> Vec:
    """e × axis; zero where parallel."""
    return (
        e[1] * axis[2] - e[2] * axis[1],
        e[2] * axis[0] - e[0] * axis[2],
        e[0] * axis[1] - e[1] * axis[0],
    )
