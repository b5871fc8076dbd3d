"""A Dask client, wherever you are: `with connect(Laptop()) as client`.

Nothing outlives the driver. The workers of a `Laptop` are children of this process and watch a
pipe to it: when it is killed they end at once, in the middle of whatever they do. Elsewhere they
end when their scheduler is gone, which is this process too (on Kubernetes: after half an hour
without work).

Nothing we start is open to other users, of this machine either: schedulers, workers and nannies
speak TLS with keys made for the run (`keys.py`) and have no web servers (`no_http.py`).
"""

import contextlib
import logging
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator

import dask
import distributed.utils
import psutil
from distributed import Client, LocalCluster

from . import fork_server
from .dask_settings import KEEP_MEMORY, ONE_THREAD, SETTINGS
from .errors import PlaceError
from .keys import own_security, security
from .kubernetes import kubernetes
from .places import Address, Batch, Kubernetes, Laptop, Place, Slurm, Ssh, problems
from .scheduler import quietly
from .slurm import slurm
from .ssh import ssh

#: How long a client gathers what it tells its scheduler, s. With Dask's 10 ms a round of a study,
#: 30 ms of work that the next one waits for, takes 40.
GATHERED = 0.001


@contextlib.contextmanager
def connect(place: Place) -> Iterator[Client]:
    """A client of the place's workers; what was started for it ends with the block.

    Parameters
    ----------
    place
        `Laptop(...)`, `Slurm(...)`, `Ssh(...)` and `Kubernetes(...)` start workers;
        `Address(url)` joins a scheduler that runs.

    Yields
    ------
    distributed.Client
        With one worker at least (an `Address`: with those it has).

    Raises
    ------
    PlaceError
        If nothing answers, or what was asked for makes no sense (all of it at once).
    """
    if wrong := [f"{name} {message}" for name, message in problems(place)]:
        raise PlaceError(f"{type(place).__name__}: {'; '.join(wrong)}.")
    with _start(place) as client:
        if client.scheduler_comm is not None:
            client.scheduler_comm.interval = GATHERED
        yield client


def _start(place: Place) -> contextlib.AbstractContextManager[Client]:
    match place:
        case Laptop():
            return _laptop(place)
        case Address():
            return _address(place)
        case Slurm():
            return slurm(place)
        case Batch():
            raise PlaceError(
                "Jobs of `kind: batch` evaluate parts of a sweep, without this process: `basepar "
                "cluster PROFILE --script SPEC` writes their script."
            )
        case Ssh():
            return ssh(place)
        case Kubernetes():
            return kubernetes(place)


@contextlib.contextmanager
def _laptop(place: Laptop) -> Iterator[Client]:
    count = place.workers if place.workers is not None else psutil.cpu_count(logical=False) or 1
    spawned = dask.config.get("distributed.nanny.pre-spawn-environ", {})
    environment = spawned | ONE_THREAD | KEEP_MEMORY
    settings = SETTINGS | {
        "distributed.nanny.pre-spawn-environ": environment,
        "distributed.worker.multiprocessing-method": fork_server.start(),
    }
    # Else Dask imports pandas here, for a server of its own list of modules.
    distributed.utils._forkserver_preload_set = True
    with contextlib.ExitStack() as stack:
        # Dask's folder of this name under /tmp belongs to whoever made it first.
        scratch = tempfile.TemporaryDirectory(prefix="basepar-", ignore_cleanup_errors=True)
        settings["temporary-directory"] = stack.enter_context(scratch)
        stack.enter_context(dask.config.set(settings))
        stack.enter_context(_without_main())
        stack.enter_context(fork_server.outside_folder())  # successors of lost ones too
        with _without_interrupts(), _without(environment), _starting(scratch.name):
            cluster = LocalCluster(
                n_workers=count,
                threads_per_worker=place.threads,
                processes=True,
                host="127.0.0.1",
                security=own_security(),
                # With None it would ask for port 8787 and warn where somebody has it.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                memory_limit=place.memory or "auto",
                env=os.environ | environment,  # the server's may be older
                silence_logs=logging.CRITICAL,
            )
        stack.callback(quietly, cluster.close, timeout=10)
        client = Client(cluster)
        stack.callback(quietly, client.close, timeout=10)
        yield client


@contextlib.contextmanager
def _starting(folder: str) -> Iterator[None]:
    """What keeps Dask from starting, such as a full disk, is the place's fault, and named."""
    try:
        yield
    except (RuntimeError, OSError) as cause:
        raise PlaceError(
            f"Workers cannot be started: {cause}. Their keys and files go to {folder}: see that "
            "there is room, or set TMPDIR to a folder where there is."
        ) from cause


@contextlib.contextmanager
def _without(names: Iterable[str]) -> Iterator[None]:
    """This process's environment without these: to a nanny it says more than the settings do."""
    before = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(before)


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """The main module without name and file, as long as workers may be started, or started anew.

    A process that is spawned imports its parent's main module: a script without a `__main__`
    guard would run once more in every worker, and one from a pipe has no file to import. Workers
    need nothing of it: functions of the main module go to them by value.
    """
    main = sys.modules["__main__"]
    names = ("__spec__", "__file__")
    kept: dict[str, object] = {name: vars(main)[name] for name in names if name in vars(main)}
    main.__spec__ = None
    vars(main).pop("__file__", None)
    try:
        yield
    finally:
        vars(main).update(kept)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C is the driver's affair, and waits; processes started in here inherit it blocked.

    So wait SIGTERM and SIGUSR1 where the program makes an exception of them; no process inherits
    that.

    A terminal sends it to every process it runs; workers would answer with tracebacks, and a
    cluster interrupted while it starts leaves half of itself behind. What came meanwhile counts
    at the end.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return
    came: list[int] = []  # other threads do not block it, and Python hands it to the main one
    waiting = [signal.SIGINT]
    polite = (signal.SIGTERM, signal.SIGUSR1)
    waiting += [one for one in polite if callable(signal.getsignal(one))]
    before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in waiting}
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # one that waited comes now
        for one, handler in before.items():
            signal.signal(one, handler)
    if came:
        signal.raise_signal(signal.Signals(came[0]))


@contextlib.contextmanager
def _address(place: Address) -> Iterator[Client]:
    keys = security(place.keys) if place.keys is not None else None
    try:
        client = Client(place.url, timeout=place.patience, security=keys)
    except (OSError, TimeoutError, ValueError) as cause:
        raise PlaceError(
            f"No scheduler answers at {place.url} within {place.patience:g} s. Start one with "
            "`dask scheduler`, workers with `dask worker`, and give the address it prints."
        ) from cause
    try:
        yield client
    finally:
        quietly(client.close, timeout=10)
