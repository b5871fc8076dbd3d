"""What a study makes of evaluated variants: objective values, and how far each is from feasible.

Optuna's rule: a constraint is met where its number is ≤ 0, and samplers add up the positive ones.
For that sum to mean something, numbers of different units must weigh alike, and a variant that
never closed must be worse than any that closed and missed all constraints:

- `a <= b` counts (a − b)/(|a| + |b|), between −1 and 1; 1 where it has no value. `>=` the other
  way round.
- *closing* is 0 for a variant that was evaluated. One that was not has the number of constraints
  plus what it left undone: of the cycle, the share from the sample on at which it was lost; 1
  more if it was lost in the excitation, which comes first; for one that cannot be assembled
  2 + g/(1 + g), g the gap left (m or rad); 3 where the geometry has no value. Other constraints
  count 0 for it, unknown as they are.

So has a variant in which an own metric is not finite, with 1 left undone. Such a variant's
objective has no value; samplers are told ∞ (−∞ to maximise).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from basepar_core.errors import UsageError
from basepar_core.expressions import Call, Expression, evaluate
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural
from sweeps.spec import Condition
from sweeps.store import WITH_RESULTS, Reason, Status, Store
from sweeps.store import status as survey

from .quantity_names import known_values, read_results
from .spec import Objective, StudySpec


@dataclass(frozen=True)
class Verdict:
    """Some variants, judged.

    Attributes
    ----------
    parameters
        (variant, symbol), SI.
    results
        By name, (variant,); what objectives and constraints speak of.
    values
        (variant, objective); ±∞ where there is none.
    violations
        (variant, constraint), *closing* first.
    settled
        (variant,) bool: evaluated, and neither crashed nor timed out.
    """

    parameters: np.ndarray
    results: dict[str, np.ndarray]
    values: np.ndarray
    violations: np.ndarray
    settled: np.ndarray

    @property
    def feasible(self) -> np.ndarray:
        """(variant,) bool: settled, and every constraint is met."""
        return self.settled & (self.violations <= 0).all(axis=1)

    @property
    def violation(self) -> np.ndarray:
        """(variant,): what samplers add up; 0 where feasible."""
        return np.where(self.violations > 0, self.violations, 0.0).sum(axis=1)


def judge(
    spec: StudySpec, held: Store, start: int, stop: int, swept: Sequence[str] = ()
) -> Verdict:
    """Judge variants start … stop − 1 of the study's store, or of a sweep's.

    Parameters
    ----------
    swept
        Symbols that the store has; none given: those of the study.
    """
    names = swept or spec.swept
    symbols = {name: held.rows(name, start, stop) for name in names}
    read = read_results(held, spec.results, start, stop)
    results = {name: column for name, column in read.items() if column is not None}
    fate = (held.rows(name, start, stop) for name in ("status", "reason", "reason_value"))
    return weigh(spec, symbols, results, *fate)


def weigh(
    spec: StudySpec,
    symbols: Mapping[str, np.ndarray],
    results: dict[str, np.ndarray],
    status: np.ndarray,
    reason: np.ndarray,
    number: np.ndarray,
) -> Verdict:
    """Judge variants by their arrays, each (variant,): swept symbols, results, and their fate."""
    known = known_values(spec.mechanism, symbols, results)
    values = objective_values(spec.objectives, known, len(status))
    violations = constraint_violations(spec.constraints, known, len(status))
    good = np.isin(status, WITH_RESULTS) & np.isfinite(values).all(axis=1)
    for one in spec.sweep.evaluation.users:  # an infinite one is no number to be met either
        good &= np.isfinite(results.get(one.name, np.zeros(len(status))))
    left = undone(spec.mechanism, reason, number)
    worst = [np.inf if line.minimize else -np.inf for line in spec.objectives]
    return Verdict(
        np.stack([symbols[name] for name in spec.names], axis=1),
        results,
        np.where(good[:, None], values, worst),
        np.column_stack(
            [
                np.where(good, 0.0, len(spec.constraints) + left),
                np.where(good[:, None], violations, 0.0),
            ]
        ),
        ~np.isin(status, (Status.PENDING, Status.CRASHED, Status.TIMED_OUT)),
    )


def dominated(values: np.ndarray) -> np.ndarray:
    """(point,) bool: another point has no objective above this one's, and one below.

    Parameters
    ----------
    values
        (point, objective), the less the better: times `StudySpec.signs`.
    """
    if values.shape[1] == 1 and len(values):
        return values[:, 0] > values.min()
    order = np.lexsort(values.T[::-1])  # whoever dominates comes before
    found = np.zeros(len(values), bool)
    if values.shape[1] == 2 and len(values):
        first, second = values[order].T
        least = np.minimum.accumulate(second)
        # Where the least second value was reached first: there the first one is least, too.
        fell = np.append(True, second[1:] < least[:-1])
        leader = np.maximum.accumulate(np.where(fell, np.arange(len(order)), 0))
        found[order] = (second > second[leader]) | (first > first[leader])
        return found
    front = np.empty((0, values.shape[1]))
    for row in order:
        one = values[row]
        found[row] = ((front <= one).all(axis=1) & (front < one).any(axis=1)).any()
        front = front if found[row] else np.concatenate([front, one[None]])
    return found


def objective_values(
    objectives: Sequence[Objective], known: dict[str, Any], count: int
) -> np.ndarray:
    """(variant, objective) of known quantities."""
    found = evaluate([line.expression for line in objectives], known)
    return np.stack([np.broadcast_to(np.asarray(x, float), count) for x in found], axis=1)


def constraint_violations(
    constraints: Sequence[Condition], known: dict[str, Any], count: int
) -> np.ndarray:
    """(variant, constraint) of known quantities: ≤ 0 exactly where the constraint is met."""
    columns = [_violation(line.expression, known, count) for line in constraints]
    return np.stack(columns, axis=1) if columns else np.zeros((count, 0))


def _violation(expression: Expression, known: dict[str, Any], count: int) -> np.ndarray:
    assert isinstance(expression, Call)
    sign, sides = expression.operator, expression.arguments
    left, right, met = (
        np.broadcast_to(np.asarray(x, float), count) for x in evaluate([*sides, expression], known)
    )
    excess = left - right if sign in ("<", "<=") else right - left
    size = np.abs(left) + np.abs(right)
    with np.errstate(invalid="ignore"):
        share = np.where(size == 0, 0.0, excess / np.where(size == 0, 1.0, size))
    share = np.where(np.isfinite(share), share, 1.0)
    # `<` at equality is not met although its excess is 0.
    return np.where(met > 0, np.minimum(share, 0.0), np.maximum(share, np.finfo(float).eps))


def undone(mechanism: Mechanism, reason: np.ndarray, number: np.ndarray) -> np.ndarray:
    """What a variant without results left undone: (variant,), above 0 and at most 3.

    Parameters
    ----------
    reason, number
        `reason` and `reason_value` of the store, each (variant,).
    """
    cycle = mechanism.cycle.samples if mechanism.cycle else 1
    excitation = mechanism.excitation.samples if mechanism.excitation else 1
    gap = np.abs(number)
    left = np.ones(reason.shape)  # it closed, but gave no value
    for codes, most, rest in (
        ((Reason.LOST_IN_CYCLE, Reason.SINGULAR_IN_CYCLE), 1.0, 1 - number / cycle),
        ((Reason.LOST_LOOP, Reason.NEAR_SINGULAR), 2.0, 2 - number / excitation),
        ((Reason.OTHER_ASSEMBLY,), 3.0, 2 + gap / (1 + gap)),
        ((Reason.UNDEFINED,), 3.0, np.full(reason.shape, 3.0)),
    ):
        here = np.isin(reason, codes)
        left = np.where(here, np.where(np.isfinite(rest), rest, most), left)
    return left


#: Variants listed: of one objective the best, of several so many along the front.
LISTED, FRONT = 5, 20
#: Of one objective so many are looked at; those are alike that differ by no more of any range.
SEEN, ALIKE = 2000, 0.01


def best(spec: StudySpec, verdict: Verdict) -> np.ndarray:
    """Rows to list: the best feasible ones, or the nearest to feasible where there is none."""
    feasible = np.flatnonzero(verdict.feasible)
    if not feasible.size:
        settled = np.flatnonzero(verdict.settled)
        return settled[np.argsort(verdict.violation[settled], kind="stable")][:LISTED]
    values = verdict.values[feasible] * spec.signs
    order = np.argsort(values[:, 0], kind="stable")
    if len(spec.objectives) == 1:
        return _apart(spec, verdict, feasible[order], LISTED)
    order = order[~dominated(values[order])]
    return feasible[order[far_apart(values[order], FRONT)]]


def far_apart(front: np.ndarray, count: int) -> np.ndarray:
    """At most so many places of a front (row, objective), by the first objective.

    The least of each objective, then again and again the one that is farthest from those; none
    twice whose objectives are the same. Distances are sums of shares of each objective's span.
    """
    span = np.ptp(front, axis=0)
    shares = front / np.where(span > 0, span, 1.0)
    found: list[int] = []
    away = np.full(len(front), np.inf)
    ends = list(dict.fromkeys(np.lexsort((shares.sum(axis=1), x))[0] for x in shares.T))
    while len(found) < min(count, len(front)):
        place = ends[len(found)] if len(found) < len(ends) else int(away.argmax())
        if away[place] == 0:
            break
        found.append(int(place))
        away = np.minimum(away, np.abs(shares - shares[place]).sum(axis=1))
    return np.array(sorted(found, key=lambda place: (front[place, 0], place)), int)


def _apart(spec: StudySpec, verdict: Verdict, rows: np.ndarray, most: int) -> np.ndarray:
    """The first rows of which none is nearly another: a search ends in many of the same."""
    designs = verdict.parameters[rows[:SEEN]]
    found: list[int] = []
    size = np.array([variable.size for _, variable in spec.variables])
    for k, design in enumerate(designs):
        away = np.abs((designs[found] - design) / size).max(axis=1)
        if not found or away.min() > ALIKE:
            found.append(k)
        if len(found) == most:
            break
    return rows[found]


def best_feasible(spec: StudySpec, verdict: Verdict) -> int | None:
    """The row that may be called the best; None where none is feasible."""
    rows = best(spec, verdict)
    return int(rows[0]) if rows.size and verdict.feasible[rows[0]] else None


def finished(spec: StudySpec) -> Verdict:
    """The judgement of all trials of a study.

    Raises
    ------
    UsageError
        Some are pending.
    """
    held = Store.open(spec.path)
    pending = survey.take(held).counts.get(Status.PENDING, 0)
    if pending:
        raise UsageError(
            f"{pending} of {plural(spec.trials, 'trial')} of {spec.store} "
            f"{'is' if pending == 1 else 'are'} pending. Run the study to its "
            "end first.",
            [spec.store],
        )
    return judge(spec, held, 0, spec.trials)


def starts(spec: StudySpec, verdict: Verdict, points: int) -> np.ndarray:
    """The best feasible variants: of one objective the least, of several far apart on the front.

    Raises
    ------
    UsageError
        None is feasible.
    """
    feasible = np.flatnonzero(verdict.feasible)
    if not feasible.size:
        raise UsageError(
            f"No variant of {spec.store} meets all constraints, so there is nothing to polish. "
            "Widen the bounds or loosen a constraint.",
            [spec.store],
        )
    values = verdict.values[feasible] * spec.signs
    order = np.argsort(values[:, 0], kind="stable")
    if len(spec.objectives) == 1:
        return _apart(spec, verdict, feasible[order], points)
    order = order[~dominated(values[order])]
    return feasible[order[far_apart(values[order], points)]]
