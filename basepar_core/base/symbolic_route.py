"""The symbolic route: null vectors from joints and from detection, eliminated to β(λ).

Computed once per mechanism, then evaluated for any geometry. The result is held against W in
float64 at the nominal geometry: σ_min of the kept columns bounds the rank from below, ‖W N‖
shows that the null vectors are null.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from basepar_core.dynamics import Model, Observation
from basepar_core.errors import (
    EliminationError,
    FamilyError,
)
from basepar_core.expressions import evaluate
from basepar_core.finite_field import (
    Branch,
    GenericRank,
    Grading,
    IdentityTest,
    black_box_beta,
    component_of,
    detect,
    grade,
    suffice,
)
from basepar_core.symbolic import (
    Elimination,
    GeometryField,
    NullVector,
    Transfers,
    eliminate,
    fitting,
    known_vectors,
)

from .doubtful_counts import infinite, refuted, unclear
from .near_relations import nearly_met
from .nominal import nominal_observation
from .numeric_route import Check, check, gap_across, group, spectrum
from .own_geometry import HERE, Route, completed, counted, not_refuted
from .result import GRADES, BaseParameters, BetaEntry, Certificate, RandomPoint, VectorGrade

#: Terms of a polynomial beyond which exchanging parameters costs minutes and shortens nothing.
MANY_TERMS = 12
#: Where null vectors by theorems bound the rank: fewer of them are independent elsewhere.
EVERYWHERE = "every geometry of the file where the null vectors stay independent"
#: Grades of rank ≥ r that come from random members of the family.
GENERIC = ("proved generically", "probability")


def symbolic(
    model: Model,
    wanted: Sequence[int] | None = None,
    exact: bool = True,
    seen: Observation | None = None,
    own: bool = True,
    say: Callable[[str], None] = lambda _: None,
) -> BaseParameters:
    """Symbolic base parameters, checked numerically and over finite fields.

    Parameters
    ----------
    model
        The mechanism, prepared.
    wanted
        φ₂ by index; None: chosen for simple expressions.
    exact
        Whether null vectors and rank are held against random points of the family; without
        it the certificate has numerical grades.
    seen
        W of `nominal_observation`, where it is available.
    own
        Whether the file's own geometry is counted in variable precision, where neither float64
        nor the family decides it. Whoever wants β at other geometries only need not.
    say
        Called with a text on each step before it begins.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    MotionError, AssemblyError
        As `nominal_observation`.
    """
    mechanism = model.mechanism
    field = GeometryField.of(mechanism)
    transfers = Transfers(mechanism, field)
    say("null vectors that joints imply")
    known = known_vectors(transfers)
    say("random members of the family over finite fields")
    branch = Branch(model)
    component = component_of(model, branch=branch) if exact else ""
    if not suffice(model, component, field, known):  # to detect costs more than all the rest
        say("bodies that turn alike")
        known = [*known, *fitting(transfers, detect(transfers, branch))]
    graded = Grading(tuple(known), None, None, "")
    if exact:
        say("null vectors and rank at random members; null vectors that are missing")
        graded = grade(model, field, known, component=component, branch=branch)
    say("elimination, held against W in float64")
    it = Route(model, field, "symbolic", wanted, seen or nominal_observation(model))
    graded, found = not_refuted(it, graded, _parameters)
    found = replace(found, generic=graded.rank)
    if exact and own and not counted(found, component):
        say("this geometry's own count in variable precision")
        found = completed(it, graded, found, _parameters)
    return replace(found, near=nearly_met(mechanism))


def black_box(
    model: Model, wanted: Sequence[int] | None = None, seen: Observation | None = None
) -> BaseParameters:
    """Symbolic base parameters without joint rules or detection: values of β over finite fields.

    Parameters
    ----------
    model, seen
        As in `symbolic`.
    wanted
        φ₂ by index; None: the symbolic route's. Which parameters go is a choice; that they can
        go, and β, is found without that route.

    Raises
    ------
    EliminationError
        φ₂ is not admissible.
    FamilyError
        See `finite_field.interpolated_beta.black_box_beta`; names the routes that have an answer.
    """
    seen = seen or nominal_observation(model)
    chosen = symbolic(model, seen=seen, own=False).eliminated if wanted is None else wanted
    try:
        found = black_box_beta(model, chosen, suggested=wanted is None)
    except FamilyError as error:
        raise FamilyError(
            f"{error.message} The black-box route has no answer for this file; the symbolic route "
            f"(the default) and the precise route have."
        ) from error
    graded = Grading(found.vectors, found.generic, found.tested, found.scope)
    it = Route(model, GeometryField.of(model.mechanism), "black-box", found.eliminated, seen)
    base = replace(_parameters(it, graded), generic=graded.rank)
    return base if counted(base) else completed(it, graded, base, _parameters)


def _parameters(it: Route, graded: Grading) -> BaseParameters:
    """Base parameters that graded null vectors leave, held against W in float64."""
    field, mechanism, seen = it.field, it.model.mechanism, it.seen
    names = mechanism.parameter_names
    short = not _long(graded.vectors)
    result = eliminate(field, graded.vectors, names, it.wanted, short, mechanism.nominal)
    used = tuple(graded.vectors[k] for k in sorted(result.sources.values()))
    graded = replace(graded, vectors=used)
    kept = tuple(k for k in range(len(names)) if k not in result.eliminated)
    beta = _entries(field, result, kept, mechanism.nominal)
    validity = tuple((field.to_expression(p), field.to_text(p)) for p in result.pivots)
    partial = BaseParameters(
        mechanism=mechanism.name,
        parameters=names,
        route=it.name,
        kept=kept,
        eliminated=result.eliminated,
        no_effect=tuple(k for k in result.eliminated if not result.beta[k]),
        beta=beta,
        gap=0.0,
        singular_values=(),
        certificate=_certificate(field, graded, names, 0),
        validity=validity,
    )
    beta_here = partial.nominal_beta[None]
    held = check(seen.triangle, seen.error, kept, result.eliminated, beta_here, seen.terms)
    least = int(held.spectrum.at_least[0])
    poles = partial.vanishing_pivots(mechanism.nominal)[:, 0]
    vanish = [text for (_, text), gone in zip(validity, poles, strict=True) if gone]
    doubts = [*refuted(graded, partial.rank), *infinite(vanish)]
    stated = _certificate(field, graded, names, least)
    return _settled(partial, held, stated, doubts, bool(vanish), "; ".join(graded.notes))


def _long(vectors: Sequence[NullVector]) -> bool:
    """Whether an entry is so long that φ₂ is not worth an exchange: a recovered one may be."""
    return any(
        max(len(x.numer), len(x.denom)) > MANY_TERMS
        for vector in vectors
        if vector.grade != "theorem"
        for x in vector.entries.values()
    )


def numeric(
    model: Model, wanted: Sequence[int] | None = None, seen: Observation | None = None
) -> BaseParameters:
    """Base parameters by the numeric route alone: float64, nominal geometry.

    Parameters
    ----------
    model, wanted, seen
        As in `symbolic`.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    MotionError, AssemblyError
        As `nominal_observation`.
    """
    mechanism, names = model.mechanism, model.mechanism.parameter_names
    seen = seen or nominal_observation(model)
    found = spectrum(seen.triangle, seen.error, seen.terms)
    rank = int(found.shown[0])
    grouping = group(seen.triangle[0], rank, names, wanted)
    beta = tuple(
        BetaEntry(b, e, float(grouping.beta[b, e]))
        for b in range(len(grouping.kept))
        for e in range(len(grouping.eliminated))
        if grouping.beta[b, e] != 0
    )
    return BaseParameters(
        mechanism=mechanism.name,
        parameters=names,
        route="numeric",
        kept=grouping.kept,
        eliminated=grouping.eliminated,
        no_effect=grouping.no_effect,
        beta=beta,
        gap=float(gap_across(found.scaled, found.noise, found.shown)[0]),
        singular_values=tuple(map(float, found.singular_values[0])),
        certificate=Certificate(
            int(found.at_least[0]), "numerical", HERE, int(found.at_most[0]), "numerical", HERE
        ),
        doubt="" if found.clear[0] else unclear(found),
    )


def _settled(
    partial: BaseParameters,
    held: Check,
    certificate: Certificate,
    doubts: list[str],
    pole: bool,
    special: str = "",
) -> BaseParameters:
    """The result with what float64 says of it, and what it only fails to see.

    `doubts` are added to; `pole`: β has no value at this geometry.
    """
    found = held.spectrum
    rank, noise = int(found.rank[0]), float(found.noise[0])
    generic = certificate.at_least_grade in GENERIC
    counted = generic and certificate.at_least == partial.rank
    # Where exact arithmetic has counted, what float64 cannot decide is no doubt of this route.
    blind = doubts if not counted else list[str]()
    if not found.clear[0]:
        blind.append(unclear(found))
    if rank < partial.rank and not found.short[0]:
        why = "some are missing"
        if counted:
            why = "the nominal geometry is special, which generic geometry is not"
        (doubts if found.clear[0] else blind).append(
            f"float64 sees rank {rank}, the null vectors allow {partial.rank}: either {why}, or "
            f"the mobility is too low for double precision"
        )
    if special and not found.clear[0]:
        doubts.append(f"{special}, which float64 cannot decide")
    if generic and certificate.at_least < partial.rank:
        doubts.append(
            f"the rank over finite fields is {certificate.at_least} for generic geometry, the "
            f"null vectors allow {partial.rank}: some are missing"
        )
    # Vectors that depend on each other at this geometry bound the rank elsewhere only.
    missed = held.null_error[0] > max(1e3 * noise, 1e-9) and not pole
    if (found.clear[0] and found.at_least[0] > partial.rank and not pole) or missed:
        raise EliminationError(
            f"The symbolic and the numeric route contradict each other for "
            f"{partial.mechanism!r}: the null vectors leave rank {partial.rank}, float64 sees "
            f"{rank}, and W N is {held.null_error[0]:.1e} of W (allowed {noise:.1e}). This is a "
            f"defect of the program or of a relation held only by value; please report the file."
        )
    return replace(
        partial,
        gap=float(found.gap[0]),
        singular_values=tuple(map(float, found.singular_values[0])),
        certificate=certificate,
        doubt="; ".join(doubts),
        float64_doubt="; ".join(blind) if blind is not doubts else "",
    )


def _entries(
    field: GeometryField, result: Elimination, kept: tuple[int, ...], nominal: Mapping[str, float]
) -> tuple[BetaEntry, ...]:
    place = {row: k for k, row in enumerate(kept)}
    found = []
    for e, row in enumerate(result.eliminated):
        for base, value in sorted(result.beta[row].items()):
            tree = field.to_expression(value)
            (number,) = evaluate([tree], nominal)
            found.append(BetaEntry(place[base], e, float(number), tree, field.to_text(value)))
    return tuple(found)


def _certificate(
    field: GeometryField, graded: Grading, names: Sequence[str], seen_rank: int
) -> Certificate:
    """Two statements: generic ones where the family allows them, else what float64 has seen."""
    at_most = len(names) - len(graded.vectors)
    grades = [vector.grade for vector in graded.vectors]
    weakest = max(grades, key=GRADES.index, default="theorem")
    upper = {
        "theorem": EVERYWHERE,
        "numerical": "geometries near the nominal",
    }.get(weakest, graded.scope)
    least, grade_, lower = seen_rank, "numerical", HERE
    # A family that is wider than the file's, because numbers had to vary, may have a higher rank.
    if graded.generic is not None and graded.generic.rank <= at_most:
        least, grade_ = graded.generic.rank, graded.generic.grade
        lower = "; ".join(filter(None, (graded.scope, graded.generic.reason)))
    elif graded.scope:
        lower = f"{lower}; {graded.scope}"
    return Certificate(
        at_least=least,
        at_least_grade=grade_,
        at_least_scope=lower,
        at_most=at_most,
        at_most_grade=weakest,
        at_most_scope=upper,
        vectors=tuple(
            VectorGrade(
                vector.grade,
                vector.reason,
                {names[k]: field.to_text(value) for k, value in sorted(vector.entries.items())},
            )
            for vector in graded.vectors
        ),
        at_least_points=random_points(graded.generic) if grade_ in GENERIC else (),
        at_most_points=random_points(graded.tested) if "probability" in grades else (),
    )


def random_points(found: GenericRank | IdentityTest | None) -> tuple[RandomPoint, ...]:
    """What was found at random points, with what repeats them."""
    if found is None:
        return ()
    return tuple(RandomPoint(*given) for given in zip(found.primes, found.seeds, strict=True))
