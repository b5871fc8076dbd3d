"""Symbolic β without joint rules: values of β modulo a prime, and rational functions through them.

An independent check of the symbolic route. One symbol at a time is changed to see which entries
depend on it; every entry is the quotient of polynomials of the least degree that fits, homogeneous
where the geometry is. Every column is then tested as an identity, which is what its grade rests
on (decision 12).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from basepar_core.dynamics import Model
from basepar_core.errors import FamilyError
from basepar_core.symbolic import Exact, GeometryField, NullVector

from .beta import BetaSolver
from .dependences import interpolated
from .identities import IdentityTest, check_identities
from .rank import GenericRank, generic_rank, scope
from .tables import Place, Search


@dataclass(frozen=True)
class BlackBox:
    """β of any origin but joint rules.

    Attributes
    ----------
    eliminated
        φ₂, what has no effect included.
    entries
        Nonzero entries by (kept parameter, eliminated parameter), in the geometry field.
    vectors
        The same as null vectors, one per eliminated parameter, graded by their tests.
    points
        Geometries that were evaluated.
    prime
        Over which, but for coefficients that need several.
    generic, tested
        The generic rank, and the points at which the vectors vanish (None without any).
    scope
        Of what geometry this is reported.
    """

    eliminated: tuple[int, ...]
    entries: Mapping[Place, Exact]
    vectors: tuple[NullVector, ...]
    points: int
    prime: int
    generic: GenericRank
    tested: IdentityTest | None
    scope: str


def black_box_beta(
    model: Model, eliminated: Sequence[int], seed: int = 0, suggested: bool = False
) -> BlackBox:
    """β(λ) from its values at random geometries over finite fields.

    Parameters
    ----------
    model
        The mechanism, assembled.
    eliminated
        φ₂ by index; one that the symbolic route found simple is simple here too.
    seed
        Of everything random.
    suggested
        Whether another φ₂ may be taken where this one is not admissible.

    Raises
    ------
    FamilyError
        The family has no points that we know how to find, or an entry is of too high a degree.
    EliminationError
        φ₂ is not admissible.
    """
    solver = BetaSolver(model, seed)
    kept, left = solver.split(solver.admissible(eliminated) if suggested else eliminated)
    solver.modulo(solver.component, kept, left, (seed, 6))  # rejects what is not admissible
    names, where = model.mechanism.parameter_names, scope(solver.component)
    generic = generic_rank(model, seed, component=solver.component)
    field = GeometryField.of(model.mechanism)
    if not left:
        return BlackBox((), {}, (), 0, 0, generic, None, where)
    every = tuple(range(len(names)))
    search = Search(solver.component, field, every, len(left), solver.orders, seed)
    found = interpolated(search, model, left)
    missed = [names[e] for e in left if e not in found.vectors]
    if missed:
        raise FamilyError(
            f"Entries of β for {', '.join(missed)} are of too high a degree: choose another φ₂."
        )
    vectors = [found.vectors[e] for e in left]
    tests = check_identities(model, vectors, seed=seed, component=solver.component, field=field)
    wrong = [names[e] for e, test in zip(left, tests, strict=True) if not test.passed]
    if wrong:
        raise FamilyError(
            f"Expressions found for {', '.join(wrong)} do not vanish at other random points; "
            f"another seed may do."
        )
    graded = tuple(
        NullVector(
            vector,
            "probability",
            f"{names[e]} recovered over finite fields (vanishes on the family; error ≤ "
            f"2^-{test.bits})",
        )
        for e, vector, test in zip(left, vectors, tests, strict=True)
    )
    entries = {(b, e): -x for e in left for b, x in found.vectors[e].items() if b != e}
    return BlackBox(left, entries, graded, found.points, found.prime, generic, tests[0], where)
