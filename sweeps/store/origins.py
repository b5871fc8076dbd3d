"""Where a store's numbers come from: versions, machine, and the runs that filled it."""

import contextlib
import json
import os
import platform
import socket
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .batch import batch_job
from .names import HIDDEN
from .opened import Store
from .usage import Usage

PACKAGES = (
    "basepar",
    "numpy",
    "scipy",
    "sympy",
    "mpmath",
    "numba",
    "python-flint",
    "zarr",
    "xarray",
    "distributed",
)
#: The latest runs of a store, which are reported.
RUNS_KEPT = 50


def provenance() -> dict[str, Any]:
    """When, where, and with which versions."""
    found = {"created": now(), "machine": machine(), "versions": versions()}
    return found | ({"commit": commit()} if commit() else {})


def now() -> str:
    """The time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def machine() -> str:
    """Name and kind of this machine."""
    return f"{socket.gethostname()} ({platform.system()} {platform.machine()})"


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Of Python and the packages that make the numbers."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@lru_cache(maxsize=1)
def commit() -> str:
    """The commit this program was run from, with "+" after it where files differ; "" if none."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return ""
    git = ["git", "-C", str(folder)]
    try:
        said = subprocess.run(
            [*git, "describe", "--always", "--abbrev=40", "--dirty=+", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return said.stdout.strip()


#: Where each run notes itself: one object, which nobody else writes.
RUNS = f"{HIDDEN}/runs"

Run = dict[str, Any]


def begin_run(filled: Store, **more: Any) -> Run:
    """Note that this process begins to fill a store; a study's batches are one run."""
    ours = {"host": socket.gethostname(), "pid": os.getpid()} | batch_job() | more
    before = runs(filled)
    if before and ours.items() <= before[-1].items():
        return before[-1]
    others = {
        package: number
        for package, number in versions().items()
        if filled.provenance.get("versions", {}).get(package) != number
    }  # that the store was not made with
    run = {"started": now(), **ours} | ({"versions": others} if others else {})
    _keep(filled, run)
    return run


def end_run(
    filled: Store,
    run: Run,
    evaluated: int,
    seconds: float,
    lost: int,
    *,
    used: Sequence[Usage] = (),
    stopped: bool = False,
) -> None:
    """Add what the run did, what its jobs used, and whether it was stopped before all was done."""
    done = {"evaluated": evaluated, "seconds": seconds, "lost": lost}
    told: Run = {"ended": now()} | {key: run.get(key, 0) + n for key, n in done.items()}
    told |= {"used": [one.document() for one in used]} | ({"stopped": True} if stopped else {})
    _keep(filled, run | told)


def runs(held: Store, latest: int = RUNS_KEPT) -> list[Run]:
    """The latest runs that filled a store, the last one last; a killed one has no `ended`."""
    found = []
    names = sorted(held.objects.names(RUNS))[-latest:]
    for content in held.objects.get_all([f"{RUNS}/{name}" for name in names]):
        with contextlib.suppress(ValueError, RecursionError):  # what is damaged is only missing
            plain = json.loads(content or b"")
            if isinstance(plain, dict):
                found.append(plain)
    return found


def _keep(filled: Store, run: Run) -> None:
    name = f"{run['started'][:19]}-{run['host']}-{run['pid']}".replace(":", "").replace("/", "-")
    filled.objects.put(f"{RUNS}/{name}", json.dumps(run).encode())
