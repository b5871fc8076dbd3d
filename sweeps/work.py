"""What a worker does: evaluate whole chunks of the store and write them.

A `Work` crosses to each worker once; a `Task` is a few integers. The evaluator is always called
with exactly one chunk of the store, however many chunks a task takes, so that no result depends
on how tasks were cut. A receipt is all that travels back.
"""

import contextlib
import time
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import zarr
from distributed import get_worker

from .careful import Child, Errors, deadline, empty, one_by_one, take
from .outputs import Arrays, Columns, Evaluator
from .plans import Plan
from .space import Filter
from .statuses import Reason, Status
from .store import Part, open_group, write

#: Error texts a receipt carries home.
TEXTS_PER_RECEIPT = 3


@dataclass(frozen=True, slots=True)
class Task:
    """Variants start … stop − 1 of one stage; whole chunks.

    `expected` is the driver's estimate of one variant's time in s, 0 while unknown. `attempt`
    counts from 0; `careful` evaluates one variant at a time in a process that may die.
    """

    stage: int
    start: int
    stop: int
    expected: float = 0.0
    attempt: int = 0
    careful: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a task reports: counts by status code, time, and work it found (`follow`)."""

    stage: int
    start: int
    stop: int
    counts: tuple[tuple[int, int], ...] = ()
    seconds: float = 0.0
    follow: tuple[tuple[int, int, int], ...] = ()  # (stage, start, stop)
    errors: tuple[tuple[int, str], ...] = ()  # (variant, text)


@dataclass(frozen=True)
class Stage:
    """An evaluator and the part of the store that it fills.

    The first stage evaluates what passes the filter; a later one (`part.prefix` is "precise_")
    the variants whose status is *awaiting precise*.
    """

    evaluator: Evaluator
    part: Part


@dataclass(frozen=True)
class Work:
    """Everything a worker needs to know of a sweep."""

    store: str
    created: str
    plan: Plan
    filter: Filter
    stages: tuple[Stage, ...]
    variant_seconds: float = 60.0

    def __call__(self, task: Task) -> Receipt:
        """Evaluate and write a task's chunks, one after the other."""
        begun = time.perf_counter()
        stage = self.stages[task.stage]
        counts: Counter[int] = Counter()
        errors: Errors = []
        follow: list[tuple[int, int, int]] = []
        for start in range(task.start, task.stop, stage.part.chunk):
            stop = min(start + stage.part.chunk, task.stop)
            arrays, wrong = self._chunk(task, start, stop)
            write(_opened(self.store, self.created), stage.part, start, stop, arrays)
            status = arrays[stage.part.status]
            counts.update(status[status != 0].tolist())
            errors += [(start + row, text) for row, text in wrong]
            follow += self._follow(task.stage, start, status)
        return Receipt(
            task.stage,
            task.start,
            task.stop,
            tuple(sorted(counts.items())),
            time.perf_counter() - begun,
            tuple(follow),
            tuple(errors[:TEXTS_PER_RECEIPT]),
        )

    def _chunk(self, task: Task, start: int, stop: int) -> tuple[Arrays, Errors]:
        stage = self.stages[task.stage]
        columns = self.plan.rows(start, stop)
        if stage.part.prefix:
            status = _opened(self.store, self.created)["status"][start:stop]
            wanted = np.asarray(status) == Status.AWAITING_PRECISE
            return self._evaluated(task, columns, wanted)
        failed = self.filter.first_failed(columns)
        arrays, errors = self._evaluated(task, columns, failed == 0)
        _mark_filtered(arrays, failed)
        return arrays | columns, errors

    def _evaluated(
        self, task: Task, columns: Columns, wanted: np.ndarray
    ) -> tuple[Arrays, Errors]:
        """One chunk; whole if it can be, else variant by variant."""
        evaluator, prefix = self.stages[task.stage].evaluator, self.stages[task.stage].part.prefix
        arrays = empty(evaluator, len(wanted), prefix)
        if not wanted.any():
            return arrays, []
        seconds = self.variant_seconds
        if task.careful:
            child = Child(evaluator, seconds)
            with contextlib.closing(child):
                return one_by_one(child, evaluator, columns, wanted, prefix, seconds)
        allowed = max(2 * seconds, 20 * task.expected * int(wanted.sum()))
        try:
            with _guarded(allowed):
                take(arrays, evaluator(columns, wanted), wanted, prefix)
        except Exception:

            def single(columns: Columns, wanted: np.ndarray) -> Arrays:
                with _guarded(2 * seconds):
                    return evaluator(columns, wanted)

            return one_by_one(single, evaluator, columns, wanted, prefix, seconds)
        return arrays, []

    def _follow(self, stage: int, start: int, status: np.ndarray) -> list[tuple[int, int, int]]:
        """Chunks of the next stage that hold a variant for it."""
        if stage + 1 >= len(self.stages):
            return []
        chunk = self.stages[stage + 1].part.chunk
        firsts = np.arange(0, len(status), chunk)
        waits = np.logical_or.reduceat(status == Status.AWAITING_PRECISE, firsts)
        return [
            (stage + 1, start + int(first), start + min(int(first) + chunk, len(status)))
            for first in firsts[waits]
        ]


def _mark_filtered(arrays: Arrays, failed: np.ndarray) -> None:
    out = failed > 0
    arrays["status"][out] = Status.FILTERED
    arrays["reason"][out] = Reason.FILTER
    arrays["reason_value"][out] = failed[out]


def _guarded(seconds: float) -> contextlib.AbstractContextManager[None]:
    """A deadline for this process, where a nanny replaces it and nobody else works in it."""
    try:
        worker = get_worker()
    except ValueError:
        return contextlib.nullcontext()
    replaced = worker.nanny is not None and worker.state.nthreads == 1
    return deadline(seconds) if replaced else contextlib.nullcontext()


@lru_cache(maxsize=8)
def _opened(store: str, created: str) -> dict[str, zarr.Array]:
    """The store's arrays, opened once per process; `created` tells a new store of the name."""
    # Measured: with Zarr's own threads two processes write no faster than one.
    zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
    group = open_group(store, "r+")
    return dict(group.arrays())
