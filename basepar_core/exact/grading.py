"""What may be said of a symbolic result: null vectors and rank held against the family.

Joint rules stay theorems, and are tested all the same; vectors that only were seen earn
*probability* by vanishing at random points of the family, on the component with the relations
that were seen with them. The generic rank bounds from below what they bound from above.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..algebra import GeometryField
from ..base.detection import spin_relations
from ..base.null_space import NullVector, Transfers
from ..closure import Model
from ..errors import EliminationError, FamilyError
from .component import Component, find_component
from .identities import IdentityTest, check_identities
from .rank import generic_rank, scope


@dataclass(frozen=True)
class Grading:
    """Null vectors with the grades they earn, and the generic rank.

    Attributes
    ----------
    vectors
        As given, some of them graded better.
    rank
        Generic rank; None where the family is refused.
    scope
        Of what geometry rank and grades are said; or why nothing is said.
    """

    vectors: tuple[NullVector, ...]
    rank: int | None
    scope: str


def grade(
    model: Model, field: GeometryField, vectors: Sequence[NullVector], seed: int = 0
) -> Grading:
    """Test null vectors as identities, and find the generic rank.

    Parameters
    ----------
    model
        The mechanism, assembled.
    field
        Its geometry field, in which the entries live.
    vectors
        Independent null vectors.
    seed
        Of everything random.

    Raises
    ------
    EliminationError
        A joint rule does not vanish on the family: a defect of the program.
    """
    try:
        component = find_component(model, seed)
    except FamilyError as error:
        return Grading(tuple(vectors), None, f"not tested over finite fields: {error.message}")
    if component.family.freed_on_bodies:  # null vectors have these numbers as numbers
        graded = tuple(vectors)
    else:
        component, tests = _tested(model, field, vectors, component, seed)
        _no_false_theorem(model, vectors, tests)
        graded = tuple(map(_graded, vectors, tests))
    # Two independent points: a rank that is too low by bad luck would have to be so twice.
    rank = generic_rank(model, seed, pairs=2, component=component).rank
    return Grading(graded, rank, "; ".join([scope(component), *component.notes]))


def _no_false_theorem(
    model: Model, vectors: Sequence[NullVector], tests: Sequence[IdentityTest]
) -> None:
    wrong = [
        vector.reason
        for vector, test in zip(vectors, tests, strict=True)
        if vector.grade == "theorem" and not test.passed
    ]
    if wrong:
        raise EliminationError(
            f"Joint rules of {model.mechanism.name!r} do not hold on its family: "
            f"{'; '.join(wrong)}. This is a defect of the program; please report the file."
        )


def _tested(
    model: Model,
    field: GeometryField,
    vectors: Sequence[NullVector],
    component: Component,
    seed: int,
) -> tuple[Component, list[IdentityTest]]:
    """Tests on the family; where what was seen fails there, on the component it was seen on."""
    entries = [vector.entries for vector in vectors]
    tests = check_identities(model, entries, seed=seed, component=component, field=field)
    if all(test.passed for test in tests) or component.family.relations:
        return component, tests
    relations = spin_relations(Transfers(model.mechanism, field), model)
    if not relations:
        return component, tests
    try:
        special = find_component(model, seed, relations=relations)
    except FamilyError:  # then what was seen stays numerical
        return component, tests
    return special, check_identities(model, entries, seed=seed, component=special, field=field)


def _graded(vector: NullVector, test: IdentityTest) -> NullVector:
    if vector.grade != "numerical" or not test.passed:
        return vector
    reason = f"{vector.reason} (vanishes on the family; error ≤ 2^-{test.bits})"
    return replace(vector, grade="probability", reason=reason)
