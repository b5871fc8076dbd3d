"""A driver as a job of SLURM's: it submits the jobs of its workers, and nobody waits for it.

When its time is over SLURM says so a minute before; it stops, with what is in work written, and
asks to be run again, as often as it takes.
"""

import os
import shlex
from collections.abc import Sequence

from .dask_settings import ONE_THREAD
from .errors import PlaceError
from .places import Place, Slurm
from .scripts import NOTICE
from .slurm import answer

#: Of the driver, which holds receipts only.
MEMORY = 2048


def driver_script(place: Place, words: Sequence[str], log: str) -> str:
    """The script given to sbatch.

    Parameters
    ----------
    words
        The command of the driver behind `basepar`; paths as the nodes see them.
    log
        The file of what it says; `%j` is the job's number.

    Raises
    ------
    PlaceError
        A place without SLURM, or text that no line of a script holds.
    """
    if not isinstance(place, Slurm):
        raise PlaceError("a driver is submitted to SLURM only: name a profile of `kind: slurm`")
    if place.container is not None:
        raise PlaceError(
            "a driver in a container has no `sbatch` to submit its workers by: evaluate parts "
            "instead (`basepar cluster PROFILE --script SPEC`)"
        )
    for text in (*words, log):
        if not text.isprintable():
            raise PlaceError(f"{text!r} has characters that nobody sees. Name another path.")
    options = [
        "--job-name=basepar-driver",
        *([f"--partition={place.partition}"] if place.partition else []),
        *([f"--account={place.account}"] if place.account else []),
        *([f"--time={place.walltime}"] if place.walltime else []),
        f"--nodes=1 --ntasks=1 --cpus-per-task=1 --mem={MEMORY}M",
        f"--output={shlex.quote(log)} --open-mode=append",
        f"--signal=B:USR1@{NOTICE} --requeue",
        *place.directives,
    ]
    python = [os.path.expanduser(place.python), "-P", "-m", "workflows.cli.main"]
    return "\n".join(
        [
            "#!/bin/bash",
            *(f"#SBATCH {option}" for option in options),
            "set -e",
            *place.setup,
            *(f"export {name}={value}" for name, value in ONE_THREAD.items()),
            f"exec {shlex.join([*python, *words])}",
            "",
        ]
    )


def submit(place: Place, words: Sequence[str], log: str) -> str:
    """Submit a driver; the number of its job. Arguments and errors as of `driver_script`.

    Raises
    ------
    PlaceError
        SLURM rejects it, or is not here.
    """
    return answer(["sbatch", "--parsable"], driver_script(place, words, log)).strip()
