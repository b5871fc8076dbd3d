"""Bounds on what an evaluation may do to its worker: a time, and the death of a process.

A worker with a single thread and a nanny is bounded by ending it: the nanny brings up another
(`deadline`); so is a child of a crew (`expendable`). Where several threads share the process, or
nobody would replace it, the evaluation is done in a child process instead, one for each thread.
"""

import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sweeps.store import Arrays, Columns, Evaluator

from .isolation import Child, deadline

if TYPE_CHECKING:
    from distributed import Worker

#: An evaluation, and the seconds it may take.
Guarded = Callable[[Columns, np.ndarray, float], Arrays]

_children = threading.local()
_replaced = threading.Event()


def expendable() -> None:
    """Say that this process may end at any moment: another takes its place."""
    _replaced.set()


def guard(evaluator: Evaluator) -> Guarded:
    """The evaluator, bounded in the way that suits this process; unbounded outside workers."""
    worker = _worker()
    if worker is None and not _replaced.is_set():
        return lambda columns, wanted, seconds: evaluator(columns, wanted)
    if worker is not None and (worker.nanny is None or worker.state.nthreads > 1):
        kept_child(evaluator, 0.0).start()  # which is not the variants' time
        return lambda columns, wanted, seconds: kept_child(evaluator, seconds)(columns, wanted)

    def alone(columns: Columns, wanted: np.ndarray, seconds: float) -> Arrays:
        with deadline(seconds):
            return evaluator(columns, wanted)

    return alone


def kept_child(evaluator: Evaluator, seconds: float) -> Child:
    """This thread's child process for an evaluator, which may take `seconds` for an answer.

    To start one costs a second or more, so the four latest are kept: members of a family take
    turns, and each has precise tasks too.
    """
    known: list[tuple[Evaluator, Child]] = _children.__dict__.setdefault("known", [])
    child = next((child for one, child in known if one is evaluator), None)
    if child is None:
        child = Child(evaluator, seconds, _memory_limit())
        known.append((evaluator, child))
        if len(known) > 4:
            known.pop(0)[1].close()
    child.seconds = seconds
    return child


def _memory_limit() -> int:
    """Bytes a thread of this worker may use; 0 where there is no limit, or no worker."""
    worker = _worker()
    if worker is None:
        return 0
    return int(worker.memory_manager.memory_limit or 0) // worker.state.nthreads


def _worker() -> "Worker | None":
    if "distributed" not in sys.modules:  # whose import takes half a second
        return None
    from distributed import get_worker

    try:
        return get_worker()
    except ValueError:
        return None
