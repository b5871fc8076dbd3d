"""Where a store's numbers come from: versions, machine, and the runs that filled it."""

import contextlib
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

from .names import HIDDEN
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
#: What batch systems call a job: SLURM, PBS, LSF, SGE, HTCondor.
_JOB_NAMES = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "CONDOR_ID")

Run = dict[str, Any]


def batch_job() -> dict[str, str]:
    """The job of a batch system that this process is in, as `job`; nothing where it is in none."""
    found = next(filter(None, map(os.environ.get, _JOB_NAMES)), None)
    return {"job": found[:80]} if found else {}


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


def end_run(filled: Store, run: Run, evaluated: int, seconds: float, lost: int) -> None:
    """Add what the run did."""
    done = {"evaluated": evaluated, "seconds": seconds, "lost": lost}
    _keep(filled, run | {"ended": now()} | {key: run.get(key, 0) + n for key, n in done.items()})


def runs(held: Store) -> list[Run]:
    """The latest runs that filled a store, the last one last; a killed one has no `ended`."""
    found = []
    for name in sorted(held.objects.names(RUNS))[-RUNS_KEPT:]:
        content = held.objects.get(f"{RUNS}/{name}")
        with contextlib.suppress(ValueError, RecursionError):  # what is damaged is only missing
            plain = json.loads(content or b"")
            if isinstance(plain, dict):
                found.append(plain)
    return found


def _keep(filled: Store, run: Run) -> None:
    name = f"{run['started'][:19]}-{run['host']}-{run['pid']}".replace(":", "").replace("/", "-")
    filled.objects.put(f"{RUNS}/{name}", json.dumps(run).encode())
