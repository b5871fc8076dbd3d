"""Null vectors that neither joint rules nor pairs of bodies give.

A parallelogram that carries another, a slide on a plate, an over-constrained loop: a vector over
three or four bodies, often with a coefficient of the geometry, and no rule that names it. With
the known vectors eliminated few columns are left that depend on each other. At random points of
the family over a finite field their dependence is read off; its coefficients become rational
functions, and a vector counts once it vanishes at fresh points over fresh primes
(decision 12).
"""

from collections.abc import Mapping, Sequence

from basepar_core.dynamics import Model
from basepar_core.errors import FamilyError
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import Exact, GeometryField, NullVector, eliminate

from .dependences import interpolated
from .family_component import Component
from .identities import check_identities, independent
from .rank import generic_rank
from .tables import Search


def recover(
    model: Model,
    component: Component,
    field: GeometryField,
    vectors: Sequence[NullVector],
    seed: int = 0,
) -> list[NullVector]:
    """Null vectors beyond those given, up to the generic rank.

    Parameters
    ----------
    model
        The mechanism, assembled.
    component
        Of its family; entries live in the field of the component's mechanism.
    field
        That field.
    vectors
        Null vectors that hold on the component.
    seed
        Of everything random.

    Returns
    -------
    Graded *probability*; fewer than are missing, or none, where coefficients are of too high a
    degree.
    """
    parameters = model.mechanism.parameter_names
    rank = generic_rank(model, seed, component=component)
    entries = [vector.entries for vector in vectors]
    missing = len(parameters) - independent(component, field, entries, seed) - rank.rank
    if missing <= 0:
        return []
    known = eliminate(field, vectors, parameters, search=False)
    kept = tuple(k for k in range(len(parameters)) if k not in known.eliminated)
    if len(kept) != rank.rank + missing:
        return []
    search = Search(component, field, kept, missing, max(rank.order_of_stall), seed)
    try:
        found = list(interpolated(search, model).vectors.values())
    except FamilyError:
        return []
    tests = check_identities(model, found, seed=seed, component=component, field=field)
    return [
        NullVector(vector, "probability", _reason(model.mechanism, vector, test.bits))
        for vector, test in zip(found, tests, strict=True)
        if test.passed
    ]


def _reason(mechanism: Mechanism, vector: Mapping[int, Exact], bits: int) -> str:
    owners = [mechanism.parameter_names[k].rsplit(".", 1)[0] for k in sorted(vector)]
    bodies = list(dict.fromkeys(owners))
    between = f"between {', '.join(bodies)}" if len(bodies) > 1 else f"of {bodies[0]}"
    return (
        f"dependence {between} that no joint rule states, recovered over finite fields "
        f"(vanishes on the family; error ≤ 2^-{bits})"
    )
