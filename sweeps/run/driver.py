"""The sweep itself: its store, what is missing there, and a client to do it with.

`sweep` is idempotent: called again it does only what is missing, and with nothing missing it
does nothing.
"""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from distributed import Client

from basepar_core.errors import StoreError, UsageError
from sweeps.spec import FROM_PILOT, SweepSpec, is_asked
from sweeps.store import (
    ERRORS_KEPT,
    Evaluator,
    Layout,
    Lock,
    Part,
    PreciseStatus,
    Status,
    Store,
    begin_run,
    busy,
    check_and_repair,
    end_run,
    folder,
    holder,
    locked,
    provenance,
    status,
    store,
)

from . import chunk_size, fanout
from .job import Job
from .progress import Progress
from .run_counts import Tally
from .shared_client import Fleet
from .worker import Stage, Task, Work

#: Variants among which a precise task takes those that wait: few, so that a small sweep of heavy
#: variants keeps all workers busy; more where there are MANY, each with a task of its own.
PIECE, PIECE_OF_MANY, MANY = 8, 128, 16_384


@dataclass(frozen=True, slots=True)
class Summary:
    """What a sweep's store holds after a run.

    `evaluated` counts this run's variants; `lost` is how often a task was lost with its worker;
    `notes` are sentences about the run that somebody should read.
    """

    store: str
    total: int
    counts: Mapping[Status, int]
    precise: Mapping[PreciseStatus, int] = field(default_factory=dict)
    evaluated: int = 0
    seconds: float = 0.0
    errors: Mapping[int, str] = field(default_factory=dict)
    lost: int = 0
    notes: tuple[str, ...] = ()

    @property
    def done(self) -> bool:
        """Whether no variant is pending."""
        return not self.counts.get(Status.PENDING)

    @property
    def failed(self) -> int:
        """Variants that crashed or timed out, in float64 or in the precise task."""
        return (
            self.counts.get(Status.CRASHED, 0)
            + self.counts.get(Status.TIMED_OUT, 0)
            + self.precise.get(PreciseStatus.CRASHED, 0)
            + self.precise.get(PreciseStatus.TIMED_OUT, 0)
        )

    @property
    def unsettled(self) -> int:
        """Variants pending, or awaiting a precise task that has not answered."""
        waiting = self.counts.get(Status.AWAITING_PRECISE, 0) - sum(self.precise.values())
        return self.counts.get(Status.PENDING, 0) + waiting


def sweep(
    spec: Job,
    client: Client,
    progress: Progress | None = None,
    *,
    evaluator: Evaluator | None = None,
    precise: Evaluator | None = None,
    rows: tuple[int, int] | None = None,
    retry_failed: bool = False,
) -> Summary:
    """Evaluate every variant of a sweep that its store does not hold yet.

    Parameters
    ----------
    spec
        The sweep; `spec.store` is created, or continued if it is of the same specification.
    client
        A Dask client; its workers must see the store's directory.
    progress
        Called after each batch of receipts.
    evaluator, precise
        What to compute; by default what `prepare(spec)` makes of the specification, together
        with its attribute `precise`.
    rows
        (start, stop), whole chunks: only these variants; by default all.
    retry_failed
        Evaluate variants again that crashed or timed out, each in a process that may die.

    Raises
    ------
    StoreError
        If the store belongs to another specification (the difference is named), is damaged, or
        is being filled by somebody else.
    WorkersError
        If no worker turns up, or results cannot be written.
    """
    if (found := complete(spec, retry_failed)) is not None:
        return found
    with ready(spec, client, evaluator=evaluator, precise=precise) as run:
        return run.fill(progress, rows, retry_failed)


