"""The study's journal: what was asked and told, in any storage of Optuna's, by one writer.

Trials are rows: after those of the warm start, trial by trial, they are rows 0, 1, … of the
store; where rows are screened, the first ones after these. A journal of another study, or one
that contradicts the store, is rejected.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, Trial, TrialState

from basepar_core.errors import StoreError
from basepar_core.texts import shell
from sweeps.store import untaken

from . import storages
from .feasibility import Verdict
from .sampler_kinds import KINDS, kind_of
from .samplers import Given, Parameters, distributions, drawn, quiet_optuna, sampler
from .spec import Choices, Integers, Range, StudySpec

_HASH, _SPEC, _BEGINNING = "spec_hash", "spec", "beginning"
#: Attributes of trials that were added beside the rows: where they are from (`polishing.tell`,
#: `warm_start.tell_screened`).
POLISHED, SCREENED = "polished", "screened"


@contextmanager
def opened(spec: StudySpec) -> Iterator["Journal"]:
    """The study's journal, made or continued; nobody else writes it meanwhile.

    Raises
    ------
    StoreError
        It belongs to another specification, or another process is at it.
    """
    with quiet_optuna(), storages.opened(spec.storage, spec.name) as storage:
        yield Journal(spec, storage)


class Journal:
    """Asks and tells, row by row.

    Attributes
    ----------
    study
        Optuna's.
    known
        Trials of the warm start; they come before the rows.
    found
        Trials that tell what was screened.
    candidates
        Parameters for the first rows that a sampler asks for.
    source
        Trials of the warm start that are not the study's, for samplers that begin from others.
    """

    def __init__(self, spec: StudySpec, storage: BaseStorage):
        self.spec, self.path = spec, storages.shown(spec.storage)
        self._storage, self._distributions = storage, distributions(spec)
        if storages.has_study(storage, spec.name):
            self.study = optuna.load_study(study_name=spec.name, storage=storage)
            if self._is_empty_and_other():
                optuna.delete_study(study_name=spec.name, storage=storage)
        if not storages.has_study(storage, spec.name):
            directions = [line.direction for line in spec.objectives]
            self.study = optuna.create_study(
                storage=storage, study_name=spec.name, directions=directions
            )
        self._refuse_other()
        self.known = self.found = 0
        self.candidates: list[Parameters] = []
        self.source: list[FrozenTrial] = []

    def _is_empty_and_other(self) -> bool:
        """Whether a run of another specification began it, and ended before the first trial."""
        other = self.study.user_attrs.get(_HASH, self.spec.hash) != self.spec.hash
        return other and not self.study.get_trials(deepcopy=False)

    def _refuse_other(self) -> None:
        attrs = self.study.user_attrs
        if _HASH not in attrs:
            if self.study.get_trials(deepcopy=False):
                raise StoreError(
                    f"{self.path} holds a study {self.spec.name!r} that this program did not "
                    "make. Name another in `study.name`.",
                    [self.path],
                )
            self.study.set_user_attr(_SPEC, json.dumps(self.spec.sweep.canonical))
            self.study.set_user_attr(_HASH, self.spec.hash)
        elif attrs[_HASH] != self.spec.hash:
            lines = self.spec.sweep.difference(json.loads(attrs[_SPEC]))
            listed = "".join(f"\n  {line}" for line in lines[:10])
            run_with = f"Run with `store={shell(untaken(self.spec.store))}`, or name"
            remedy = run_with if self.spec.journal_follows else "Name"
            raise StoreError(
                f"{self.path} holds another study {self.spec.name!r} (here: this specification; "
                f"there: the journal's):{listed}\n{remedy} another journal or `study.name`, "
                "or remove this one.",
                [self.path],
            )

    # How it began

    @property
    def beginning(self) -> Mapping[str, Any] | None:
        """What `begin` was given in an earlier run; None before that."""
        return self.study.user_attrs.get(_BEGINNING)

    def begin(self, facts: Mapping[str, Any], make: Callable[[], Sequence[FrozenTrial]]) -> None:
        """Tell the trials of the warm start; what an interrupted run told is not told again.

        Parameters
        ----------
        facts
            Plain data to find the same trials again: `rows` of the sweep, one per trial;
            `candidates`, parameters for the first rows of the study.
        make
            Makes the trials.
        """
        if self.beginning is None:
            self.study.set_user_attr(_BEGINNING, dict(facts))
        self.known, self.candidates = len(facts["rows"]), list(facts["candidates"])
        there = len(self.study.get_trials(deepcopy=False))
        if there < self.known:
            self.study.add_trials(make()[there:])

    # Rows

    def trials(self, start: int, stop: int) -> list[FrozenTrial]:
        """Trials of these rows, as many as there are; screened ones have none."""
        every = self.study.get_trials(deepcopy=False)
        rows = [one for one in every if not {POLISHED, SCREENED} & one.user_attrs.keys()]
        first, last = (self.known + self._asked(row) for row in (start, stop))
        return rows[first:last]

    def _asked(self, row: int) -> int:
        """Which of the rows a row is that samplers ask for."""
        return max(row - self.spec.screened, 0)

    def tell_found(self, rows: Sequence[int], make: Callable[[Sequence[int]], Any]) -> None:
        """Tell screened rows as finished trials, which `make` makes; none twice."""
        every = self.study.get_trials(deepcopy=False)
        there = {one.user_attrs[SCREENED] for one in every if SCREENED in one.user_attrs}
        missing = [row for row in rows if row not in there]
        if missing:
            self.study.add_trials(make(missing))
            storages.sync(self._storage)
        self.found = len(there) + len(missing)

    def is_told(self, start: int, stop: int) -> bool:
        """Whether all rows are told."""
        found = self.trials(start, stop)
        count = self._asked(stop) - self._asked(start)
        return len(found) == count and all(one.state.is_finished() for one in found)

    def ask(self, start: int, stop: int, stored: np.ndarray) -> np.ndarray:
        """Parameters of rows in SI, asked for now or earlier; written down when this returns.

        Parameters
        ----------
        stored
            (row, symbol), SI: rows that the store holds already (nan elsewhere); these are asked
            for as they stand.

        Returns
        -------
        (row, symbol).
        """
        before, ready = self.trials(start, stop), drawn(self.spec, start, stop)
        asked = []
        for place, row in enumerate(range(start, stop)):
            whole = not np.isnan(stored[place]).any()
            trial = before[place] if place < len(before) else None
            if trial is None or len(trial.params) < len(self.spec.variables):
                by = Given(ready[place]) if ready else None
                parameters = self._ask(row, trial, stored[place] if whole else None, by)
            else:
                parameters = trial.params
            values = [v.si(parameters[name]) for name, v in self.spec.variables]
            if whole and values != stored[place].tolist():
                self._contradicts(row)
            asked.append(values)
        storages.sync(self._storage)
        return np.array(asked)

    def _ask(
        self,
        row: int,
        trial: FrozenTrial | None,
        stored: np.ndarray | None,
        by: BaseSampler | None,
    ) -> Parameters:
        found_by = by or self._sampler(row)
        self.study.sampler = found_by
        if stored is not None:
            found = self.spec.parameters(stored)
            if None in found.values():
                self._contradicts(row)
            self.study.sampler = Given(found, found_by)
        elif (place := self._asked(row)) < len(self.candidates):
            self.study.sampler = Given(self.candidates[place], found_by)
        if trial is None:
            return self.study.ask(self._distributions).params
        return self._finish_asking(trial)

    def _sampler(self, row: int) -> BaseSampler:
        return sampler(self.spec, row, self.known + self.found, self.source)

    def _finish_asking(self, frozen: FrozenTrial) -> Parameters:
        """A trial that a crash left with some of its parameters gets the others."""
        trial = self._handle(frozen)
        for name, variable in self.spec.variables:
            match variable:
                case Range(low, high):
                    trial.suggest_float(name, low, high)
                case Choices(values):
                    trial.suggest_categorical(name, values)
                case Integers(low, high):
                    trial.suggest_int(name, low, high)
        return trial.params

    def _handle(self, frozen: FrozenTrial) -> Trial:
        return Trial(self.study, frozen._trial_id)

    def _contradicts(self, row: int) -> None:
        raise StoreError(
            f"Variant {row} of {self.spec.store} is not what the journal {self.path} asked for. "
            "Name another journal in `study.storage`, or another store.",
            [self.path, self.spec.store],
        )

    def tell(self, start: int, verdict: Verdict) -> None:
        """Tell what became of rows from `start` on; those told already are left alone."""
        kind = self.spec.sampler.kind
        heeds = kind_of(kind).constrained  # others would warn that they do not
        rows = self.trials(start, start + len(verdict.values))
        # Optuna's draw nothing when they are told; of others nothing is known.
        by = self._sampler(start) if kind in KINDS else None
        for place, frozen in enumerate(rows):
            if frozen.state.is_finished():
                continue
            row = start + place
            self.study.sampler = by or self._sampler(row)
            if not verdict.settled[place]:
                self.study.tell(frozen.number, state=TrialState.FAIL)
                continue
            trial = self._handle(frozen)
            for key, violation in zip(self.spec.limits, verdict.violations[place], strict=True):
                if heeds and key not in frozen.constraints:
                    trial.set_constraint(key, float(violation))
            self.study.tell(frozen.number, verdict.values[place].tolist())
        storages.sync(self._storage)
