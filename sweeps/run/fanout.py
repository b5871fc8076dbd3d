"""Chunks to a Dask client and back, in any order, twice if need be.

Generic: it knows ranges, tasks and receipts, not what is evaluated. A Dask task costs 2–6 ms of
the scheduler, so a task takes as many chunks as fill about half a second by the pace measured so
far; a bounded window of them is in flight, each future is released as soon as its receipt is in,
and nothing here grows with the number of variants.

Found work (a doubtful variant's precise task takes seconds where its chunk took milliseconds)
flies at once, but on half of the threads at most as long as there is other work: neither kind
waits for the other.

Several of them may share a client (`Fleet`): the window is shared, and each has kinds of tasks of
its own, so that the scheduler knows the heavy from the cheap.

A worker that dies takes its tasks along, the guilty one and its neighbours. They come back cut
into single chunks, few at a time; a chunk that is lost again is evaluated in ever smaller pieces,
in a process that may die (`isolation.py`). Only what dies there, alone, is to blame. The death of
a worker proves nothing, however often: workers are killed from outside too, and their queues with
them. So nothing is ever given up; where workers die before anything at all is done, the run ends.
"""

import contextlib
import logging
import queue
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from distributed import Client, Future
from distributed.scheduler import KilledWorker

from basepar_core.errors import BaseparError

from .pace import Pace
from .shared_client import Fleet
from .shared_program import Program, fetch
from .stall_watchdog import Watch, WorkersError
from .worker import Receipt, Task

#: Seconds of work per task; more where hundreds of workers would flood the driver.
TASK_SECONDS = 0.5
#: Where it takes less, work is not cut for the sake of more workers: a task costs milliseconds.
LEAST_SECONDS = 0.02
#: Receipts per second the driver is asked to handle at most.
RECEIPTS_PER_SECOND = 200
#: Tasks in flight per thread: what `worker-saturation: 4` sends ahead, and one to spare.
WINDOW = 5
#: Seconds without any worker after which the run ends: on a machine with ten processes a core a
#: new worker takes half a minute.
PATIENCE = 300.0
#: Losses of one chunk in a row, nothing else done meanwhile, after which the run ends.
FRUITLESS = 10
#: A share of the threads (one at least) for tasks that may have killed a worker.
SUSPECTS = 8
#: Found tasks remembered; more are dropped, and told as `Outcome.dropped`.
FOUND = 10_000

