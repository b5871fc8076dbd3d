"""Where the work is done: plain values, one per kind of place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Laptop:
    """This machine: worker processes on the loopback interface only.

    Attributes
    ----------
    workers
        Processes; None: one per physical core.
    memory
        Of each worker, like "4 GB"; None: an equal share of the machine's.
    threads
        Per worker. Compiled kernels release the interpreter lock, but a variant that hangs can
        only be stopped (and its neighbours spared) in a process with a single thread.
    dashboard
        Whether to serve Dask's dashboard, on a free port of the loopback interface.
    """

    workers: int | None = None
    memory: str | None = None
    threads: int = 1
    dashboard: bool = False


@dataclass(frozen=True, slots=True)
class Address:
    """A scheduler that runs already, like "tcp://10.0.0.5:8786".

    Its workers must be able to import this package and must see the store's directory. For short
    tasks the scheduler is best started with `distributed.scheduler.worker-saturation: 4`.

    Attributes
    ----------
    url
        As the scheduler prints it when it starts.
    patience
        Seconds to wait for an answer.
    """

    url: str
    patience: float = 10.0


Place = Laptop | Address
