"""Bounds on what an evaluation may do to its worker: a time, and the death of a process.

A worker with a single thread and a nanny is bounded by ending it: the nanny brings up another
(`deadline`). Where several threads share the process, or nobody would replace it, the evaluation
is done in a child process instead, one for each thread.
"""

import threading
from collections.abc import Callable

import numpy as np
from distributed import Worker, get_worker

from sweeps.store import Arrays, Columns, Evaluator

from .isolation import Child, deadline

#: An evaluation, and the seconds it may take.
Guarded = Callable[[Columns, np.ndarray, float], Arrays]

_children = threading.local()


def guard(evaluator: Evaluator) -> Guarded:
    """The evaluator, bounded in the way that suits this process; unbounded outside workers."""
    if (worker := _worker()) is None:
        return lambda columns, wanted, seconds: evaluator(columns, wanted)
    if worker.nanny is None or worker.state.nthreads > 1:
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


def _worker() -> Worker | None:
    try:
        return get_worker()
    except ValueError:
        return None