@contextlib.contextmanager
def ready(
    spec: Job,
    client: Client,
    *,
    evaluator: Evaluator | None = None,
    precise: Evaluator | None = None,
    fleet: Fleet | None = None,
) -> Iterator["Run"]:
    """A sweep prepared, its store made and locked; parameters and errors as of `sweep`."""
    path = _path(spec)
    with locked(path) as lock:
        if path.exists():  # made or replaced since somebody asked `complete`
            refuse_other(as_stored(spec, path), path)
            check_and_repair.check(path)
        if evaluator is None:
            evaluator, precise = _prepared(spec, client)
        spec = as_stored(spec, path)
        if spec.chunk == FROM_PILOT:
            spec = spec.chunked(chunk_size.chunk(spec, evaluator, client))
        layout = layout_of(spec, evaluator, precise)
        if not path.exists():
            store.create(path, layout)
        stages = [Stage(evaluator, layout.parts[0])]
        if precise is not None:
            stages.append(Stage(precise, layout.parts[1], _piece(spec)))
        yield Run(spec, store.check(path, layout), tuple(stages), client, lock, fleet)


def _prepared(spec: Job, client: Client) -> tuple[Evaluator, Evaluator | None]:
    """What a sweep of a mechanism computes, and what settles its doubtful variants."""
    from sweeps.chunks import prepare

    if not isinstance(spec, SweepSpec):
        raise UsageError("A sweep of something else than a mechanism needs its `evaluator`.")
    made = prepare(spec)
    chunk_size.warm(made, spec.plan.names, client)
    return made, made.precise


def as_stored(spec: Job, path: Path, attrs: Mapping[str, Any] | None = None) -> Job:
    """The sweep with its store's chunk, where it leaves that to a pilot and there is a store."""
    if spec.chunk != FROM_PILOT or not path.exists():
        return spec
    attrs = Store.open(path).attrs if attrs is None else attrs
    plain = json.loads(str(attrs.get("spec", "{}")))
    return spec.chunked(int(plain.get("store", {}).get("chunk", FROM_PILOT)))


def complete(spec: Job, retry_failed: bool = False) -> Summary | None:
    """What a store holds where nothing is missing; None: there is something to do.

    Quick, and without workers: whoever starts some asks here first.

    Raises
    ------
    StoreError
        As `sweep`.
    """
    path = _path(spec)
    if not path.exists():
        _refuse_busy(path)
        return None
    spec = as_stored(spec, path)
    refuse_other(spec, path)
    check_and_repair.check(path)
    if not _nothing_missing(path):
        _refuse_busy(path)
        return None
    found = summary(spec, path)
    return None if retry_failed and found.failed else found


def _refuse_busy(path: Path) -> None:
    found = holder(path)
    if found is not None and found.here:  # of other machines the lock knows more
        raise busy(path, found)


def layout_of(spec: Job, evaluator: Evaluator, precise: Evaluator | None = None) -> Layout:
    """What the store of a sweep holds."""
    parts = [Part((*spec.swept, *evaluator.outputs), spec.chunk)]
    coords, attrs = dict(evaluator.coords), dict(evaluator.attrs)
    texts = attrs.pop("reasons", {})
    if precise is not None:
        parts.append(Part(precise.outputs, spec.chunk, "precise_"))
        coords |= precise.coords
        attrs |= precise.attrs
        texts = texts | attrs.pop("reasons", {})
    attrs |= {
        "title": spec.title,
        "swept": list(spec.plan.names),
        "spec": spec.document(),
        "spec_hash": spec.hash,
        "notes": json.dumps(spec.notes),
        "provenance": provenance(),
    }
    return Layout(len(spec), tuple(parts), coords, attrs, texts, grows=is_asked(spec.plan))


def refuse_other(spec: Job, path: Path, attrs: Mapping[str, Any] | None = None) -> None:
    """Make sure that a store is of this specification; StoreError names the difference."""
    attrs = Store.open(path).attrs if attrs is None else attrs
    if "spec_hash" not in attrs:
        raise StoreError(
            f"{path} is not the store of a sweep. Name another store.",
            [str(path)],
        )
    if attrs["spec_hash"] == spec.hash:
        return
    lines = spec.difference(json.loads(str(attrs.get("spec", "{}"))))
    listed = "".join(f"\n  {line}" for line in lines[:10])
    raise StoreError(
        f"{path} holds another sweep or study (here: this specification; there: the store's):"
        f"{listed}\nName another store, or remove this one.",
        [str(path)],
    )


