"""What is done next: ranges cut to length, work that was found, what was lost on the way.

Whoever does it, workers of a cluster or children of this process, asks here for the next task
and tells what became of it. A task takes as many chunks as fill about half a second by the pace
measured so far, and nothing here grows with the number of variants.

Found work (a doubtful variant's precise task takes seconds where its chunk took milliseconds)
flies at once, but on half of the threads at most as long as there is other work: neither kind
waits for the other.

What dies comes back cut into single chunks, few at a time; a chunk that is lost again is evaluated
in ever smaller pieces, in a process that may die (`isolation.py`). Only what dies there, alone, is
to blame. The death of a worker proves nothing, however often: workers are killed from outside
too, and their queues with them. So nothing is ever given up; where workers die before anything
at all is done, the run ends.
"""

import logging
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil

from basepar_core.errors import BaseparError

from .pace import Pace
from .worker import Receipt, Task

#: Seconds of work per task; more where hundreds of workers would flood the driver.
TASK_SECONDS = 0.5
#: Seconds between two ticks of whoever performs tasks.
TICK = 1.0
#: Where it takes less, work is not cut for the sake of more workers: a task costs 10 ms, some of
#: the scheduler's, and what an evaluation takes however many chunks share it.
LEAST_SECONDS = 0.05
#: Receipts per second the driver is asked to handle at most.
RECEIPTS_PER_SECOND = 200
#: Losses of one chunk in a row, nothing else done meanwhile, after which the run ends.
FRUITLESS = 10
#: A share of the threads (one at least) for tasks that may have killed a worker.
SUSPECTS = 8
#: Found tasks remembered; more are dropped, and told as `dropped`.
FOUND = 10_000

log = logging.getLogger(__name__)


class WorkersError(BaseparError):
    """No worker to do the work, or none that can."""

    kind = "workers"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the work beside its receipts.

    Attributes
    ----------
    lost
        How often a task was lost with its worker.
    dropped
        Found tasks that were too many to remember; whoever knows what is missing asks again.
    stopped
        Whether somebody wanted it to end before it was done.
    """

    lost: int = 0
    dropped: int = 0
    stopped: bool = False


@dataclass
class Tasks:
    """Tasks that cover ranges, and whatever work they find.

    Attributes
    ----------
    chunks
        Variants of the least task of every stage.
    ranges
        (start, stop) of stage 0, each of whole chunks; drawn from as work proceeds.
    given
        Tasks of any stage, one chunk each; drawn from and treated like work that was found.
    pace
        Of every stage, as known from runs before; learned from.
    task_seconds
        What a task should take.
    lost
        How often a task was lost with its worker.
    dropped
        Found tasks that were too many to remember; whoever knows what is missing asks again.
    """

    chunks: Sequence[int]
    ranges: Iterator[tuple[int, int]]
    given: Iterator[Task]
    pace: Sequence[Pace]
    task_seconds: float = TASK_SECONDS
    lost: int = 0
    dropped: int = 0
    suspects: deque[Task] = field(default_factory=deque)
    again: deque[Task] = field(default_factory=deque)
    found: deque[Task] = field(default_factory=deque)
    aloft: Counter[str] = field(default_factory=Counter)  # of those begun: extra ones, suspects
    fruitless: Counter[tuple[int, int]] = field(default_factory=Counter)  # losses, by first row
    raised: set[tuple[int, int]] = field(default_factory=set)
    open: tuple[int, int] | None = None  # what is left of the current range

    def next(self, threads: int) -> Task | None:
        """What one of so many threads should do; None: nothing is left but what flies."""
        task = self._next(threads)
        if task is not None:
            self._count(task, 1)
        return task

    def ended(self, task: Task) -> None:
        """A task that was asked for flies no more, however it ended."""
        self._count(task, -1)

    def landed(self, receipts: Sequence[Receipt]) -> None:
        """Learn from what is done, and remember the work that it found."""
        if receipts:
            self.fruitless.clear()
        for receipt in receipts:
            self.pace[receipt.stage].learn(receipt.seconds, receipt.stop - receipt.start)
            kept = receipt.follow[: max(0, FOUND - len(self.found))]
            self.found.extend(Task(*piece) for piece in kept)
            self.dropped += len(receipt.follow) - len(kept)

    def died(self, task: Task) -> None:
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

    def retry(self, task: Task) -> None:
        """Lost on the way, whole workers or not: nothing speaks against it."""
        self._count_fruitless(task)
        self.again.append(task)

    def failed(self, task: Task, error: BaseException | None) -> None:
        """It raised, which is no variant's fault: once more, then the run ends."""
        chunk = task.stage, task.start
        if chunk not in self.raised:
            self.raised.add(chunk)
            self.again.append(task)
        else:
            raise WorkersError(
                f"Variants {task.start} to {task.stop} could not be evaluated and stored: "
                f"{type(error).__name__}: {error}. What is stored so far is whole; put this "
                "right and run the sweep again."
            ) from error

    def _next(self, threads: int) -> Task | None:
        if self.again:
            return self.again.popleft()
        if self.suspects and self.aloft["suspect"] < max(1, threads // SUSPECTS):
            return self.suspects.popleft()
        if self.aloft["extra"] < max(1, threads // 2) and (task := self._extra()):
            return task
        return self._cut(threads) or self._extra()

    def _extra(self) -> Task | None:
        """Found work, neighbours together up to `task_seconds`; then the tasks handed in."""
        if not self.found:
            return next(self.given, None)
        task = self.found.popleft()
        each = self.pace[task.stage].each
        while self.found and each:
            more = self.found[0]
            follows = (more.stage, more.start) == (task.stage, task.stop)
            if not follows or each * (more.stop - task.start) > self.task_seconds:
                break
            task = replace(task, stop=self.found.popleft().stop)
        return replace(task, expected=each)

    def _cut(self, threads: int) -> Task | None:
        """The next piece of the ranges, about `task_seconds` long; the first ones one chunk."""
        piece = self.open or next(self.ranges, None)
        if piece is None:
            return None
        start, stop = piece
        chunk, each = self.chunks[0], self.pace[0].each
        count = least = 1
        if each:
            wanted = max(self.task_seconds, threads / RECEIPTS_PER_SECOND)
            count = max(1, int(wanted / (each * chunk)))
            least = max(1, ceil(LEAST_SECONDS / (each * chunk)))
        # Towards the end of a range, pieces small enough for everyone to have one.
        left = -(-(stop - start) // chunk)
        count = min(count, max(least, left // (2 * max(1, threads))))
        end = min(stop, start + count * chunk)
        self.open = (end, stop) if end < stop else None
        return Task(0, start, end, each)

    def _count(self, task: Task, change: int) -> None:
        self.aloft["extra"] += change * is_extra(task)
        self.aloft["suspect"] += change * (task.attempt > 0)

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


def is_extra(task: Task) -> bool:
    """Whether it is not of the ranges: a precise task, a retry."""
    return task.stage > 0 or task.retry
