"""A design study: a sampler asks for variants in batches, a sweep's machinery evaluates them.

Order, so that a crash at any moment loses nothing and nothing is told twice: a batch's parameters
stand in the journal before it is evaluated; its results are in the store, the status last,
before any of them is told. Run again, the study walks over its batches: what is not asked is
asked, what is not stored is evaluated, what is not told is told. The same walk finds a study
whose journal was lost (the store's rows are asked for as they stand, and told), or whose store
was (the journal's parameters are evaluated again).

The study object lives in this process only. Workers see rows of a sweep; the same rows and the
same numbers come out whatever their number, because a batch is told in the order of its rows.

A study that has begun goes on for more trials: its store is made longer first.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Client

from basepar_core.errors import UsageError
from cluster import Place
from sweeps.chunks import prepare
from sweeps.run import Progress, Summary, blocks, refuse_other, summary, warm
from sweeps.store import Status, Store, check_and_repair, locked, store
from workflows.jobs import as_file, connected, study_file

from .ask_tell_log import Journal, opened
from .feasibility import judge
from .reader import load_study, parse_study
from .sampler_kinds import kind_of
from .spec import StudySpec
from .warm_start import Beginning, begin


@dataclass(frozen=True, slots=True)
class Result:
    """What a study's store holds after a run, and what its warm start gave.

    `spec` is the study as it is now: its store may hold more trials than were asked for.
    """

    summary: Summary
    beginning: Beginning
    spec: StudySpec


def load_job(
    spec: str | Mapping[str, Any], store: str | None = None, trials: int | None = None
) -> StudySpec:
    """A study of a file, of a shipped one, or of a file's keys; `store`, `trials` replace its own.

    Raises
    ------
    UsageError, FileError
        There is none of this name; or all its mistakes.
    """
    if isinstance(spec, str):
        job = load_study(study_file(spec))
    else:
        job = parse_study(as_file(spec), "study")
    if trials is not None:
        if trials < 1:
            raise UsageError(f"--trials {trials}: at least 1 is needed.", ["--trials"])
        job = job.of(trials)
    return job.at(store) if store else job


def run(job: StudySpec, place: Place, progress: Progress | None = None) -> Result:
    """Run a study where `place` says; what its store and journal hold already is not done again.

    A store of another specification is rejected before any worker starts.

    Raises
    ------
    StoreError, ClusterError
        As their messages say.
    """
    if job.path.exists():
        refuse_other(job.sweep, job.path)
    with connected(place) as client:
        return study(job, client, progress)


def study(spec: StudySpec, client: Client, progress: Progress | None = None) -> Result:
    """Ask, evaluate and tell until all trials of a study are told.

    Parameters
    ----------
    spec
        The study; its store and its journal are created, or continued if they are of the same
        specification.
    client
        A Dask client; its workers must see the store's directory.
    progress
        Called after each batch of receipts.

    Raises
    ------
    StoreError
        The store or the journal belongs to another specification, or one contradicts the other.
    WorkersError
        If no worker turns up, or variants could not be evaluated.
    """
    spec = grown(spec)
    with opened(spec) as journal:
        beginning = begin(spec, journal)
        with ExitStack() as stack:
            rounds = _Rounds(spec, journal, client, progress, stack)
            for start in range(0, spec.trials, spec.batch):
                rounds.begin(start, min(start + spec.batch, spec.trials))
            rounds.finish()
    found = summary(spec.sweep, spec.path)
    done = rounds.blocks
    if done is not None:
        found = replace(found, evaluated=done.evaluated, seconds=done.seconds, lost=done.lost)
    return Result(found, beginning, spec)


def grown(spec: StudySpec) -> StudySpec:
    """The study with as many trials as its store is for; the store is made longer if it is short.

    Raises
    ------
    StoreError
        The store belongs to another specification, or somebody else fills it.
    """
    if not spec.path.exists():
        return spec
    store.settle(spec.path)
    refuse_other(spec.sweep, spec.path)
    check_and_repair.check(spec.path)
    plain = Store.open(spec.path).spec
    if plain.get("rows", 0) >= spec.trials:
        return spec.of(plain["rows"])
    with locked(spec.path):
        store.extend(spec.path, spec.trials, spec.sweep.document())
    return spec


class _Rounds:
    """Batches, one after the other: begun is asked, finished is told.

    A sampler that learns is asked for a batch when the one before is told. One that does not is
    asked while the workers are at the batch before, so that evaluation hides behind Optuna.
    """

    def __init__(
        self,
        spec: StudySpec,
        journal: Journal,
        client: Client,
        progress: Progress | None,
        stack: ExitStack,
    ):
        self.spec, self.journal, self.client, self.progress = spec, journal, client, progress
        self.stack = stack  # what is opened when there is need, until the end
        self.blocks: blocks.Blocks | None = None
        self.begun: tuple[int, int, Future[None] | None] | None = None

    def begin(self, start: int, stop: int) -> None:
        """Ask for rows start … stop − 1 and set the workers at them, if that is not done."""
        stored = self._stored(start, stop)
        done = not np.isnan(stored).any()
        if done and self.journal.is_told(start, stop):
            return
        opened = None if done else self._opened()  # what cannot be evaluated is not asked for
        values = self.journal.ask(start, stop, stored)
        evaluating = None
        if opened is not None:
            evaluating = self.thread.submit(self._evaluate, opened, start, stop, values)
        self.finish()  # the batch before
        self.begun = (start, stop, evaluating)
        if not kind_of(self.spec.sampler.kind).ahead:
            self.finish()

    def finish(self) -> None:
        """Tell the batch that is begun, as soon as it is evaluated."""
        if self.begun is None:
            return
        (start, stop, evaluating), self.begun = self.begun, None
        if evaluating is not None:
            evaluating.result()
        self.journal.tell(start, judge(self.spec, self._store(), start, stop))

    def _stored(self, start: int, stop: int) -> np.ndarray:
        """(row, symbol) of rows whose status is written; nan for the others."""
        found = np.full((stop - start, len(self.spec.variables)), np.nan)
        if not self.spec.path.exists():
            return found
        held = self._store()
        done = held.rows("status", start, stop) != Status.PENDING
        if done.any():
            for column, name in enumerate(self.spec.names):
                found[done, column] = held.rows(name, start, stop)[done]
        return found

    def _store(self) -> Store:
        return self.blocks.store if self.blocks else Store.open(self.spec.path)

    def _opened(self) -> blocks.Blocks:
        if self.blocks is None:
            evaluator = prepare(self.spec.sweep)  # takes its time: made when there is need
            warm(evaluator, self.spec.swept, self.client)
            opening = blocks.opened(self.spec.sweep, evaluator, self.client, self.progress)
            self.blocks = self.stack.enter_context(opening)
            self.thread = self.stack.enter_context(ThreadPoolExecutor(1))
            self.stack.callback(self.blocks.stop)  # first of all, should anything go wrong
        return self.blocks

    def _evaluate(self, opened: blocks.Blocks, start: int, stop: int, values: np.ndarray) -> None:
        opened.evaluate(self.spec.block(start, values), start, stop)
