"""Exact β at rational lengths, by several primes.

All lengths of bodies are prescribed; ground points, which β does not contain, stay free and
close the loops. Rows reduced modulo a prime give β there; residues over several primes give
rational numbers, accepted once a further prime agrees (decision 12).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import nmod_mat

from basepar_core.dynamics import Model
from basepar_core.errors import EliminationError, ExpressionError, FamilyError, wrong_count
from basepar_core.mechanism import Mechanism

from .evaluation import Evaluator
from .family import Family, symbols_of_bodies
from .family_component import Component, find_component, start
from .motion import Motion
from .random_points import field_for
from .rank import generic_rank
from .reconstruction import combine, rational
from .seeds import seed_of

#: Primes until reconstruction must have settled; heights met are below a tenth of their bits.
MOST_PRIMES = 60


@dataclass(frozen=True)
class ExactBeta:
    """φ₁ + β φ₂ at rational lengths.

    Attributes
    ----------
    kept, eliminated
        φ₁ and φ₂ by index of the parameters.
    entries
        Nonzero entries by (kept parameter, eliminated parameter).
    values
        Prescribed symbols; for an angle the tangent of its half.
    seeds, primes
        Of the points; the last prime was not used for reconstruction and agrees.
    """

    kept: tuple[int, ...]
    eliminated: tuple[int, ...]
    entries: Mapping[tuple[int, int], Fraction]
    values: Mapping[str, Fraction]
    seeds: tuple[tuple[int, ...], ...]
    primes: tuple[int, ...]


def exact_beta(
    model: Model,
    eliminated: Sequence[int],
    values: Mapping[str, Fraction] | None = None,
    seed: int = 0,
) -> ExactBeta:
    """β at rational lengths.

    Parameters
    ----------
    model
        The mechanism, assembled.
    eliminated
        φ₂ by index.
    values
        Symbols' values, SI; for an angle the tangent of its half. Others are nominal. Those that
        occur in ground points only are ignored.
    seed
        Of everything random.

    Raises
    ------
    FamilyError
        The family has no points that we know how to find, or not at these lengths.
    EliminationError
        φ₂ is not admissible.
    """
    solver = BetaSolver(model, seed)
    given = prescription(solver.component.family, model.mechanism, values or {})
    return solver.at(given, eliminated)


def prescription(
    family: Family, mechanism: Mechanism, values: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Values of all symbols that β may contain.

    Raises
    ------
    FamilyError
        A nominal value that is needed is not rational, or an algebraic number's is no root.
    """
    bound = {root.symbol for root in family.roots}
    carried = symbols_of_bodies(mechanism)
    lengths = [name for name in family.unknowns if name in carried]
    wanted = [*family.directions, *family.angles, *bound, *lengths]
    symbols = {s.name: s for s in (*mechanism.geometry, *mechanism.constants)}
    exact = Evaluator(lambda value: value, {}, {})
    found: dict[str, Fraction] = {}
    for name in wanted:
        try:
            if name in values:
                found[name] = Fraction(values[name])
            elif symbols[name].is_angle:
                raise ExpressionError("an angle")
            else:
                found[name] = exact.scalar(symbols[name].value)
        except ExpressionError:
            raise FamilyError(
                f"β at rational lengths needs a rational value of {name!r} (of an angle, the "
                f"tangent of its half); its nominal value is none."
            ) from None
    for root in family.roots:
        at = Evaluator(lambda value: value, {**family.constants, **found}, {})
        powers = [found[root.symbol] ** k for k in range(len(root.coefficients))]
        if sum(at.scalar(c) * x for c, x in zip(root.coefficients, powers, strict=True)) != 0:
            raise FamilyError(
                f"{root.symbol} = {found[root.symbol]} is no root of its relation at these values."
            )
    return found


