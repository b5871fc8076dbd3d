"""What SLURM's accounting says that jobs used (`sacct`)."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass

#: Seconds for its answer, and jobs that are asked for at a time.
PATIENCE, AT_ONCE = 10.0, 500
_FIELDS = "JobIDRaw,Cluster,State,ElapsedRaw,TotalCPU,MaxRSS,AllocCPUS,ReqMem,TimelimitRaw"
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)([nc]?)")
_TIME = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)(?:\.\d+)?")
#: A job that has not ended, or not for good.
_GOES_ON = ("PENDING", "RUNNING", "REQUEUED", "SUSPENDED", "COMPLETING", "RESIZING")


@dataclass(frozen=True, slots=True)
class Accounted:
    """A job that has ended: how, s, s of CPU, bytes of its largest step, and what it asked for."""

    state: str
    seconds: float
    cpu_seconds: float
    memory: float
    asked_seconds: float | None
    asked_memory: float | None
    asked_cores: float | None


def accounted(jobs: Iterable[str], cluster: str) -> dict[str, Accounted]:
    """By its number, each of SLURM's jobs that ended and is known.

    None is where this machine has no `sacct` or is another cluster's, and where nothing is
    accounted for.
    """
    numbers = sorted({job for job in jobs if job.isdecimal()})
    found: dict[str, Accounted] = {}
    if not shutil.which("sacct"):
        return found
    for start in range(0, len(numbers), AT_ONCE):
        text = _said(numbers[start : start + AT_ONCE])
        if text is None:
            break
        found |= parsed(text, cluster)
    return found


def _said(numbers: list[str]) -> str | None:
    words = ["sacct", "--noheader", "--parsable2", f"--format={_FIELDS}"]
    words.append(f"--jobs={','.join(numbers)}")
    environment = {key: word for key, word in os.environ.items() if not key.startswith("SACCT_")}
    try:
        ran = subprocess.run(
            words, capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if ran.returncode else ran.stdout  # accounting is off, mostly


def parsed(text: str, cluster: str) -> dict[str, Accounted]:
    """What `sacct --parsable2` prints, job by job; their steps have the memory."""
    lines = [line.split("|") for line in text.splitlines()]
    lines = [one for one in lines if len(one) == len(_FIELDS.split(",")) and one[1] == cluster]
    steps: dict[str, float] = {}
    for number, *_, memory, cores, _, _ in lines:
        job = number.partition(".")[0]
        steps[job] = max(steps.get(job, 0.0), _bytes(memory, cores) or 0.0)
    found = {}
    for number, _, state, elapsed, cpu, _, cores, asked, limit in lines:
        if "." in number or state.startswith(_GOES_ON) or not elapsed.isdecimal():
            continue
        if not steps[number]:  # it ended sooner than anybody looked, or nobody looks
            continue
        found[number] = Accounted(
            state,
            float(elapsed),
            _seconds(cpu),
            steps[number],
            60.0 * int(limit) if limit.isdecimal() else None,
            _bytes(asked, cores),
            float(cores) if cores.isdecimal() else None,
        )
    return found


def _bytes(text: str, cores: str) -> float | None:
    """An amount like 1234K, or 2Gc: of each core, before SLURM 21.08."""
    found = _MEMORY.fullmatch(text)
    if found is None:
        return None
    number = float(found[1]) * 1024 ** " KMGTP".index(found[2] or " ")
    return number * int(cores) if found[3] == "c" and cores.isdecimal() else number


def _seconds(text: str) -> float:
    """A time like 1-02:03:04 or 03:04.567."""
    found = _TIME.fullmatch(text)
    if found is None:
        return 0.0
    days, hours, minutes, seconds = (int(one or 0) for one in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