def summary(spec: Job, path: Path, **run: Any) -> Summary:
    """What the store holds now."""
    held = Store.open(path)
    found, precise = status.take(held), status.take_precise(held)
    return Summary(
        str(path),
        len(spec),
        found.counts,
        status.precise_counts(precise),
        errors=dict(sorted({**found.facts.errors, **precise.errors}.items())[:ERRORS_KEPT]),
        **run,
    )


def _path(spec: Job) -> Path:
    if not spec.store:
        raise UsageError("The sweep has no store; name one in `store.path` or with `store=`.")
    return folder(spec.store).absolute()  # workers need not stand in the same directory


def _piece(spec: Job) -> int:
    # A divisor of the chunk: no piece straddles two.
    most = PIECE if len(spec) < MANY else PIECE_OF_MANY
    return max(size for size in range(1, most + 1) if spec.chunk % size == 0)


def _nothing_missing(path: Path) -> bool:
    held = Store.open(path)
    if status.take(held).pending:
        return False
    return "precise_status" not in held or next(status.awaiting(held, held.chunk), None) is None


@dataclass
class Run:
    """One run of a sweep over its store, which is locked (`ready`)."""

    spec: Job
    store: Store
    stages: tuple[Stage, ...]
    client: Client
    lock: Lock
    fleet: Fleet | None = None

    def fill(
        self, progress: Progress | None, rows: tuple[int, int] | None, retry: bool
    ) -> Summary:
        """Do what is missing."""
        begun = time.monotonic()
        rows = rows or (0, len(self.spec))
        run = begin_run(self.store)
        found = status.take(self.store)
        precise = status.precise_counts(status.take_precise(self.store))
        tally = Tally(
            *(len(self.spec), found.counts, precise, progress, self.lock),
            sum_up=(lambda: None) if retry else (lambda: status.sum_up(self.store)),
        )
        pending = [(max(start, rows[0]), min(stop, rows[1])) for start, stop in found.pending]
        pending = [(start, stop) for start, stop in pending if start < stop]
        again = list(status.failed(self.store)) if retry else []
        tasks = chain(
            (Task(0, *piece, careful=True, retry=True) for piece in again),
            self._failed_precise() if retry else (),
            self._left(sorted([*found.pending, *again])),
        )
        outcome = self._perform(pending, tasks, tally)
        lost = outcome.lost
        if outcome.dropped:  # more doubtful variants than a driver should remember
            lost += self._perform((), self._left([]), tally).lost
        status.sum_up(self.store)
        seconds = time.monotonic() - begun
        end_run(self.store, run, evaluated=tally.evaluated, seconds=round(seconds, 3), lost=lost)
        return summary(
            self.spec,
            self.store.path,
            evaluated=tally.evaluated,
            seconds=seconds,
            lost=lost,
            notes=self._notes(),
        )

    def _perform(
        self, ranges: Sequence[tuple[int, int]], tasks: Iterator[Task], tally: Tally
    ) -> fanout.Outcome:
        spec, created = self.spec, str(self.store.attrs["provenance"])
        work = Work(
            str(self.store.path),
            created,
            spec.plan,
            spec.filter,
            self.stages,
            spec.variant_seconds,
        )
        chunks = [stage.step for stage in self.stages]
        return fanout.run(
            *(work, ranges, self.client),
            chunks=chunks,
            tasks=tasks,
            on_receipts=tally,
            fleet=self.fleet,
        )

    def _left(self, others: Sequence[tuple[int, int]]) -> Iterator[Task]:
        """Doubtful variants that an earlier run left behind; not those that `others` will find."""
        if len(self.stages) < 2:
            return
        coming = list(reversed(others))
        for start, stop in status.awaiting(self.store, self.stages[1].step):
            while coming and coming[-1][1] <= start:
                coming.pop()
            if not coming or start < coming[-1][0]:
                yield Task(1, start, stop)

    def _failed_precise(self) -> Iterator[Task]:
        if len(self.stages) > 1:
            for start, stop in status.failed(self.store, "precise_"):
                yield Task(1, start, stop, careful=True, retry=True)

    def _notes(self) -> tuple[str, ...]:
        said = self.store.notes
        if stale := self.lock.stale:
            said.append(f"the lock of {stale}, which is gone, was taken over")
        return tuple(said)
