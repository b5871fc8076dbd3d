"""Tasks to a Dask client and their receipts back, in any order, twice if need be.

Generic: it knows tasks and receipts, not what is evaluated; what is next is for `task_queue` to
say. A Dask task costs 2–6 ms of the scheduler; a bounded window of them is in flight, and each
future is released as soon as its receipt is in.

Several of them may share a client (`Fleet`): the window is shared, and each has kinds of tasks of
its own, so that the scheduler knows the heavy from the cheap.
"""

import contextlib
import logging
import queue
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from basepar_core.errors import BaseparError

from .leave import Leave
from .pace import Pace
from .shared_client import Fleet
from .shared_program import Program, fetch
from .stall_watchdog import Watch
from .task_queue import TASK_SECONDS, Outcome, Tasks, is_extra
from .worker import Receipt, Task

#: Tasks in flight per thread: what `worker-saturation: 4` sends ahead, and one to spare.
WINDOW = 5
#: Seconds without any worker after which the run ends: on a machine with ten processes a core a
#: new worker takes half a minute.
PATIENCE = 300.0

Perform = Callable[[Task], Receipt]
OnReceipts = Callable[[Sequence[Receipt], int], None]

log = logging.getLogger(__name__)


def run(
    work: Perform,
    ranges: Iterable[tuple[int, int]],
    client: Client,
    *,
    chunks: Sequence[int],
    tasks: Iterable[Task] = (),
    on_receipts: OnReceipts = lambda receipts, threads: None,
    task_seconds: float = TASK_SECONDS,
    patience: float = PATIENCE,
    fleet: Fleet | None = None,
    leave: Leave | None = None,
    paces: Sequence[Pace] | None = None,
) -> Outcome:
    """Perform tasks that cover the ranges, and whatever work they find.

    Parameters
    ----------
    work
        Picklable; evaluates and writes a task's variants. What it raises is fatal: failures of
        variants are its own business.
    ranges
        (start, stop) of stage 0, each of whole chunks; drawn from as work proceeds.
    client
        Handed in; where it came from is not asked.
    chunks
        Variants per chunk of every stage.
    tasks
        Of any stage, one chunk each; drawn from and treated like work that was found.
    on_receipts
        Called in this process with each batch of receipts and the number of threads.
    task_seconds
        What a task should take.
    patience
        Seconds without any worker after which `WorkersError` is raised.
    fleet
        Others that use the client at the same time.
    leave
        When to end before all is done.
    paces
        Of every stage, as known from runs before; learned from.

    Raises
    ------
    WorkersError
        No worker, no scheduler, workers that die before anything is done, or a task that raises
        twice. What is stored is whole.
    """
    fleet = fleet or Fleet()
    paces = paces or [Pace() for _ in chunks]
    queue = Tasks(chunks, iter(ranges), iter(tasks), paces, task_seconds)
    leave = leave or Leave()
    fan = _Fan(work, client, queue, on_receipts, patience, fleet, leave)
    try:
        with leave.working():
            stopped = fan.run()
    finally:
        fan.close()
    return Outcome(queue.lost, queue.dropped, stopped)


