"""A Dask client, wherever you are: `with connect(Laptop()) as client`.

Settings that were measured for short tasks without dependencies: `worker-saturation` 4 (at the
default of 1.1 every task pays a round trip to the scheduler: 2.0 against 1.4 ms, 0.6 at 20), one
thread per worker and one thread in BLAS.

Nothing outlives the driver. The workers of a `Laptop` are children of this process and watch a
pipe to it: when it is killed they end at once, in the middle of whatever they do.
"""

import contextlib
import logging
import signal
import threading
from collections.abc import Iterator
from typing import Any

import dask
import psutil
from distributed import Client, LocalCluster

from .places import Address, Laptop, Place

#: One thread in every library that would start its own; set before a worker imports NumPy.
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)

#: Dask makes glibc hand freed memory back at once (64 KiB); arrays of a few hundred KiB then
#: fault their pages in anew at every operation: a quarter of a chunk's time, measured.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "268435456", "MALLOC_MMAP_THRESHOLD_": "268435456"}

SETTINGS: dict[str, Any] = {
    "distributed.scheduler.worker-saturation": 4.0,
    # A task that was on a worker that died is handed back at once; who tries it again, and how
    # carefully, is for the sweep to say.
    "distributed.scheduler.allowed-failures": 0,
    "distributed.worker.daemon": True,
    "distributed.admin.tick.limit": "1h",  # a kernel that holds the interpreter is no news
}


class PlaceError(Exception):
    """A place that cannot be reached, or cannot be what was asked."""


@contextlib.contextmanager
def connect(place: Place) -> Iterator[Client]:
    """A client of the place's workers; what was started for it ends with the block.

    Parameters
    ----------
    place
        `Laptop(...)` starts worker processes; `Address(url)` joins a scheduler that runs.

    Yields
    ------
    distributed.Client

    Raises
    ------
    PlaceError
        If nothing answers, or the numbers asked for make no sense.
    """
    match place:
        case Laptop():
            with _laptop(place) as client:
                yield client
        case Address():
            with _address(place) as client:
                yield client


@contextlib.contextmanager
def _laptop(place: Laptop) -> Iterator[Client]:
    count = place.workers if place.workers is not None else psutil.cpu_count(logical=False) or 1
    if count < 1 or place.threads < 1:
        raise PlaceError(f"{count} workers of {place.threads} threads; at least one of each.")
    spawned = dask.config.get("distributed.nanny.pre-spawn-environ", {})
    environment = spawned | ONE_THREAD | KEEP_MEMORY
    settings = SETTINGS | {"distributed.nanny.pre-spawn-environ": environment}
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(settings))
        with _without_interrupts():
            cluster = LocalCluster(
                n_workers=count,
                threads_per_worker=place.threads,
                processes=True,
                host="127.0.0.1",
                # The scheduler has a web server either way; with None it would ask for port 8787
                # and warn where somebody has it.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": place.dashboard},
                memory_limit=place.memory or "auto",
                silence_logs=logging.CRITICAL,
            )
        stack.callback(_quietly, cluster.close, timeout=10)
        client = Client(cluster)
        stack.callback(_quietly, client.close, timeout=10)
        yield client


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C is the driver's affair: processes started in here inherit that it is ignored.

    A terminal sends it to every process it runs; workers would answer with tracebacks, and a
    cluster interrupted while it starts leaves half of itself behind.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _address(place: Address) -> Iterator[Client]:
    try:
        client = Client(place.url, timeout=place.patience)
    except (OSError, TimeoutError, ValueError) as cause:
        raise PlaceError(
            f"No scheduler answers at {place.url} within {place.patience:g} s. Start one with "
            "`dask scheduler`, workers with `dask worker`, and give the address it prints."
        ) from cause
    try:
        yield client
    finally:
        _quietly(client.close, timeout=10)


def _quietly(close: Any, **options: Any) -> None:
    """Close; what goes wrong while leaving does not hide why we leave."""
    with contextlib.suppress(Exception):
        close(**options)