Perform = Callable[[Task], Receipt]
OnReceipts = Callable[[Sequence[Receipt], int], None]

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the work beside its receipts.

    Attributes
    ----------
    lost
        How often a task was lost with its worker.
    dropped
        Found tasks that were too many to remember; whoever knows what is missing asks again.
    """

    lost: int = 0
    dropped: int = 0


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
    fan = _Fan(
        *(work, client, chunks, iter(ranges), iter(tasks), on_receipts, task_seconds, patience),
        *(fleet, paces),
    )
    try:
        fan.run()
    finally:
        fan.close()
    return Outcome(fan.lost, fan.dropped)


@dataclass
class _Fan:
    work: Perform
    client: Client
    chunks: Sequence[int]
    ranges: Iterator[tuple[int, int]]
    tasks: Iterator[Task]
    on_receipts: OnReceipts
    task_seconds: float
    patience: float
    fleet: Fleet
    pace: Sequence[Pace]
    suspects: deque[Task] = field(default_factory=deque)
    again: deque[Task] = field(default_factory=deque)
    found: deque[Task] = field(default_factory=deque)
    flying: dict[Any, tuple["Future[Any]", Task]] = field(default_factory=dict)
    aloft: Counter[str] = field(default_factory=Counter)  # of the flying: extra ones, suspects
    fruitless: Counter[tuple[int, int]] = field(default_factory=Counter)  # losses, by first row
    raised: set[tuple[int, int]] = field(default_factory=set)
    lost: int = 0
    dropped: int = 0

    def __post_init__(self) -> None:
        self.done: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
        self.gatherer = ThreadPoolExecutor(1)
        self.open: tuple[int, int] | None = None  # what is left of the current range
        self.watch = Watch(self.client, self.patience)
        self.watch.check_scheduler()
        self.program = Program(self.client, self.work)
        self.name = self.fleet.join()

    def run(self) -> None:
        while True:
            self.fleet.check()
            self.watch.look()
            self._fill()
            if not self.flying:
                return
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
        while room > 0 and (task := self._next()) is not None:
            self._submit(task)
            room -= 1

    def _next(self) -> Task | None:
        if self.again:
            return self.again.popleft()
        if self.suspects and self.aloft["suspect"] < max(1, self.watch.threads // SUSPECTS):
            return self.suspects.popleft()
        if self.aloft["extra"] < max(1, self.watch.threads // 2) and (task := self._extra()):
            return task
        return self._cut() or self._extra()

    def _extra(self) -> Task | None:
        """Found work, neighbours together up to `task_seconds`; then the tasks handed in."""
        if not self.found:
            return next(self.tasks, None)
        task = self.found.popleft()
        each = self.pace[task.stage].each
        while self.found and each:
            more = self.found[0]
            follows = (more.stage, more.start) == (task.stage, task.stop)
            if not follows or each * (more.stop - task.start) > self.task_seconds:
                break
            task = replace(task, stop=self.found.popleft().stop)
        return replace(task, expected=each)

    def _cut(self) -> Task | None:
        """The next piece of the ranges, about `task_seconds` long; the first ones one chunk."""
        piece = self.open or next(self.ranges, None)
        if piece is None:
            return None
        start, stop = piece
        chunk, each = self.chunks[0], self.pace[0].each
        wanted = max(self.task_seconds, self.watch.threads / RECEIPTS_PER_SECOND)
        count, least = (
            (max(1, int(seconds / (each * chunk))) if each else 1)
            for seconds in (wanted, LEAST_SECONDS)
        )
        # Towards the end of a range, pieces small enough for everyone to have one.
        left = -(-(stop - start) // chunk)
        count = min(count, max(least, left // (2 * max(1, self.watch.threads))))
        end = min(stop, start + count * chunk)
        self.open = (end, stop) if end < stop else None
        return Task(0, start, end, each)

    def _submit(self, task: Task) -> None:
        # Keys by kind: the scheduler expects of a task what others of its kind took.
        extra = _is_extra(task)
        key = f"{'extra' if extra else 'chunk'}_{self.name}-{uuid4()}"
        # Few fly, so they go first: behind a worker's queue they would hardly ever run.
        future = self.client.submit(
            _perform, self.program.name, task, key=key, pure=False, priority=int(extra)
        )
        self.flying[key] = (future, task)
        self._count(task, 1)
        future.add_done_callback(self.done.put)

    def _count(self, task: Task, change: int) -> None:
        self.aloft["extra"] += change * _is_extra(task)
        self.aloft["suspect"] += change * (task.attempt > 0)

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
            self._count(entry[1], -1)
            if future.status == "finished":
                good.append(entry)
            elif future.status == "error":
                self._failed(entry[1], future.exception())
            else:  # the scheduler lost it
                self.watch.check_scheduler()
                self._retry(entry[1])
        self._receive(good)

    def _receive(self, landed: list[tuple["Future[Any]", Task]]) -> None:
        if not landed:
            return
        receipts = self._gathered(landed)
        if receipts:
            self.fruitless.clear()
        for receipt in receipts:
            self.pace[receipt.stage].learn(receipt.seconds, receipt.stop - receipt.start)
            kept = receipt.follow[: max(0, FOUND - len(self.found))]
            self.found.extend(Task(*piece) for piece in kept)
            self.dropped += len(receipt.follow) - len(kept)
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
                self._retry(task)
        return found

    def _call_back(self) -> None:
        """Ask again for all tasks in flight, which have stalled, under other names."""
        log.warning("%d tasks were lost on the way; they are asked for again", len(self.flying))
        lost = list(self.flying.values())
        self.flying.clear()
        self.aloft.clear()
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
            self._retry(task)
        self.watch.landed()

    def _failed(self, task: Task, error: BaseException | None) -> None:
        chunk = task.stage, task.start
        if isinstance(error, KilledWorker):
            self._lost(task)
        elif isinstance(error, BaseparError):
            raise error
        elif chunk not in self.raised:
            self.raised.add(chunk)
            self.again.append(task)
        else:
            raise WorkersError(
                f"Variants {task.start} to {task.stop} could not be evaluated and stored: "
                f"{type(error).__name__}: {error}. What is stored so far is whole; put this "
                "right and run the sweep again."
            ) from error

    def _lost(self, task: Task) -> None:
        """Its worker died: once more in single chunks, then in a process that may die."""
        attempt = task.attempt + 1
        self.lost += 1
        log.info("lost variants %d to %d, attempt %d", task.start, task.stop, attempt)
        self._count_fruitless(task)
        chunk, careful = self.chunks[task.stage], task.careful or attempt > 1
        for start in range(task.start, task.stop, chunk):
            stop = min(start + chunk, task.stop)
            self.suspects.append(
                replace(task, start=start, stop=stop, attempt=attempt, careful=careful)
            )

    def _retry(self, task: Task) -> None:
        """Lost on the way, whole workers or not: nothing speaks against it."""
        self._count_fruitless(task)
        self.again.append(task)

    def _count_fruitless(self, task: Task) -> None:
        chunk = task.stage, task.start
        self.fruitless[chunk] += 1
        if self.fruitless[chunk] >= FRUITLESS:
            raise WorkersError(
                f"Variants {task.start} to {task.stop} were lost {FRUITLESS} times in a row with "
                "their workers or on the way, and nothing was done meanwhile. No variant alone "
                "does that: see who ends the workers, and whether their memory suffices. What is "
                "stored so far is whole: run the sweep again."
            )


def _is_extra(task: Task) -> bool:
    return task.stage > 0 or task.retry


def _perform(program: str, task: Task) -> Receipt:
    return fetch(program)(task)
