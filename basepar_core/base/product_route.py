"""The product route: base parameters of planar mechanisms with β found by search.

`product_class` finds expressions, here they are tested as identities where a column is complete,
held beside the paper's conditions, and made a result. The rank is the generic one; singular
values are float64's at nominal geometry.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from basepar_core.dynamics import Model
from basepar_core.expressions import Expression, evaluate
from basepar_core.finite_field import IdentityTest, check_identities, scope
from basepar_core.symbolic import Exact

from .nominal import nominal_observation
from .numeric_route import group, spectrum
from .product_class import ADDED, EQUATION_21, Match, Place, ProductSearch
from .product_conditions import Condition, conditions
from .result import BaseParameters, BetaEntry, Certificate, VectorGrade
from .symbolic_route import random_points


@dataclass(frozen=True)
class ProductParameters(BaseParameters):
    """Base parameters whose entries were searched; unmatched entries have values only.

    Attributes
    ----------
    lengths, squares
        λ and Λ as text.
    candidates
        Members of the class per dimension L⁰, L¹, L², the same function twice included.
    origins
        Per matched entry, in the order of `beta`, the class it is from; "" where not matched.
    missing, ambiguous
        Entries without a match, and those with several (their texts).
    conditions
        Of the paper, each checked. They are sufficient together, not necessary.
    """

    lengths: tuple[str, ...] = ()
    squares: tuple[str, ...] = ()
    candidates: tuple[int, int, int] = (0, 0, 0)
    origins: tuple[str, ...] = ()
    missing: tuple[Place, ...] = ()
    ambiguous: tuple[tuple[Place, tuple[str, ...]], ...] = ()
    conditions: tuple[Condition, ...] = field(default=(), repr=False)

    def document(self) -> dict[str, Any]:
        """As docs/json.md has it, terms of rows that are complete, and what the search found."""
        found = super().document()
        for k, row in enumerate(found["base"]):
            mine = [entry for entry in self.beta if entry.base == k]
            if all(entry.text is not None for entry in mine):
                terms = {self.eliminated_names[e.eliminated]: e.text for e in mine}
                row.setdefault("terms", terms)
        found["search"] = {
            "lengths": list(self.lengths),
            "squares": list(self.squares),
            "candidates": list(self.candidates),
            "entries": len(self.beta),
            "matched": {origin: self.origins.count(origin) for origin in (EQUATION_21, ADDED)},
            "missing": [self._named(place) for place in self.missing],
            "ambiguous": [
                {"entry": self._named(place), "candidates": list(texts)}
                for place, texts in self.ambiguous
            ],
            "conditions": [condition.document() for condition in self.conditions],
        }
        return found

    def _named(self, place: Place) -> list[str]:
        return [self.parameters[k] for k in place]


def product(model: Model, wanted: Sequence[int] | None = None) -> ProductParameters:
    """Base parameters of a planar mechanism by the planar paper's search.

    Parameters
    ----------
    model
        The mechanism, prepared.
    wanted
        φ₂ by index; None: the masses the paper requires, then second moments, masses and first
        moments, as far as they can be eliminated together.

    Raises
    ------
    UsageError
        The mechanism is spatial.
    FamilyError
        See `ProductSearch`.
    EliminationError
        `wanted` is not admissible.
    """
    search = ProductSearch(model)
    eliminated = search.preferred() if wanted is None else search.solver.split(wanted)[1]
    found = search.search(eliminated)
    tests = _tests(search, eliminated, found)
    wrong = {k for k, test in tests.items() if not test.passed}
    return _result(search, eliminated, found, tests, wrong)


def _tests(
    search: ProductSearch, eliminated: Sequence[int], found: Sequence[Match]
) -> dict[int, IdentityTest]:
    """Identity tests of complete columns, by eliminated parameter."""
    complete = [
        e
        for e in eliminated
        if all(len(match.found) == 1 for match in found if match.place[1] == e)
    ]
    component = search.solver.component
    if component.family.freed_on_bodies or not complete:
        return {}
    vectors = [_vector(search, e, found) for e in complete]
    tests = check_identities(search.model, vectors, component=component, field=search.field)
    return dict(zip(complete, tests, strict=True))


def _vector(search: ProductSearch, eliminated: int, found: Sequence[Match]) -> dict[int, Exact]:
    column = {m.place[0]: -m.found[0].element for m in found if m.place[1] == eliminated}
    return {**column, eliminated: search.field.one}


def _result(
    search: ProductSearch,
    eliminated: tuple[int, ...],
    found: Sequence[Match],
    tests: dict[int, IdentityTest],
    wrong: set[int],
) -> ProductParameters:
    names, mechanism = search.names, search.model.mechanism
    seen = nominal_observation(search.model)
    numbers = spectrum(seen.stacked, seen.error, seen.terms)
    kept = tuple(k for k in range(len(names)) if k not in eliminated)
    unmatched = [m for m in found if len(m.found) != 1 or m.place[1] in wrong]
    at_nominal = (
        group(seen.stacked[0], len(kept), names, list(eliminated)).beta if unmatched else None
    )
    entries = tuple(
        _entry(search, m, kept, eliminated, at_nominal if m in unmatched else None) for m in found
    )
    origins = tuple("" if m in unmatched else m.found[0].origin for m in found)
    missing = tuple(m.place for m in unmatched if len(m.found) < 2)
    ambiguous = tuple(
        (m.place, tuple(search.field.to_text(c.element) for c in m.found))
        for m in unmatched
        if len(m.found) > 1
    )
    columns = {match.place[1] for match in found}
    return ProductParameters(
        mechanism=mechanism.name,
        parameters=names,
        route="product",
        kept=kept,
        eliminated=eliminated,
        no_effect=tuple(k for k in eliminated if k not in columns),
        beta=entries,
        gap=float(numbers.gap[0]),
        singular_values=tuple(map(float, numbers.singular_values[0])),
        certificate=_certificate(search, eliminated, found, tests),
        doubt=_doubt(len(missing), len(ambiguous), len(found)),
        validity=_denominators(search, found, unmatched),
        lengths=tuple(map(search.field.to_text, search.elements)),
        squares=tuple(map(search.field.to_text, search.square_elements)),
        candidates=tuple(len(search.candidates[k]) for k in (0, 1, 2)),  # type: ignore[arg-type]
        origins=origins,
        missing=missing,
        ambiguous=ambiguous,
        conditions=conditions(mechanism, search.field, [names[k] for k in eliminated]),
    )


def _entry(
    search: ProductSearch,
    match: Match,
    kept: Sequence[int],
    eliminated: Sequence[int],
    at_nominal: np.ndarray | None,
) -> BetaEntry:
    """The function found; or the value alone, where `at_nominal` holds β's."""
    base, gone = kept.index(match.place[0]), eliminated.index(match.place[1])
    if at_nominal is not None:
        return BetaEntry(base, gone, float(at_nominal[base, gone]))
    (function,) = match.found
    tree = search.field.to_expression(function.element)
    (value,) = evaluate([tree], search.model.mechanism.nominal)
    return BetaEntry(base, gone, float(value), tree, search.field.to_text(function.element))


