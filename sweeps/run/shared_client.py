"""Several fan-outs on one client, at the same time."""

import threading

from basepar_core.errors import BaseparError


class Stopped(BaseparError):
    """Another of the fleet failed, or somebody wants to leave."""

    kind = "stopped"


class Fleet:
    """Runs that share a client at the same time, each in a thread of its own.

    `aloft` is how many there are at this moment; each takes its share of the tasks in flight.
    After `stop` those that fly raise `Stopped` within a second or two.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._made = self.aloft = 0

    def join(self) -> str:
        """One more; its name, of letters only."""
        with self._lock:
            self.aloft += 1
            self._made += 1
            return "".join(chr(ord("a") + int(digit)) for digit in str(self._made))

    def leave(self) -> None:
        """One less."""
        with self._lock:
            self.aloft -= 1

    def stop(self) -> None:
        """All of them are to end."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `Stopped` where they are."""
        if self._stopped.is_set():
            raise Stopped(
                "Stopped together with the other sweeps of its family. What is stored "
                "so far is whole."
            )
