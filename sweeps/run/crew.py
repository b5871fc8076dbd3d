"""Children of this process that perform tasks: copies of it, replaced when they die.

No scheduler, no port, no key: a pipe to each child and one back. A copy has the program loaded,
so that one more child costs milliseconds, and what kills it kills nothing else. Children leave
signals to their parent, which lets them finish; they end when it does.
"""

import contextlib
import select
import selectors
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from basepar_core.errors import BaseparError

from .children import Child, forked, packed, started
from .leave import Leave
from .pace import Pace
from .task_queue import TASK_SECONDS, TICK, Outcome, Tasks
from .worker import Receipt, Task

#: Elsewhere libraries do not bear to be copied with their process.
FORKS = sys.platform == "linux"


def run(
    work: Callable[[Task], Receipt],
    ranges: Iterable[tuple[int, int]],
    workers: int,
    *,
    chunks: Sequence[int],
    tasks: Iterable[Task] = (),
    on_receipts: Callable[[Sequence[Receipt], int], None] = lambda receipts, threads: None,
    task_seconds: float = TASK_SECONDS,
    leave: Leave | None = None,
    tick: Callable[[], None] = lambda: None,
    spare: "Spare | None" = None,
) -> Outcome:
    """Perform tasks that cover the ranges, and whatever work they find, by so many children.

    Parameters
    ----------
    work, ranges, chunks, tasks, on_receipts, task_seconds
        As of `fanout.run`.
    leave
        When to end before all is done.
    tick
        Called once a second at most.
    spare
        Whose child is the first of them, if it has one.

    Raises
    ------
    WorkersError
        Children that die before anything is done, or a task that raises twice.
    """
    queue = Tasks(chunks, iter(ranges), iter(tasks), [Pace() for _ in chunks], task_seconds)
    leave = leave or Leave()
    crew = _Crew(work, workers, queue, on_receipts, leave, tick, spare or Spare())
    try:
        with leave.working():
            stopped = crew.run()
    finally:
        crew.close()
    return Outcome(queue.lost, queue.dropped, stopped)


def asked(function: Callable[..., Any], *given: Any, seconds: float) -> Any:
    """What a function returns in a child, which may die of it; as of `Spare.ask`."""
    with contextlib.closing(Spare()) as spare:
        return spare.ask(function, *given, seconds=seconds)


@dataclass(eq=False)
class Spare:
    """A child that is asked something before the work is known, and then is a crew's first.

    It takes 10 ms to copy a process of 140 MB and to end the copy.

    Attributes
    ----------
    shared
        What the child has of its parent, as it is: the work that it gets later holds some of it,
        and need not carry it along. It may be such as cannot travel.
    """

    shared: list[Any] = field(default_factory=list)
    child: Child | None = None

    def ask(self, function: Callable[..., Any], *given: Any, seconds: float) -> Any:
        """What a function returns in the child.

        Raises
        ------
        RuntimeError
            The child died of it, or took longer.
        """

        def work(task: Task) -> Any:
            return _Answer(function(*given))

        self.close()
        child = self.child = forked(work, [], self.shared) if FORKS else started(work)
        child.give(Task(0, 0, 1))
        end, found = time.monotonic() + seconds, list[Any]()
        try:
            while not found:
                if not select.select([child.answers], [], [], max(0.0, end - time.monotonic()))[0]:
                    raise RuntimeError(f"no answer within {seconds:g} s")
                found = child.read() or [RuntimeError("the process that was asked died")]
            if not isinstance(found[0], _Answer):
                raise found[0]
            child.task = None
            return found[0].content
        finally:
            if child.task is not None or not FORKS:
                self.close()

    def take(self, work: Callable[[Task], Any]) -> Child | None:
        """The child, which does this work from now on; None where there is none."""
        child, self.child = self.child, None
        if child is not None:
            child.send(packed(work, self.shared))
        return child

    def close(self) -> None:
        """End the child that nobody took."""
        if self.child is not None:
            self.child.end(kill=True)
            self.child = None


@dataclass(frozen=True)
class _Answer:
    content: Any


@dataclass(eq=False)
class _Crew:
    work: Callable[[Task], Receipt]
    size: int
    tasks: Tasks
    on_receipts: Callable[[Sequence[Receipt], int], None]
    leave: Leave
    tick: Callable[[], None]
    spare: Spare
    children: list[Child] = field(default_factory=list)
    longest: dict[int, float] = field(default_factory=dict)  # s of a task, by stage
    left: Task | None = None  # drawn, and not begun

    def __post_init__(self) -> None:
        self.selector = selectors.DefaultSelector()
        self._ticked = time.monotonic()

    def run(self) -> bool:
        """Whether it was stopped before all was done."""
        while True:
            self._fill()
            flying = [child for child in self.children if child.task is not None]
            if not flying:
                return self.leave.asked and self._is_something_left()
            if self.leave.left <= 0:
                return True
            for key, _ in self.selector.select(min(TICK, self.leave.left)):
                self._hear(key.data)
            if time.monotonic() - self._ticked >= TICK:
                self._ticked = time.monotonic()
                self.tick()

    def close(self) -> None:
        """End all children; those that are at something are killed."""
        for child in self.children:
            child.end(kill=child.task is not None)
        self.children.clear()
        self.selector.close()

    def _fill(self) -> None:
        idle = [child for child in self.children if child.task is None]
        while not self.leave.asked and (idle or len(self.children) < self.size):
            task = self.left or self.tasks.next(self.size)
            self.left = None
            if task is None:
                return
            if not self.leave.may_begin(self._expected(task)):
                self.left = task
                return
            child = idle.pop() if idle else self._born()
            child.give(task)

    def _is_something_left(self) -> bool:
        return self.left is not None or self.tasks.next(self.size) is not None

    def _expected(self, task: Task) -> float:
        return max(self.longest.get(task.stage, 0.0), task.expected * (task.stop - task.start))

    def _hear(self, child: Child) -> None:
        answers = child.read()
        if answers is None:
            self._bury(child)
            return
        for answer in answers:
            task = child.task
            assert task is not None
            child.task = None
            self.tasks.ended(task)
            match answer:
                case Receipt():
                    taken = time.monotonic() - child.begun
                    self.longest[task.stage] = max(taken, 0.9 * self.longest.get(task.stage, 0.0))
                    self.tasks.landed([answer])
                    self.on_receipts([answer], self.size)
                case BaseparError():
                    raise answer
                case _:
                    self.tasks.failed(task, answer)

    def _bury(self, child: Child) -> None:
        self.selector.unregister(child.answers)
        self.children.remove(child)
        child.end(kill=False)
        if child.task is not None:
            self.tasks.ended(child.task)
            self.tasks.died(child.task)

    def _born(self) -> Child:
        child = self.spare.take(self.work)
        if child is None:
            child = forked(self.work, self.children) if FORKS else started(self.work)
        self.selector.register(child.answers, selectors.EVENT_READ, child)
        self.children.append(child)
        return child
