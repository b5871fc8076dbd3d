"""A scheduler in this process that workers elsewhere join."""

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import dask
from distributed import Client, LocalCluster
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.utils import get_ip, get_ip_interface

from .dask_settings import SETTINGS
from .errors import PlaceError
from .keys import security
from .places import Keys

#: Seconds between questions whether workers have come.
BLINK = 0.1


class Arrivals(SchedulerPlugin):
    """Counts workers that have come, ever, and knows those that are here, by name."""

    def __init__(self, scheduler: Any):
        self.scheduler = scheduler
        self.count = 0

    def add_worker(self, scheduler: Any, worker: str) -> None:
        """Called by the scheduler."""
        self.count += 1

    def here(self) -> set[str]:
        """Names of the workers."""
        return {str(worker.name) for worker in list(self.scheduler.workers.values())}


@contextlib.contextmanager
def listening(keys: Keys, interface: str | None) -> Iterator[tuple[str, Client, Arrivals]]:
    """A scheduler that speaks TLS on one interface of this machine.

    Parameters
    ----------
    keys
        Of the scheduler and the client.
    interface
        Like "ib0"; None: the one with the default route.

    Yields
    ------
    Its address, a client, and who has come.
    """
    host = address_of(interface)
    with contextlib.ExitStack() as stack:
        stack.enter_context(dask.config.set(SETTINGS))
        cluster = LocalCluster(
            n_workers=0,
            protocol="tls://",
            host=host,
            security=security(keys),
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        )
        stack.callback(quietly, cluster.close, timeout=10)
        client = Client(cluster)
        stack.callback(quietly, client.close, timeout=10)
        arrivals = Arrivals(cluster.scheduler)
        arrivals.scheduler.add_plugin(arrivals, name="basepar-arrivals")
        yield cluster.scheduler_address, client, arrivals


def address_of(interface: str | None) -> str:
    """This machine's address on an interface.

    Raises
    ------
    PlaceError
        There is no such interface, or it has no address.
    """
    if interface is None:
        return get_ip()
    try:
        return get_ip_interface(interface)
    except (ValueError, KeyError) as cause:
        raise PlaceError(
            f"`interface`: this machine has no {interface!r} with an address: {cause}."
        ) from cause


def await_workers(
    come: Callable[[], bool], trouble: Callable[[], str | None], late: Callable[[], str],
    patience: float,
) -> None:  # fmt: skip
    """Wait for workers, no longer than there is hope.

    Parameters
    ----------
    come
        Whether they are there.
    trouble
        Why they will not come; None while they may.
    late
        What to say when patience is at its end.
    patience
        Seconds.

    Raises
    ------
    PlaceError
    """
    end = time.monotonic() + patience
    while not come():
        if (said := trouble()) is not None:
            raise PlaceError(said)
        if time.monotonic() > end:
            raise PlaceError(late())
        time.sleep(BLINK)


def quietly(close: Callable[..., Any], **options: Any) -> None:
    """Close; what goes wrong while leaving does not hide why we leave."""
    with contextlib.suppress(Exception):
        close(**options)
