"""What a study learns from a sweep's store before it asks its first question.

How depends on what the sampler makes of trials that it did not ask for (`sampler_kinds`):

- TPE and Gaussian processes use them. Where the sweep is of the same mechanism, has every result
  the study speaks of, and variants that are members of the study's space (other swept symbols at
  their nominal value), a selection of them is told as finished trials: the best, and as many
  spread over the rest, because TPE learns from the bad ones too. No more than `MOST_TOLD`: their
  time per question grows with what they know.
- CMA-ES begins from the distribution of the best of them (`source_trials`), which are no trials
  of the study.
- All others, and these where the store cannot tell, are given the best ones' parameters as the
  study's first batch, evaluated afresh; genetic samplers breed from it. Of an atlas, a store
  with shapes of paths and not their errors, the best are those nearest to the target's shape.

What a study has screened itself becomes trials in the same ways before a sampler goes on
from there; the study has it in any case, for whoever loads it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from optuna.trial import FrozenTrial

from basepar_core.errors import UsageError
from sweeps.spec import values_of
from sweeps.store import Status, Store, check_and_repair, locate

from . import atlas
from .ask_tell_log import Journal
from .feasibility import Verdict, best, judge
from .quantity_names import read_results, results_in
from .sampler_kinds import SOURCE, TOLD, kind_of
from .samplers import Parameters, finished_trial
from .spec import Choices, Range, StudySpec, Variable

#: Variants told as finished trials.
MOST_TOLD = 100
#: Variants that CMA-ES begins from: it takes the best tenth of them.
MOST_SOURCE = 1000


@dataclass(frozen=True, slots=True)
class Beginning:
    """Trials told before the first question, variants that the sampler begins from, and variants
    proposed for the first batch."""

    told: int = 0
    proposed: int = 0
    source: int = 0


def begin(spec: StudySpec, journal: Journal) -> Beginning:
    """Tell or propose what the warm start gives; chosen once, and the same in every run.

    Raises
    ------
    UsageError
        The store has nothing for this study; the message says what is missing.
    """
    if not spec.warm_start:
        return Beginning()
    facts = journal.beginning or choose(spec)
    journal.begin(facts, lambda: trials(spec, facts["rows"]))
    source = facts.get("source", [])
    journal.source = trials(spec, source) if source else []
    return Beginning(len(facts["rows"]), len(facts["candidates"]), len(source))


@dataclass(frozen=True)
class _Source:
    """A sweep's store, and which of its variants lie within the study's variables."""

    spec: StudySpec
    held: Store
    swept: list[str]

    @classmethod
    def of(cls, spec: StudySpec) -> "_Source":
        path = locate(spec.warm_start).absolute()
        held = Store.open(path)
        check_and_repair.check(path)
        space = held.spec.get("space", {})
        swept = held.swept or list(space.get("variables") or space.get("names") or [])
        missing = [name for name in spec.names if name not in swept]
        if missing:
            raise UsageError(
                f"{path} does not sweep {', '.join(missing)}, which the study varies; it sweeps "
                f"{', '.join(swept) or 'nothing'}. Drop warm_start, or name another store.",
                ["warm_start"],
            )
        return cls(spec, held, swept)

    @property
    def others(self) -> list[str]:
        """Symbols that the sweep varies and the study does not."""
        return [name for name in self.swept if name not in self.spec.names]

    @property
    def is_same_mechanism(self) -> bool:
        """Whether results mean the same: also what goes into torques beside inertias."""
        ours, theirs = self.spec.sweep.canonical, self.held.spec
        beside = [one.get("evaluate", {}).get("with", []) for one in (ours, theirs)]
        return theirs.get("mechanism") == ours["mechanism"] and beside[0] == beside[1]

    def column(self, name: str) -> np.ndarray:
        return np.asarray(self.held[name][:])

    def has(self, spec: StudySpec) -> bool:
        """Whether the store has every result that a study speaks of."""
        found = read_results(self.held, spec.results, 0, 1)
        return all(column is not None for column in found.values())

    def inside(self) -> np.ndarray:
        """(variant,) bool: evaluated, and its values are possible in the study."""
        out = (Status.PENDING, Status.FILTERED, Status.CRASHED, Status.TIMED_OUT)
        good = ~np.isin(self.column("status"), out)
        for name, variable in self.spec.variables:
            good &= possible(variable, self.column(name))
        return good

    def members(self) -> np.ndarray:
        """(variant,) bool: `inside`, and every other symbol is what it is in the study."""
        good = self.inside()
        mechanism, nominal = self.spec.mechanism, self.spec.mechanism.nominal
        columns: dict[str, Any] = {name: self.column(name) for name in self.spec.names}
        for one in self.spec.derived:
            (columns[one.name],) = values_of(mechanism, (one.expression,), columns)
        derived = [one.name for one in self.spec.derived]
        for name in {*self.others, *derived}:
            here = self.column(name) if name in self.swept else nominal[name]
            good &= here == columns.get(name, nominal[name])
        return good

    def judged(self, spec: StudySpec) -> Verdict:
        return judge(spec, self.held, 0, len(self.column("status")), self.swept)


def choose(spec: StudySpec) -> dict[str, Any]:
    """Rows of the sweep to tell, or candidates to propose, as plain data."""
    source, learns = _Source.of(spec), kind_of(spec.sampler.kind).learns
    rows: list[int] = []
    if learns in (TOLD, SOURCE) and source.is_same_mechanism and source.has(spec):
        members = np.flatnonzero(source.members())
        if members.size:
            order = members[_best_first(spec, source.judged(spec), members)]
            most = MOST_TOLD if learns == TOLD else MOST_SOURCE
            rows = sorted(map(int, spread(order, most)))
    if rows and learns == TOLD:
        return {"rows": rows, "candidates": []}
    inside = np.flatnonzero(source.inside())
    if not inside.size:
        raise UsageError(
            f"No variant of {spec.warm_start} that was evaluated lies within the study's "
            "variables. Drop warm_start, or name another store.",
            ["warm_start"],
        )
    far = atlas.distances(spec, source.held)
    if far is None:
        seen = _as_far_as_known(spec, source)
        order = inside[_best_first(seen, source.judged(seen), inside)]
    else:
        near = inside[np.isfinite(far[inside])]
        order = near[np.argsort(far[near], kind="stable")]
    columns = {name: source.column(name) for name in spec.names}
    return {"rows": [], "candidates": _candidates(spec, columns, order), "source": rows}


def tell_screened(spec: StudySpec, journal: Journal, verdict: Verdict) -> None:
    """Tell what was found among the screened rows, and have the sampler begin from it."""
    rows = np.flatnonzero(verdict.settled)
    order = rows[_best_first(spec, verdict, rows)]
    first = best(spec, verdict)
    order = np.concatenate([first, order[~np.isin(order, first)]])
    # CMA-ES takes neither constraints nor trials of others.
    kept = kind_of(spec.sampler.kind).constrained

    def made(rows: Sequence[int]) -> list[FrozenTrial]:
        return [finished_trial(spec, verdict, row, kept, screened=row) for row in rows]

    journal.tell_found(sorted(map(int, spread(order, MOST_TOLD))), made)
    if spec.trials == spec.screened:
        return
    learns = kind_of(spec.sampler.kind).learns
    if learns == SOURCE:
        journal.source = made(sorted(map(int, spread(order, MOST_SOURCE))))
    elif learns != TOLD:
        columns = dict(zip(spec.names, verdict.parameters.T, strict=True))
        journal.candidates = _candidates(spec, columns, order)


def possible(variable: Variable, values: np.ndarray) -> np.ndarray:
    """(variant,) bool: whether values in SI are among a variable's."""
    match variable:
        case Range(low, high):
            return (values >= low) & (values <= high)
        case Choices(choices):
            return np.isin(values, choices)
    # Few different ones: looked at one by one.
    distinct, places = np.unique(values, return_inverse=True)
    return np.array([variable.parameter(float(x)) is not None for x in distinct])[places]


