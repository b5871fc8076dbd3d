"""What jobs used of a machine, and what was asked for them: measured once, at their end.

A job's *memory* is the sum of the peaks of its processes. Pages that processes share are counted
in each of them, as SLURM's own accounting counts them by default, so that a job that gets as much
has enough.
"""

import os
import re
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .batch import Job, batch_job

#: What a profile asked for, as its script says it: cores=2:memory=6000000000:seconds=7200.
ASKED = "BASEPAR_ASKED"
#: Quantities that are asked for and used: s, bytes, cores.
QUANTITIES = ("seconds", "memory", "cores")
#: When this process began, as far as it knows (s since 1970).
_BEGUN = time.time()


@dataclass(frozen=True)
class Usage:
    """What a job used.

    Attributes
    ----------
    role
        What it did: "part" of a sweep, "whole" sweep by its own children, "driver", "worker".
    host
        Where.
    job
        As its batch system calls it.
    seconds
        Since its first process began.
    cpu_seconds
        Of all its processes.
    memory
        Peaks of its processes in bytes, by number: they are added up.
    children
        Peaks in bytes of further processes, which have ended.
    asked
        What of `QUANTITIES` is known to have been asked for.
    """

    role: str
    host: str
    job: Job
    seconds: float
    cpu_seconds: float
    memory: Mapping[int, int]
    children: int = 0
    asked: Mapping[str, float] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As stores keep it."""
        plain = asdict(self) | {"memory": sum(self.memory.values()) + self.children}
        del plain["children"], plain["job"]
        plain |= {"seconds": round(self.seconds, 3), "cpu_seconds": round(self.cpu_seconds, 3)}
        return {**plain, **self.job}


def measured(role: str, children: int = 0) -> Usage:
    """Of this process, and of so many at a time that it started and that have ended."""
    own, theirs = _resources()
    memory = {os.getpid(): peak(os.getpid()) or own[1]}
    parent = os.getppid()
    if role == "worker" and (watcher := peak(parent)):  # which starts and restarts it
        memory[parent] = watcher
    host, more = socket.gethostname(), children * theirs[1]
    spent = own[0] + theirs[0]
    return Usage(role, host, batch_job(), _age(), spent, memory, more, _asked())


def together(found: Iterable[Usage]) -> list[Usage]:
    """One for each job: workers of a job are added up, those of none by their machine."""
    jobs: dict[tuple[object, ...], Usage] = {}
    for one in found:
        name = (one.role, one.host, *sorted(one.job.items()))
        before = jobs.get(name)
        jobs[name] = one if before is None else _added(before, one)
    return list(jobs.values())


def _added(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.role,
        one.host,
        one.job,
        max(one.seconds, other.seconds),
        one.cpu_seconds + other.cpu_seconds,
        {**one.memory, **other.memory},
        one.children + other.children,
        one.asked,
    )


def peak(pid: int) -> int:
    """The most memory a process had at a time, in bytes; 0: nobody says."""
    # A process that was started by a large one begins with its peak in `getrusage`.
    try:
        with open(f"/proc/{pid}/status") as file:
            found = re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.MULTILINE)
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _resources() -> tuple[tuple[float, int], tuple[float, int]]:
    """(s of CPU, peak in bytes) of this process, and of those that it started and that ended."""
    try:
        import resource
    except ImportError:  # Windows
        spent = os.times()
        return (spent.user + spent.system, 0), (0.0, 0)
    unit = 1 if sys.platform == "darwin" else 1024
    own, theirs = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return (
        (own.ru_utime + own.ru_stime, own.ru_maxrss * unit),
        (theirs.ru_utime + theirs.ru_stime, theirs.ru_maxrss * unit),
    )


def _age() -> float:
    """Seconds since this process, or its job, began."""
    begun = _number(os.environ.get("SLURM_JOB_START_TIME"))
    if begun is None:
        try:
            import psutil

            begun = psutil.Process().create_time()
        except Exception:  # of its own kinds, where the system does not say
            begun = _BEGUN
    return max(0.0, time.time() - begun)


def _asked() -> dict[str, float]:
    """What was asked for this process's job, by its batch system or else by its script."""
    found: dict[str, float | None] = {}
    for word in os.environ.get(ASKED, "").split(":"):
        name, _, text = word.partition("=")
        if name in QUANTITIES:
            found[name] = _number(text)
    get = os.environ.get
    if get("SLURM_JOB_ID"):
        cores = _number(get("SLURM_CPUS_ON_NODE")) or _number(get("SLURM_CPUS_PER_TASK"))
        node, each = _number(get("SLURM_MEM_PER_NODE")), _number(get("SLURM_MEM_PER_CPU"))
        memory = node or (each * cores if each and cores else None)  # MiB; 0: all there is
        begun, end = map(_number, map(get, ("SLURM_JOB_START_TIME", "SLURM_JOB_END_TIME")))
        told = {
            "cores": cores,
            "memory": memory * 2**20 if memory else None,
            "seconds": end - begun if begun and end else None,
        }
        # A year and more is SLURM's word for no limit.
        if (told["seconds"] or 0) >= 365 * 86400:
            told["seconds"] = found["seconds"] = None
        found |= {name: number for name, number in told.items() if number}
    elif slots := _number(get("NSLOTS") or get("LSB_DJOB_NUMPROC") or get("NCPUS")):
        found["cores"] = slots
    return {name: number for name in QUANTITIES if (number := found.get(name))}


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d{1,15}(\.\d{1,9})?", text) else None
