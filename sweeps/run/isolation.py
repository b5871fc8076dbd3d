"""When a chunk fails: in smaller pieces, if need be in a process that may die.

The evaluation of a chunk is a pure function that is not expected to raise. If it does, its
variants are tried in smaller pieces here, and the one that is to blame gets the status *crashed*.
If it took its whole process along (a segmentation fault, a kernel that never returns), the pieces
are tried in a child of the worker, which is replaced whenever it dies or is too slow: no signal
reaches a compiled loop, only the end of its process does.
"""

import contextlib
import faulthandler
import os
import pickle
import resource
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle
import numpy as np

from sweeps.store import Arrays, Columns, Evaluator, Reason, Status, blank

Evaluate = Callable[[Columns, np.ndarray], Arrays]
Errors = list[tuple[int, str]]  # (row, text)

#: Starting a child and importing what the evaluator needs is not the variant's time.
START_SECONDS = 120.0
START_ATTEMPTS = 3
#: Into how many pieces variants are cut that fail together.
PIECES = 32


#: Signals by which users, batch systems and the kernel's memory killer end processes.
OTHERS_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class Died(Exception):
    """The child is gone; `code` is its exit status (negative: the signal)."""

    def __init__(self, code: int):
        super().__init__(f"killed its process (exit status {code})")
        self.code = code


class TooSlow(Exception):
    """The child did not answer in time."""


def empty(evaluator: Evaluator, count: int, prefix: str = "") -> Arrays:
    """Arrays of `count` variants without results, statuses and reasons among them."""
    return blank(evaluator, count) | {
        f"{prefix}reason": np.zeros(count, np.int16),
        f"{prefix}reason_value": np.full(count, np.nan),
        f"{prefix}status": np.zeros(count, np.int8),
    }


def take(arrays: Arrays, results: Arrays, wanted: np.ndarray, prefix: str = "") -> None:
    """Copy the wanted variants' results into `arrays`, which keep the others' empty values.

    Raises
    ------
    ValueError, KeyError
        If an array is missing or of another shape, or a wanted variant has no status.
    """
    everyone = bool(wanted.all())  # a plain copy is several times as quick as a chosen one
    for name, array in arrays.items():
        values = np.asarray(results[name])
        if values.shape != array.shape:
            raise ValueError(f"array {name!r} has shape {values.shape}, not {array.shape}")
        if everyone:
            array[...] = values
        else:
            array[wanted] = values[wanted]
    if not arrays[f"{prefix}status"][wanted].all():
        raise ValueError("the evaluation left a variant without a status")


def in_pieces(
    evaluate: Evaluate,
    evaluator: Evaluator,
    columns: Columns,
    wanted: np.ndarray,
    prefix: str,
    seconds: float,
) -> tuple[Arrays, Errors]:
    """Evaluate the wanted variants in ever smaller pieces; what fails alone is a status.

    A thirty-second part of the variants that fails is cut into thirty-two again. Halves would
    find a guilty variant with fewer evaluations, but each step costs a process, or the whole
    time limit; single variants from the start cost the innocent the speed of a chunk.

    Parameters
    ----------
    evaluate
        The evaluator itself, or a `Child` that calls it in a process of its own.
    columns, wanted
        As for `Evaluator.__call__`, (variant,).
    seconds
        What one variant may take; the number in the reason's text.
    """
    arrays = empty(evaluator, len(wanted), prefix)
    errors: Errors = []
    doubted: set[int] = set()
    left = _cut(np.flatnonzero(wanted))
    while left:
        rows = left.pop()
        here = {name: array[rows] for name, array in arrays.items()}
        everyone = np.ones(len(rows), dtype=bool)
        try:
            found = evaluate({name: values[rows] for name, values in columns.items()}, everyone)
            take(here, found, everyone, prefix)
        except Exception as error:
            if len(rows) > 1:
                left += _cut(rows)
                continue
            if _from_outside(error) and int(rows[0]) not in doubted:
                doubted.add(int(rows[0]))
                left.append(rows)
                continue
            fate, text = _fate(error, seconds)
            errors += [(int(rows[0]), text)] if text else []
            here = empty(evaluator, 1, prefix)  # nothing half-written by the failed attempt
            for name, value in zip(("status", "reason", "reason_value"), fate, strict=True):
                here[f"{prefix}{name}"][:] = value
        for name, values in here.items():
            arrays[name][rows] = values
    return arrays, sorted(errors)


def _cut(rows: np.ndarray) -> list[np.ndarray]:
    """Pieces to be taken from the end."""
    return np.array_split(rows, min(PIECES, len(rows)))[::-1] if len(rows) else []


