"""A store that is filled: what is missing there as tasks, by whomever they are performed."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Protocol

from basepar_core.errors import UsageError
from sweeps.store import Evaluator, Store, Usage, begin_run, end_run, status, store

from .job import Job
from .progress import Progress
from .run_counts import Tally
from .standing import Summary, layout_of, path_of, piece_of, summary_of
from .task_queue import Outcome
from .worker import Receipt, Stage, Task, Work

OnReceipts = Callable[[Sequence[Receipt], int], None]


class Perform(Protocol):
    """Who performs tasks: workers of a client (`fanout.run`), children (`crew.run`)."""

    def __call__(
        self,
        work: Work,
        ranges: Sequence[tuple[int, int]],
        *,
        chunks: Sequence[int],
        tasks: Iterable[Task],
        on_receipts: OnReceipts,
    ) -> Outcome: ...


def prepared(
    spec: Job, attrs: Mapping[str, Any] | None = None
) -> tuple[Evaluator, Evaluator | None]:
    """What a sweep of a mechanism computes, and what settles its doubtful variants.

    `attrs` of a store of the same sweep save what it keeps: nothing symbolic is derived again.
    """
    from sweeps.chunks import SYMBOLIC, prepare
    from sweeps.spec import SweepSpec  # with all that mechanisms need, which functions do not

    if not isinstance(spec, SweepSpec):
        raise UsageError("A sweep of something else than a mechanism needs its `evaluator`.")
    made = prepare(spec, (attrs or {}).get(SYMBOLIC))
    return made, made.precise


@dataclass
class Filling:
    """One run of a sweep over its store.

    Attributes
    ----------
    tell
        Called with keywords: how far it is.
    noted
        What the run says of itself in the store: of which part, in which job.
    used
        What its jobs used, asked once, at the end.
    """

    spec: Job
    store: Store
    stages: tuple[Stage, ...]
    tell: Callable[..., None] = lambda **numbers: None
    noted: dict[str, Any] | None = None
    used: Callable[[], Sequence[Usage]] = tuple

    @staticmethod
    def of(spec: Job, evaluator: Evaluator, precise: Evaluator | None) -> "Filling":
        """Of a sweep whose chunk is known; its store is made where there is none."""
        path, layout = path_of(spec), layout_of(spec, evaluator, precise)
        if path.exists():
            held = store.check(path, layout)
        else:
            store.create(path, layout)
            held = Store.open(path, "r+")
        stages = [Stage(evaluator, layout.parts[0])]
        if precise is not None:
            stages.append(Stage(precise, layout.parts[1], piece_of(spec)))
        return Filling(spec, held, tuple(stages))

    def fill(
        self,
        perform: Perform,
        progress: Progress | None = None,
        rows: tuple[int, int] | None = None,
        retry: bool = False,
    ) -> Summary:
        """Do what is missing of some rows, all by default; failures again with `retry`."""
        begun = time.monotonic()
        run = begin_run(self.store, **(self.noted or {}))
        found = status.take(self.store, rows)
        precise = status.precise_counts(status.take_precise(self.store, rows))
        tally = Tally(
            *(found.total, found.counts, precise, progress, self.tell),
            sum_up=(lambda: None) if retry else (lambda: status.sum_up(self.store, rows)),
        )
        again = list(status.failed(self.store, rows=rows)) if retry else []
        tasks = chain(
            (Task(0, *piece, careful=True, retry=True) for piece in again),
            self._failed_precise(rows) if retry else (),
            self._left(sorted([*found.pending, *again]), rows),
        )
        outcome = self._perform(perform, found.pending, tasks, tally)
        lost = outcome.lost
        if outcome.dropped and not outcome.stopped:  # more doubts than should be remembered
            further = self._perform(perform, (), self._left([], rows), tally)
            lost, outcome = lost + further.lost, further
        status.sum_up(self.store, rows)
        seconds = time.monotonic() - begun
        end_run(
            *(self.store, run, tally.evaluated, round(seconds, 3), lost),
            used=self.used(),
            stopped=outcome.stopped,
        )
        return summary_of(
            self.store,
            rows,
            evaluated=tally.evaluated,
            seconds=seconds,
            lost=lost,
            notes=tuple(self.store.notes),
            stopped=outcome.stopped,
        )

    def _perform(
        self,
        perform: Perform,
        ranges: Sequence[tuple[int, int]],
        tasks: Iterator[Task],
        tally: Tally,
    ) -> Outcome:
        spec, seal = self.spec, self.store.seal
        work = Work(
            str(self.store.path),
            seal,
            spec.plan,
            spec.filter,
            self.stages,
            spec.variant_seconds,
        )
        chunks = [stage.step for stage in self.stages]
        return perform(work, ranges, chunks=chunks, tasks=tasks, on_receipts=tally)

    def _left(
        self, others: Sequence[tuple[int, int]], rows: tuple[int, int] | None
    ) -> Iterator[Task]:
        """Doubtful variants that an earlier run left behind; not those that `others` will find."""
        if len(self.stages) < 2:
            return
        coming = list(reversed(others))
        for start, stop in status.awaiting(self.store, self.stages[1].step, rows):
            while coming and coming[-1][1] <= start:
                coming.pop()
            if not coming or start < coming[-1][0]:
                yield Task(1, start, stop)

    def _failed_precise(self, rows: tuple[int, int] | None) -> Iterator[Task]:
        if len(self.stages) > 1:
            for start, stop in status.failed(self.store, "precise_", rows):
                yield Task(1, start, stop, careful=True, retry=True)
