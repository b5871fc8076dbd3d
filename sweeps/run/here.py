"""A sweep without Dask, port or key: by children of this process, whole or a part of it.

Parts are ranges of chunks. Any number of processes, on any machines that see the store, may do
any parts at any time: chunks are idempotent, claims only save work (`store.claims`), and nothing
is shared but the store. A part that is run twice, or killed anywhere, changes nothing.
"""

import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from basepar_core.errors import StoreError, UsageError
from sweeps.spec import FROM_PILOT
from sweeps.store import (
    Evaluator,
    Location,
    Store,
    busy,
    check_and_repair,
    claims,
    locked,
    measured,
    status,
    watched,
)

from . import alone, chunk_size, crew
from .filling import Filling, Perform, prepared
from .job import Job
from .leave import Leave
from .progress import Progress
from .standing import Summary, as_stored, complete, path_of, refuse_other, summary

log = logging.getLogger(__name__)


def prepare(
    spec: Job, *, evaluator: Evaluator | None = None, precise: Evaluator | None = None
) -> Filling:
    """Make the store of a sweep, if it is not there, and find out what its parts need.

    Raises
    ------
    StoreError
        It is another sweep's, or damaged.
    """
    path = path_of(spec)
    with locked(path):
        return _filling(spec, path, evaluator, precise)


def _filling(
    spec: Job,
    path: Location,
    evaluator: Evaluator | None,
    precise: Evaluator | None,
    ask: Callable[..., Any] = crew.asked,
    shared: list[Any] | None = None,
) -> Filling:
    """As `prepare`, of a store whose lock is ours, by a pilot that is asked so.

    `shared` gets what the work will hold, before (`crew.Spare`).
    """
    attrs = Store.open(path).attrs if path.exists() else None
    if attrs is not None:
        spec = as_stored(spec, path, attrs)
        refuse_other(spec, path, attrs)
        check_and_repair.check(path)
    if evaluator is None:
        evaluator, precise = _warm(spec, attrs)
    if spec.chunk == FROM_PILOT:
        if shared is not None:
            shared += (evaluator, precise, spec.plan)
        spec = spec.chunked(chunk_size.chunk(spec, evaluator, ask))
    return Filling.of(spec, evaluator, precise)


def sweep(
    spec: Job,
    workers: int = 1,
    progress: Progress | None = None,
    *,
    evaluator: Evaluator | None = None,
    precise: Evaluator | None = None,
    retry_failed: bool = False,
    leave: Leave | None = None,
    noted: Mapping[str, Any] | None = None,
) -> Summary:
    """Evaluate every variant that the store does not hold yet, by so many children.

    Parameters
    ----------
    workers
        0: by this process, which nothing protects (`alone`).
    leave
        When to end before all is done; `stopped` of the summary says so.
    noted
        What the run says of itself in the store.

    Raises
    ------
    StoreError
        The store is another sweep's, damaged, or being filled by somebody else.
    """
    if (found := complete(spec, retry_failed)) is not None:
        return found
    path = path_of(spec)
    with locked(path) as lock, contextlib.closing(crew.Spare()) as spare:
        ask = spare.ask if workers else alone.asked
        filling = _filling(spec, path, evaluator, precise, ask, spare.shared)
        claims.refuse_busy(filling.store.objects)
        filling.tell, filling.noted = lock.tell, dict(noted or {})
        filling.used = lambda: [measured("whole", workers)]
        perform: Perform = partial(alone.run, leave=leave)
        if workers:
            perform = partial(crew.run, workers=workers, leave=leave, spare=spare)
        return filling.fill(perform, progress, retry=retry_failed)


