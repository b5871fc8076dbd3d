"""Workers as jobs of SLURM, by its own commands: sbatch, squeue, scancel.

A profile's job script is a pure function of its values (`job_script`). Jobs are known by a name
nobody else has, so that asking for them and cancelling them needs no list of numbers. A thread
looks at the queue and replaces jobs that have ended (walltime, a failed node, scancel); when jobs
end again and again without a worker having come, it stops and says why: a job script that fails
must not fill the queue for ever.
"""

import contextlib
import logging
import math
import os
import secrets
import shlex
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dask.utils import parse_bytes
from distributed import Client

from .dask_settings import ENVIRONMENT, worker_arguments
from .errors import PlaceError
from .keys import lent_keys
from .places import Keys, Slurm, interpreter
from .scheduler import Arrivals, await_workers, listening

#: Rounds of replacement in a row, without a worker, after which no more are submitted.
ROUNDS = 3
#: Seconds for a command of SLURM, and for cancelled jobs to be gone.
COMMAND, GONE = 60.0, 60.0
#: States of jobs that have ended or are about to.
ENDED = {"COMPLETING", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED",
         "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"}  # fmt: skip

log = logging.getLogger(__name__)


@contextlib.contextmanager
def slurm(place: Slurm) -> Iterator[Client]:
    """A client of workers in SLURM jobs, which are cancelled after the block.

    Raises
    ------
    PlaceError
        SLURM rejects the job, no worker came in time, or jobs end before they work.
    """
    with lent_keys(place.directory) as keys, listening(keys, place.interface) as there:
        address, client, arrivals = there
        name = f"basepar-{secrets.token_hex(4)}"
        folder = Path(keys.key).parent
        script = job_script(place, name, address, keys)
        with _Jobs(place, name, script, folder, arrivals) as jobs:
            await_workers(
                lambda: bool(client.scheduler_info()["workers"]),
                lambda: jobs.trouble,
                lambda: (
                    f"No worker within {place.patience:g} s; SLURM says of the jobs: "
                    f"{jobs.state()}. Raise `patience` if the queue is long, or ask for less."
                ),
                place.patience,
            )
            yield client


def job_script(place: Slurm, name: str, scheduler: str, keys: Keys) -> str:
    """The script given to sbatch, one job of `per_job` workers.

    Parameters
    ----------
    place
        Values of the profile.
    name
        Of the jobs.
    scheduler
        Its address.
    keys
        Paths as the nodes see them; logs go to their folder.
    """
    each = parse_bytes(place.memory)
    mebibytes = math.ceil(each * place.per_job / 2**20)
    options = [
        f"--job-name={name}",
        *([f"--partition={place.partition}"] if place.partition else []),
        *([f"--account={place.account}"] if place.account else []),
        *([f"--time={place.walltime}"] if place.walltime else []),
        *("--nodes=1", "--ntasks=1", f"--cpus-per-task={place.per_job}", f"--mem={mebibytes}M"),
        # sbatch reads its lines as a shell would; % is a mark of its own.
        f"--output={shlex.quote(str(Path(keys.key).parent).replace('%', '%%') + '/%A_%a.log')}",
        "--no-requeue",  # lost jobs are replaced by the driver, which would count them twice
        *place.directives,
    ]
    arguments = worker_arguments(
        scheduler, keys, count=place.per_job, memory=str(each), name="JOB"
    )
    # What scancel knows the job by, from the environment.
    own_name = '"job-${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"'
    words = [*interpreter(place), "-P", "-m", "distributed.cli.dask_worker"]
    worker = " ".join(
        [
            *map(shlex.quote, words),
            *(own_name if w == "JOB" else shlex.quote(w) for w in arguments),
        ]
    )
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {option}" for option in options),
            "set -e",
            *place.setup,
            *(f"export {name}={shlex.quote(value)}" for name, value in ENVIRONMENT.items()),
            f"exec {worker}",
            "",
        ]
    )


