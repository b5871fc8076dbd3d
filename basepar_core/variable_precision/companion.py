"""A second process for whoever waits for one answer: a core is idle beside him.

It is a copy of this one (fork), so that nothing is read, compiled or sent to it, and it keeps what
it has found from one question to the next. Only where this process has no other threads at work
that a copy could catch holding a lock: commands, not workers.
"""

import multiprocessing
import os
import signal
import sys
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
        #: What was asked last, until its answer is taken.
        self.asked: tuple[Any, ...] | None = None

    def ask(self, *question: Any) -> None:
        """Begin to answer, if it has not begun; another answer not yet taken is lost."""
        if self.asked == question:
            return
        if self.asked is not None:
            with suppress(Exception):
                self.answer()
        self.asked = question
        with suppress(OSError):  # it was killed: `answer` has nothing then
            self._here.send(question)

    def answer(self) -> Any:
        """What it found, once it has; None if it was killed.

        An error of its own is raised here.
        """
        self.asked = None
        try:
            found = self._here.recv()
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
    """A companion for as long as the block lasts; None where there is no core or no copy."""
    if not sys.platform.startswith("linux") or len(os.sched_getaffinity(0)) < 2:
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
            question = pipe.recv()
            try:
                found = answer(*question)
            except Exception as error:  # raised where it was asked
                found = error
            pipe.send(found)
