"""A long computation in a process of its own, which a signal or a time limit ends at once.

One call of FLINT or of a kernel may last for minutes and holds the interpreter: no signal handler
and no thread of that process runs meanwhile. So the process that was called waits at a pipe, and
ends the other whatever it does. Where processes cannot be copied, it computes by itself.
"""

import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from basepar_core.errors import BaseparError, UsageError

from .saying import Say

T = TypeVar("T")
#: Seconds between two reports of a step that lasts.
BEAT = 1.0
_ENDING = (signal.SIGINT, signal.SIGTERM)
#: Of Linux's prctl: the signal that a process gets when its parent has ended.
_PARENT_DEATH = 1


class TimeOverError(BaseparError):
    """A computation that was given a time limit has not ended; `step`: what it was at."""

    kind = "time"

    def __init__(self, message: str, where: tuple[str, ...] = (), step: str = ""):
        super().__init__(message, where)
        self.step = step


def apart(job: Callable[[Say], T], say: Say, seconds: float | None = None) -> T:
    """What a job returns, computed by a copy of this process.

    Parameters
    ----------
    job
        The computation; called with what it reports its steps by.
    say
        Called with each step as it begins, and again each second while it lasts.
    seconds
        After which it is ended; None: never.

    Raises
    ------
    TimeOverError
        It has not ended.
    UsageError
        A time limit where processes cannot be copied.
    BaseparError
        What the job raises; or something ended its process.
    """
    if sys.platform != "linux":
        if seconds is not None:
            raise UsageError(
                "A time limit needs a copy of the process, which there is on Linux only. Leave it "
                "out.",
                ["--within"],
            )
        return job(say)
    answers, theirs = multiprocessing.Pipe(duplex=False)
    # What a handler raises while modules tidy up after the copy would be lost.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        pid = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        answers.close()
        theirs.close()
        raise
    if pid == 0:
        try:
            answers.close()
            _work(job, theirs, before)
        finally:
            os._exit(1)
    try:
        theirs.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return _answer(answers, say, seconds)
    except EOFError:
        _, status = os.waitpid(pid, 0)
        pid, code = 0, os.waitstatus_to_exitcode(status)
        raise BaseparError(_ended(code)) from None
    finally:
        answers.close()
        if pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _answer(answers: Connection, say: Say, seconds: float | None) -> Any:
    started, step = time.monotonic(), "starting"
    while True:
        left = BEAT if seconds is None else seconds - (time.monotonic() - started)
        if left <= 0:
            raise TimeOverError(f"not done in {seconds:g} s; it was at: {step}", step=step)
        if not answers.poll(min(left, BEAT)):
            say(step)
            continue
        match answers.recv():
            case ("step", str(step)):
                say(step)
            case ("warning", (text, category)):
                warnings.warn(text, category, stacklevel=1)
            case ("failed", error):
                raise error
            case ("done", result):
                return result


def _work(job: Callable[[Say], Any], answers: Connection, mask: Iterable[int]) -> None:
    """In the copy: the job, its steps, its warnings, and how it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal tells both; the other one decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    ctypes.CDLL(None).prctl(_PARENT_DEATH, signal.SIGKILL)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, category, *_, **__: answers.send(
            ("warning", (str(message), category))
        )
        try:
            answer = ("done", job(lambda step: answers.send(("step", step))))
        except BaseException as error:
            answer = ("failed", _sendable(error))
        try:
            answers.send(answer)
        except Exception as error:  # it cannot be sent as it is
            what = type(answer[1]).__name__
            answers.send(("failed", RuntimeError(f"{what} cannot be sent: {error}")))
    os._exit(0)


def _sendable(error: BaseException) -> BaseException:
    """An error that arrives as it is, or what would have been printed of it."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def _ended(code: int) -> str:
    by = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    remedy = " Memory may have run out: fewer symbols." * (code == -signal.SIGKILL)
    return f"The computation's process was ended by {by}.{remedy}"