class _Jobs:
    """The jobs of one place: as many as asked for, until the block ends."""

    def __init__(
        self, place: Slurm, name: str, script: str, folder: Path, arrivals: Arrivals
    ) -> None:
        self.place, self.name, self.script = place, name, script
        self.folder, self.arrivals = folder, arrivals
        self.trouble: str | None = None
        self.leaving = threading.Event()
        self.watcher = threading.Thread(target=self._watch, name=name, daemon=True)

    def __enter__(self) -> "_Jobs":
        try:
            self._submit(self.place.jobs)
            self.watcher.start()
        except BaseException:
            self._cancel()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.leaving.set()
        self.watcher.join(COMMAND)
        self._cancel()

    def state(self) -> str:
        """States and reasons of the jobs, as squeue has them, with how many there are."""
        said = Counter(f"{state} ({reason})" for state, reason in self._queue())
        return ", ".join(f"{count} {text}" for text, count in said.items()) or "they are gone"

    def _submit(self, count: int) -> None:
        answer(["sbatch", "--parsable", f"--array=0-{count - 1}"], self.script, self.folder)

    def _queue(self) -> list[tuple[str, str]]:
        """(state, reason) of each job that SLURM still knows."""
        listed = answer(["squeue", "-h", "-r", f"--name={self.name}", "-o", "%T|%r"])
        lines = [line.partition("|") for line in listed.splitlines() if line]
        return [(state, reason) for state, _, reason in lines]

    def _watch(self) -> None:
        rounds, seen = 0, 0
        while not self.leaving.wait(self.place.interval):
            try:
                alive = sum(state not in ENDED for state, _ in self._queue())
                if alive >= self.place.jobs:
                    continue
                # A worker that has come since shows that jobs as such do work.
                rounds = 1 if self.arrivals.count > seen else rounds + 1
                seen = self.arrivals.count
                if rounds > ROUNDS:
                    self.trouble = self._why()
                    log.error(self.trouble)
                    return
                log.info("%d jobs of %s replaced", self.place.jobs - alive, self.name)
                self._submit(self.place.jobs - alive)
            except PlaceError as error:
                # A controller that does not answer for a moment is no reason to count its jobs
                # as lost.
                log.warning("%s", error)

    def _why(self) -> str:
        logs = sorted(self.folder.glob("*.log"), key=lambda path: path.stat().st_mtime)
        lines = logs[-1].read_text(errors="replace").splitlines()[-8:] if logs else []
        last = "".join(f"\n  {line}" for line in lines) or " nothing"
        return (
            f"{ROUNDS} rounds of SLURM jobs ended before a worker came; none are submitted any "
            f"more. The last job said:{last}\nPut `python`, `setup` and `directory` of the "
            "profile right: `basepar cluster PROFILE` prints the job script."
        )

    def _cancel(self) -> None:
        """No job of ours is left, or at least SLURM was told so."""
        with contextlib.suppress(PlaceError):
            answer(["scancel", f"--name={self.name}"])
            end = time.monotonic() + GONE
            while self._queue() and time.monotonic() < end:
                time.sleep(0.2)


def answer(words: list[str], given: str | None = None, folder: Path | None = None) -> str:
    """What a command of SLURM prints; PlaceError with what it complains of."""
    # Options of sbatch may also come from the environment, and squeue's too; ours are complete.
    ours = ("SBATCH_", "SQUEUE_", "SCANCEL_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    try:
        ran = subprocess.run(
            words,
            input=given,
            capture_output=True,
            text=True,
            timeout=COMMAND,
            cwd=folder,
            env=environment,
            check=False,
        )
    except FileNotFoundError as cause:
        raise PlaceError(
            f"`{words[0]}` is not here: run this on a machine of the SLURM cluster, such as its "
            "login node."
        ) from cause
    except subprocess.TimeoutExpired as cause:
        raise PlaceError(f"`{words[0]}` did not answer within {COMMAND:g} s.") from cause
    if ran.returncode:
        raise PlaceError(f"`{shlex.join(words)}`: {ran.stderr.strip() or 'failed'}")
    return ran.stdout
