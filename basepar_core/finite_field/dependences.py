"""Coefficients of dependences between columns of W as functions of the geometry.

At a random point of the family over a finite field the null space of some columns is read off
(`tables.py`); its reduced basis has coefficients that are rational functions of the geometry.
Which symbols a coefficient depends on is seen by changing one at a time, and quotients are fitted
to values. Used where null vectors are missing (`recovery.py`) and without any rule
(`interpolated_beta.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

from flint import nmod

from basepar_core.dynamics import Model
from basepar_core.errors import FamilyError
from basepar_core.expressions import LENGTH, UNITS, Expression, Name, names
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import Exact, GeometryField

from .arithmetic import Draw
from .family import build, symbols_of_bodies
from .family_component import Component, find_component, start
from .fitting import fitted, quotients
from .random_points import InconsistentError
from .tables import Place, Search, Table, degree


@dataclass(frozen=True)
class Interpolated:
    """Vectors with their pivots; points that were evaluated, and over which prime first."""

    vectors: Mapping[int, dict[int, Exact]]
    points: int
    prime: int


def interpolated(
    search: Search, model: Model, pivots: tuple[int, ...] | None = None
) -> Interpolated:
    """Null vectors on the columns kept, those whose coefficients could all be found.

    Parameters
    ----------
    search
        What is looked for.
    model
        The mechanism, assembled.
    pivots
        Parameters that are written by the others; None: those that make it simple.

    Raises
    ------
    FamilyError
        Random points do not have the dependences that were expected.
    """
    table = Table(search, pivots)
    support = _dependence(search, model, table)
    found = {}
    for pivot in table.pivots:
        vector = {pivot: search.field.one}
        for b in search.kept:
            if b in table.pivots or not table.is_nonzero((b, pivot)):
                continue
            entry = _entry(search, table, (b, pivot), support)
            if entry is None:
                break
            vector[b] = entry
        else:
            found[pivot] = vector
    return Interpolated(found, table.count, table.draw(0).prime)


def _entry(
    search: Search, table: "Table", place: Place, support: Mapping[Place, tuple[int, ...]] | None
) -> Exact | None:
    """One coefficient as a rational function; None if its degree is too high."""
    mechanism, field = search.component.family.mechanism, search.field
    variables = _variables(search)
    if table.is_constant(place):
        variables = ()
    elif support is not None:
        variables = tuple(k for k in variables if k in support[place])
    lengths, others = _sorted(mechanism, field, variables)
    excess = degree(mechanism, place[0]) - degree(mechanism, place[1])
    if not variables:
        ansatzes = quotients(field, (), (), 0, True)
        return fitted(field, lambda k, n: table.values(k, n, place), ansatzes)
    # A number in metres spoils homogeneity, not the fit.
    tried = chain(
        quotients(field, lengths, others, excess, True),
        quotients(field, lengths, others, excess, False),
    )
    return fitted(field, lambda k, n: table.values(k, n, place), tried)


def _variables(search: Search) -> tuple[int, ...]:
    """Generators that a null vector may contain: lengths of moving bodies, and directions."""
    family = search.component.family
    allowed = symbols_of_bodies(family.mechanism) | set(family.directions) | set(family.angles)
    allowed |= {root.symbol for root in family.roots}
    return tuple(k for k, g in enumerate(search.field.generators) if _symbol(g) in allowed)


def _symbol(generator: Expression) -> str:
    (name,) = names(generator)
    return name


#: Units of lengths.
_LENGTHS = frozenset(unit.text for unit in UNITS.values() if unit.dimension == LENGTH)


def _sorted(
    mechanism: Mechanism, field: GeometryField, variables: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Lengths, and what has no dimension."""
    units = {s.name: s.unit for s in (*mechanism.geometry, *mechanism.constants)}
    lengths = [
        k
        for k in variables
        if isinstance(field.generators[k], Name)
        and units[_symbol(field.generators[k])] in _LENGTHS
    ]
    return lengths, [k for k in variables if k not in lengths]


def _dependence(search: Search, model: Model, table: Table) -> dict[Place, tuple[int, ...]] | None:
    """Which generators each coefficient depends on, one symbol changed at a time.

    Where lengths cannot all be prescribed, because closure has to solve for some of them, two
    different choices of those are made and what both show counts. None if nothing can be said.
    """
    component, field = search.component, search.field
    if component.family.roots:
        return None
    draw = table.draw(0)
    symbols = sorted({_symbol(field.generators[k]) for k in _variables(search)})
    base = {name: Fraction(int(draw())) for name in symbols}
    whole = _prescribed(component, model, base, search)
    runs = [(whole, base)] if whole else []
    if not runs:
        for order in (symbols, symbols[::-1]):
            runs.append(_mostly_prescribed(component, base, order, draw))
    supports = [_changes(search, table, *run) for run in runs]
    if any(support is None for support in supports):
        return None
    found = {}
    for place in supports[0] or {}:
        common = set.intersection(*(support[place] for support in supports if support))
        found[place] = tuple(
            k for k in _variables(search) if _symbol(field.generators[k]) in common
        )
    return found


def _changes(
    search: Search, table: Table, narrow: Component, base: Mapping[str, Fraction]
) -> dict[Place, set[str]] | None:
    """Per coefficient the symbols whose change changes it, and those that are not prescribed."""
    draw = table.draw(0)
    symbols = {_symbol(search.field.generators[k]) for k in _variables(search)}

    def at(values: Mapping[str, Fraction]) -> dict[Place, nmod] | None:
        family = replace(narrow.family, constants={**narrow.family.constants, **values})
        try:
            _, space = table.dependences(replace(narrow, family=family), draw)
        except (FamilyError, InconsistentError):
            return None
        return table.reduced(space)

    first = at(base)
    if first is None:
        return None
    found: dict[Place, set[str]] = {place: symbols - base.keys() for place in first}
    for name in base:
        other = at({**base, name: Fraction(int(draw()))})
        if other is None:
            return None
        for place, x in first.items():
            if x != other[place]:
                found[place].add(name)
    return found


def _prescribed(
    component: Component, model: Model, values: Mapping[str, Fraction], search: Search
) -> Component | None:
    """The component with values prescribed, ground points closing its loops; None if not so."""
    relations = component.family.relations
    if component.codimension:
        return None
    try:
        narrow = find_component(model, search.seed, values, relations)
    except FamilyError:
        return None
    family = narrow.family
    return None if family.freed_on_bodies or family.relations != relations else narrow


def _mostly_prescribed(
    component: Component, values: Mapping[str, Fraction], order: Sequence[str], draw: Draw
) -> tuple[Component, dict[str, Fraction]]:
    """The component with as many values prescribed, in this order, as let its loops close."""
    whole = component.family
    chosen: dict[str, Fraction] = {}
    best = component
    for name in order:
        trial = {**chosen, name: values[name]}
        family = replace(
            build(whole.mechanism, whole.relations, trial),
            signature=whole.signature,
            freed=whole.freed,
        )
        try:
            _, motion = start(family, draw)
        except (FamilyError, InconsistentError):
            continue
        if motion.freedoms == component.freedoms:
            chosen, best = trial, replace(component, family=family)
    return best, chosen
