"""What a run's workers share, on its way to them: fetched once by each, from the scheduler.

Neither data nor a task of the scheduler's: what others depend on can die with a worker and be
blamed for it, and everything that depends on it is lost with it, on whatever worker it is.
"""

import contextlib
import threading
from functools import lru_cache
from typing import Any
from uuid import uuid4

import cloudpickle
from distributed import Client, get_worker
from distributed.utils import sync

from .task_queue import WorkersError

#: Where the scheduler keeps them.
SHELF = "basepar-programs"
#: Programs a worker remembers: members of a family take turns.
REMEMBERED = 16

_fetching = threading.Lock()


class Program:
    """An object as the workers' `fetch(name)` returns it, until `withdraw`."""

    def __init__(self, client: Client, content: Any):
        self.client = client
        self.name = uuid4().hex
        client.set_metadata([SHELF, self.name], cloudpickle.dumps(content))

    def withdraw(self) -> None:
        """Let the scheduler forget it, if there still is one."""
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            if self.client.status == "running":
                self.client.set_metadata([SHELF, self.name], None)


def fetch(name: str) -> Any:
    """The program of this name; the same object for all threads of a worker."""
    with _fetching:
        return _fetched(name)


@lru_cache(maxsize=REMEMBERED)
def _fetched(name: str) -> Any:
    worker = get_worker()
    content = sync(worker.loop, worker.scheduler.get_metadata, keys=[SHELF, name], default=None)
    if content is None:
        raise WorkersError(
            "The scheduler has lost what its workers were to do, as one that was restarted has. "
            "What is stored so far is whole: run again."
        )
    return cloudpickle.loads(content)
