"""How many variants a chunk of a new store takes, where the sweep's file leaves it open.

A chunk is the least that a task can take, so it should not take longer than a task; and every
chunk costs some twenty files, so it should not be much shorter either. A worker evaluates a few
variants of the space and says how long they take: there, because one of them may kill its process.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sweeps.spec import sample
from sweeps.store import Columns, Evaluator, Status

from .job import Job
from .limits import guard
from .task_queue import TASK_SECONDS

if TYPE_CHECKING:
    from sweeps.chunks import ChunkEvaluator

#: Chunks chosen are powers of two between these; where the pilot fails, this one.
LEAST, MOST, OTHERWISE = 8, 16_384, 1024
#: No sweep is fewer chunks than this, as long as they have so many variants: who is killed loses
#: a part, a second worker has something to do, and arrays of a chunk fit into caches. What is
#: quick is as soon evaluated as a chunk's files are written, a millisecond.
FEWEST, LARGE = 3, 1024
#: What a pilot takes about, s, beside its first variant, twice.
PILOT_SECONDS = 0.3
#: A step of its doublings that is not worth to be taken, s.
QUICK_SECONDS = 0.005
#: Sweeps whose variants are mostly doubtful are cut at least so often: a precise task takes far
#: longer than the rest of its chunk, and cannot be larger than that.
PIECES_OF_DOUBT = 32
#: A worker that is new imports and compiles first.
START_SECONDS = 120.0
#: What all kernels take to compile, on a machine with many processes a core.
COMPILE_SECONDS = 600.0

log = logging.getLogger(__name__)


def chunk(spec: Job, evaluator: Evaluator, ask: Callable[..., Any]) -> int:
    """Variants that take about half a second, and not most of the sweep; a power of two.

    Parameters
    ----------
    ask
        `ask(function, evaluator, *more, seconds=…)`: what a worker returns for it.
    """
    columns = sample(spec.plan, spec.filter)
    if not next(iter(columns.values())).size:
        return OTHERWISE
    limit = spec.variant_seconds
    try:
        seconds = START_SECONDS + 3 * limit
        each, doubtful = ask(measured, evaluator, columns, limit, seconds=seconds)
    except Exception as error:  # a pilot may crash; the sweep itself says whose fault it is
        log.info("no pilot: %s", error)
        return OTHERWISE
    found = min(fitting(TASK_SECONDS / each), max(LARGE, power(len(spec) / FEWEST)))
    return min(found, power(len(spec) / PIECES_OF_DOUBT)) if doubtful > 0.5 else found


def warmed(evaluator: "ChunkEvaluator", names: Sequence[str]) -> None:
    """Compile or load all kernels needed."""
    evaluator.warm(names)


def fitting(wanted: float) -> int:
    """The chunk nearest to so many variants."""
    return min(MOST, max(LEAST, power(wanted)))


def power(wanted: float) -> int:
    """The nearest power of two, 1 at least."""
    return 1 << round(math.log2(max(1.0, wanted)))


def measured(evaluator: Evaluator, columns: Columns, limit: float) -> tuple[float, float]:
    """Seconds a variant takes among others, and the share that float64 leaves in doubt.

    Done by a worker: one variant to load and compile what is needed, the same one for its time,
    then twice as many each time (at once `PIECES_OF_DOUBT`, where that is quick), as long as time
    allows, and until it is clear that a chunk is as large as chunks get. The last time counts.
    """
    guarded, total = guard(evaluator), len(next(iter(columns.values())))

    def timed(count: int) -> tuple[float, float]:
        rows = {name: values[:count] for name, values in columns.items()}
        start = time.perf_counter()
        found = guarded(rows, np.ones(count, dtype=bool), 2 * limit)
        taken = time.perf_counter() - start
        return taken, float((found["status"] == Status.AWAITING_PRECISE).mean())

    timed(1)
    begun, count = time.perf_counter(), 1
    while True:
        taken, doubtful = timed(count)
        clear = count >= PIECES_OF_DOUBT and MOST * taken <= TASK_SECONDS * count
        if clear or count >= total or time.perf_counter() - begun + 2 * taken > PILOT_SECONDS:
            return max(taken, 1e-9) / count, doubtful
        quick = PIECES_OF_DOUBT if PIECES_OF_DOUBT * taken < QUICK_SECONDS * count else 0
        count = min(max(2 * count, quick), total)
