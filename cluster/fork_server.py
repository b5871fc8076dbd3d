"""A laptop's workers are copies of a process that has imported what they need, once.

To import that costs a second and a half of CPU, for each worker and each that takes the place of
one that died; a copy costs a tenth. The server (Python's own, of `multiprocessing`) has one
thread, and may import while its parent prepares a sweep. It ends with its parent.
"""

import contextlib
import multiprocessing.forkserver
import os
import signal
import sys
from collections.abc import Iterator, Sequence

from .dask_settings import KEEP_MEMORY, ONE_THREAD

#: What every worker needs.
_DASK = ("distributed.nanny", "distributed.worker", "cluster.no_http")

_running = False


def start(modules: Sequence[str] = ()) -> str:
    """Start the server where there is none; nothing is waited for.

    Parameters
    ----------
    modules
        What it imports beside Dask; those that cannot be imported are left to who needs them.

    Returns
    -------
    Dask's name for the way in which workers start: "forkserver", or "spawn" where copies are not
    safe (macOS), where other users could ask for copies (CVE-2022-42919, Python 3.11.0), or where
    the script has a server of its own.
    """
    global _running
    if sys.platform != "linux" or sys.version_info < (3, 11, 1):
        return "spawn"
    if not _running and _is_anybodys():
        return "spawn"
    if not _running:
        multiprocessing.set_forkserver_preload([*_DASK, *modules])
        with _environment(), _interrupts_blocked():
            multiprocessing.forkserver.ensure_running()
        _running = True
    return "forkserver"


def _is_anybodys() -> bool:
    server = getattr(multiprocessing.forkserver, "_forkserver", None)
    return getattr(server, "_forkserver_pid", None) is not None


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Libraries read these when they are loaded, the allocator when a process begins."""
    before = os.environ.copy()
    os.environ.update(ONE_THREAD | KEEP_MEMORY)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Ctrl-C is the driver's affair; a terminal sends it to copies too, who inherit this."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
