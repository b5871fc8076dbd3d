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

Rows that are screened (`screening`) are asked for by what the store says of those before them;
the journal hears what was found by then, and of every row after them.
"""

from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from distributed import Client

from basepar_core.errors import UsageError
from cluster import Place
from sweeps.chunks import ChunkEvaluator, prepare
from sweeps.run import Progress, Summary, refuse_other, summary
from sweeps.store import Store, check_and_repair, locked, store
from workflows.jobs import as_file, connected, study_file

from .ask_tell_log import Journal, opened
from .families import Studies, behind, load_studies, parse_studies
from .rows import Rows
from .sampler_kinds import kind_of
from .screening_run import Screening
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
    """The study of `load_jobs` where there is one.

    Raises
    ------
    UsageError, FileError
        As `load_jobs`; there are several.
    """
    jobs = load_jobs(spec, store, trials)
    if "" not in jobs:
        named = f"{spec} is" if isinstance(spec, str) else "These are"
        raise UsageError(f"{named} several studies ({', '.join(jobs)}), where one is needed.")
    return jobs[""]


def load_jobs(
    spec: str | Mapping[str, Any], store: str | None = None, trials: int | None = None
) -> Studies:
    """Studies of a file, of a shipped one, or of a file's keys, by name; mostly one, called "".

    `store`, `trials` replace its own; stores of several have the members' names behind.

    Raises
    ------
    UsageError, FileError
        There is none of this name; or all its mistakes.
    """
    if isinstance(spec, str):
        jobs = load_studies(study_file(spec))
    else:
        jobs = parse_studies(as_file(spec), "study")
    if trials is not None:
        if trials < 1:
            raise UsageError(f"--trials {trials}: at least 1 is needed.", ["--trials"])
        jobs = {name: job.of(trials) for name, job in jobs.items()}
    if store is None:
        return jobs
    return {name: job.at(behind(store, name) if name else store) for name, job in jobs.items()}


def run(job: StudySpec, place: Place, progress: Progress | None = None) -> Result:
    """Run a study where `place` says; what its store and journal hold already is not done again.

    A store of another specification is rejected before any worker starts.

    Raises
    ------
    StoreError, ClusterError
        As their messages say.
    """
    evaluator = None
    if job.path.exists():
        refuse_other(job.sweep, job.path)
    else:  # a laptop's server of workers imports meanwhile; elsewhere it costs the same
        evaluator = prepare(job.sweep)
    with connected(place) as client:
        return study(job, client, progress, evaluator)


def study(
    spec: StudySpec,
    client: Client,
    progress: Progress | None = None,
    evaluator: ChunkEvaluator | None = None,
) -> Result:
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
    evaluator
        Of the study's sweep; None: prepared here when a row is missing.

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
            rows = Rows(spec, client, progress, stack, evaluator)
            screening, rounds = Screening(rows, journal), _Rounds(rows, journal)
            for one in spec.rounds():
                if one.start < spec.screened:
                    screening.run(one)
                else:
                    screening.finish()
                    rounds.begin(one.start, one.stop)
            screening.finish()
            rounds.finish()
    found = summary(spec.path)
    done = rows.blocks
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

    def __init__(self, rows: Rows, journal: Journal):
        self.spec, self.rows, self.journal = rows.spec, rows, journal
        self.begun: tuple[int, int, Future[None] | None] | None = None

    def begin(self, start: int, stop: int) -> None:
        """Ask for rows start … stop − 1 and set the workers at them, if that is not done."""
        stored = self.rows.stored(start, stop)
        done = not np.isnan(stored).any()
        if done and self.journal.is_told(start, stop):
            return
        if not done:
            self.rows.open()  # what cannot be evaluated is not asked for
        values = self.journal.ask(start, stop, stored)
        evaluating = None if done else self.rows.begin(start, values)
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
        self.journal.tell(start, self.rows.judged(start, stop))
