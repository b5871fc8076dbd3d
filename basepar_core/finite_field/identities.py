"""Null vectors tested as identities: at fresh random points of the family, over fresh primes.

E(x) N(λ) ≡ 0 on the family needs order 0 only: the kinetic energy of all pairs of modes and
gravity's work along all modes at one point. Two random motions stand for all of them: their
shares of the modes are two more parameters of what is tested. N is evaluated at the point's own
geometry. A vector that passes is right but for a probability that is stated (decision 8).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import nmod, nmod_mat

from basepar_core.dynamics import Model
from basepar_core.errors import FamilyError
from basepar_core.expressions import Call, Name, Number, Pi
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import GeometryField

from .bounds import Bounds, error_bits
from .evaluation import Evaluator
from .family_component import Component, find_component, start
from .lengths import exact_number
from .random_points import Point, draw_point, field_for
from .seeds import seed_of
from .sizes import Size

#: Entries by parameter: expressions, or elements of the mechanism's geometry field.
Entries: TypeAlias = Mapping[int, Any]

#: Points of a test. One is enough for 2⁻³⁰ in every case known; three for 2⁻⁹⁰.
POINTS = 3


@dataclass(frozen=True)
class IdentityTest:
    """What the test of one null vector found.

    Attributes
    ----------
    passed
        Whether it vanished at all points.
    bits
        A vector that is no identity passes with a probability of at most 2⁻ᵇⁱᵗˢ.
    seeds, primes
        Of the points.
    """

    passed: bool
    bits: int
    seeds: tuple[tuple[int, ...], ...]
    primes: tuple[int, ...]


def check_identities(
    model: Model,
    vectors: Sequence[Entries],
    points: int = POINTS,
    seed: int = 0,
    component: Component | None = None,
    field: GeometryField | None = None,
) -> list[IdentityTest]:
    """Whether null vectors vanish identically on a mechanism's family.

    Parameters
    ----------
    model
        The mechanism, assembled.
    vectors
        Of any origin; entries are expressions or elements of the geometry field.
    points
        Independent (prime, point) pairs.
    seed
        Of everything random.
    component
        Of the family, if already known.
    field
        The geometry field of the entries, if already made.

    Raises
    ------
    FamilyError
        The family has no points that we know how to find, or only with numbers of moving bodies
        varied, which null vectors contain as numbers.
    """
    component = component or find_component(model, seed)
    family = component.family
    field = field or GeometryField.of(model.mechanism)
    if family.freed_on_bodies and not _covers(field, family.mechanism):
        raise FamilyError(
            f"The loops of {model.mechanism.name!r} close at random orientations only if numbers "
            f"of moving bodies vary ({', '.join(family.freed)}); null vectors have these as "
            f"numbers. Write them as symbols."
        )
    told = [sorted((k, _told(x)) for k, x in vector.items()) for vector in vectors]
    own = seed_of(model.mechanism, "identities", told, seed)
    seeds = tuple((own, k) for k in range(points))
    passed = [True] * len(vectors)
    primes = []
    for given in seeds:
        prime, good = _at_one_point(component, field, vectors, given)
        primes.append(prime)
        passed = [a and b for a, b in zip(passed, good, strict=True)]
    bounds = Bounds(family, component.freedoms)
    per_body = 4 if model.mechanism.planar else 10
    return [
        IdentityTest(ok, _bits(bounds, vector, per_body, points), seeds, tuple(primes))
        for ok, vector in zip(passed, vectors, strict=True)
    ]


def _told(entry: Any) -> str:
    """An entry as text, the same in every process."""
    if isinstance(entry, Number | Name | Call | Pi):
        return repr(entry)
    parts = (entry.numer, entry.denom)
    return repr([[(powers, int(c)) for powers, c in part.terms()] for part in parts])


def _covers(field: GeometryField, mechanism: Mechanism) -> bool:
    """Whether a field has all symbols of a mechanism, those made of freed numbers too."""
    return GeometryField.of(mechanism).generators == field.generators


def _bits(bounds: Bounds, vector: Entries, per_body: int, points: int) -> int:
    sizes: dict[int, Size] = {}
    for k, entry in vector.items():
        plain = isinstance(entry, Number | Name | Call | Pi)
        sizes[k] = bounds.plain(entry) if plain else bounds.polynomial_ratio(entry)
    return int(points * error_bits(bounds.vector(sizes, per_body), bounds.conjugates))


def _at_one_point(
    component: Component, field: GeometryField, vectors: Sequence[Entries], seed: tuple[int, ...]
) -> tuple[int, list[bool]]:
    draw = field_for(component.family, np.random.default_rng(seed))
    while True:
        point, motion = start(component.family, draw)
        try:
            columns = _columns(field, vectors, point)
        except ZeroDivisionError:
            continue
        if motion.freedoms == component.freedoms:
            break
    rows = motion.mixed_rows()
    zero = nmod(0, draw.prime)
    return draw.prime, [
        all(sum((x * rows[j, k] for j, x in c.items()), zero) == 0 for k in range(rows.ncols()))
        for c in columns
    ]


def independent(
    component: Component, field: GeometryField, vectors: Sequence[Entries], seed: int = 0
) -> int:
    """How many of the vectors are independent at a random point of the family.

    Parameters
    ----------
    component
        To draw from.
    field, vectors
        As in `check_identities`.
    seed
        Of the point.
    """
    own = seed_of(component.family.mechanism, "independent", seed)
    draw = field_for(component.family, np.random.default_rng([own]))
    while True:
        point = draw_point(component.family, draw)
        try:
            columns = _columns(field, vectors, point)
        except ZeroDivisionError:
            continue
        break
    rows = 1 + max((k for column in columns for k in column), default=0)
    matrix = nmod_mat(max(len(columns), 1), rows, draw.prime)
    for i, column in enumerate(columns):
        for k, x in column.items():
            matrix[i, k] = x
    return int(matrix.rank())


def same_at(
    component: Component,
    wide: tuple[GeometryField, Entries],
    narrow: tuple[GeometryField, Entries],
    numbers: Mapping[str, Fraction],
    seed: int = 0,
) -> bool:
    """Whether two vectors have the same entries where some symbols have given values.

    Parameters
    ----------
    component
        Gives random values to all other symbols.
    wide, narrow
        Field and entries: with these symbols, and without.
    numbers
        Values of these symbols.
    seed
        Of the values.
    """
    own = seed_of(component.family.mechanism, "same", seed)
    draw = field_for(component.family, np.random.default_rng([own]))
    number = exact_number(draw.prime)
    fixed = {name: number(value) for name, value in numbers.items()}
    while True:
        point, _ = start(component.family, draw)
        here = replace(point, values={**point.values, **fixed})
        try:
            one, two = (_columns(field, [v], here)[0] for field, v in (wide, narrow))
        except ZeroDivisionError:
            continue
        return {k: x for k, x in one.items() if x != 0} == {k: x for k, x in two.items() if x != 0}


def _columns(
    field: GeometryField, vectors: Sequence[Entries], point: Point
) -> list[dict[int, nmod]]:
    """Null vectors' entries at a point."""
    evaluator = Evaluator(exact_number(point.prime), point.values, point.angles)
    generators = [evaluator.scalar(x) for x in field.generators]

    def value(entry: Any) -> nmod:
        if isinstance(entry, Number | Name | Call | Pi):
            return evaluator.scalar(entry)
        return fraction_value(entry, generators, point.prime)

    return [{k: value(entry) for k, entry in vector.items()} for vector in vectors]


def fraction_value(fraction: Any, generators: Sequence[nmod], prime: int) -> nmod:
    """A fraction of sparse polynomials at values of the generators."""
    return _polynomial(fraction.numer, generators, prime) / _polynomial(
        fraction.denom, generators, prime
    )


def _polynomial(polynomial: Any, generators: Sequence[nmod], prime: int) -> nmod:
    total = nmod(0, prime)
    for exponents, coefficient in polynomial.terms():
        term = nmod(int(coefficient), prime)
        for value, power in zip(generators, exponents, strict=False):
            if power:
                term *= value**power
        total += term
    return total
