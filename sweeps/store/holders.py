"""Who fills a store: what locks say of their holders, and how messages name them."""

import os
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from basepar_core.errors import StoreError
from basepar_core.texts import plural

from .location import Location

#: What a lock's text says, and of which types.
KEYS: Mapping[str, type] = {"host": str, "pid": int, "since": str, "beats": int, "told": dict}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who fills a store. `silent` is the age in s of the last sign of life, by our clock.

    `machine` and `born` tell processes of one machine apart (`machine`, `born`), `token` the locks
    of one process, where known.
    """

    host: str
    pid: int
    since: str
    beats: int = 0
    told: Mapping[str, Any] = field(default_factory=dict)
    silent: float = 0.0
    machine: str = ""
    born: str = ""
    token: str = ""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"

    @property
    def here(self) -> bool:
        """Whether it is a process of this machine."""
        if self.machine:
            return self.machine == machine()
        return self.host == socket.gethostname()

    @property
    def is_left(self) -> bool:
        """Whether it is known to have ended: of this machine, as it was booted last."""
        return bool(self.machine and self.born) and self.here and self.born != born(self.pid)


class Lock(Protocol):
    """Held; `stale` is whom it was taken from."""

    stale: Holder | None

    def tell(self, **numbers: Any) -> None:
        """What the next sign of life says, for `basepar status`."""
        ...


def holder_of(plain: Any, changed: float) -> Holder | None:
    """Whom a lock's document names, changed at that time (s since the epoch); None: nobody."""
    try:
        found = [plain[key] for key in KEYS]
    except (KeyError, TypeError):
        return None
    if not all(isinstance(one, kind) for one, kind in zip(found, KEYS.values(), strict=True)):
        return None
    numbers = {
        key: n for key, n in found[-1].items() if isinstance(n, int | float) and 0 <= n < 1e18
    }
    silent = max(0.0, time.time() - changed)
    host, pid, since, beats, _ = found
    known = (str(plain.get(key, "")) for key in ("machine", "born", "token"))
    return Holder(host, pid, since, beats, numbers, silent, *known)


def busy(path: Location, found: Holder | None) -> StoreError:
    """What to say of a store that somebody else fills."""
    done, total = (found.told.get(key) for key in ("done", "total")) if found else (None, None)
    far = ""
    if isinstance(done, int) and isinstance(total, int):
        far = f", {done:,} of {plural(total, 'variant')} done"
    return StoreError(
        f"{path} is being filled by {found or 'another process'}{far}. Wait for it or stop it, "
        "then run again; what it stored is kept.",
        [str(path)],
    )


def machine() -> str:
    """Where a number means a process: this boot, this space of processes; "": nobody says."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return f"{file.read().strip()} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def born(pid: int) -> str:
    """When a process was started, in ticks since the boot; "": there is none, or nobody says."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            facts = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if facts[0] in ("Z", "X") else facts[19]
