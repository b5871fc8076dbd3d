"""The file's own geometry: how many base parameters its numbers have, counted where needed.

Null vectors and ranks over finite fields are of a family: of symbols that vary, and of numbers
that had to. A member may be special (a crank and a rod of one length), and then the family's
count is not its own. Float64 tells the two apart where it can; elsewhere variable precision
counts W of the exact numbers of the file, at random states so that nothing depends on the
excitation's course. What the family lacks is completed by null vectors of this geometry alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

from basepar_core.dynamics import Model, Observation, excitation
from basepar_core.expressions import evaluate, number
from basepar_core.finite_field import Component, Grading
from basepar_core.symbolic import GeometryField, NullVector
from basepar_core.variable_precision import (
    ARB,
    FIRST_DIGITS,
    bits_of,
    exact,
    independence,
    may_vanish,
    symbol_values,
    variants,
    working,
)

from ..errors import BaseparError, EliminationError
from ..mechanism import States
from .doubtful_counts import infinite
from .result import BaseParameters, Certificate

#: Digits of the null space, the share of them that tells a zero, and the largest denominator of
#: an entry that is taken for a fraction: a number that is none agrees with one so far by chance
#: only in 10^(20 − 30) of cases.
DIGITS, ZERO, DENOMINATOR = 40, mpf(10) ** -30, 10**10
#: Of an own excitation: this many samples a parameter, angular frequency of rates in rad/s.
SAMPLES, OMEGA = 2, 3
#: Samples beyond those that confirm a count: where they lie close, the last ones add little.
SPARE = 3
#: Share of the excitation's range that random states fill: within it the loops were followed.
WITHIN = Fraction(9, 10)
#: Least range of a coordinate, for an excitation that holds it still.
LEAST = 1e-3
#: Share of a null vector that others must leave. Misjudged, the rank is not variable precision's,
#: and is doubted.
INDEPENDENT = 1e-9


#: Scope of what is reported of the file's own numbers.
HERE = "this geometry and branch"


@dataclass(frozen=True)
class Route:
    """What base parameters are made of besides null vectors; `wanted` is φ₂, if it is chosen."""

    model: Model
    field: GeometryField
    name: str
    wanted: Sequence[int] | None
    seen: Observation


@dataclass(frozen=True)
class OwnCount:
    """What variable precision says of the file's own geometry.

    Attributes
    ----------
    rank
        Of W over any motion; None where variable precision does not decide.
    grade
        Of rank ≥ `rank`.
    reason
        Why it does not decide; empty where it does.
    moving
        The mechanism with the motion that decided it.
    """

    rank: int | None
    grade: str
    reason: str
    moving: Model | None = None


def confirmed(it: Route, graded: Grading, found: BaseParameters) -> OwnCount | None:
    """The count that null vectors leave, where enclosed samples prove it of this geometry.

    Vectors that are more than seen bound the rank from above, where β has a value; it need not
    be found as a ridge between singular values then. Energies at a few samples of the excitation
    bound it from below: their kept columns are independent for whatever the enclosures allow. The
    vectors did not know of these samples, and must vanish at all of them.

    Returns
    -------
    OwnCount or None
        None where it is not proved so.
    """
    if found.doubt or any(vector.grade == "numerical" for vector in found.certificate.vectors):
        return None
    mechanism = it.model.mechanism
    # Samples of a curve that move together make its series: as many span as orders of that do.
    generic = graded.generic
    samples = SPARE + (max(generic.order_of_stall) if generic else found.rank)
    try:
        (followed,) = variants(it.model, {}, samples, it.seen.trace)
        if followed is None:
            return None
        W = followed.observe(FIRST_DIGITS, "modes")
        with working(bits_of(2 * FIRST_DIGITS)):
            known = symbol_values(mechanism, {})
            trees = [entry.expression for entry in found.beta if entry.expression is not None]
            entries = [exact(x) for x in evaluate(trees, known, ARB)]
    except BaseparError:
        return None
    if not (W.proved and independence(W, found.kept, 0.0).least > 0):
        return None
    beta = {(b.base, b.eliminated): x for b, x in zip(found.beta, entries, strict=True)}
    if not may_vanish(W, found.kept, found.eliminated, beta):
        return None
    return OwnCount(found.rank, "proved", "", it.model)


def count(model: Model) -> OwnCount:
    """The rank of W at the exact numbers of the file, on its branch, over any motion."""
    from .precise_route import precise_rank

    reasons = []
    # Random states first; along the file's own excitation where those cannot be followed.
    for moving in (_at_random_states(model), model):
        try:
            found = precise_rank(moving)
        except BaseparError as error:
            reasons.append(error.message)
            continue
        if found.evident:
            grade = "proved" if found.proved else "numerical"
            return OwnCount(found.rank, grade, "", moving)
        reasons.append(found.reason)
    return OwnCount(None, "numerical", reasons[0])


def _at_random_states(model: Model) -> Model:
    """The same mechanism, excited by random states within the range of its excitation."""
    motion = excitation(model.mechanism, model.assembled.coordinates)
    start = model.assembled.coordinates[:, None]
    size = np.abs(motion.q - start).max(axis=1) * float(WITHIN)
    widest = max(float(size.max()), LEAST)
    amplitude = tuple(number(Fraction(float(x if x > 0 else LEAST * widest))) for x in size)
    samples = SAMPLES * len(model.mechanism.parameter_names) + 10
    law = States(amplitude, number(Fraction(OMEGA)), samples, 20261122)
    return replace(model, mechanism=replace(model.mechanism, excitation=law))


def own_vectors(
    found: OwnCount, field: GeometryField, kept: Sequence[int]
) -> tuple[list[NullVector], list[int]]:
    """Null vectors on columns that the family leaves, and the columns that go by them.

    Parameters
    ----------
    found
        A count that was decided.
    field
        Where entries live.
    kept
        Columns that the family's null vectors leave.

    Raises
    ------
    EliminationError
        Not all digits of the null space are proved.
    """
    from .precise_route import precise

    assert found.moving is not None
    many = precise(found.moving, digits=DIGITS)
    if many.doubt or many.rank != found.rank:
        raise EliminationError(
            f"The null space of this geometry is not certain to {DIGITS} digits: "
            f"{many.doubt or f'its rank is {many.rank} there'}."
        )
    table = many.null_space
    with mp.workdps(DIGITS + 10):
        rows = [[table[row, k] for row in range(table.rows)] for k in range(table.cols)]
        for k in range(len(rows[0]) if rows else 0):
            if k not in kept:
                _cleared(rows, k)
        rows = [row for row in rows if row]
        pivots: list[int] = []
        done: list[list[mpf]] = []
        while rows:
            # The largest entry is the pivot, so that no coefficient is large.
            size, r, k = max(
                (abs(row[k]), r, k) for r, row in enumerate(rows) for k in kept if k not in pivots
            )
            if size < ZERO:
                break
            row = _unit(rows.pop(r), k)
            done = [_minus(other, row, k) for other in done] + [row]
            rows = [_minus(other, row, k) for other in rows]
            pivots.append(k)
        vectors = [
            NullVector(
                {k: field.element(number(_exact(x))) for k, x in enumerate(row) if _is(x)},
                "numerical",
                f"of this geometry's numbers only (variable precision, {DIGITS} digits)",
            )
            for row in done
        ]
    return vectors, pivots


def _cleared(rows: list[list[mpf]], k: int) -> None:
    """Column k removed from all vectors at the price of one of them."""
    r = max(range(len(rows)), key=lambda i: abs(rows[i][k]) / max(map(abs, rows[i])))
    if abs(rows[r][k]) < ZERO:
        return
    row = _unit(rows.pop(r), k)
    rows[:] = [_minus(other, row, k) for other in rows]


def _unit(row: list[mpf], k: int) -> list[mpf]:
    pivot = row[k]
    return [x / pivot for x in row]


def _minus(one: list[mpf], row: list[mpf], k: int) -> list[mpf]:
    share = one[k]
    return [
        x - share * y if i != k else mpf(0) for i, (x, y) in enumerate(zip(one, row, strict=True))
    ]


def _is(x: mpf) -> bool:
    return bool(abs(x) > ZERO)


def _exact(x: mpf) -> Fraction:
    """A fraction where the digits show one, else the float next to it."""
    sign, man, exp, _ = x._mpf_
    whole = Fraction(int(man)) * Fraction(2) ** int(exp) * (-1 if sign else 1)
    near = whole.limit_denominator(DENOMINATOR)
    if abs(near - whole) < Fraction(1, 10**30) * max(Fraction(1), abs(whole)):
        return near
    return Fraction(float(x))


def counted(found: BaseParameters, component: Component | str = "") -> bool:
    """Whether the count is the file's own geometry's, and not only its family's."""
    if any(vector.grade == "numerical" for vector in found.certificate.vectors):
        return False
    if found.doubt:
        return False
    return not found.float64_doubt or _is_one(component)


