"""A sweep by the workers of a Dask client.

`sweep` is idempotent: called again it does only what is missing, and with nothing missing it
does nothing.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import cloudpickle
from distributed import Client, Future, fire_and_forget
from distributed.scheduler import KilledWorker

from sweeps.spec import FROM_PILOT
from sweeps.store import Evaluator, Lock, Store, check_and_repair, locked

from . import chunk_size, fanout
from .filling import Filling, prepared
from .job import Job
from .leave import Leave
from .progress import Progress
from .shared_client import Fleet
from .standing import Summary, as_stored, complete, path_of, refuse_other
from .worker_usage import used

if TYPE_CHECKING:
    from sweeps.chunks import ChunkEvaluator

#: Workers that load kernels before there are chunks for them: a laptop's, and a cluster's first.
LOADING = 16


def sweep(
    spec: Job,
    client: Client,
    progress: Progress | None = None,
    *,
    evaluator: Evaluator | None = None,
    precise: Evaluator | None = None,
    rows: tuple[int, int] | None = None,
    retry_failed: bool = False,
    leave: Leave | None = None,
) -> Summary:
    """Evaluate every variant of a sweep that its store does not hold yet.

    Parameters
    ----------
    spec
        The sweep; `spec.store` is created, or continued if it is of the same specification.
    client
        A Dask client; its workers must see the store's directory.
    progress
        Called after each batch of receipts.
    evaluator, precise
        What to compute; by default what `prepare(spec)` makes of the specification, together
        with its attribute `precise`.
    rows
        (start, stop), whole chunks: only these variants; by default all.
    retry_failed
        Evaluate variants again that crashed or timed out, each in a process that may die.
    leave
        When to end before all is done; `stopped` of the summary says so.

    Raises
    ------
    StoreError
        If the store belongs to another specification (the difference is named), is damaged, or
        is being filled by somebody else.
    WorkersError
        If no worker turns up, or results cannot be written.
    """
    if (found := complete(spec, retry_failed)) is not None:
        return found
    with ready(spec, client, evaluator=evaluator, precise=precise, leave=leave) as run:
        return run.fill(progress, rows, retry_failed)


@contextlib.contextmanager
def ready(
    spec: Job,
    client: Client,
    *,
    evaluator: Evaluator | None = None,
    precise: Evaluator | None = None,
    fleet: Fleet | None = None,
    leave: Leave | None = None,
) -> Iterator["Run"]:
    """A sweep prepared, its store made and locked; parameters and errors as of `sweep`."""
    path = path_of(spec)
    with locked(path) as lock:
        attrs = Store.open(path).attrs if path.exists() else None
        if attrs is not None:  # made or replaced since somebody asked `complete`
            spec = as_stored(spec, path, attrs)
            refuse_other(spec, path, attrs)
            check_and_repair.check(path)
        if evaluator is None:
            evaluator, precise = prepared(spec, attrs)
            warm(evaluator, spec.plan.names, client)  # type: ignore[arg-type]
        if spec.chunk == FROM_PILOT:
            spec = spec.chunked(chunk_size.chunk(spec, evaluator, partial(_asked, client)))
        filling = Filling.of(spec, evaluator, precise)
        filling.tell = lock.tell
        filling.used = partial(used, client)
        yield Run(filling, client, lock, fleet, leave)


@dataclass
class Run:
    """One run of a sweep over its store, which is locked (`ready`)."""

    filling: Filling
    client: Client
    lock: Lock
    fleet: Fleet | None = None
    leave: Leave | None = None

    def fill(
        self, progress: Progress | None, rows: tuple[int, int] | None, retry: bool
    ) -> Summary:
        """Do what is missing."""
        perform = partial(fanout.run, client=self.client, fleet=self.fleet, leave=self.leave)
        found = self.filling.fill(perform, progress, rows, retry)
        if stale := self.lock.stale:
            note = f"the lock of {stale}, which is gone, was taken over"
            found = replace(found, notes=(*found.notes, note))
        return found


def warm(evaluator: "ChunkEvaluator", names: Sequence[str], client: Client) -> None:
    """Have one worker compile or load all kernels needed; then the others load them, too.

    Not this process: loading the compiler takes a third of a driver's start. Nobody waits for the
    others.

    Raises
    ------
    OwnCodeError
        As the user's metrics at the nominal variant.
    """
    with contextlib.suppress(KilledWorker, CancelledError, TimeoutError):
        # Else the sweep itself says whose fault it is.
        _asked(client, chunk_size.warmed, evaluator, names, seconds=chunk_size.COMPILE_SECONDS)
        for one in [*client.nthreads()][:LOADING]:
            at = {"workers": one, "allow_other_workers": True}  # should it die meanwhile
            fire_and_forget(_submitted(client, chunk_size.warmed, evaluator, names, **at))


def _asked(
    client: Client, job: Callable[..., Any], evaluator: Any, *given: Any, seconds: float
) -> Any:
    """What some worker answers."""
    return _submitted(client, job, evaluator, *given).result(timeout=seconds)


def _submitted(
    client: Client, job: Callable[..., Any], evaluator: Any, *given: Any, **where: Any
) -> "Future[Any]":
    """The evaluator goes by value, with the user's metrics."""
    content = cloudpickle.dumps(evaluator)
    # Before what other sweeps of a family have sent ahead.
    return client.submit(_performed, job, content, *given, pure=False, priority=2, **where)


def _performed(job: Callable[..., Any], content: bytes, *given: Any) -> Any:
    return job(cloudpickle.loads(content), *given)
