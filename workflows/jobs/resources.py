"""What the jobs that filled a store used against what they asked, and what to ask next time."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from cluster import Accounted, accounted
from sweeps.store import Holder, Location, Store, holder, runs

#: Runs whose jobs are looked at, the latest.
RUNS = 2000
#: What to ask for, of what was used most; of time, where jobs were stopped, and of memory, where
#: they had too little: of what they had.
MARGIN, SHORT = 1.25, 2.0
#: Of a core: less than that is noise.
IDLE = 0.1
#: Seconds from which a job is more than its start, and tells how many cores it needs.
LONG = 60
#: What requests are rounded up to: s, bytes.
MINUTE, MEMORY = 60, 100 * 10**6
NUMBERS = ("seconds", "cpu_seconds", "memory")
ROLES = ("part", "whole", "driver", "worker")


@dataclass(frozen=True)
class _Job:
    role: str
    seconds: float
    cpu_seconds: float
    memory: float
    asked: Mapping[str, float] = field(default_factory=dict)
    name: str = ""
    is_accounted: bool = False
    is_stopped: bool = False
    is_short: bool = False

    @property
    def cores(self) -> float:
        """Busy, on average."""
        return self.cpu_seconds / self.seconds if self.seconds else 0.0


def resources(path: Location) -> dict[str, Any]:
    """What jobs used, by what they did, what they had asked for, and what to ask for next time.

    Returns
    -------
    `jobs`: of each role ("part", "whole", "driver", "worker") how many, how many of their numbers
    are of SLURM's accounting, `used` and `asked` and `next`, in s, bytes and cores; `unrecorded`:
    how many runs left no record, killed ones and those that go on; `batch`: whether any was a
    batch system's.
    """
    held = Store.open(path)
    now, found = holder(path), runs(held, RUNS)
    jobs: list[_Job] = []
    silent: list[_Job] = []
    for run in found:
        if "ended" in run:
            jobs += _noted(run)
        elif not _is(now, run):
            role = "part" if "part" in run else "driver"
            silent.append(_Job(role, 0.0, 0.0, 0.0, name=_name(run)))
    known = _accounted(found)
    jobs = list(_with(jobs, known))
    told = [one for one in _with(silent, known) if one.is_accounted]
    jobs += told
    by = {role: [one for one in jobs if one.role == role] for role in ROLES}
    return {
        "jobs": [_summed(role, some) for role, some in by.items() if some],
        "unrecorded": len(silent) - len(told),
        "batch": any(one.name or one.asked for one in (*jobs, *silent)),
    }


def _noted(run: Mapping[str, Any]) -> Iterator[_Job]:
    """Jobs of a run that ended; what is no record of ours is left out."""
    for plain in _used(run):
        try:
            asked = {str(key): float(number) for key, number in plain["asked"].items()}
            wall, cpu, memory = (float(plain[key]) for key in NUMBERS)
            role, name = str(plain["role"]), _name(plain)
        except (TypeError, ValueError, LookupError, AttributeError):
            continue
        if all(math.isfinite(one) and one >= 0 for one in (wall, cpu, memory, *asked.values())):
            stopped = bool(run.get("stopped")) and role != "worker"
            yield _Job(role, wall, cpu, memory, asked, name, is_stopped=stopped)


def _used(run: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    told = run.get("used")
    return [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []


def _is(now: Holder | None, run: Mapping[str, Any]) -> bool:
    return now is not None and (now.host, now.pid) == (run.get("host"), run.get("pid"))


def _name(plain: Mapping[str, Any]) -> str:
    """A job of SLURM's by cluster and number; of other systems by anything."""
    job = str(plain.get("job", ""))
    return f"{plain.get('cluster', '')}:{job}" if plain.get("system") == "slurm" else job


def _accounted(found: Sequence[Mapping[str, Any]]) -> dict[str, Accounted]:
    """What SLURM's accounting says of jobs, by `_name`."""
    asked: dict[str, set[str]] = {}
    for run in found:
        for plain in (run, *_used(run)):
            if plain.get("system") == "slurm":
                asked.setdefault(str(plain.get("cluster", "")), set()).add(str(plain.get("job")))
    told = {cluster: accounted(numbers, cluster) for cluster, numbers in asked.items() if cluster}
    return {f"{name}:{job}": one for name, some in told.items() for job, one in some.items()}


def _with(jobs: Sequence[_Job], known: Mapping[str, Accounted]) -> Iterator[_Job]:
    """Jobs, by SLURM's numbers where there are any: of the last run of a requeued one."""
    last = {job.name: number for number, job in enumerate(jobs)}
    for number, job in enumerate(jobs):
        said = known.get(job.name)
        if said is None or last[job.name] != number:
            yield job
            continue
        asked = {"seconds": said.asked_seconds, "memory": said.asked_memory}
        asked["cores"] = said.asked_cores
        yield _Job(
            *(job.role, said.seconds, said.cpu_seconds, said.memory),
            {**job.asked, **{key: one for key, one in asked.items() if one}},
            job.name,
            is_accounted=True,
            is_stopped=job.is_stopped or said.state.startswith("TIMEOUT"),
            is_short=said.state.startswith("OUT_OF_ME"),
        )


def _summed(role: str, jobs: Sequence[_Job]) -> dict[str, Any]:
    used = {}
    for name in ("seconds", "memory", "cores"):
        numbers = [getattr(one, name) for one in jobs]
        used[name] = {"median": median(numbers), "max": max(numbers)}
    asked: dict[str, float] = {}
    for one in jobs:  # the latest is what a next time begins from
        asked |= one.asked
    return {
        "role": role,
        "jobs": len(jobs),
        "accounted": sum(one.is_accounted for one in jobs),
        "stopped": sum(one.is_stopped for one in jobs),
        "out_of_memory": sum(one.is_short for one in jobs),
        "used": used,
        "asked": asked,
        "next": _next(jobs),
    }


def _next(jobs: Sequence[_Job]) -> dict[str, float]:
    """What to ask for: what was used most and a margin, rounded up."""
    seconds = max(one.seconds * (SHORT if one.is_stopped else MARGIN) for one in jobs)
    short = [max(one.memory, one.asked.get("memory", 0.0)) for one in jobs if one.is_short]
    memory = max(MARGIN * max(one.memory for one in jobs), SHORT * max(short, default=0.0))
    long = [one for one in jobs if one.seconds >= LONG]
    had = max(one.asked.get("cores", 0.0) for one in jobs)
    cores = max((one.cores for one in long), default=had)
    return {
        "seconds": max(1, math.ceil(seconds / MINUTE)) * MINUTE,
        "memory": max(1, math.ceil(memory / MEMORY)) * MEMORY,
        "cores": max(1, math.ceil(cores - IDLE)),
    }