def _doubt(missing: int, ambiguous: int, total: int) -> str:
    said = []
    if missing:
        said.append(
            f"{missing} of {total} entries of β are no product of the class; another φ₂ or the "
            f"symbolic route has expressions"
        )
    if ambiguous:
        said.append(f"{ambiguous} of {total} entries have several matches, none is chosen")
    return "; ".join(said)


def _denominators(
    search: ProductSearch, found: Sequence[Match], unmatched: Sequence[Match]
) -> tuple[tuple[Expression, str], ...]:
    """What must not vanish for the expressions to hold."""
    field_, seen = search.field, list[Exact]()
    for match in found:
        if match not in unmatched:
            below = field_.one * match.found[0].element.denom
            if not match.found[0].element.denom.is_ground and below not in seen:
                seen.append(below)
    return tuple((field_.to_expression(x), field_.to_text(x)) for x in seen)


def _certificate(
    search: ProductSearch,
    eliminated: Sequence[int],
    found: Sequence[Match],
    tests: dict[int, IdentityTest],
) -> Certificate:
    """Rank by one minor over a finite field; null vectors by their tests as identities."""
    generic, where = search.solver.generic, scope(search.solver.component)
    vectors = []
    for e, test in tests.items():
        if test.passed:
            entries = {
                search.names[k]: search.field.to_text(x)
                for k, x in sorted(_vector(search, e, found).items())
            }
            reason = (
                f"{search.names[e]} by search in the product class (vanishes on the family; "
                f"error ≤ 2^-{test.bits})"
            )
            vectors.append(VectorGrade("probability", reason, entries))
    whole = len(vectors) == len(eliminated)
    return Certificate(
        at_least=generic.rank,
        at_least_grade=generic.grade,
        at_least_scope="; ".join(filter(None, (where, generic.reason))),
        at_most=generic.rank,
        at_most_grade="probability" if whole else "numerical",
        at_most_scope=where if whole else "lengths that are distinct primes",
        vectors=tuple(vectors),
        at_least_points=random_points(generic),
        at_most_points=random_points(next(iter(tests.values()), None)) if whole else (),
    )
