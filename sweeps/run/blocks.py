"""A sweep whose rows are asked for, evaluated block by block over one open, locked store.

`sweep` would do for each block what is the same for all: lock, check, look at every status, ask
git for the commit. That is 50 ms and more, as much as a block of four-bars takes.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import numpy as np
from distributed import Client

from sweeps.spec import Asked, Derived
from sweeps.store import (
    Evaluator,
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
from .shared_program import Program, fetch
from .stall_watchdog import Watch
from .standing import layout_of, path_of, refuse_other
from .worker import Receipt, Stage, Task, Work
from .worker_usage import used


@dataclass(frozen=True, slots=True)
class _Block:
    """What workers do of a block: the program of this name, with these rows known.

    The program has the mechanism, which takes longer to cross and to be set up than a block to
    be evaluated.
    """

    program: str
    start: int
    values: np.ndarray

    def __call__(self, task: Task) -> Receipt:
        work: Work = fetch(self.program)
        assert isinstance(work.plan, Asked | Derived)
        return replace(work, plan=work.plan.knowing(self.start, self.values))(task)


@dataclass
class Blocks:
    """Made by `opened`.

    Attributes
    ----------
    store
        Opened.
    program
        The work of all blocks, for the workers.
    evaluated, seconds
        Of all blocks so far.
    """

    client: Client
    store: Store
    part: Part
    program: Program
    tally: Tally
    evaluated: int = 0
    seconds: float = 0.0
    lost: int = 0
    fleet: Fleet = field(default_factory=Fleet)
    paces: list[Pace] = field(default_factory=lambda: [Pace()])

    def stop(self) -> None:
        """Leave an evaluation that another thread is at: it raises `Stopped`."""
        self.fleet.stop()

    def evaluate(self, start: int, values: np.ndarray) -> None:
        """Evaluate and store what is missing of a block: rows from `start` on, whole chunks but
        for the store's end; values (row, symbol), SI."""
        assert start % self.part.chunk == 0
        begun, stop = time.monotonic(), start + len(values)
        pending = survey.take(self.store, (start, stop)).pending
        ranges = [(first, min(last, stop)) for first, last in pending]
        before = self.tally.evaluated
        outcome = fanout.run(
            *(_Block(self.program.name, start, values), ranges, self.client),
            chunks=[self.part.chunk],
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

    Parameters
    ----------
    spec
        Its plan's rows are asked for (`Asked`).

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
        part: Part = layout.parts[0]
        found = survey.take(made)
        tally = Tally(len(spec), found.counts, {}, progress, lock.tell)
        # Workers keep a store's arrays open; longer ones are another store to them.
        seal, stages = f"{made.seal} {len(spec)}", (Stage(evaluator, part),)
        work = Work(str(made.path), seal, spec.plan, spec.filter, stages, spec.variant_seconds)
        Watch(client, fanout.PATIENCE).check_scheduler()
        program = Program(client, work)
        run = begin_run(made)
        blocks = Blocks(client, made, part, program, tally)
        try:
            yield blocks
        finally:
            seconds = round(blocks.seconds, 3)
            done = (blocks.evaluated, seconds, blocks.lost)
            end_run(made, run, *done, used=used(client))
            program.withdraw()