class BetaSolver:
    """β of one mechanism at any rational lengths.

    Attributes
    ----------
    component
        Of the family with all symbols free.
    generic, rank
        Its generic rank, which every prescription must have too.
    """

    def __init__(self, model: Model, seed: int = 0):
        self.model, self.seed = model, seed_of(model.mechanism, "β", seed)
        self.component = find_component(model, seed)
        self.generic = generic_rank(model, seed, component=self.component)
        self.rank, self.orders = self.generic.rank, max(self.generic.order_of_stall)

    def at(self, values: Mapping[str, Fraction], eliminated: Sequence[int]) -> ExactBeta:
        """β at prescribed values."""
        narrow = self.narrowed(values)
        kept, left = self.split(eliminated)
        residues: list[dict[tuple[int, int], int]] = []
        primes: list[int] = []
        seeds: list[tuple[int, ...]] = []
        guess: dict[tuple[int, int], Fraction] | None = None
        while len(primes) < MOST_PRIMES:
            seeds.append((self.seed, 5, len(seeds)))
            prime, table = self.modulo(narrow, kept, left, seeds[-1])
            if guess is not None and _agrees(guess, table, prime):
                entries = {place: x for place, x in guess.items() if x != 0}
                return ExactBeta(kept, left, entries, dict(values), tuple(seeds), (*primes, prime))
            residues.append(table)
            primes.append(prime)
            guess = _reconstructed(residues, primes)
        raise FamilyError(
            f"β at these lengths has entries of more than {30 * MOST_PRIMES} bits; round the "
            f"lengths to shorter fractions."
        )

    @cached_property
    def _member(self) -> nmod_mat:
        """Columns (parameter, row) of a random member, which has the generic rank."""
        draw = field_for(self.component.family, np.random.default_rng([self.seed, 7]))
        while True:
            _, motion = start(self.component.family, draw)
            if motion.freedoms == self.component.freedoms:
                return motion.coefficient_matrix(self.orders)

    def admissible(self, suggested: Sequence[int]) -> tuple[int, ...]:
        """A φ₂ that is admissible, close to one that is suggested.

        Of the others what depends on those before it goes too, masses last; of those suggested
        what depends on nothing stays.
        """
        count, columns = len(self.model.mechanism.parameter_names), self._member
        mass = {k for k, n in enumerate(self.model.mechanism.parameter_names) if n[-2:] == ".m"}
        order = sorted(range(count), key=lambda k: (k in set(suggested), k in mass, k))
        rows = nmod_mat(
            columns.ncols(),
            count,
            [int(columns[j, i]) for i in range(columns.ncols()) for j in order],
            columns.modulus(),
        )
        reduced, rank = rows.rref()
        pivots = {order[next(k for k in range(count) if reduced[i, k] != 0)] for i in range(rank)}
        return tuple(k for k in range(count) if k not in pivots)

    def split(self, eliminated: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """φ₁ and φ₂; parameters without effect go whether or not they are named."""
        columns = self._member
        count, width = columns.nrows(), range(columns.ncols())
        silent = {k for k in range(count) if all(columns[k, i] == 0 for i in width)}
        left = tuple(sorted({*eliminated, *silent}))
        kept = tuple(k for k in range(count) if k not in left)
        if len(kept) != self.rank:
            raise wrong_count(self.model.mechanism.parameter_names, left, silent, self.rank)
        return kept, left

    def narrowed(self, values: Mapping[str, Fraction]) -> Component:
        """The component with values prescribed.

        Raises
        ------
        FamilyError
            Only numbers of moving bodies could close it, or the rank is another there.
        """
        relations = self.component.family.relations
        narrow = find_component(self.model, self.seed, values, relations)
        if narrow.family.freed_on_bodies or narrow.family.relations != relations:
            raise FamilyError(
                f"With its lengths prescribed {self.model.mechanism.name!r} does not close over "
                f"finite fields: its ground points leave too little free."
            )
        rank = generic_rank(self.model, self.seed, component=narrow).rank
        if rank != self.rank:
            raise FamilyError(
                f"With its lengths prescribed and its ground points free "
                f"{self.model.mechanism.name!r} has rank {rank}, generically it has {self.rank}: "
                f"its ground points carry structure, or these lengths are special."
            )
        return narrow

    def modulo(
        self,
        narrow: Component,
        kept: Sequence[int],
        eliminated: Sequence[int],
        seed: tuple[int, ...],
    ) -> tuple[int, dict[tuple[int, int], int]]:
        """A prime, and β's entries modulo it at a random member of a component.

        Raises
        ------
        EliminationError
            φ₂ is not admissible: the columns of φ₁ depend on each other.
        """
        draw = field_for(narrow.family, np.random.default_rng(seed))
        while True:
            _, motion = start(narrow.family, draw)
            if motion.freedoms == narrow.freedoms:
                break
        return draw.prime, self.reduced(motion, kept, eliminated)

    def reduced(
        self, motion: Motion, kept: Sequence[int], eliminated: Sequence[int]
    ) -> dict[tuple[int, int], int]:
        """Rows [φ₁ | φ₂] reduced to [1 | β]."""
        columns = motion.coefficient_matrix(self.orders)
        order = [*kept, *eliminated]
        rows = nmod_mat(
            columns.ncols(),
            len(order),
            [int(columns[j, i]) for i in range(columns.ncols()) for j in order],
            motion.prime,
        )
        reduced, rank = rows.rref()
        dependent = next((k for k in range(self.rank) if reduced[k, k] == 0), None)
        if dependent is not None or rank != self.rank:
            names = self.model.mechanism.parameter_names
            which = f": {names[kept[dependent]]}" if dependent is not None else ""
            raise EliminationError(
                f"These parameters are not an admissible choice of φ₂: one that is kept depends "
                f"on others that are kept{which}.",
            )
        return {
            (b, e): int(reduced[i, self.rank + j])
            for i, b in enumerate(kept)
            for j, e in enumerate(eliminated)
        }


def _agrees(
    guess: Mapping[tuple[int, int], Fraction], table: Mapping[tuple[int, int], int], prime: int
) -> bool:
    return all(
        (x.numerator - table[place] * x.denominator) % prime == 0 for place, x in guess.items()
    )


def _reconstructed(
    residues: Sequence[Mapping[tuple[int, int], int]], primes: Sequence[int]
) -> dict[tuple[int, int], Fraction] | None:
    found = {}
    for place in residues[0]:
        value = rational(*combine([table[place] for table in residues], primes))
        if value is None:
            return None
        found[place] = value
    return found
