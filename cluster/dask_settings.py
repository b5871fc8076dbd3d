"""How schedulers and workers are set, wherever they run.

Measured for short tasks without dependencies: `worker-saturation` 4 (at the default of 1.1 every
task pays a round trip to the scheduler: 2.0 against 1.4 ms, 0.6 at 20), one thread per worker and
one thread in BLAS.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .places import Keys

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
#: fault their pages in anew at every operation: a quarter of a chunk's time, measured. 32 MiB is
#: the most that every glibc takes for the second.
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "268435456", "MALLOC_MMAP_THRESHOLD_": "33554432"}

SETTINGS: dict[str, Any] = {
    "distributed.scheduler.worker-saturation": 4.0,
    # A task that was on a worker that died is handed back at once; who tries it again, and how
    # carefully, is for the sweep to say.
    "distributed.scheduler.allowed-failures": 0,
    # Dask gives up the nanny of a worker that is not back within 15 s: on a busy machine all of
    # them, for good.
    "distributed.deploy.lost-worker-timeout": "10000d",
    "distributed.worker.daemon": True,
    # A worker holds no results that could be let go of: paused, it would wait for ever. At 95 %
    # of its memory it is ended, and the sweep finds out which variant it was.
    "distributed.worker.memory.pause": False,
    "distributed.admin.tick.limit": "1h",  # a kernel that holds the interpreter is no news
    # Looking at itself costs an idle driver 3.1 % and a worker 2.0 % of a core, measured; so 1.3
    # and 0.6 %. Tasks last half a second: a second is soon enough to steal one.
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.scheduler.work-stealing-interval": "1s",
    "distributed.worker.profile.enabled": False,
    # Dask's memory manager takes what all workers were given from all but one of them within 2 s;
    # tasks that need it then queue there, while the others idle until they steal.
    "distributed.scheduler.active-memory-manager.start": False,
    # Web servers would answer anybody on the machine.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.scheduler.preload": "cluster.no_http",
    "distributed.worker.preload": "cluster.no_http",
}

#: The same for processes that we start elsewhere, where Dask reads it from the environment.
ENVIRONMENT = (
    ONE_THREAD
    | KEEP_MEMORY
    | {
        f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": str(value)
        for name, value in SETTINGS.items()
    }
)

#: Seconds a worker that is started elsewhere looks for its scheduler before it gives up.
DEATH_TIMEOUT = 60


def worker_arguments(
    scheduler: str, keys: "Keys", *, count: int, memory: str, name: str
) -> list[str]:
    """What follows `python -m distributed.cli.dask_worker`.

    Parameters
    ----------
    scheduler
        Its tls:// address.
    keys
        Paths as the worker sees them.
    count, memory
        Processes of one thread each, and bytes of memory of each.
    name
        Of the worker; with several processes a number is appended.
    """
    return [
        scheduler,
        *_tls(keys),
        *("--name", name, "--nworkers", str(count), "--nthreads", "1", "--memory-limit", memory),
        # Every worker has a web server, whatever one says, until `no_http` has stopped it.
        *("--no-dashboard", "--dashboard-address", "127.0.0.1:0"),
        *("--death-timeout", str(DEATH_TIMEOUT)),
    ]


def scheduler_arguments(keys: "Keys", *, port: int, idle: str) -> list[str]:
    """What follows `python -m distributed.cli.dask_scheduler`, on all interfaces.

    Parameters
    ----------
    keys
        Paths as the scheduler sees them.
    port
        To listen at.
    idle
        Time without tasks after which it ends, like "30 minutes".
    """
    return [
        *("--protocol", "tls", "--port", str(port)),
        *_tls(keys),
        *("--no-dashboard", "--dashboard-address", "127.0.0.1:0"),
        *("--idle-timeout", idle),
    ]


def _tls(keys: "Keys") -> tuple[str, ...]:
    return (
        *("--tls-ca-file", keys.authority),
        *("--tls-cert", keys.certificate),
        *("--tls-key", keys.key),
    )
