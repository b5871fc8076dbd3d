"""What may be said of a symbolic result: null vectors and rank held against the family.

Joint rules stay theorems, and are tested all the same; vectors that only were seen earn
*probability* by vanishing at random points of the family, on the component with the relations
that were seen with them. The generic rank bounds from below what they bound from above; where
they leave a gap, the vectors that are missing are recovered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from basepar_core.dynamics import Model
from basepar_core.errors import EliminationError, FamilyError
from basepar_core.symbolic import (
    GeometryField,
    NullVector,
    Transfers,
    fitting,
    known_vectors,
)

from .conditions import Conditions, conditions, restricted, substituted
from .detection import Branch, detect, spin_relations
from .family import rational_values
from .family_component import Component, find_component
from .identities import IdentityTest, check_identities, independent, same_at
from .rank import GenericRank, generic_rank, scope
from .recovery import recover

#: What is reported of a vector whose lengths were tied.
TIED = ", where the loops close"


@dataclass(frozen=True)
class Grading:
    """Null vectors with the grades they earn, and the generic rank.

    Attributes
    ----------
    vectors
        As given, some of them graded better, and those that were recovered.
    generic
        The generic rank, at two points; None where the family is rejected.
    tested
        The points at which the vectors, as they are here, vanish; None likewise.
    scope
        Of what geometry rank and grades are reported; or why nothing is reported.
    notes
        Why the nominal geometry's own rank may be lower; empty where nothing shows it.
    """

    vectors: tuple[NullVector, ...]
    generic: GenericRank | None
    tested: IdentityTest | None
    scope: str
    notes: tuple[str, ...] = ()

    @property
    def rank(self) -> int | None:
        """The generic rank; None where the family is rejected."""
        return self.generic.rank if self.generic is not None else None


def component_of(model: Model, seed: int = 0, branch: Branch | None = None) -> Component | str:
    """The family's component of a mechanism's branch, or why there is none.

    Parameters
    ----------
    model
        The mechanism, assembled.
    seed
        Of everything random.
    branch
        As in `find_component`.
    """
    try:
        return find_component(model, seed, branch=branch)
    except FamilyError as error:
        return error.message


def suffice(
    model: Model,
    component: Component | str,
    field: GeometryField,
    vectors: Sequence[NullVector],
    seed: int = 0,
) -> bool:
    """Whether joint rules alone reach the generic rank, so that there is nothing to look for.

    Parameters
    ----------
    model, component, field, seed
        As in `grade`.
    vectors
        Of the joint rules.
    """
    if isinstance(component, str) or component.family.freed_on_bodies:
        return False
    entries = [vector.entries for vector in vectors]
    left = len(model.mechanism.parameter_names) - independent(component, field, entries, seed)
    return generic_rank(model, seed, component=component, likely=left).rank == left


def grade(
    model: Model,
    field: GeometryField,
    vectors: Sequence[NullVector],
    seed: int = 0,
    component: Component | str | None = None,
    branch: Branch | None = None,
) -> Grading:
    """Test null vectors as identities, find the generic rank, and recover what is missing.

    Parameters
    ----------
    model
        The mechanism, assembled.
    field
        Its geometry field, in which the entries live.
    vectors
        Null vectors, dependent ones among them.
    seed
        Of everything random.
    component
        Of `component_of`, where it is available.
    branch
        As in `find_component`.

    Raises
    ------
    EliminationError
        A joint rule does not vanish on the family: a defect of the program.
    """
    branch = branch or Branch(model)
    component = component or component_of(model, seed, branch)
    if isinstance(component, str):
        reason = f"not tested over finite fields: {component}"
        return Grading(tuple(vectors), None, None, reason)
    if component.family.freed_on_bodies:  # null vectors have these numbers as numbers
        wide = component.family.mechanism
        wider = GeometryField.of(wide)
        transfers = Transfers(wide, wider)
        every = [*known_vectors(transfers), *fitting(transfers, detect(transfers, branch))]
        component, graded, tested = _completed(branch, wider, every, component, seed)
        graded = [v for v in vectors if v.grade == "theorem"] + [
            found
            for v in graded
            if v.grade != "theorem" and (found := _narrowed(wider, field, v, component, seed))
        ]
    else:
        component, graded, tested = _completed(branch, field, vectors, component, seed)
    # Two independent points: a rank that is too low by bad luck would have to be so twice.
    rank = generic_rank(model, seed, pairs=2, component=component)
    notes = [scope(component), *_told(component, conditions(component, seed)), *component.notes]
    return Grading(tuple(graded), rank, tested, "; ".join(notes), component.notes)


def _completed(
    branch: Branch,
    field: GeometryField,
    vectors: Sequence[NullVector],
    component: Component,
    seed: int,
) -> tuple[Component, list[NullVector], IdentityTest | None]:
    """Graded vectors, and those that are missing, on the component where they hold; and where
    all of them were tested as they are in the end.
    """
    model = branch.model
    component, tests = _tested(branch, field, vectors, component, seed)
    _no_false_theorem(model, vectors, tests)
    tied = conditions(component, seed)
    graded = [_where_it_closes(field, v, tied) for v in map(_graded, vectors, tests)]
    graded = [v for v in graded if v.entries]
    # What holds near this geometry only is not completed.
    if all(v.grade != "numerical" for v in graded):
        graded += recover(model, component, field, graded, seed)
    changed = any(v.grade == "numerical" for v in graded)
    if not changed and [v.entries for v in graded] == [v.entries for v in vectors]:
        known = tests  # of these very entries, at these very points
    else:
        held = [v.entries for v in graded if v.grade != "numerical"]
        known = check_identities(model, held, seed=seed, component=component, field=field)
    return component, *_confirmed(model, graded, known)


def _where_it_closes(field: GeometryField, vector: NullVector, tied: Conditions) -> NullVector:
    """A vector with tied lengths written by the others: no theorem then, for they were guessed."""
    found = restricted(field, vector, tied)
    if found.entries == vector.entries or vector.grade == "numerical":
        return found
    return replace(found, grade="probability", reason=f"{vector.reason}{TIED}")


def _confirmed(
    model: Model, vectors: Sequence[NullVector], tests: Sequence[IdentityTest]
) -> tuple[list[NullVector], IdentityTest | None]:
    """Vectors tested with the entries that they have in the end; what fails is numerical.

    `tests`: of those that are not numerical.
    """
    held = [v for v in vectors if v.grade != "numerical"]
    _no_false_theorem(model, held, tests)
    waiting, found = iter(tests), []
    for vector in vectors:
        if vector.grade == "numerical":
            found.append(vector)
            continue
        test = next(waiting)
        if not test.passed:
            vector = _refuted(vector)
        elif vector.reason.endswith(TIED):
            reason = f"{vector.reason} (vanishes on the family; error ≤ 2^-{test.bits})"
            vector = replace(vector, reason=reason)
        found.append(vector)
    return found, tests[0] if tests else None


def _told(component: Component, tied: Conditions) -> list[str]:
    """What lengths must satisfy to close, in words."""
    if not tied:
        return []
    field = GeometryField.of(component.family.mechanism)
    parts = [
        f"{name} = {field.to_text(substituted(field, field.symbol(name), field, tied))}"
        for name in tied
    ]
    return [f"the loops close only where {', '.join(parts)}"]


def _narrowed(
    wider: GeometryField,
    field: GeometryField,
    vector: NullVector,
    component: Component,
    seed: int,
) -> NullVector | None:
    """A vector of the wider family at the numbers of the file; None where it is not finite.

    An identity on the wider family is one at these numbers. That the numbers were put in rightly
    is tested by values: the loops do not close there at random orientations.
    """
    freed = [s for s in component.family.mechanism.geometry if s.name.startswith("?")]
    numbers, _ = rational_values(freed)
    values: Conditions = {name: {None: value} for name, value in numbers.items()}
    try:
        entries = {k: substituted(wider, x, field, values) for k, x in vector.entries.items()}
    except ZeroDivisionError:
        return None
    kept = {k: x for k, x in entries.items() if x != 0}
    if not kept:
        return None
    same = same_at(component, (wider, vector.entries), (field, kept), numbers, seed)
    return replace(vector, entries=kept, grade=vector.grade if same else "numerical")


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
            f"Rules of joints or couplings of {model.mechanism.name!r} do not hold on its family: "
            f"{'; '.join(wrong)}. This is a defect of the program; please report the file."
        )


def _tested(
    branch: Branch,
    field: GeometryField,
    vectors: Sequence[NullVector],
    component: Component,
    seed: int,
) -> tuple[Component, list[IdentityTest]]:
    """Tests on the family; where what was seen fails there, on the component it was seen on."""
    model, entries = branch.model, [vector.entries for vector in vectors]
    tests = check_identities(model, entries, seed=seed, component=component, field=field)
    if all(test.passed for test in tests) or component.family.relations:
        return component, tests
    relations = spin_relations(Transfers(model.mechanism, field), branch)
    if not relations:
        return component, tests
    try:
        special = find_component(model, seed, relations=relations)
    except FamilyError:  # then what was seen stays numerical
        return component, tests
    return special, check_identities(model, entries, seed=seed, component=special, field=field)


def _refuted(vector: NullVector) -> NullVector:
    """A vector that holds near this geometry at most."""
    reason = f"{vector.reason} (seen near this geometry; does not vanish on the family)"
    return replace(vector, grade="numerical", reason=reason)


def _graded(vector: NullVector, test: IdentityTest) -> NullVector:
    """The grade a vector earns; one that was seen only and fails stays numerical, and says so."""
    if vector.grade != "numerical":
        return vector
    if not test.passed:
        return _refuted(vector)
    reason = f"{vector.reason} (vanishes on the family; error ≤ 2^-{test.bits})"
    return replace(vector, grade="probability", reason=reason)
