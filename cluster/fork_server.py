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
import threading
from collections.abc import Iterator, Sequence
from multiprocessing import resource_tracker, util

from .dask_settings import KEEP_MEMORY, ONE_THREAD

#: What garbage is not looked for in, lies between these two.
_FIRST, _LAST = "cluster.preload_begins", "cluster.preload_ends"
#: What every worker needs.
_DASK = ("distributed.nanny", "distributed.worker", "cluster.no_http")

_lock = threading.Lock()
_plain_options = util._args_from_interpreter_flags  # type: ignore[attr-defined]
#: Who has asked for processes outside the folder, and has not ended.
_outside: set[object] = set()
#: The process that has loaded this: its copies (`os.fork`) are no parents of its server.
_process = os.getpid()
#: Process numbers of the servers that were started here.
_ours: set[int] = set()


def start(modules: Sequence[str] = ()) -> str:
    """Start the server where none runs; nothing is waited for.

    Parameters
    ----------
    modules
        What it imports beside Dask; those that cannot be imported are left to who needs them.

    Returns
    -------
    Dask's name for the way in which workers start: "forkserver", or "spawn" where copies are not
    safe (macOS), where other users could ask for copies (CVE-2022-42919, Python 3.11.0), in a copy
    that a script has made of its process, or where the script has a server of its own, or has
    said what its server imports.
    """
    if sys.platform != "linux" or sys.version_info < (3, 11, 1) or os.getpid() != _process:
        return "spawn"
    with _lock:
        # Python has one server, and only private names for what is known of it.
        server = getattr(multiprocessing.forkserver, "_forkserver", None)
        running = getattr(server, "_forkserver_pid", None)
        theirs = getattr(server, "_preload_modules", None)
        if not _ours and (running is not None or theirs not in (None, ["__main__"])):
            return "spawn"
        if running is not None and running not in _ours:
            return "spawn"  # ours died, and somebody has started another
        if not _ours:
            multiprocessing.set_forkserver_preload([_FIRST, *_DASK, *modules, _LAST])
        with outside_folder(), _environment():
            resource_tracker.ensure_running()  # which would lift the block of interrupts
            with _interrupts_blocked():
                multiprocessing.forkserver.ensure_running()  # a new one where ours died
        _ours.add(getattr(server, "_forkserver_pid", None) or 0)
    return "forkserver"


@contextlib.contextmanager
def outside_folder() -> Iterator[None]:
    """What `multiprocessing` starts meanwhile imports nothing from the current folder.

    It begins as `python -c`, which looks there first: the `zarr.py` of a received folder would
    run. Python's only place for options of such processes has a private name.
    """
    token = object()
    _outside.add(token)
    util._args_from_interpreter_flags = _options  # type: ignore[attr-defined]
    try:
        yield
    finally:
        _outside.discard(token)


def _options() -> list[str]:
    return [*_plain_options(), *["-P"][: len(_outside)]]


@contextlib.contextmanager
def _environment() -> Iterator[None]:
    """Libraries read these when they are loaded, the allocator when a process begins."""
    wanted = ONE_THREAD | KEEP_MEMORY
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Ctrl-C is the driver's affair; a terminal sends it to copies too, who inherit this."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
