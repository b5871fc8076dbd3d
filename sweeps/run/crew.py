"""Children of this process that perform tasks: copies of it, replaced when they die.

No scheduler, no port, no key: a pipe to each child and one back. A copy has the program loaded,
so that one more child costs milliseconds, and what kills it kills nothing else. Children leave
signals to their parent, which lets them finish; they end when it does.
"""

import contextlib
import gc
import os
import pickle
import select
import selectors
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from basepar_core.errors import BaseparError

from .leave import Leave
from .limits import expendable
from .pace import Pace
from .task_queue import TASK_SECONDS, Outcome, Tasks
from .worker import Receipt, Task

#: Elsewhere libraries do not bear to be copied with their process.
FORKS = sys.platform == "linux"
#: Seconds between two ticks.
TICK = 1.0
#: What children do not hear: their parent does, and decides.
DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)


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

    Raises
    ------
    WorkersError
        Children that die before anything is done, or a task that raises twice.
    """
    queue = Tasks(chunks, iter(ranges), iter(tasks), [Pace() for _ in chunks], task_seconds)
    leave = leave or Leave()
    crew = _Crew(work, workers, queue, on_receipts, leave, tick)
    try:
        with leave.working():
            stopped = crew.run()
    finally:
        crew.close()
    return Outcome(queue.lost, queue.dropped, stopped)


def asked(function: Callable[..., Any], *given: Any, seconds: float) -> Any:
    """What a function returns in a child, which may die of it.

    Raises
    ------
    RuntimeError
        It did, or took longer.
    """
    found: list[Any] = []

    def work(task: Task) -> Any:
        return _Answer(function(*given))

    child = _forked(work, []) if FORKS else _started(work)
    child.give(Task(0, 0, 1))
    end = time.monotonic() + seconds
    try:
        while not found:
            if not select.select([child.answers], [], [], max(0.0, end - time.monotonic()))[0]:
                raise RuntimeError(f"no answer within {seconds:g} s")
            found = child.read() or [RuntimeError("the process that was asked died")]
    finally:
        child.end(kill=True)
    if isinstance(found[0], _Answer):
        return found[0].content
    raise found[0]


@dataclass(frozen=True)
class _Answer:
    content: Any


@dataclass(eq=False)
class _Child:
    """A copy of this process, by its pipes; `task` is what it is at."""

    pid: int
    asks: int
    answers: int
    task: Task | None = None
    begun: float = 0.0
    data: bytearray = field(default_factory=bytearray)

    def give(self, task: Task) -> None:
        self.task, self.begun = task, time.monotonic()
        with contextlib.suppress(BrokenPipeError):  # it is dead, which its answer will say
            _send(self.asks, task)

    def read(self) -> list[Any] | None:
        """Answers that have come; None where it is dead."""
        piece = os.read(self.answers, 1 << 20)
        if not piece:
            return None
        self.data += piece
        found = []
        while len(self.data) >= 8:
            size = struct.unpack("<Q", self.data[:8])[0]
            if len(self.data) < 8 + size:
                break
            found.append(pickle.loads(self.data[8 : 8 + size]))
            del self.data[: 8 + size]
        return found

    def end(self, kill: bool) -> None:
        for pipe in (self.asks, self.answers):
            os.close(pipe)
        if kill:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@dataclass(eq=False)
class _Crew:
    work: Callable[[Task], Receipt]
    size: int
    tasks: Tasks
    on_receipts: Callable[[Sequence[Receipt], int], None]
    leave: Leave
    tick: Callable[[], None]
    children: list[_Child] = field(default_factory=list)
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

    def _hear(self, child: _Child) -> None:
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

    def _bury(self, child: _Child) -> None:
        self.selector.unregister(child.answers)
        self.children.remove(child)
        child.end(kill=False)
        if child.task is not None:
            self.tasks.ended(child.task)
            self.tasks.died(child.task)

    def _born(self) -> _Child:
        child = _forked(self.work, self.children) if FORKS else _started(self.work)
        self.selector.register(child.answers, selectors.EVENT_READ, child)
        self.children.append(child)
        return child


def _forked(work: Callable[[Task], Any], others: Iterable[_Child]) -> _Child:
    (asks, ours), (theirs, answers) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            pipes = [pipe for one in others for pipe in (one.asks, one.answers)]
            for pipe in (ours, theirs, *pipes):  # or it would not see their end
                os.close(pipe)
            _live(work, asks, answers)
        finally:
            os._exit(1)
    for pipe in (asks, answers):
        os.close(pipe)
    return _Child(pid, ours, theirs)


def _started(work: Callable[[Task], Any]) -> _Child:
    """The same as a program of its own, which is given what a copy has."""
    (asks, ours), (theirs, answers) = os.pipe(), os.pipe()
    # -P: what lies in the current folder is not imported.
    words = [sys.executable, "-P", "-m", "sweeps.run.crew", str(asks), str(answers)]
    paths = os.pathsep.join(path for path in sys.path if path)
    kept = [(os.POSIX_SPAWN_DUP2, one, one) for one in (asks, answers)]
    environment = {**os.environ, "PYTHONPATH": paths}
    pid = os.posix_spawn(sys.executable, words, environment, file_actions=kept)
    for pipe in (asks, answers):
        os.close(pipe)
    child = _Child(pid, ours, theirs)
    _send(child.asks, cloudpickle.dumps(work))
    return child


def _live(work: Callable[[Task], Receipt], asks: int, answers: int) -> None:
    """The child: perform tasks until the parent has none or is gone; does not return."""
    for number in DEAF:
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    expendable()
    gc.freeze()  # else the first full collection copies every page that is shared with the parent
    with os.fdopen(asks, "rb") as source:
        while len(head := source.read(8)) == 8:
            task = pickle.loads(source.read(struct.unpack("<Q", head)[0]))
            try:
                answer: Any = work(task)
            except Exception as error:
                answer = error.with_traceback(None)  # whose frames would keep what they hold
                answer.__context__ = answer.__cause__ = None
            try:
                _send(answers, answer)
            except BrokenPipeError:  # nobody is there any more
                break
            except Exception:  # an exception that holds what cannot be pickled
                _send(answers, RuntimeError(f"{type(answer).__name__}: {answer}"[:300]))
    os._exit(0)


def _send(pipe: int, message: Any) -> None:
    content = pickle.dumps(message)
    content = struct.pack("<Q", len(content)) + content
    while content:
        content = content[os.write(pipe, content) :]


def _main(asks: int, answers: int) -> None:
    """A child that is no copy: its first message is the program."""
    head = os.read(asks, 8)
    size, content = struct.unpack("<Q", head)[0], b""
    while len(content) < size:
        content += os.read(asks, size - len(content))
    _live(cloudpickle.loads(pickle.loads(content)), asks, answers)


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
