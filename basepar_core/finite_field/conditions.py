"""What lengths must satisfy for a mechanism to close at all, and null vectors under it.

Five hinges through one point close in every position, but only while their points coincide in
each body: the symbols of these are not independent though the file declares them so. Linear
relations that hold at all orientations are read off random points; with one symbol of each
written by the others, an entry of a null vector that vanishes on the family is zero, and no
elimination divides by it.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import nmod_mat

from basepar_core.expressions import Name
from basepar_core.symbolic import Exact, GeometryField, NullVector

from .family_component import Component
from .random_points import draw_point, field_for
from .reconstruction import rational
from .seeds import seed_of

#: Points whose relations are intersected: what is common to so many holds at all of them.
POINTS = 8
#: Coefficients are sums of the file's numbers; a random residue passes with probability 2⁻²⁰.
LARGEST = 1 << 20

#: A symbol as a combination of others, the constant under None.
Conditions = Mapping[str, Mapping[str | None, Fraction]]
Rows = list[list[int]]


def conditions(component: Component, seed: int = 0) -> Conditions:
    """Symbols that closure ties to others at every orientation, written by these.

    Parameters
    ----------
    component
        Of the family; there are none where its codimension is zero.
    seed
        Of the points.
    """
    if not component.codimension:
        return {}
    family = component.family
    mechanism = family.mechanism
    draw = field_for(family, np.random.default_rng([seed_of(mechanism, "conditions", seed)]))
    columns: tuple[str | None, ...] = (*family.unknowns, None)
    common: Rows | None = None
    for _ in range(POINTS):
        found = draw_point(family, draw).relations
        rows = [[int(row.get(name, 0)) for name in columns] for row in found]
        common = rows if common is None else _intersection(common, rows, draw.prime)
    tied: dict[str, dict[str | None, Fraction]] = {}
    for line in _reduced(common or [], draw.prime):
        small = [_small(x, draw.prime) for x in line]
        pivot = next(k for k, x in enumerate(line) if x)
        name = columns[pivot]
        if name is not None and None not in small:
            others = zip(columns[pivot + 1 :], small[pivot + 1 :], strict=True)
            tied[name] = {other: -c for other, c in others if c}
    return tied


def _small(residue: int, prime: int) -> Fraction | None:
    value = rational(residue, prime)
    if value is None or max(abs(value.numerator), value.denominator) > LARGEST:
        return None
    return value


def _matrix(rows: Rows, prime: int) -> nmod_mat:
    return nmod_mat(len(rows), len(rows[0]), [x for row in rows for x in row], prime)


def _reduced(rows: Rows, prime: int) -> Rows:
    """Reduced echelon form without its zero rows."""
    if not rows:
        return []
    matrix, rank = _matrix(rows, prime).rref()
    return [[int(matrix[i, k]) for k in range(len(rows[0]))] for i in range(rank)]


def _intersection(one: Rows, two: Rows, prime: int) -> Rows:
    """Rows that both spans contain: x·one = y·two."""
    if not one or not two:
        return []
    space, nullity = _matrix(one + two, prime).transpose().nullspace()
    width = len(one[0])
    found = [
        [sum(int(space[i, k]) * row[c] for i, row in enumerate(one)) % prime for c in range(width)]
        for k in range(nullity)
    ]
    return _reduced(found, prime)


def restricted(field: GeometryField, vector: NullVector, tied: Conditions) -> NullVector:
    """A null vector with tied symbols written by the others."""
    if not tied:  # its entries are reduced already
        return vector
    entries = {}
    for k, x in vector.entries.items():
        value = substituted(field, x, field, tied)
        if value != 0:
            entries[k] = value
    return replace(vector, entries=entries)


def substituted(
    field: GeometryField, element: Exact, target: GeometryField, tied: Conditions
) -> Exact:
    """An element with some symbols replaced, in a field that has the others.

    Raises
    ------
    ZeroDivisionError
        Its denominator vanishes there.
    """
    known = {g: k for k, g in enumerate(target.generators)}
    values: list[Any] = []
    for generator in field.generators:
        name = generator.name if isinstance(generator, Name) else ""
        if name in tied:
            total = target.zero
            for other, c in tied[name].items():
                term = target.one * c.numerator / c.denominator
                total = total + (term if other is None else term * target.symbol(other))
            values.append(total)
        else:
            values.append(target.field.gens[known[generator]])
    return target.reduce(_at(element.numer, values, target) / _at(element.denom, values, target))


def _at(polynomial: Any, values: list[Any], target: GeometryField) -> Exact:
    total = target.zero
    for exponents, coefficient in polynomial.terms():
        term = target.one * int(coefficient)
        for value, power in zip(values, exponents, strict=False):
            if power:
                term = term * value**power
        total = total + term
    return total