def rows_of(known: Store, number: int, count: int) -> tuple[int, int]:
    """Variants of part `number` of `count`, 1 … count: whole chunks, as many for each.

    Raises
    ------
    UsageError
        There is no such part.
    """
    if not 1 <= number <= count:
        raise UsageError(
            f"There is no part {number}/{count}: parts are 1/{count} … {count}/{count}."
        )
    records = known.records()
    first, stop = ((k * records.count) // count for k in (number - 1, number))
    return first * records.chunk, min(stop * records.chunk, records.total)


def part(
    spec: Job,
    number: int,
    count: int,
    workers: int = 1,
    progress: Progress | None = None,
    *,
    filling: Callable[[], Filling] | None = None,
    leave: Leave | None = None,
    noted: Mapping[str, Any] | None = None,
) -> Summary:
    """Evaluate what is missing of a part of a sweep whose store is made (`prepare`).

    Parameters
    ----------
    number, count
        Which part, 1 … count, of how many.
    workers
        As of `sweep`.
    filling
        Gives what `prepare` returned, where that is quicker than to prepare again.

    Returns
    -------
    Of the part's variants only.

    Raises
    ------
    StoreError
        There is no store, or it is another sweep's, or somebody fills it as a whole.
    Taken
        Another process is at the part, and alive.
    """
    path = path_of(spec)
    if not path.exists():
        raise StoreError(
            f"There is no store at {path}: make it first, with `prepare=`, and do its parts then.",
            [str(path)],
        )
    held = Store.open(path, "r+")
    spec = as_stored(spec, path, held.attrs)
    refuse_other(spec, path, held.attrs)
    rows = rows_of(held, number, count)
    if is_done(held, rows):
        return summary(path, rows)
    if (driver := watched(path)) is not None:
        raise busy(path, driver)
    ready = filling() if filling is not None else _again(spec, held.attrs)
    about = {"part": f"{number}/{count}", **(noted or {})}
    chunk = held.chunk
    with claims.claimed(held.objects, rows[0] // chunk, -(-rows[1] // chunk), **about) as claim:
        leave = leave or Leave()

        def beat() -> None:
            if not claim.beat():
                log.warning("part %s/%s was taken over", number, count)
                leave.ask()

        ready = replace(ready, noted=about, used=lambda: [measured("part", workers)])
        perform: Perform = partial(alone.run, leave=leave, tick=beat)
        if workers:
            perform = partial(crew.run, workers=workers, leave=leave, tick=beat)
        found = ready.fill(perform, progress, rows)
    if not found.unsettled:
        known = held.records()
        first, stop = rows[0] // chunk, -(-rows[1] // chunk)
        known.add_up(first, stop, known.records(first, stop).facts)
    return found


def is_done(held: Store, rows: tuple[int, int]) -> bool:
    """Whether nothing is missing of some rows, whole chunks."""
    if status.take(held, rows).pending:
        return False
    return "precise_status" not in held or not any(
        True for _ in status.awaiting(held, held.chunk, rows)
    )


def _again(spec: Job, attrs: Mapping[str, Any]) -> Filling:
    """As `prepare`, of a store that is there and whose lock others may hold."""
    return Filling.of(spec, *_warm(spec, attrs))


def _warm(spec: Job, attrs: Mapping[str, Any] | None) -> tuple[Evaluator, Evaluator | None]:
    """What evaluates, kernels compiled or loaded: children are copies, and their time is limited.

    Raises
    ------
    OwnCodeError
        As the user's metrics at the nominal variant.
    """
    evaluator, precise = prepared(spec, attrs)
    if crew.FORKS:
        chunk_size.warmed(evaluator, spec.plan.names)  # type: ignore[arg-type]
    else:
        crew.asked(
            chunk_size.warmed, evaluator, spec.plan.names, seconds=chunk_size.COMPILE_SECONDS
        )
    return evaluator, precise


def finish(
    spec: Job,
    workers: int = 1,
    progress: Progress | None = None,
    *,
    retry_failed: bool = False,
    leave: Leave | None = None,
    noted: Mapping[str, Any] | None = None,
) -> Summary:
    """Do what parts left undone, and hold every chunk's presence against its record.

    Raises
    ------
    StoreError
        Parts are being filled still; or as of `sweep`.
    """
    path = path_of(spec)
    if not path.exists():
        raise StoreError(
            f"There is no store at {path}: make it first, with `prepare=`.", [str(path)]
        )
    held = Store.open(path, "r+")
    claims.refuse_busy(held.objects)
    found = sweep(spec, workers, progress, retry_failed=retry_failed, leave=leave, noted=noted)
    status.sum_up(held)
    check_and_repair.check(path)
    return found