def _as_far_as_known(spec: StudySpec, source: _Source) -> StudySpec:
    """The study with those objectives and constraints whose results the store has."""

    def is_known(line: Any) -> bool:
        results = results_in(spec.mechanism, [line.expression], spec.own, spec.targets)
        found = read_results(source.held, results, 0, 1)
        return all(column is not None for column in found.values())

    objectives = tuple(filter(is_known, spec.objectives))
    if not objectives:
        wanted = ", ".join(line.text for line in spec.objectives)
        raise UsageError(
            f"{spec.warm_start} has no results for {wanted}: nothing there is better or worse. "
            "Drop warm_start, or add them to the sweep's `evaluate`; of paths the curves' shapes "
            "are enough, `fourier_descriptors(P)`.",
            ["warm_start"],
        )
    constraints = tuple(filter(is_known, spec.constraints))
    return replace(spec, objectives=objectives, constraints=constraints)


def _best_first(spec: StudySpec, verdict: Verdict, rows: np.ndarray) -> np.ndarray:
    """Order of these rows: least violation first, then the least sum of ranks."""
    values = verdict.values[rows] * spec.signs
    ranks = values.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable").sum(axis=1)
    return np.lexsort((ranks, verdict.violation[rows]))


def spread(order: np.ndarray, most: int) -> np.ndarray:
    """At most so many: the best half of them, and the rest evenly from all others."""
    if len(order) <= most:
        return order
    best, rest = order[: most // 2], order[most // 2 :]
    places = np.linspace(0, len(rest) - 1, most - len(best)).astype(int)
    return np.concatenate([best, rest[places]])


def _candidates(
    spec: StudySpec, columns: Mapping[str, np.ndarray], order: np.ndarray
) -> list[Parameters]:
    """Parameters of the first variants, those that differ in other symbols only once."""
    found: list[Parameters] = []
    for row in order[: 100 * spec.batch]:
        one = spec.parameters(column[row] for column in columns.values())
        if one not in found:
            found.append(one)  # type: ignore[arg-type]  # `inside` left no None
        if len(found) == min(spec.batch, spec.trials):
            break
    return found


def trials(spec: StudySpec, rows: list[int]) -> list[FrozenTrial]:
    """Rows of the sweep as finished trials."""
    source = _Source.of(spec)
    verdict = source.judged(spec)
    return [finished_trial(spec, verdict, row, warm_start=row) for row in rows]
