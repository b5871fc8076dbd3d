"""A second process for whoever waits for one answer: a core is idle beside him.

It is a copy of this one (fork), so that nothing is read, compiled or sent to it, and it keeps what
it has found from one question to the next. Only where this process has no other threads, which a
copy could catch holding a lock.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


class Companion:
    """Answers questions by `answer` in a copy of this process; one at a time."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        context = multiprocessing.get_context("fork")
        self._here, there = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(answer, self._here, there), daemon=True
        )
        self._process.start()
        there.close()
        #: What was asked last, until its answer is taken; and how often it was asked.
        self.asked: tuple[Any, ...] | None = None
        self._count = 0

    def ask(self, *question: Any) -> None:
        """Begin to answer, if it has not begun; answers not taken before are lost."""
        if self.asked == question:
            return
        self.asked, self._count = question, self._count + 1
        with suppress(OSError):  # it was killed: `answer` has nothing then
            self._here.send((self._count, question))

    def answer(self) -> Any:
        """What it found, once it has; None if it was killed.

        An error of its own is raised here.
        """
        self.asked = None
        count = 0
        try:
            while count != self._count:
                count, found = self._here.recv()
        except (EOFError, OSError):
            return None
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        """End it; what it was asked last is lost."""
        self._here.close()
        self._process.terminate()
        self._process.join()


@contextmanager
def companion(answer: Callable[..., Any]) -> Iterator[Companion | None]:
    """A companion for as long as the block lasts; None where there is no core or no safe copy."""
    linux = sys.platform.startswith("linux")
    if not linux or len(os.sched_getaffinity(0)) < 2 or threading.active_count() > 1:
        yield None
        return
    made = Companion(answer)
    try:
        yield made
    finally:
        made.close()


def _serve(answer: Callable[..., Any], parent: "Connection", pipe: "Connection") -> None:
    parent.close()  # else its end would never be seen
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent's to act on
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(EOFError, BrokenPipeError):
        while True:
            count, question = pipe.recv()
            try:
                found = answer(*question)
            except Exception as error:  # raised where it was asked
                found = error
            pipe.send((count, found))
