"""Sweeps without a driver: stores made, parts evaluated anywhere, what is left finished."""

import os
import re
import time
from collections.abc import Mapping

from basepar_core.errors import UsageError
from sweeps.run import Leave, Progress, Summary, here, summary
from sweeps.spec import SweepSpec
from sweeps.store import batch_job

#: When SLURM ends the job, seconds since 1970.
_JOB_END = "SLURM_JOB_END_TIME"
_PART = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def prepare_parts(jobs: Mapping[str, SweepSpec]) -> dict[str, Summary]:
    """Make the stores of sweeps, for whoever evaluates parts of them.

    Raises
    ------
    StoreError
        One is another sweep's, or damaged.
    """
    return {name: summary(here.prepare(job).store.path) for name, job in jobs.items()}


def part_of(text: str) -> tuple[int, int]:
    """What `--part 3/100` says: (3, 100).

    Raises
    ------
    UsageError
        It says nothing, or a part that there is not.
    """
    found = _PART.fullmatch(text.strip())
    number, count = map(int, found.groups()) if found else (0, 0)
    if not 1 <= number <= count:
        raise UsageError(
            f"--part {text}: write K/N, K from 1 to N, such as --part 3/100.", ["--part"]
        )
    return number, count


def run_part(
    jobs: Mapping[str, SweepSpec],
    part: tuple[int, int],
    workers: int,
    progress: Progress | None,
    leave: Leave,
) -> dict[str, Summary]:
    """Evaluate a part of each of some sweeps, one after the other; what these variants are then.

    Raises
    ------
    StoreError
        A store is not made yet, is another sweep's, or somebody is at this part.
    """
    return {
        name: here.part(job, *part, workers, progress, leave=leave, noted=batch_job())
        for name, job in jobs.items()
    }


def finish_parts(
    jobs: Mapping[str, SweepSpec],
    workers: int,
    progress: Progress | None,
    retry_failed: bool,
    leave: Leave,
) -> dict[str, Summary]:
    """Do what parts left undone, and check that every chunk is there; errors as of `run_part`."""
    return {
        name: here.finish(
            job, workers, progress, retry_failed=retry_failed, leave=leave, noted=batch_job()
        )
        for name, job in jobs.items()
    }


def leaving(seconds: float | None) -> Leave:
    """When a process ends: after so many seconds, or when SLURM says so; else when it is asked."""
    now, leave = time.monotonic(), Leave()
    if seconds is not None:
        leave.until = now + seconds
    elif os.environ.get(_JOB_END, "").isdecimal():
        leave.until = now + int(os.environ[_JOB_END]) - time.time()
    return leave
