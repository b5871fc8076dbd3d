"""A child of this process that performs tasks: a copy of it, or a program where none can be made.

A pipe to it and one back. A copy has the program loaded, so that one more child costs
milliseconds, and what kills it kills nothing else. Children leave signals to their parent, which
lets them finish; they end when it does.
"""

import contextlib
import ctypes
import gc
import io
import os
import pickle
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import cloudpickle

from .limits import expendable
from .worker import Task

#: Bytes that a child keeps of what its evaluations free, and of one array: `mallopt`'s numbers.
#: Memory that is given back after each chunk is new at the next, 2 µs for each page of 4 kB.
KEPT, KEPT_ARRAY = (-1, 256 << 20), (-3, 32 << 20)
#: What children do not hear: their parent does, and decides.
DEAF = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)


@dataclass(eq=False)
class Child:
    """A copy of this process, by its pipes; `task` is what it is at."""

    pid: int
    asks: int
    answers: int
    task: Task | None = None
    begun: float = 0.0
    data: bytearray = field(default_factory=bytearray)

    def give(self, task: Task) -> None:
        self.task, self.begun = task, time.monotonic()
        self.send(task)

    def send(self, message: Any) -> None:
        """A task, or other work (`packed`) that tasks are of from now on."""
        with contextlib.suppress(BrokenPipeError):  # it is dead, which its answer will say
            _send(self.asks, message)

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


def forked(
    work: Callable[[Task], Any], others: Iterable[Child], shared: Sequence[Any] = ()
) -> Child:
    """A copy of this process; it closes the pipes of `others`, which have no end otherwise."""
    (asks, ours), (theirs, answers) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            pipes = [pipe for one in others for pipe in (one.asks, one.answers)]
            for pipe in (ours, theirs, *pipes):
                os.close(pipe)
            _live(work, asks, answers, shared)
        finally:
            os._exit(1)
    for pipe in (asks, answers):
        os.close(pipe)
    return Child(pid, ours, theirs)


def started(work: Callable[[Task], Any]) -> Child:
    """The same as a program of its own, which is given what a copy has."""
    (asks, ours), (theirs, answers) = os.pipe(), os.pipe()
    # -P: what lies in the current folder is not imported.
    words = [sys.executable, "-P", "-m", "sweeps.run.children", str(asks), str(answers)]
    paths = os.pathsep.join(path for path in sys.path if path)
    kept = [(os.POSIX_SPAWN_DUP2, one, one) for one in (asks, answers)]
    environment = {**os.environ, "PYTHONPATH": paths}
    pid = os.posix_spawn(sys.executable, words, environment, file_actions=kept)
    for pipe in (asks, answers):
        os.close(pipe)
    child = Child(pid, ours, theirs)
    _send(child.asks, cloudpickle.dumps(work))
    return child


def _live(
    work: Callable[[Task], Any], asks: int, answers: int, shared: Sequence[Any] = ()
) -> None:
    """The child: perform tasks until the parent has none or is gone; does not return."""
    for number in DEAF:
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    expendable()
    with contextlib.suppress(OSError, AttributeError):  # a C library without it
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, limit in (KEPT, KEPT_ARRAY):
            mallopt(parameter, limit)
    gc.freeze()  # else the first full collection copies every page that is shared with the parent
    with os.fdopen(asks, "rb") as source:
        while len(head := source.read(8)) == 8:
            message: Any = pickle.loads(source.read(struct.unpack("<Q", head)[0]))
            if isinstance(message, bytes):
                work = _Unpacking(message, shared).load()
                continue
            try:
                answer: Any = work(message)
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


class _Packing(pickle.Pickler):
    """Tells what both sides have by its place."""

    def __init__(self, content: io.BytesIO, shared: Sequence[Any]):
        super().__init__(content)
        self._places = {id(one): place for place, one in enumerate(shared) if one is not None}

    def persistent_id(self, one: Any) -> int | None:
        return self._places.get(id(one))


class _Unpacking(pickle.Unpickler):
    def __init__(self, content: bytes, shared: Sequence[Any]):
        super().__init__(io.BytesIO(content))
        self._shared = shared

    def persistent_load(self, place: int) -> Any:
        return self._shared[place]


def packed(work: Callable[[Task], Any], shared: Sequence[Any]) -> bytes:
    """Work for a child that was `forked` with what is shared."""
    content = io.BytesIO()
    _Packing(content, shared).dump(work)
    return content.getvalue()


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
