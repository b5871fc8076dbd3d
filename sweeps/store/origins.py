"""Where a store's numbers come from: versions, machine, and the runs that filled it."""

import json
import os
import platform
import socket
import subprocess
from datetime import UTC, datetime
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from . import store
from .opened import Store

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
#: Runs a store remembers, the latest.
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


def begin_run(filled: Store) -> None:
    """Note that this process begins to fill a store; a study's batches are one run."""
    before, ours = filled.runs, {"host": socket.gethostname(), "pid": os.getpid()}
    if before and ours.items() <= before[-1].items():
        return
    entry: dict[str, Any] = {"started": now(), **ours}
    others = {
        package: number
        for package, number in versions().items()
        if filled.provenance.get("versions", {}).get(package) != number
    }
    if others:
        entry["versions"] = others  # that the store was not made with
    store.set_attribute(filled.path, "runs", json.dumps([*before, entry][-RUNS_KEPT:]))


def end_run(path: Path, evaluated: int, seconds: float, lost: int) -> None:
    """Add what the run did that began last."""
    *before, entry = Store.open(path).runs
    done = {"evaluated": evaluated, "seconds": seconds, "lost": lost}
    entry |= {"ended": now()} | {key: entry.get(key, 0) + n for key, n in done.items()}
    store.set_attribute(path, "runs", json.dumps([*before, entry]))
