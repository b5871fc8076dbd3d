"""Dependences between columns of W, read off at random points of the family over finite fields."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import nmod, nmod_mat

from basepar_core.errors import FamilyError
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import GeometryField

from .arithmetic import Draw
from .evaluation import Evaluator
from .family_component import Component, start
from .lengths import exact_number
from .motion import Motion
from .random_points import Point, field_for
from .seeds import seed_of

#: Points without the expected number of dependences after which the search gives up.
BAD_POINTS = 20

#: A coefficient: parameter it belongs to, and the pivot of its vector.
Place = tuple[int, int]


@dataclass(frozen=True)
class Search:
    """What is looked for: `missing` dependences among the columns `kept`.

    Attributes
    ----------
    component, field
        Where points come from, and where entries live (of the component's own mechanism).
    kept
        Parameters that the known vectors do not eliminate.
    missing
        Null vectors on them.
    orders
        Of the series whose rows have the generic rank.
    seed
        Of everything random.
    """

    component: Component
    field: GeometryField
    kept: tuple[int, ...]
    missing: int
    orders: int
    seed: int


def degree(mechanism: Mechanism, k: int) -> int:
    """Degree of a parameter in lengths: mass 0, first moments 1, second moments 2."""
    kind = mechanism.parameter_names[k].rsplit(".", 1)[1]
    return {"m": 0, "mx": 1, "my": 1, "mz": 1}.get(kind, 2)


class Table:
    """Dependences at random points, over one prime after another.

    Attributes
    ----------
    pivots
        Parameters that are written as combinations of the others kept: those that leave fewest
        coefficients that vary with the geometry.
    """

    def __init__(self, search: Search, pivots: tuple[int, ...] | None = None):
        self.search = search
        self.draws: list[Draw] = []
        self.count = 0
        self.pivots = pivots or self._chosen()
        self.samples: list[list[tuple[list[nmod], dict[Place, nmod]]]] = []
        self.values(0, 2, (-1, -1))

    def draw(self, place: int) -> Draw:
        """Random elements over the first, second, … prime."""
        while len(self.draws) <= place:
            family = self.search.component.family
            seed = seed_of(family.mechanism, "dependences", self.search.seed)
            rng = np.random.default_rng([seed, len(self.draws)])
            self.draws.append(field_for(family, rng))
        return self.draws[place]

    def dependences(self, component: Component, draw: Draw) -> tuple[list[nmod], nmod_mat]:
        """Values of the generators at a random point, and the null space of the columns kept.

        Raises
        ------
        FamilyError
            The null space has another dimension at one point after another.
        """
        search = self.search
        for _ in range(BAD_POINTS):
            point, motion = start(component.family, draw)
            if motion.freedoms != component.freedoms:
                continue
            space, nullity = _null_space(motion, search.orders, search.kept)
            if nullity == search.missing:
                self.count += 1
                return _generators(search.field, point), space
        raise FamilyError("Random points do not have the generic rank.")

    def _chosen(self) -> tuple[int, ...]:
        """Pivots by exchange of one at a time, while it makes the vectors simpler."""
        kept = self.search.kept
        every = range(len(kept))
        spaces = [self.dependences(self.search.component, self.draw(0))[1] for _ in range(2)]
        best: tuple[int, tuple[int, ...]] | None = None
        while True:
            start = best
            chosen = best[1] if best else ()
            trials = [
                (k, *(c for c in chosen if c != out)) for out in chosen or (-1,) for k in every
            ]
            for trial in trials:
                order = [*trial, *(k for k in every if k not in trial)]
                one, two = (_echelon(space, order) for space in spaces)
                if one[0] == two[0]:
                    cost = self._cost(one[0], one[1], two[1])
                    if best is None or cost < best[0]:
                        best = cost, one[0]
            if best is None:
                raise FamilyError("Random points do not have the same dependences.")
            if best == start:
                return tuple(sorted(kept[k] for k in best[1]))

    def _cost(self, pivots: tuple[int, ...], one: nmod_mat, two: nmod_mat) -> int:
        """Many constants, few entries; a mass as pivot leaves no denominators."""
        mechanism = self.search.component.family.mechanism
        entries = list(zip(one.entries(), two.entries(), strict=True))
        varying = sum(int(x) != int(y) for x, y in entries)
        present = sum(int(x) != 0 for x, _ in entries)
        return (
            10 * varying
            + present
            + 8 * sum(degree(mechanism, self.search.kept[k]) for k in pivots)
        )

    def reduced(self, space: nmod_mat) -> dict[Place, nmod] | None:
        """Coefficients by (kept, pivot); None where the pivots depend on each other."""
        kept = self.search.kept
        first = [kept.index(k) for k in self.pivots]
        order = [*first, *(k for k in range(len(kept)) if k not in first)]
        pivots, rows = _echelon(space, order)
        if pivots != tuple(first):
            return None
        return {
            (kept[order[j]], pivot): rows[i, j]
            for i, pivot in enumerate(self.pivots)
            for j in range(len(first), len(order))
        }

    def values(
        self, place: int, count: int, entry: Place
    ) -> tuple[int, list[tuple[list[nmod], nmod]]]:
        """Values of a coefficient at so many points over one prime; see `fitting.Source`."""
        draw = self.draw(place)
        while len(self.samples) <= place:
            self.samples.append([])
        while len(self.samples[place]) < count:
            generators, space = self.dependences(self.search.component, draw)
            found = self.reduced(space)
            if found is not None:
                self.samples[place].append((generators, found))
        zero = nmod(0, draw.prime)
        return draw.prime, [
            (g, found.get(entry, zero)) for g, found in self.samples[place][:count]
        ]

    def is_nonzero(self, place: Place) -> bool:
        return any(x != 0 for _, x in self.values(0, 2, place)[1])

    def is_constant(self, place: Place) -> bool:
        one, two = (x for _, x in self.values(0, 2, place)[1])
        return bool(one == two)


def _null_space(motion: Motion, orders: int, kept: Sequence[int]) -> tuple[nmod_mat, int]:
    """Dependences of the columns kept: (dependence, kept), and how many."""
    columns = motion.coefficient_matrix(orders)
    width = columns.ncols()
    flat = [int(columns[k, i]) for i in range(width) for k in kept]
    space, nullity = nmod_mat(width, len(kept), flat, motion.prime).nullspace()
    flat = [int(space[i, k]) for k in range(nullity) for i in range(len(kept))]
    return nmod_mat(nullity, len(kept), flat, motion.prime), nullity


def _generators(field: GeometryField, point: Point) -> list[nmod]:
    evaluator = Evaluator(exact_number(point.prime), point.values, point.angles)
    return [evaluator.scalar(x) for x in field.generators]


def _echelon(space: nmod_mat, order: Sequence[int]) -> tuple[tuple[int, ...], nmod_mat]:
    """Pivot columns (as places among the kept), and reduced rows with columns in this order."""
    rows = space.nrows()
    flat = [int(space[i, k]) for i in range(rows) for k in order]
    reduced, _ = nmod_mat(rows, len(order), flat, space.modulus()).rref()
    pivots = []
    for i in range(rows):
        pivots.append(next(order[j] for j in range(len(order)) if reduced[i, j] != 0))
    return tuple(pivots), reduced
