"""Sweeps of a family at the same time on the same workers.

Prepared one after the other in this thread; whichever is ready begins at once, in a thread of its
own, so that workers have something to do while the next one's computer algebra goes on, and cheap
variants fill what heavy ones leave free.
"""

import contextlib
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Any

from distributed import Client

from sweeps.store import Evaluator

from .driver import Run, ready
from .job import Job
from .leave import Leave
from .progress import Advance, Progress
from .shared_client import Fleet, Stopped
from .standing import Summary, complete

#: Sweeps that run at the same time; more wait for the first to end.
AT_ONCE = 16


def sweep_together(
    specs: Mapping[str, Job],
    client: Client,
    progress: Progress | None = None,
    *,
    evaluators: Mapping[str, Evaluator] | None = None,
    retry_failed: bool = False,
    leave: Leave | None = None,
) -> dict[str, Summary]:
    """Evaluate what the stores of several sweeps do not hold yet, all at once.

    Parameters
    ----------
    specs
        Sweeps by name, each with a store of its own.
    client, retry_failed, leave
        As for `sweep`.
    progress
        Told of all of them together.
    evaluators
        What to compute, by name; by default what the specifications ask for.

    Raises
    ------
    BaseparError
        What the first of them to fail raised; the others end too, and what they stored is whole.
    """
    found: dict[str, Summary] = {}
    begun: dict[str, Future[Summary]] = {}
    fleet, told = Fleet(), _Told(specs, progress)
    with (
        contextlib.ExitStack() as locks,
        ThreadPoolExecutor(min(AT_ONCE, len(specs))) as pool,
        _stopping(fleet, begun),
    ):
        for name, spec in specs.items():
            _raise_first(begun)
            if (done := complete(spec, retry_failed)) is not None:
                found[name] = done
                told.done(name, done)
                continue
            lock = locks.enter_context(contextlib.ExitStack())
            evaluator = (evaluators or {}).get(name)
            opening = ready(spec, client, evaluator=evaluator, fleet=fleet, leave=leave)
            run = lock.enter_context(opening)
            begun[name] = pool.submit(_filled, lock, run, told.by(name), retry_failed)
        wait(begun.values(), return_when=FIRST_EXCEPTION)
        _raise_first(begun)
    found |= {name: future.result() for name, future in begun.items()}
    return {name: found[name] for name in specs}


def _filled(
    lock: contextlib.ExitStack, run: Run, progress: Progress, retry_failed: bool
) -> Summary:
    with lock:  # let go of as soon as this one is done
        return run.fill(progress, None, retry_failed)


@contextlib.contextmanager
def _stopping(fleet: Fleet, begun: Mapping[str, Future[Summary]]) -> Iterator[None]:
    """End those that fly where one fails or somebody interrupts."""
    try:
        yield
    except BaseException:
        fleet.stop()
        for future in begun.values():
            future.cancel()
        raise


def _raise_first(begun: Mapping[str, Future[Summary]]) -> None:
    """Raise what one of those that ended raised; rather the cause than what followed from it."""
    ended = [future for future in begun.values() if future.done()]
    errors = [error for future in ended if (error := future.exception()) is not None]
    for error in sorted(errors, key=lambda error: isinstance(error, Stopped)):
        raise error


class _Told:
    """Adds up what the sweeps say, and says it."""

    def __init__(self, specs: Mapping[str, Job], progress: Progress | None):
        self._lock = threading.Lock()
        self._progress = progress
        self._latest = {name: Advance(0, len(spec)) for name, spec in specs.items()}

    def done(self, name: str, summary: Summary) -> None:
        """One that had nothing to do."""
        advance = Advance(summary.total, summary.total, summary.counts, summary.precise)
        self._latest[name] = advance

    def by(self, name: str) -> Progress:
        """What the sweep of this name calls."""

        def tell(advance: Advance) -> None:
            with self._lock:
                self._latest[name] = advance
                if self._progress is not None:
                    self._progress(self._all())

        return tell

    def _all(self) -> Advance:
        every = list(self._latest.values())
        return Advance(
            done=sum(one.done for one in every),
            total=sum(one.total for one in every),
            counts=_sum(one.counts for one in every),
            precise=_sum(one.precise for one in every),
            seconds=max(one.seconds for one in every),
            workers=max(one.workers for one in every),
        )


def _sum(counts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    total: Counter[Any] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))
