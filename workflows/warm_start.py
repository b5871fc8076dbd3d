"""What a study learns from a sweep's store before it asks its first question.

Where the sweep is of the same mechanism, has every result the study speaks of, and variants that
are members of the study's space (other swept symbols at their nominal value), a selection of
them is told as finished trials: the best, and as many spread over the rest, because TPE learns
from the bad ones too. Otherwise, and for samplers that take nothing from trials they did not ask
for (all but TPE), the best ones' parameters are the study's first batch, evaluated afresh.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import zarr
from optuna.trial import FrozenTrial

from basepar_core.errors import UsageError
from sweeps import store
from sweeps.statuses import Status

from .journal import Journal
from .quantities import read_results, results_in
from .samplers import Parameters, distributions
from .study_spec import StudySpec
from .verdict import CLOSING, Verdict, judge

#: Variants told as finished trials. TPE's time per question grows with what it knows.
MOST_TOLD = 100


@dataclass(frozen=True, slots=True)
class Beginning:
    """Trials told before the first question, and variants proposed for the first batch."""

    told: int = 0
    proposed: int = 0


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
    return Beginning(len(facts["rows"]), len(facts["candidates"]))


@dataclass(frozen=True)
class _Source:
    """A sweep's store, and which of its variants lie within the study's variables."""

    spec: StudySpec
    group: zarr.Group
    swept: list[str]
    plain: Mapping[str, Any]

    @classmethod
    def of(cls, spec: StudySpec) -> "_Source":
        path = Path(spec.warm_start).absolute()
        group = store.open_group(path)
        plain = json.loads(str(group.attrs.get("spec", "{}")))
        space = plain.get("space", {})
        swept = list(space.get("variables") or space.get("names") or [])
        missing = [name for name in spec.names if name not in swept]
        if missing:
            raise UsageError(
                f"{path} does not sweep {', '.join(missing)}, which the study varies; it sweeps "
                f"{', '.join(swept) or 'nothing'}. Drop warm_start, or name another store.",
                ["warm_start"],
            )
        return cls(spec, group, swept, plain)

    @property
    def others(self) -> list[str]:
        """Symbols that the sweep varies and the study does not."""
        return [name for name in self.swept if name not in self.spec.names]

    @property
    def is_same_mechanism(self) -> bool:
        return self.plain.get("mechanism") == self.spec.sweep.canonical["mechanism"]

    def column(self, name: str) -> np.ndarray:
        return np.asarray(store.array_of(self.group, name)[:])

    def has(self, spec: StudySpec) -> bool:
        """Whether the store has every result that a study speaks of."""
        found = read_results(self.group, spec.results, slice(0, 1))
        return all(column is not None for column in found.values())

    def inside(self) -> np.ndarray:
        """(variant,) bool: evaluated, and its values are possible in the study."""
        out = (Status.PENDING, Status.FILTERED, Status.CRASHED, Status.TIMED_OUT)
        good = ~np.isin(self.column("status"), out)
        for name, variable in self.spec.variables:
            fits = [variable.parameter(float(x)) is not None for x in self.column(name)]
            good &= np.array(fits)
        return good

    def members(self) -> np.ndarray:
        """(variant,) bool: `inside`, and the other symbols are nominal."""
        good = self.inside()
        for name in self.others:
            good &= self.column(name) == self.spec.mechanism.nominal[name]
        return good

    def judged(self, spec: StudySpec) -> Verdict:
        return judge(spec, self.group, 0, len(self.column("status")), self.swept)


def choose(spec: StudySpec) -> dict[str, Any]:
    """Rows of the sweep to tell, or candidates to propose, as plain data."""
    source = _Source.of(spec)
    if spec.sampler.kind == "tpe" and source.is_same_mechanism and source.has(spec):
        members = np.flatnonzero(source.members())
        if members.size:
            order = members[_best_first(spec, source.judged(spec), members)]
            return {"rows": sorted(map(int, spread(order, MOST_TOLD))), "candidates": []}
    inside = np.flatnonzero(source.inside())
    if not inside.size:
        raise UsageError(
            f"No variant of {spec.warm_start} that was evaluated lies within the study's "
            "variables. Drop warm_start, or name another store.",
            ["warm_start"],
        )
    seen = _as_far_as_known(spec, source)
    order = inside[_best_first(seen, source.judged(seen), inside)]
    return {"rows": [], "candidates": _candidates(spec, source, order)}


def _as_far_as_known(spec: StudySpec, source: _Source) -> StudySpec:
    """The study with those objectives and constraints whose results the store has."""

    def is_known(line: Any) -> bool:
        results = results_in(spec.mechanism, [line.expression])
        found = read_results(source.group, results, slice(0, 1))
        return all(column is not None for column in found.values())

    objectives = tuple(filter(is_known, spec.objectives))
    if not objectives:
        wanted = ", ".join(line.text for line in spec.objectives)
        raise UsageError(
            f"{spec.warm_start} has no results for {wanted}: nothing there is better or worse. "
            "Drop warm_start, or add them to the sweep's `evaluate`.",
            ["warm_start"],
        )
    constraints = tuple(filter(is_known, spec.constraints))
    return replace(spec, objectives=objectives, constraints=constraints)


def _best_first(spec: StudySpec, verdict: Verdict, rows: np.ndarray) -> np.ndarray:
    """Order of these rows: least violation first, then the least sum of ranks."""
    sign = np.array([1.0 if line.minimize else -1.0 for line in spec.objectives])
    values = verdict.values[rows] * sign
    ranks = values.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable").sum(axis=1)
    return np.lexsort((ranks, verdict.violation[rows]))


def spread(order: np.ndarray, most: int) -> np.ndarray:
    """At most so many: the best half of them, and the rest evenly from all others."""
    if len(order) <= most:
        return order
    best, rest = order[: most // 2], order[most // 2 :]
    places = np.linspace(0, len(rest) - 1, most - len(best)).astype(int)
    return np.concatenate([best, rest[places]])


def _candidates(spec: StudySpec, source: _Source, order: np.ndarray) -> list[Parameters]:
    """Parameters of the first variants, those that differ in other symbols only once."""
    columns = {name: source.column(name) for name in spec.names}
    found: list[Parameters] = []
    for row in order:
        one = {
            name: variable.parameter(float(columns[name][row]))
            for name, variable in spec.variables
        }
        if one not in found:
            found.append(one)  # type: ignore[arg-type]  # `inside` left no None
        if len(found) == min(spec.batch, spec.trials):
            break
    return found


def trials(spec: StudySpec, rows: list[int]) -> list[FrozenTrial]:
    """Rows of the sweep as finished trials."""
    source = _Source.of(spec)
    verdict = source.judged(spec)
    columns = {name: source.column(name) for name in spec.names}
    keys = [CLOSING, *(line.text for line in spec.constraints)]
    return [
        optuna.trial.create_trial(
            values=verdict.values[row].tolist(),
            params={
                name: variable.parameter(float(columns[name][row]))
                for name, variable in spec.variables
            },
            distributions=distributions(spec),
            user_attrs={"warm_start": row},
            constraints=dict(zip(keys, verdict.violations[row].tolist(), strict=True)),
        )
        for row in rows
    ]
