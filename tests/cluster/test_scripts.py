"""Job scripts of parts: as written down for each system, run by bash, and by a real SLURM."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cluster.errors import PlaceError
from cluster.places import SYSTEMS, Batch, Laptop, Slurm, problems
from cluster.profile import load_profile
from cluster.scripts import script
from sweeps.store import Store, check_and_repair
from workflows.cli.main import main

GOLDEN = Path(__file__).parent / "golden" / "parts"

PLACE = {
    "workers": 7,
    "per_job": 2,
    "memory": "3 GB",
    "walltime": "1-12:00:00",
    "partition": "cpu",
    "account": "robots",
    "setup": ("module load python/3.11",),
    "python": "/opt/my python/bin/python",
}
#: By which each system numbers its jobs.
NUMBERS = {
    "slurm": "SLURM_ARRAY_TASK_ID",
    "pbs": "PBS_ARRAY_INDEX",
    "lsf": "LSB_JOBINDEX",
    "sge": "SGE_TASK_ID",
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_scripts_as_written_down(system):
    found = script(Batch(system, **PLACE), "/home/me/a.yaml", "/scratch/it's/a.zarr")
    assert found == (GOLDEN / system).read_text()
    assert list(problems(Batch(system, **PLACE))) == []


def test_a_slurm_profile_gives_the_same():
    assert script(Slurm(**PLACE), "a", "/b") == script(Batch("slurm", **PLACE), "a", "/b")


CONTAINED = {
    "container": "/images/base par.sif",
    "container_options": ("--bind=/scratch/it's",),
}
APPTAINER = """#!/bin/bash
printf '%s\\n' "$@" > words
trap 'exit 4' USR1 TERM
for n in $(seq 400); do sleep 0.05; done
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_scripts_with_a_container(system):
    place = Batch(system, **(PLACE | {"python": sys.executable}), **CONTAINED)
    found = script(place, "/home/me/a.yaml", "/scratch/a.zarr")
    assert found == (GOLDEN / f"{system}-container").read_text()


