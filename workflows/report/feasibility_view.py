"""A study's judgement of the variants that a report reads: what is feasible, what is the best.

Only what meets all constraints may be called the best; whatever does not says what it misses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from basepar_core.errors import BaseparError
from basepar_core.metrics import array_name
from sweeps.store import Store
from workflows.studies import CLOSING, StudySpec, Unit, Verdict, is_study, judge, shown_units

if TYPE_CHECKING:
    from workflows.studies import Shown

    from .metric import Metric


@dataclass(frozen=True)
class Judged:
    """A study, and its verdict on all its trials.

    Attributes
    ----------
    rows
        (row,): the trials that the report reads.
    """

    spec: StudySpec
    verdict: Verdict = field(repr=False)
    rows: np.ndarray = field(repr=False)

    @property
    def feasible(self) -> np.ndarray:
        """(row,) bool."""
        return self.verdict.feasible[self.rows]

    @property
    def violation(self) -> np.ndarray:
        """(row,): what a sampler adds up of the constraints that are missed."""
        return self.verdict.violation[self.rows]

    @cached_property
    def units(self) -> dict[str, Unit]:
        """Units to show numbers in, by parameter, result and objective."""
        return shown_units(self.spec)

    @cached_property
    def shown(self) -> "Shown":
        """The study with the stores beside it."""
        from workflows.studies import Shown

        return Shown.of(self.spec)

    def missed(self, verdict: Verdict, row: int) -> str:
        """The constraints that a design misses; "" if none."""
        names = [f"{CLOSING} of its loops", *(line.text for line in self.spec.constraints)]
        parts = verdict.violations[row]
        return ", ".join(name for name, part in zip(names, parts, strict=True) if part > 0)

    def metrics(self, swept: Sequence["Metric"]) -> tuple["Metric", ...]:
        """Objectives first, then the store's other metrics, in the units they are shown in."""
        from .metric import Metric

        made: list[Metric] = []
        arrays = {metric.name for metric in swept}
        goals = self.verdict.values[self.rows] * self.spec.signs
        for k, line in enumerate(self.spec.objectives):
            values = self.verdict.values[self.rows, k]
            if not np.isfinite(values).any():
                continue
            unit = self.units[line.text]
            made.append(
                Metric(
                    name if (name := array_name(line.text)) in arrays else line.text,
                    _unit(unit),
                    line.text,
                    np.where(np.isfinite(values), values, np.nan) * unit.per_si,
                    sign=float(self.spec.signs[k]),
                    may_win=self.feasible,
                    is_asked=True,
                    ties=goals[:, [j for j in range(goals.shape[1]) if j != k]].sum(axis=1),
                )
            )
        names = {array_name(name): name for name in self.spec.results}
        taken = {metric.name for metric in made}
        for metric in swept:
            if metric.name in taken:
                continue
            unit = self.units.get(names.get(metric.name, ""), Unit(metric.unit or "1"))
            values = metric.values * unit.per_si
            made.append(replace(metric, unit=_unit(unit), values=values, is_asked=False))
        return tuple(made)


def _unit(unit: Unit) -> str:
    return "" if unit.text == "1" else unit.text


def judged(held: Store, rows: np.ndarray) -> tuple[Judged | None, str]:
    """The study that a store is of, judged; or None, and why it cannot be."""
    try:
        spec = is_study(held.path)
        if spec is None:
            return None, ""
        return Judged(spec, judge(spec, held, 0, spec.trials), rows), ""
    except BaseparError as error:
        return None, error.message