def _is_one(component: Component | str) -> bool:
    """Whether a family has one member, the file's geometry."""
    if isinstance(component, str):
        return False
    it = component.family
    return not (it.directions or it.angles or it.roots or it.unknowns or it.freed)


def completed(
    it: Route,
    graded: Grading,
    found: BaseParameters,
    parameters: Callable[[Route, Grading], BaseParameters],
) -> BaseParameters:
    """The result with the count of the file's own geometry, completed where that is lower.

    `parameters` makes base parameters of null vectors.
    """
    here = confirmed(it, graded, found) or count(it.model)
    generic = graded.rank
    if here.rank is None:
        why = f"variable precision does not decide this geometry's own count: {here.reason}"
        return replace(found, doubt="; ".join(filter(None, [found.doubt, why])))
    if here.rank > found.rank:  # what was seen near this geometry is not exactly so
        graded = _independent_here(it, _without_numerical(graded))
        found = parameters(it, graded)
    if here.rank < found.rank and it.wanted is None:
        try:
            found = _whole(it, here, graded, found, parameters)
        except EliminationError as error:
            found = replace(found, doubt="; ".join(filter(None, [found.doubt, error.message])))
    if here.rank == found.rank:
        poles = found.vanishing_pivots(it.model.mechanism.nominal)[:, 0]
        rest = infinite([t for (_, t), gone in zip(found.validity, poles, strict=True) if gone])
        found = replace(found, doubt="; ".join(rest), certificate=_by(here, found, generic))
    else:
        why = f"this geometry has {here.rank} by variable precision, the null vectors {found.rank}"
        doubt = "; ".join(filter(None, [found.doubt, why]))
        found = replace(found, doubt=doubt, certificate=_by(here, found, None))
    return replace(found, generic=generic)