def _from_outside(error: Exception) -> bool:
    """Whether somebody else may have ended the process: a second time, it was the variant."""
    return isinstance(error, Died) and -error.code in OTHERS_SIGNALS


def _fate(error: Exception, seconds: float) -> tuple[tuple[int, int, float], str]:
    """Status, reason and its number for a variant that failed alone; and what to tell."""
    match error:
        case TooSlow():
            return (Status.TIMED_OUT, Reason.TOO_SLOW, seconds), ""
        case Died():
            return (Status.CRASHED, Reason.DIED, float(error.code)), str(error)
    return (Status.CRASHED, Reason.RAISED, np.nan), said(error)


def said(error: BaseException) -> str:
    """One line: the kind of exception, and its message."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300]


class Child:
    """Calls an evaluator in a process of its own, a new one after each death.

    The worker is a daemon and may have no `multiprocessing` children; this one is an ordinary
    process at the end of two pipes. It ends when its input does, so it never outlives a worker;
    should it hang just then, its own timer ends it.

    `seconds` is what one answer may take; `memory` (bytes, 0: no limit) is what the process may
    allocate: beyond it the evaluation raises MemoryError, instead of taking the machine along.
    """

    def __init__(self, evaluator: Evaluator, seconds: float, memory: int = 0):
        self._program = cloudpickle.dumps((evaluator, memory))
        self.seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def __call__(self, columns: Columns, wanted: np.ndarray) -> Arrays:
        self.start()
        self._send(pickle.dumps((dict(columns), wanted, self.seconds)))
        answer = self._receive(self.seconds)
        if isinstance(answer, MemoryError):
            self.close()  # what it could not get may still be taken when the next variant asks
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def start(self) -> None:
        """Have the process ready, the evaluator loaded; nothing if it is.

        No variant has been asked for yet, so none is to blame for a process that dies here.
        """
        for attempt in range(START_ATTEMPTS):
            if self._process is not None:
                return
            try:
                self._start()
                self._receive(START_SECONDS)
            except (Died, TooSlow):
                if attempt == START_ATTEMPTS - 1:
                    raise

    def close(self) -> None:
        """End the process."""
        if (process := self._process) is None:
            return
        self._process = None
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _start(self) -> None:
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            # -P: what lies in the current folder is not imported.
            [sys.executable, "-P", "-m", "sweeps.run.isolation"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths},
        )
        self._send(self._program)

    def _send(self, message: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(struct.pack("<Q", len(message)) + message)
            self._process.stdin.flush()
        except BrokenPipeError:
            self._bury()

    def _receive(self, seconds: float) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        pipe, deadline = self._process.stdout, time.monotonic() + seconds
        data = b""
        size = None
        while size is None or len(data) < size:
            if not select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))[0]:
                self.close()
                raise TooSlow
            piece = os.read(pipe.fileno(), 1 << 20)
            if not piece and time.monotonic() >= deadline:  # both were held up; its own timer rang
                self.close()
                raise TooSlow
            if not piece:
                self._bury()
            data += piece
            if size is None and len(data) >= 8:
                size, data = struct.unpack("<Q", data[:8])[0], data[8:]
        return pickle.loads(data)

    def _bury(self) -> None:
        assert self._process is not None
        process = self._process
        code = process.wait()
        self.close()
        raise Died(code)


@contextlib.contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """End this process if the block takes longer, whatever holds it up.

    `faulthandler`'s timer is a thread of its own in C: it needs no interpreter lock, which a
    hanging kernel may hold for good.
    """
    with open(os.devnull, "w") as nowhere:
        faulthandler.dump_traceback_later(max(seconds, 0.1), exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


def _main() -> None:
    """The child: load the evaluator, then answer until the input ends."""
    source = sys.stdin.buffer
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what an evaluation prints is no answer

    def receive() -> Any:
        head = source.read(8)
        return None if len(head) < 8 else pickle.loads(source.read(struct.unpack("<Q", head)[0]))

    def send(answer: Any) -> None:
        try:
            message = pickle.dumps(answer)
        except Exception:  # an exception that holds what cannot be pickled
            message = pickle.dumps(RuntimeError(said(answer)))
        answers.write(struct.pack("<Q", len(message)) + message)
        answers.flush()

    evaluator, memory = receive()
    if memory:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    send("ready")
    while (question := receive()) is not None:
        columns, wanted, seconds = question
        try:
            with deadline(seconds + 5.0):
                answer = evaluator(columns, wanted)
        except Exception as error:
            answer = error.with_traceback(None)  # whose frames would keep what they hold
            answer.__context__ = answer.__cause__ = None
        send(answer)
        del answer, columns, wanted


if __name__ == "__main__":
    _main()
