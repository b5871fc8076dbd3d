"""Job scripts of which every job evaluates a part of a sweep, for six batch systems.

Pure functions of a profile's values, a sweep and a store. What a job needs of its system: a
number from 1 to N, a signal before it is ended or its walltime, and to be run again at exit
status 4 (stopped: the same command goes on).
"""

import math
import os
import shlex
from collections.abc import Callable, Mapping

from dask.utils import parse_bytes

from .dask_settings import KEEP_MEMORY, ONE_THREAD
from .errors import PlaceError
from .places import Batch, Place, Slurm, interpreter

#: What tells a job what was asked for it (`sweeps.store.usage`).
ASKED = "BASEPAR_ASKED"
#: Seconds before the end of a walltime at which a job is asked to leave.
NOTICE = 60


def script(place: Place, spec: str, store: str) -> str:
    """The script, with how to use it at its top.

    Parameters
    ----------
    spec
        The sweep file as the jobs see it, or the name of a shipped one.
    store
        The store as the jobs see it.

    Raises
    ------
    PlaceError
        A place that has no batch system, or a path that no line of a script holds.
    """
    if not isinstance(place, Slurm | Batch):
        raise PlaceError(
            "A script is for a batch system: a profile of `kind: slurm`, or of `kind: batch` with "
            "`system: pbs` (or lsf, sge, htcondor, parallel)."
        )
    for text in (spec, store):
        if not text.isprintable():
            raise PlaceError(f"{text!r} has characters that nobody sees. Name another path.")
    system = place.system if isinstance(place, Batch) else "slurm"
    return SYSTEMS[system](place, spec, store)


def _slurm(place: Slurm | Batch, spec: str, store: str) -> str:
    options = [
        f"--job-name=basepar --array=1-{place.jobs}",
        *_given(place, partition="--partition={}", account="--account={}", walltime="--time={}"),
        f"--nodes=1 --ntasks=1 --cpus-per-task={place.per_job} --mem={_mebibytes(place)}M",
        "--output=basepar-%A_%a.log --open-mode=append",
        f"--signal=B:USR1@{NOTICE} --requeue",
        *place.directives,
    ]
    words = " ".join(_words(place, spec, store, '"$SLURM_ARRAY_TASK_ID"'))
    head = _head("sbatch", spec, store)
    run = [f"exec {words} --requeue"] if place.container is None else _outside(words)
    body = [*place.setup, *_exports(place), *run]
    return _lines("#!/bin/bash", *(f"#SBATCH {one}" for one in options), *head, "set -e", *body)


def _outside(words: str) -> list[str]:
    """A command without SLURM's own ones, as in a container: the shell hands signals on, and asks
    for another run where the command stopped, but not at SIGTERM: then somebody cancelled it."""
    return [
        f"{words} & child=$!",
        "trap 'woken=1; kill -USR1 $child' USR1",
        "trap 'woken=1; gone=1; kill -TERM $child' TERM",
        "status=0; wait $child || status=$?",
        'while [ -n "$woken" ]; do woken=; status=0; wait $child || status=$?; done',
        '[ $status -ne 4 ] || [ -n "$gone" ] || scontrol requeue "$SLURM_JOB_ID"',
        "exit $status",
    ]


def _pbs(place: Slurm | Batch, spec: str, store: str) -> str:
    """OpenPBS; its arrays have two jobs at least."""
    options = [
        "-N basepar",
        *([f"-J 1-{place.jobs}"] if place.jobs > 1 else []),
        *_given(place, partition="-q {}", account="-A {}"),
        *([f"-l walltime={_hours(seconds)}"] if (seconds := _seconds(place)) else []),
        f"-l select=1:ncpus={place.per_job}:mem={_mebibytes(place)}mb",
        "-j oe -r y",
        *place.directives,
    ]
    words = [*_words(place, spec, store, '"${PBS_ARRAY_INDEX:-1}"'), *_within(place)]
    head = _head("qsub", spec, store)
    body = [*place.setup, *_exports(place), f"exec {' '.join(words)}"]
    begin = ['cd "$PBS_O_WORKDIR"', "set -e"]
    return _lines("#!/bin/bash", *(f"#PBS {one}" for one in options), *head, *begin, *body)


def _lsf(place: Slurm | Batch, spec: str, store: str) -> str:
    walltime = _seconds(place)
    options = [
        f'-J "basepar[1-{place.jobs}]"',
        *_given(place, partition="-q {}", account="-P {}"),
        *([f"-W {math.ceil(walltime / 60)} -wt 1 -wa USR1"] if walltime else []),
        f'-n {place.per_job} -R "span[hosts=1] rusage[mem={_mebibytes(place)}MB]"',
        '-o basepar-%J_%I.log -r -Q "4"',
        *place.directives,
    ]
    words = _words(place, spec, store, '"$LSB_JOBINDEX"')
    head = _head("bsub <", spec, store)
    body = [*place.setup, *_exports(place), f"exec {' '.join(words)}"]
    return _lines("#!/bin/bash", *(f"#BSUB {one}" for one in options), *head, "set -e", *body)


def _sge(place: Slurm | Batch, spec: str, store: str) -> str:
    """Grid Engine runs a job again that ends with 99; its parallel environment is the site's."""
    options = [
        f"-N basepar -t 1-{place.jobs} -cwd -j y -r y -S /bin/bash",
        *_given(place, partition="-q {}", account="-P {}"),
        *([f"-l h_rt={int(seconds)}"] if (seconds := _seconds(place)) else []),
        f"-l h_vmem={math.ceil(_mebibytes(place) / place.per_job)}M",
        *([f"-pe smp {place.per_job}"] if place.per_job > 1 else []),
        *place.directives,
    ]
    words = [*_words(place, spec, store, '"$SGE_TASK_ID"'), *_within(place)]
    head = _head("qsub", spec, store)
    ending = ["status=0", f"{' '.join(words)} || status=$?", "[ $status -ne 4 ] || exit 99"]
    body = ["set -e", *place.setup, *_exports(place), *ending, "exit $status"]
    return _lines("#!/bin/bash", *(f"#$ {one}" for one in options), *head, *body)