def not_refuted(
    it: Route,
    graded: Grading,
    parameters: Callable[[Route, Grading], BaseParameters],
) -> tuple[Grading, BaseParameters]:
    """Base parameters of the vectors that float64 does not refute.

    It may refute what detection saw near this geometry only; and what random members have, where
    they are on another component than the real mechanism (a slider-crank of equal lengths whose
    slider stays at the crank's hinge). Theorems hold on both.
    """
    try:
        return graded, parameters(it, graded)
    except EliminationError as error:
        theorems = tuple(vector for vector in graded.vectors if vector.grade == "theorem")
        only = Grading(theorems, None, None, "")
        for held in (_without_numerical(graded), only):
            if len(held.vectors) < len(graded.vectors):
                try:
                    return held, parameters(it, held)
                except EliminationError:
                    continue
        raise error


def _without_numerical(graded: Grading) -> Grading:
    """Without the vectors that were seen near this geometry only."""
    held = (vector for vector in graded.vectors if vector.grade != "numerical")
    return replace(graded, vectors=tuple(held))


def _independent_here(it: Route, graded: Grading) -> Grading:
    """Without the vectors that depend on those before them at the nominal geometry."""
    nominal, held = it.model.mechanism.nominal, []
    basis = np.zeros((0, len(it.model.mechanism.parameter_names)))
    for vector in graded.vectors:
        row = np.zeros(basis.shape[1])
        trees = [it.field.to_expression(x) for x in vector.entries.values()]
        row[list(vector.entries)] = evaluate(trees, nominal)
        size = float(np.linalg.norm(row))
        for _ in range(2):  # once more for what the first subtraction left by rounding
            row = row - basis.T @ (basis @ row)
        left = float(np.linalg.norm(row))
        if left > INDEPENDENT * size:
            basis = np.vstack([basis, row / left])
            held.append(vector)
    return replace(graded, vectors=tuple(held))


def _whole(
    it: Route,
    here: OwnCount,
    graded: Grading,
    found: BaseParameters,
    parameters: Callable[[Route, Grading], BaseParameters],
) -> BaseParameters:
    """The result with the null vectors of this geometry alone."""
    more, gone = own_vectors(here, it.field, found.kept)
    wanted = sorted([*found.eliminated, *gone])
    both = replace(graded, vectors=(*graded.vectors, *more))
    whole = parameters(replace(it, wanted=wanted), both)
    return replace(whole, of_family=found if graded.rank == found.rank else None)


def _by(here: OwnCount, found: BaseParameters, generic: int | None) -> Certificate:
    """A certificate whose lower bound is of this geometry, unless the family's is as high."""
    stated = found.certificate
    if generic == found.rank == stated.at_least:
        return stated
    assert here.rank is not None
    return replace(
        stated,
        at_least=min(here.rank, stated.at_most),
        at_least_grade=here.grade,
        at_least_scope=scope if (scope := stated.at_least_scope).startswith(HERE) else HERE,
        at_least_points=(),
    )
