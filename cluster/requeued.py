"""Jobs that ask their batch system to be run once more."""

import os
import subprocess
from collections.abc import Callable

from .errors import PlaceError

#: Seconds for SLURM's answer.
PATIENCE = 60.0


def requeue(say: Callable[[str], None]) -> None:
    """Have SLURM run the job that this process is in again, if it is in one.

    Of other systems their scripts see to it, by the exit status (`scripts.py`).

    Parameters
    ----------
    say
        Called with a text before SLURM is asked: it may end this process before it answers.

    Raises
    ------
    PlaceError
        SLURM rejects it.
    """
    job = os.environ.get("SLURM_JOB_ID")
    if job is None:
        return
    say(f"SLURM is asked to run job {job} again")
    words = ["scontrol", "requeue", job]
    try:
        ran = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired) as cause:
        raise PlaceError(f"`scontrol requeue {job}` does not work: {cause}.") from cause
    if ran.returncode:
        raise PlaceError(f"`scontrol requeue {job}`: {ran.stderr.strip() or 'failed'}")