def _htcondor(place: Slurm | Batch, spec: str, store: str) -> str:
    """A submit description; its arguments are one text of the shell, in HTCondor's quotes."""
    # Of its macros only the part's number is one.
    words = " ".join([*_words(place, spec, store, "PART"), *_within(place)])
    shell = "; ".join(["set -e", *place.setup, *_exports(place), f"exec {words}"])
    shell = shell.replace("$(", "$(DOLLAR)(").replace("'", "''").replace('"', '""')
    shell = shell.replace("--part PART/", "--part $INT(part)/")
    lines = [
        "universe = vanilla",
        "executable = /bin/bash",
        "part = $(Process) + 1",
        f"arguments = \"-c '{shell}'\"",
        f"request_cpus = {place.per_job}",
        f"request_memory = {_mebibytes(place)}",
        *_given(place, account="accounting_group = {}"),
        "log = basepar-$(Cluster).log",
        "output = basepar-$(Cluster)_$(Process).out",
        "error = basepar-$(Cluster)_$(Process).err",
        "kill_sig = SIGTERM",
        "job_max_vacate_time = 30",
        "on_exit_remove = (ExitBySignal == False) && (ExitCode =!= 4)",
        *place.directives,
        f"queue {place.jobs}",
    ]
    return _lines(*_head("condor_submit", spec, store), *lines)


def _parallel(place: Slurm | Batch, spec: str, store: str) -> str:
    """GNU parallel on this machine, or with `--sshlogin` among the directives on others."""
    words = " ".join(_words(place, spec, store, "@PART@"))
    options = ["--retries 3", "--joblog basepar.joblog", "--termseq TERM,30000,KILL"]
    run = ["parallel", "-I @PART@", *options, *place.directives, shlex.quote(words)]
    body = [*place.setup, *_exports(place), f"seq {place.jobs} | {' '.join(run)}"]
    return _lines("#!/bin/bash", *_head("bash", spec, store), "set -e", *body)


#: How the script of a system is written; `places.SYSTEMS` are its names.
SYSTEMS: Mapping[str, Callable[[Slurm | Batch, str, str], str]] = {
    "slurm": _slurm,
    "pbs": _pbs,
    "lsf": _lsf,
    "sge": _sge,
    "htcondor": _htcondor,
    "parallel": _parallel,
}


def _words(place: Slurm | Batch, spec: str, store: str, part: str) -> list[str]:
    """The command of a job, quoted for a shell; `part` is the job's number."""
    python = [*interpreter(place), "-P", "-m", "workflows.cli.main"]
    # A name with a dash in front would be an option.
    named = [os.path.join(os.curdir, one) if one[:1] == "-" else one for one in (spec, store)]
    words = [*python, "sweep", named[0], "--store", named[1]]
    how = ["--part", f"{part}/{place.jobs}", "--workers", str(place.per_job), "--quiet"]
    return [*map(shlex.quote, words), *how]


def _head(submit: str, spec: str, store: str) -> list[str]:
    sweep = f"basepar sweep {shlex.quote(spec)} --store {shlex.quote(store)}"
    return [
        f"# before it: {sweep} --prepare",
        f"# then:      {submit} THIS-FILE   (again, if jobs were stopped or lost)",
        f"# after it:  {sweep} --finish",
    ]


def _given(place: Slurm | Batch, **forms: str) -> list[str]:
    """Options of what a profile states."""
    return [form.format(value) for name, form in forms.items() if (value := getattr(place, name))]


def _exports(place: Slurm | Batch) -> list[str]:
    """The environment of a job: also what is asked for it, which not every system tells it."""
    asked = {"cores": place.per_job, "memory": _mebibytes(place) * 2**20}
    asked |= {"seconds": int(seconds)} if (seconds := _seconds(place)) else {}
    told = {ASKED: ":".join(f"{name}={number}" for name, number in asked.items())}
    return [f"export {name}={value}" for name, value in (ONE_THREAD | KEEP_MEMORY | told).items()]


def _within(place: Slurm | Batch) -> list[str]:
    """For systems that say nothing before they end a job."""
    seconds = _seconds(place)
    return [f"--within {max(1, int(seconds) - NOTICE)}"] if seconds else []


def _seconds(place: Slurm | Batch) -> float:
    """A walltime in s, of the forms of `sbatch --time`; 0: none is stated."""
    if not place.walltime:
        return 0.0
    days, dash, rest = place.walltime.rpartition("-")
    numbers = [int(one) for one in rest.split(":")]
    if dash:  # D-HH[:MM[:SS]]
        hours, minutes, seconds = [*numbers, 0, 0][:3]
        return int(days) * 86400 + hours * 3600 + minutes * 60 + seconds
    if len(numbers) == 3:
        return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    return numbers[0] * 60 + (numbers[1] if len(numbers) > 1 else 0)


def _hours(seconds: float) -> str:
    """HH:MM:SS, of hours as many as there are."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02}"


def _mebibytes(place: Slurm | Batch) -> int:
    return math.ceil(parse_bytes(place.memory) * place.per_job / 2**20)


def _lines(*lines: str) -> str:
    return "\n".join([*lines, ""])
