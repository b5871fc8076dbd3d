"""What a worker does: evaluate whole chunks of the store and write them.

A `Work` crosses to each worker once; a `Task` is a few integers. The evaluator is called with
whole chunks of the store, small ones of a task together; no variant's result depends on its
company. A receipt is all that travels back.
"""

import time
from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import zarr

from sweeps.spec import Conditions, Plan
from sweeps.store import (
    FAILED,
    Arrays,
    Columns,
    Evaluator,
    Part,
    Reason,
    Status,
    Store,
    write,
)

from .isolation import Errors, empty, in_pieces, take
from .limits import Guarded, guard, kept_child

#: Error texts a receipt carries home.
TEXTS_PER_RECEIPT = 3
#: Variants of small chunks evaluated at once: a call costs milliseconds, a variant a tenth of one.
TOGETHER = 512
#: What a first chunk may take beyond its variants' own time, in limits of one variant.
SPARE = 10


@dataclass(frozen=True, slots=True)
class Task:
    """Variants start … stop − 1 of one stage; whole chunks.

    `expected` is the driver's estimate of one variant's time in s, 0 while unknown. `attempt`
    counts from 0; `careful` evaluates small pieces in a process that may die; `retry`
    evaluates only the variants that crashed or timed out.
    """

    stage: int
    start: int
    stop: int
    expected: float = 0.0
    attempt: int = 0
    careful: bool = False
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a task reports: time, work it found (`follow`), and counts by status code.

    `counts` are changes: a variant that was crashed and is solved counts −1 and +1.
    """

    stage: int
    start: int
    stop: int
    counts: tuple[tuple[int, int], ...] = ()
    seconds: float = 0.0
    evaluated: int = 0
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
    filter: Conditions
    stages: tuple[Stage, ...]
    variant_seconds: float = 60.0

    def __call__(self, task: Task) -> Receipt:
        """Evaluate and write a task's chunks, one after the other; small ones together."""
        stage = self.stages[task.stage]
        if not task.careful:
            guard(stage.evaluator)  # a child is started before time is taken
        begun = time.perf_counter()
        counts: Counter[int] = Counter()
        opened = _opened(self.store, self.created)
        evaluated = 0
        errors: Errors = []
        follow: list[tuple[int, int, int]] = []
        step = stage.part.chunk
        if task.stage == 0 and not task.retry and not task.careful:
            step *= max(1, TOGETHER // step)
        for start in range(task.start, task.stop, step):
            stop = min(start + step, task.stop)
            # A chunk done twice counts as done once, whoever was first: not what is stored now.
            fresh = task.stage == 0 and not task.retry
            before = np.zeros(stop - start, np.int8)
            if not fresh:
                before = np.asarray(opened[stage.part.status][start:stop])
            arrays, wrong = self._chunk(task, start, stop)
            write(opened, stage.part, start, stop, arrays)
            status = arrays[stage.part.status]
            counts.update(_counted(status))
            counts.subtract(_counted(before))
            evaluated += int(np.isin(before, FAILED).sum()) if task.retry else stop - start
            errors += [(start + row, text) for row, text in wrong]
            follow += self._follow(task, start, status)
        return Receipt(
            task.stage,
            task.start,
            task.stop,
            tuple(sorted((code, change) for code, change in counts.items() if change)),
            time.perf_counter() - begun,
            evaluated,
            tuple(follow),
            tuple(errors[:TEXTS_PER_RECEIPT]),
        )

    def _chunk(self, task: Task, start: int, stop: int) -> tuple[Arrays, Errors]:
        """A chunk's arrays as they are to be written."""
        stage = self.stages[task.stage]
        part, columns = stage.part, self.plan.rows(start, stop)
        if task.retry:
            return self._again(task, start, stop, columns)
        if not part.prefix:
            failed = self.filter.first_failed(columns)
            arrays, errors = self._evaluated(task, columns, failed == 0)
            _mark_filtered(arrays, failed)
            return arrays | columns, errors
        opened = _opened(self.store, self.created)
        wanted = np.asarray(opened["status"][start:stop]) == Status.AWAITING_PRECISE
        settled = np.asarray(opened[part.status][start:stop]) != 0
        arrays, errors = self._evaluated(task, columns, wanted & ~settled)
        if settled.any():
            arrays[part.retries] = np.zeros(stop - start, np.int16)
            _restore(arrays, opened, start, stop, ~settled)
        return arrays, errors

    def _again(self, task: Task, start: int, stop: int, columns: Columns) -> tuple[Arrays, Errors]:
        """A chunk with its crashed and timed-out variants evaluated once more."""
        part, opened = self.stages[task.stage].part, _opened(self.store, self.created)
        before = np.asarray(opened[part.status][start:stop])
        if not before.any():  # its writer died while it replaced the chunk
            return self._chunk(replace(task, retry=False), start, stop)
        wanted = np.isin(before, FAILED)
        arrays, errors = self._evaluated(task, columns, wanted)
        arrays |= {} if part.prefix else columns
        _restore(arrays, opened, start, stop, wanted)
        before = np.asarray(opened[part.retries][start:stop])
        arrays[part.retries] = before + wanted.astype(before.dtype)
        return arrays, errors

    def _evaluated(
        self, task: Task, columns: Columns, wanted: np.ndarray
    ) -> tuple[Arrays, Errors]:
        """One chunk; whole if it can be, else in pieces."""
        evaluator, prefix = self.stages[task.stage].evaluator, self.stages[task.stage].part.prefix
        arrays = empty(evaluator, len(wanted), prefix)
        if not wanted.any():
            return arrays, []
        seconds = self.variant_seconds
        if task.careful:
            child = kept_child(evaluator, seconds)
            return in_pieces(child, evaluator, columns, wanted, prefix, seconds)
        guarded = guard(evaluator)
        try:
            allowed = self._allowed(guarded, task, columns, wanted)
            take(arrays, guarded(columns, wanted, allowed), wanted, prefix)
        except Exception:

            def piece(columns: Columns, wanted: np.ndarray) -> Arrays:
                expected = 20 * task.expected * len(wanted)
                return guarded(columns, wanted, max(2 * seconds, expected))

            return in_pieces(piece, evaluator, columns, wanted, prefix, seconds)
        return arrays, []

    def _allowed(
        self, guarded: Guarded, task: Task, columns: Columns, wanted: np.ndarray
    ) -> float:
        """What a chunk may take, s: much more than its variants should.

        Before the driver knows how long they take, one of them says so: a variant alone is
        slower than its share of a chunk. The first time counts what is loaded and compiled too,
        so that it only shows that the least is enough; otherwise the second one counts. What the
        chunk needs by it is allowed in full, what it may need beyond that has an end: else a
        kernel that hangs would hold its worker for hours.
        """
        count, least = int(wanted.sum()), 2 * self.variant_seconds
        if task.expected or count <= 2:
            return max(least, 20 * task.expected * count)
        first = slice(int(wanted.argmax()), int(wanted.argmax()) + 1)
        single = {name: values[first] for name, values in columns.items()}
        needed = 0.0
        for _ in range(2):
            begun = time.perf_counter()
            guarded(single, wanted[first], least)
            needed = (time.perf_counter() - begun) * count
            if 3 * needed <= least:
                return least
        return min(3 * needed, needed + SPARE * self.variant_seconds)

    def _follow(self, task: Task, start: int, status: np.ndarray) -> list[tuple[int, int, int]]:
        """Chunks of the next stage that hold a variant for it."""
        stage = task.stage + 1
        if stage >= len(self.stages):
            return []
        part, waiting = self.stages[stage].part, status == Status.AWAITING_PRECISE
        if task.retry:  # its neighbours may be settled
            stored = _opened(self.store, self.created)[part.status][start : start + len(status)]
            waiting &= np.asarray(stored) == 0
        firsts = np.arange(0, len(status), part.chunk)
        return [
            (stage, start + int(first), start + min(int(first) + part.chunk, len(status)))
            for first in firsts[np.logical_or.reduceat(waiting, firsts)]
        ]


def _counted(codes: np.ndarray) -> dict[int, int]:
    """How often each code (0 and up) occurs; much faster than a Counter of them."""
    often = np.bincount(codes)
    return {int(code): int(often[code]) for code in np.flatnonzero(often)}


def _mark_filtered(arrays: Arrays, failed: np.ndarray) -> None:
    out = failed > 0
    arrays["status"][out] = Status.FILTERED
    arrays["reason"][out] = Reason.FILTER
    arrays["reason_value"][out] = failed[out]


def _restore(
    arrays: Arrays,
    opened: Store,
    start: int,
    stop: int,
    fresh: np.ndarray,
) -> None:
    """Put stored values where nothing was evaluated now."""
    for name in arrays:
        stored = np.asarray(opened[name][start:stop])
        arrays[name] = np.where(fresh.reshape(-1, *[1] * (stored.ndim - 1)), arrays[name], stored)


@lru_cache(maxsize=64)  # members of a family take turns
def _opened(store: str, created: str) -> Store:
    """The store's arrays, opened once per process; `created` tells a new store of the name."""
    # Measured: with Zarr's own threads two processes write no faster than one.
    zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
    return Store.open(store, "r+")
