"""A design study: a sampler asks for variants in batches, a sweep's machinery evaluates them.

Order, so that a crash at any moment loses nothing and nothing is told twice: a batch's parameters
stand in the journal before it is evaluated; its results are in the store, the status last,
before any of them is told. Run again, the study walks over its batches: what is not asked is
asked, what is not stored is evaluated, what is not told is told. The same walk finds a study
whose journal was lost (the store's rows are asked for as they stand, and told), or whose store
was (the journal's parameters are evaluated again).

The study object lives in this process only. Workers see rows of a sweep; the same rows and the
same numbers come out whatever their number, because a batch is told in the order of its rows.
"""

from dataclasses import dataclass, replace

import numpy as np
from distributed import Client

from basepar_core.errors import UsageError
from cluster.connect import PlaceError, connect
from cluster.places import Place
from sweeps import store
from sweeps.evaluate import prepare
from sweeps.fanout import WorkersError
from sweeps.outputs import Evaluator
from sweeps.progress import Progress
from sweeps.statuses import Status
from sweeps.sweep import Summary, refuse_other, summary, sweep

from .journal import Journal, opened
from .shipped import study_file
from .study_file import load_study
from .study_spec import StudySpec
from .sweep_job import ClusterError
from .verdict import judge
from .warm_start import Beginning, begin


@dataclass(frozen=True, slots=True)
class Result:
    """What a study's store holds after a run, and what its warm start gave."""

    summary: Summary
    beginning: Beginning


def load_job(spec: str, store: str | None = None, trials: int | None = None) -> StudySpec:
    """A study file, or a shipped study by name; `store` and `trials` override the file's.

    Raises
    ------
    UsageError, FileError
        There is none of this name; or all its mistakes.
    """
    job = load_study(study_file(spec))
    if trials is not None:
        if trials < 1:
            raise UsageError(f"--trials {trials}: at least 1 is needed.", ["--trials"])
        job = job.of(trials)
    return job.at(store) if store else job


def run(job: StudySpec, place: Place, progress: Progress | None = None) -> Result:
    """Run a study where `place` says; what its store and journal hold already is not done again.

    Raises
    ------
    StoreError, ClusterError
        As their messages say.
    """
    try:
        with connect(place) as client:
            return study(job, client, progress)
    except PlaceError as error:
        raise ClusterError(str(error)) from error


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
    if spec.path.exists():
        refuse_other(spec.sweep, spec.path)
    with opened(spec) as journal:
        beginning = begin(spec, journal)
        rounds = _Rounds(spec, journal, client, progress)
        for start in range(0, spec.trials, spec.batch):
            rounds.do(start, min(start + spec.batch, spec.trials))
    found = summary(spec.sweep, spec.path)
    return Result(replace(found, evaluated=rounds.evaluated, seconds=rounds.seconds), beginning)


class _Rounds:
    """Batches, one after the other."""

    def __init__(
        self, spec: StudySpec, journal: Journal, client: Client, progress: Progress | None
    ):
        self.spec, self.journal, self.client, self.progress = spec, journal, client, progress
        self.evaluator: Evaluator | None = None  # may take long: made when there is need
        self.evaluated, self.seconds = 0, 0.0

    def do(self, start: int, stop: int) -> None:
        """Ask, evaluate and tell rows start … stop − 1, as far as that is not done."""
        stored = self._stored(start, stop)
        done = not np.isnan(stored).any()
        if done and self.journal.is_told(start, stop):
            return
        values = self.journal.ask(start, stop, stored)
        if not done:
            self._evaluate(start, stop, values)
        group = store.open_group(self.spec.path)
        self.journal.tell(start, judge(self.spec, group, start, stop))

    def _stored(self, start: int, stop: int) -> np.ndarray:
        """(row, symbol) of rows whose status is written; nan for the others."""
        found = np.full((stop - start, len(self.spec.variables)), np.nan)
        if not self.spec.path.exists():
            return found
        group = store.open_group(self.spec.path)
        done = np.asarray(store.array_of(group, "status")[start:stop]) != Status.PENDING
        for column, name in enumerate(self.spec.names):
            found[done, column] = np.asarray(store.array_of(group, name)[start:stop])[done]
        return found

    def _evaluate(self, start: int, stop: int, values: np.ndarray) -> None:
        block = self.spec.block(start, values)
        if self.evaluator is None:
            self.evaluator = prepare(block)
        done = sweep(
            block, self.client, self.progress, evaluator=self.evaluator, rows=(start, stop)
        )
        self.evaluated += done.evaluated
        self.seconds += done.seconds
        if done.unfinished:
            lost = ", ".join(f"{first} to {last}" for first, last in done.unfinished)
            raise WorkersError(
                f"Workers died again and again over variants {lost}. What is stored and told so "
                "far is whole: run the study again."
            )
