"""What a worker does: evaluate whole chunks of the store and write them.

A `Work` crosses to each worker once; a `Task` is a few integers. The evaluator is called with
whole chunks of the store, small ones of a task together; no variant's result depends on its
company. A receipt is all that travels back.
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

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
    pieces,
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

    The first stage evaluates what passes the filter, chunk by chunk; a later one (`part.prefix` is
    "precise_") the variants whose status is *awaiting precise*, `piece` variants at a time.
    """

    evaluator: Evaluator
    part: Part
    piece: int = 0

    @property
    def step(self) -> int:
        """Variants of the least task."""
        return self.piece or self.part.chunk


@dataclass(frozen=True)
class Work:
    """Everything a worker needs to know of a sweep."""

    store: str
    seal: str
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
        done = _Done()
        do = self._chunk if task.stage == 0 else self._piece
        if task.retry:
            do = self._again
        for start, stop in self._cut(task):
            do(task, start, stop, done)
        return Receipt(
            task.stage,
            task.start,
            task.stop,
            tuple(sorted((code, change) for code, change in done.counts.items() if change)),
            time.perf_counter() - begun,
            done.evaluated,
            tuple(done.follow),
            tuple(done.errors[:TEXTS_PER_RECEIPT]),
        )

    def _cut(self, task: Task) -> Iterator[tuple[int, int]]:
        """What is evaluated in one go: small chunks together, pieces of one chunk each."""
        stage = self.stages[task.stage]
        step = stage.part.chunk if task.retry else stage.step
        if task.stage == 0 and not task.retry and not task.careful:
            step *= max(1, TOGETHER // step)
        for start in range(task.start, task.stop, step):
            yield start, min(start + step, task.stop)

    def _chunk(self, task: Task, start: int, stop: int, done: "_Done") -> None:
        """Evaluate and write whole chunks."""
        part, columns = self.stages[0].part, self.plan.rows(start, stop)
        failed = self.filter.first_failed(columns)
        arrays, errors = self._evaluated(task, columns, failed == 0)
        _mark_filtered(arrays, failed)
        self._write(part, start, stop, arrays | columns, errors)
        # A chunk done twice counts as done once, whoever was first: not what is stored now.
        done.take(arrays["status"], np.zeros(stop - start, np.int8), start, errors)
        done.evaluated += stop - start
        done.follow += self._follow(start, arrays["status"])

    def _piece(self, task: Task, start: int, stop: int, done: "_Done") -> None:
        """Evaluate the variants of a chunk's piece that wait, and the chunk if it is the last."""
        stage, opened = self.stages[task.stage], self._opened()
        part, number = stage.part, start // stage.part.chunk
        first = number * part.chunk
        last = min(first + part.chunk, opened.records().total)
        rows = pieces.left(opened, number)
        rows = rows[(start <= rows) & (rows < stop)]
        if rows.size and opened.records(part.prefix).read(number) is None:
            wanted = np.zeros(stop - start, bool)
            wanted[rows - start] = True
            arrays, errors = self._evaluated(task, self.plan.rows(start, stop), wanted)
            kept = {name: values[wanted] for name, values in arrays.items()}
            texts = {start + row: text for row, text in errors}
            pieces.put(opened, part, start, stop, pieces.Piece(rows, kept, texts))
            done.take(kept[part.status], np.zeros(rows.size, np.int8), start, errors)
        blank = empty(stage.evaluator, last - first, part.prefix)
        pieces.gather(opened, part, number, blank)

    def _again(self, task: Task, start: int, stop: int, done: "_Done") -> None:
        """Evaluate the crashed and timed-out variants of a chunk once more."""
        part, opened = self.stages[task.stage].part, self._opened()
        before = opened.rows(part.status, start, stop)
        if opened.records(part.prefix).read(start // part.chunk) is None:
            # Its writer died while it replaced the chunk.
            again = replace(task, retry=False)
            (self._piece if part.prefix else self._chunk)(again, start, stop, done)
            return
        wanted, columns = np.isin(before, FAILED), self.plan.rows(start, stop)
        arrays, errors = self._evaluated(task, columns, wanted)
        arrays |= {} if part.prefix else columns
        _restore(arrays, opened, start, stop, wanted)
        retries = opened.rows(part.retries, start, stop)
        arrays[part.retries] = retries + wanted.astype(retries.dtype)
        status, number = arrays[part.status], start // part.chunk
        settles = len(self.stages) > 1 and not part.prefix
        if settles and (status[wanted] == Status.AWAITING_PRECISE).any():
            pieces.reopen(opened, self.stages[1].part, number)
        self._write(part, start, stop, arrays, errors)
        done.take(status, before, start, errors)
        done.evaluated += int(wanted.sum())
        if settles and opened.records("precise_").read(number) is None:
            waiting = np.isin(np.arange(start, stop), pieces.left(opened, number))
            done.follow += self._follow(start, np.where(waiting, status, 0))

    def _write(self, part: Part, start: int, stop: int, arrays: Arrays, errors: Errors) -> None:
        texts = {start + row: text for row, text in errors}
        write(self._opened(), part, start, stop, arrays, texts)

    def _opened(self) -> Store:
        return _opened(self.store, self.seal)

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

    def _follow(self, start: int, status: np.ndarray) -> list[tuple[int, int, int]]:
        """Pieces of the next stage that hold a variant for it."""
        if len(self.stages) < 2:
            return []
        piece, waiting = self.stages[1].step, status == Status.AWAITING_PRECISE
        firsts = np.arange(0, len(status), piece)
        return [
            (1, start + int(first), start + min(int(first) + piece, len(status)))
            for first in firsts[np.logical_or.reduceat(waiting, firsts)]
        ]


@dataclass
class _Done:
    """What a task has done so far."""

    counts: Counter[int] = field(default_factory=Counter)
    evaluated: int = 0
    follow: list[tuple[int, int, int]] = field(default_factory=list)
    errors: Errors = field(default_factory=list)

    def take(self, status: np.ndarray, before: np.ndarray, start: int, errors: Errors) -> None:
        """Variants whose status was another before; errors by row behind `start`."""
        self.counts.update(_counted(status))
        self.counts.subtract(_counted(before))
        self.errors += [(start + row, text) for row, text in errors]


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
        stored = opened.rows(name, start, stop)
        arrays[name] = np.where(fresh.reshape(-1, *[1] * (stored.ndim - 1)), arrays[name], stored)


@lru_cache(maxsize=64)  # members of a family take turns
def _opened(store: str, seal: str) -> Store:
    """The store's arrays, opened once per process; `seal` tells another store of the name."""
    return Store.open(store, "r+")