@dataclass
class _Fan:
    work: Perform
    client: Client
    tasks: Tasks
    on_receipts: OnReceipts
    patience: float
    fleet: Fleet
    leave: Leave
    flying: dict[Any, tuple["Future[Any]", Task]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self.gatherer = ThreadPoolExecutor(1)
        self.watch = Watch(self.client, self.patience)
        self.watch.check_scheduler()
        self.program = Program(self.client, self.work)
        self.name = self.fleet.join()

    def run(self) -> bool:
        """Whether it was stopped before all was done."""
        while True:
            self.fleet.check()
            self.watch.look()
            if not self.leave.asked:
                self._fill()
            if not self.flying:
                return self.leave.asked and self.tasks.next(self.watch.threads) is not None
            if self.leave.left <= 0:
                return True
            self._settle(self._landed())
            if self.watch.stalled():
                self._call_back()

    def close(self) -> None:
        self._cancel([future for future, _ in self.flying.values()])
        self.flying.clear()
        self.program.withdraw()
        self.gatherer.shutdown(wait=False)
        self.fleet.leave()

    def _cancel(self, futures: list["Future[Any]"]) -> None:
        if futures and self.client.status == "running":
            self.client.cancel(futures, force=True)

    # What flies

    def _fill(self) -> None:
        share = WINDOW * self.watch.threads // max(1, self.fleet.aloft)
        room = max(4, share) - len(self.flying)
        while room > 0 and (task := self.tasks.next(self.watch.threads)) is not None:
            self._submit(task)
            room -= 1

    def _submit(self, task: Task) -> None:
        # Keys by kind: the scheduler expects of a task what others of its kind took.
        extra = is_extra(task)
        key = f"{'extra' if extra else 'chunk'}_{self.name}-{uuid4()}"
        # Few fly, so they go first: behind a worker's queue they would hardly ever run.
        future = self.client.submit(
            _perform, self.program.name, task, key=key, pure=False, priority=int(extra)
        )
        self.flying[key] = (future, task)
        future.add_done_callback(self.done.put)

    # What lands

    def _landed(self) -> list["Future[Any]"]:
        try:
            landed = [self.done.get(timeout=1.0)]
        except queue.Empty:
            return []
        while not self.done.empty():
            landed.append(self.done.get())
        self.watch.landed()
        return landed

    def _settle(self, landed: list["Future[Any]"]) -> None:
        good = []
        for future in landed:
            if (entry := self.flying.pop(future.key, None)) is None:
                continue
            self.tasks.ended(entry[1])
            if future.status == "finished":
                good.append(entry)
            elif future.status == "error":
                self._failed(entry[1], future.exception())
            else:  # the scheduler lost it
                self.watch.check_scheduler()
                self.tasks.retry(entry[1])
        self._receive(good)

    def _receive(self, landed: list[tuple["Future[Any]", Task]]) -> None:
        if not landed:
            return
        receipts = self._gathered(landed)
        self.tasks.landed(receipts)
        self.on_receipts(receipts, self.watch.threads)

    def _gathered(self, landed: list[tuple["Future[Any]", Task]]) -> list[Receipt]:
        """Receipts, all in one message; tasks whose receipt died with its worker are retried."""
        waiting = self.gatherer.submit(self.client.gather, [future for future, _ in landed])
        while not wait([waiting], timeout=1.0).done:
            # A receipt was lost and is computed again, if there is anyone to do so.
            self.watch.look()
            if self.watch.stalled():
                self._abandon(landed)
                return []
        with contextlib.suppress(Exception):  # of whatever kind: each for itself then
            return waiting.result()
        found = []
        for future, task in landed:
            if future.status == "finished":
                found.append(future.result(timeout=self.patience))
            else:
                self.tasks.retry(task)
        return found

    def _call_back(self) -> None:
        """Ask again for all tasks in flight, which have stalled, under other names."""
        log.warning("%d tasks were lost on the way; they are asked for again", len(self.flying))
        lost = list(self.flying.values())
        self.flying.clear()
        for _, task in lost:
            self.tasks.ended(task)
        self._forget(lost)

    def _abandon(self, landed: list[tuple["Future[Any]", Task]]) -> None:
        """Receipts that do not come, though nobody computes them again."""
        log.warning("%d receipts were lost on the way; asked for again", len(landed))
        self.gatherer.shutdown(wait=False)
        self.gatherer = ThreadPoolExecutor(1)
        self._forget(landed)

    def _forget(self, lost: list[tuple["Future[Any]", Task]]) -> None:
        self._cancel([future for future, _ in lost])
        for _, task in lost:
            self.tasks.retry(task)
        self.watch.landed()

    def _failed(self, task: Task, error: BaseException | None) -> None:
        if isinstance(error, KilledWorker):
            self.tasks.died(task)
        elif isinstance(error, BaseparError):
            raise error
        else:
            self.tasks.failed(task, error)


def _perform(program: str, task: Task) -> Receipt:
    return fetch(program)(task)
