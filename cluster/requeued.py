"""Jobs that ask their batch system to be run once more."""

import os
import subprocess

from .errors import PlaceError

#: Seconds for SLURM's answer.
PATIENCE = 60.0


def requeue() -> str | None:
    """Have SLURM run the job that this process is in again; what to say of it, or nothing.

    Of other systems their scripts see to it, by the exit status (`scripts.py`).

    Raises
    ------
    PlaceError
        SLURM rejects it.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return None
    words = ["scontrol", "requeue", job]
    try:
        ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired) as cause:
        raise PlaceError(f"`scontrol requeue {job}` does not work: {cause}.") from cause
    if ran.returncode:
        raise PlaceError(f"`scontrol requeue {job}`: {ran.stderr.strip() or 'failed'}")
    return f"SLURM runs job {job} again"
