"""Whether anybody works: no workers, no scheduler, or stalled tasks.

The last should not happen and hardly ever does: tasks fly and every worker is idle, since a word
between scheduler, worker and driver was lost. Whoever waits for such a task waits for ever.
"""

import time

from distributed import Client

from .task_queue import WorkersError

#: Seconds without news between two looks at who is idle; all idle at two of them is a stall.
#: Workers tell of themselves every second or two; where there are hundreds, every five.
QUIET = 20.0


class Watch:
    """A client's workers, looked at once a second at most.

    `threads` is how many they have; after `patience` seconds without any `look` raises.
    """

    def __init__(self, client: Client, patience: float):
        self.client = client
        self.patience = patience
        self.threads = 0
        self._looked = self._last_worker = time.monotonic()
        self.landed()

    def look(self) -> None:
        """Count threads.

        Raises
        ------
        WorkersError
            The scheduler is gone, or there was no worker for too long.
        """
        now = time.monotonic()
        if now - self._looked < 1.0 and self.threads:
            return
        self.check_scheduler()
        self._looked = now
        try:
            self.threads = sum(self.client.nthreads().values())
        except OSError:
            self.threads = 0  # the connection broke just now; the next look says how it stands
        if self.threads:
            self._last_worker = now
        elif now - self._last_worker > self.patience:
            raise WorkersError(
                f"No worker for {self.patience:.0f} s. What is stored so far is whole: bring "
                "workers up and run the sweep again."
            )

    def check_scheduler(self) -> None:
        """WorkersError if it is gone."""
        if self.client.status != "running":
            raise WorkersError(
                f"The scheduler is gone (client {self.client.status}). What is stored so far is "
                "whole: connect again and run the sweep again."
            )

    def landed(self) -> None:
        """There is news: a task is done."""
        self._idle, self._news = 0, time.monotonic()

    def stalled(self) -> bool:
        """Whether there was no news for long although no worker is at work."""
        now = time.monotonic()
        if now - self._news < QUIET:
            return False
        self._news = now
        self._idle = 0 if self._at_work() else self._idle + 1
        return self._idle > 1

    def _at_work(self) -> bool:
        """As workers told last; yes where there are none to be idle, or nobody answers."""
        try:
            workers = self.client.scheduler_info(n_workers=-1)["workers"].values()
        except OSError:
            return True
        counts = [worker.get("metrics", {}).get("task_counts", {}) for worker in workers]
        return not counts or any(
            one.get("executing", 0) or one.get("long-running", 0) for one in counts
        )