@pytest.mark.parametrize(
    ("number", "again"), [(signal.SIGUSR1, "requeue 77\n"), (signal.SIGTERM, "")]
)
def test_signals_reach_the_container(tmp_path, number, again):
    """SLURM's own commands are not in there: the shell around it asks for another run."""
    for name, text in {"apptainer": APPTAINER, "scontrol": '#!/bin/bash\necho "$@"\n'}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "job.sh").write_text(script(Slurm(1, **CONTAINED), "a", "/b"))
    path = f"{tmp_path}:{os.environ['PATH']}"
    environment = {"PATH": path, "SLURM_ARRAY_TASK_ID": "1", "SLURM_JOB_ID": "77"}
    job = subprocess.Popen(
        ["bash", "job.sh"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    )
    until(lambda: (tmp_path / "words").exists() and (tmp_path / "words").stat().st_size)
    time.sleep(0.2)  # its next line
    job.send_signal(number)
    out, _ = job.communicate(timeout=60)
    assert (job.returncode, out) == (4, again)
    words = (tmp_path / "words").read_text().splitlines()
    image = [*CONTAINED["container_options"], CONTAINED["container"], "python", "-P"]
    assert words[:5] == ["exec", *image]


def test_what_has_no_script(tmp_path):
    with pytest.raises(PlaceError, match="profile of `kind: slurm`, or of `kind: batch`"):
        script(Laptop(), "a.yaml", "/a.zarr")
    with pytest.raises(PlaceError, match="nobody sees"):
        script(Slurm(1), "a\n.yaml", "/a.zarr")
    (tmp_path / "a.yaml").write_text("kind: batch\nsystem: moab\nworkers: 0\nwalltime: soon\n")
    with pytest.raises(Exception, match=r"(?s)system.*moab.*one of slurm, pbs") as caught:
        load_profile(tmp_path / "a.yaml")
    assert {one.path for one in caught.value.mistakes} == {"system", "workers", "walltime"}
    wrong = {one for one, _ in problems(Slurm(1, container="-x"))}
    assert wrong | {one for one, _ in problems(Slurm(1, container_options=("-x",)))} == {
        "container",
        "container_options",
    }


def stand_in(folder, status):
    """In the place of the interpreter: says its arguments, one a line."""
    made = folder / "my python"
    made.write_text(f'#!/bin/bash\nprintf "%s\\n" "$@" "$OMP_NUM_THREADS"\nexit {status}\n')
    made.chmod(0o755)
    return str(made)


def ran(text, folder, environment):
    (folder / "job.sh").write_text(text)
    return subprocess.run(
        ["bash", "job.sh"],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("system", NUMBERS)
def test_bash_makes_the_command_of_it(system, tmp_path):
    place = Batch(system, 8, 2, setup=("x=1",), python=stand_in(tmp_path, 4))
    store = '/scratch/it\'s "mine" $HOME/a.zarr'
    environment = {NUMBERS[system]: "3", "PBS_O_WORKDIR": str(tmp_path)}
    found = ran(script(place, "four-bar", store), tmp_path, environment)
    assert found.returncode == (99 if system == "sge" else 4), found.stderr
    words = found.stdout.splitlines()
    assert words[:6] == ["-P", "-m", "workflows.cli.main", "sweep", "four-bar", "--store"]
    assert words[6:12] == [store, "--part", "3/4", "--workers", "2", "--quiet"]
    assert words[-1] == "1"


def test_htcondors_quotes(tmp_path):
    """Undone by the rules of its manual: '' and "" within its two kinds of quotes."""
    store = '/scratch/it\'s "mine" $(date)/a.zarr'
    place = Batch("htcondor", 8, 2, setup=("x=$(echo 1)",), python=stand_in(tmp_path, 0))
    (line,) = [one for one in script(place, "a", store).splitlines() if one[:9] == "arguments"]
    text = line.partition('= "')[2].removesuffix('"').replace('""', '"')
    assert "$(" not in text.replace("$(DOLLAR)", "").replace("$INT(part)", "")
    text = text.replace("$(DOLLAR)", "$").replace("$INT(part)", "3")
    assert text.startswith("-c '")
    found = ran(text[4:-1].replace("''", "'"), tmp_path, {})
    assert found.stdout.splitlines()[6:9] == [store, "--part", "3/4"]


SWEEP = """
mechanism: four-bar
space: {plan: sobol, variables: {lx3: [1.0, 1.6]}, candidates: 16384, seed: 7}
evaluate: {rank: none, metrics: [mass]}
store: {chunk: 16}
"""


def until(condition, seconds=240.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


@pytest.mark.slow
def test_parts_in_a_real_slurm(in_slurm, tmp_path, capsys):
    """One job gets the signal that its time is over, leaves, and is run again by SLURM."""
    (tmp_path / "a.yaml").write_text(SWEEP)
    job, store = str(tmp_path / "a.yaml"), str(tmp_path / "a.zarr")
    assert main(["sweep", job, "--store", store, "--prepare"]) == 0
    setup = f"setup: ['export PYTHONPATH={':'.join(sys.path)}']"
    profile = f"kind: slurm\nworkers: 2\nmemory: 600 MB\npartition: debug\n{setup}\n"
    (tmp_path / "p.yaml").write_text(profile + f"python: {sys.executable}\n")
    assert main(["sweep", job, "--store", store, "--part", "512/512"]) == 0  # compiles, if need be
    capsys.readouterr()
    words = ["cluster", str(tmp_path / "p.yaml"), "--script", job, "--store", store]
    assert main(words) == 0
    (tmp_path / "job.sh").write_text(capsys.readouterr().out)
    number = in_slurm.run("sbatch", "--parsable", f"--chdir={tmp_path}", str(tmp_path / "job.sh"))
    records = Store.open(store).records()
    until(lambda: records.numbers(0, 512))  # of the first part
    in_slurm.run("scancel", "--batch", f"--signal={signal.SIGUSR1.name[3:]}", f"{number}_1")
    queue = ("squeue", "-h", "-r", "-o", "%K %T")
    until(lambda: "1 PENDING" in in_slurm.run(*queue))
    left = len(records.numbers(0, 512))
    assert 0 < left < 512
    until(lambda: len(records.numbers(0, 512)) == 512)  # between its two runs no job is shown
    until(lambda: not in_slurm.run("squeue", "-h"))
    log = (tmp_path / f"basepar-{number}_1.log").read_text()
    assert "SLURM is asked to run job" in log
    assert main(["sweep", job, "--store", store, "--finish", "--json"]) == 0
    assert '"evaluated": 0' in capsys.readouterr().out
    assert check_and_repair.find(Path(store)) == []
    assert main(["status", store, "--json"]) == 0
    check_resources(json.loads(capsys.readouterr().out)["resources"])


def check_resources(found):
    """Three runs of two jobs, and the one from the command line; SLURM does not account here."""
    (parts,) = found["jobs"]
    assert (parts["jobs"], parts["stopped"], parts["accounted"]) == (4, 1, 0)
    assert (found["unrecorded"], found["batch"]) == (0, True)
    # 600 MB in MiB, rounded up; no time limit.
    assert parts["asked"] == {"memory": 573.0 * 2**20, "cores": 1.0}
    assert 100e6 < parts["used"]["memory"]["max"] < 4e9  # at least what NumPy and Numba need
    assert parts["used"]["cores"]["max"] <= 1.2  # a process and its child, which take turns
