"""A sweep whose rows are asked for, evaluated block by block over one open, locked store.

`sweep` would do for each block what is the same for all: lock, check, look at every status, ask
git for the commit. That is 50 ms and more, as much as a block of four-bars takes.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from distributed import Client

from sweeps.store import (
    Evaluator,
    Lock,
    Part,
    Store,
    begin_run,
    check_and_repair,
    end_run,
    locked,
    store,
)
from sweeps.store import status as survey

from . import fanout
from .job import Job
from .pace import Pace
from .progress import Progress
from .run_counts import Tally
from .shared_client import Fleet
from .standing import layout_of, path_of, refuse_other
from .worker import Stage, Work
from .worker_usage import used


@dataclass
class Blocks:
    """Made by `opened`.

    Attributes
    ----------
    store
        Opened.
    evaluated, seconds
        Of all blocks so far.
    """

    spec: Job
    evaluator: Evaluator
    client: Client
    lock: Lock
    progress: Progress | None
    store: Store
    stage: Stage
    tally: Tally
    evaluated: int = 0
    seconds: float = 0.0
    lost: int = 0
    fleet: Fleet = field(default_factory=Fleet)
    paces: list[Pace] = field(default_factory=lambda: [Pace()])

    def stop(self) -> None:
        """Leave an evaluation that another thread is at: it raises `Stopped`."""
        self.fleet.stop()

    def evaluate(self, block: Job, start: int, stop: int) -> None:
        """Evaluate and store what is missing of rows start … stop − 1, whole chunks but for the
        store's end; `block` knows them."""
        assert start % self.stage.part.chunk == 0
        begun = time.monotonic()
        pending = survey.take(self.store, (start, stop)).pending
        ranges = [(first, min(last, stop)) for first, last in pending]
        # Workers keep a store's arrays open; longer ones are another store to them.
        seal = f"{self.store.seal} {len(self.spec)}"
        work = Work(
            str(self.store.path),
            seal,
            block.plan,
            block.filter,
            (self.stage,),
            block.variant_seconds,
        )
        before = self.tally.evaluated
        outcome = fanout.run(
            *(work, ranges, self.client),
            chunks=[self.stage.part.chunk],
            on_receipts=self.tally,
            fleet=self.fleet,
            paces=self.paces,
        )
        self.evaluated += self.tally.evaluated - before
        self.seconds += time.monotonic() - begun
        self.lost += outcome.lost


@contextmanager
def opened(
    spec: Job, evaluator: Evaluator, client: Client, progress: Progress | None = None
) -> Iterator[Blocks]:
    """A store for blocks, made if it is not there, and held.

    Raises
    ------
    StoreError
        It is damaged, or somebody else fills it.
    """
    path = path_of(spec)
    with locked(path) as lock:
        layout = layout_of(spec, evaluator)
        if path.exists():
            refuse_other(spec, path)
            check_and_repair.check(path)
        else:
            store.create(path, layout)
        made = store.check(path, layout)
        run = begin_run(made)
        part: Part = layout.parts[0]
        found = survey.take(made)
        tally = Tally(len(spec), found.counts, {}, progress, lock.tell)
        blocks = Blocks(
            *(spec, evaluator, client, lock, progress),
            *(made, Stage(evaluator, part), tally),
        )
        try:
            yield blocks
        finally:
            seconds = round(blocks.seconds, 3)
            done = (blocks.evaluated, seconds, blocks.lost)
            end_run(made, run, *done, used=used(client))
