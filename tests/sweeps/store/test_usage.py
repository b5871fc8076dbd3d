"""What a process says that it used, and of which job it is: against what it was made to use."""

import json
import subprocess
import sys

import pytest

from sweeps.store.batch import batch_job
from sweeps.store.usage import Usage, measured, together

VARIABLES = (
    "SLURM_JOB_ID PBS_JOBID LSB_JOBID JOB_ID _CONDOR_JOB_AD SLURM_ARRAY_TASK_ID SLURM_CLUSTER_NAME"
    " BASEPAR_ASKED SLURM_CPUS_ON_NODE SLURM_CPUS_PER_TASK SLURM_MEM_PER_NODE SLURM_MEM_PER_CPU"
    " SLURM_JOB_START_TIME SLURM_JOB_END_TIME NSLOTS LSB_DJOB_NUMPROC NCPUS"
)


@pytest.fixture
def environment(monkeypatch):
    """No job's."""
    for name in VARIABLES.split():
        monkeypatch.delenv(name, raising=False)
    return lambda **values: [monkeypatch.setenv(name, text) for name, text in values.items()]


@pytest.mark.parametrize(
    ("values", "job"),
    [
        ({}, {}),
        ({"SLURM_JOB_ID": "7"}, {"system": "slurm", "job": "7"}),
        (
            {"SLURM_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "0", "SLURM_CLUSTER_NAME": "c"},
            {"system": "slurm", "job": "7", "cluster": "c", "task": "0"},
        ),
        (
            {"PBS_JOBID": "7[3].host", "PBS_ARRAY_INDEX": "3"},
            {"system": "pbs", "job": "7[3].host", "task": "3"},
        ),
        ({"LSB_JOBID": "7", "LSB_JOBINDEX": "0"}, {"system": "lsf", "job": "7"}),
        ({"JOB_ID": "7", "SGE_TASK_ID": "undefined"}, {"system": "sge", "job": "7"}),
        ({"JOB_ID": "7", "SGE_TASK_ID": "3"}, {"system": "sge", "job": "7", "task": "3"}),
    ],
)
def test_which_job_it_is(values, job, environment):
    environment(**values)
    assert batch_job() == job


def test_htcondors_job(environment, tmp_path):
    (tmp_path / "ad").write_text('Cmd = "/bin/bash"\nClusterId = 12\nProcId = 3\n')
    environment(_CONDOR_JOB_AD=str(tmp_path / "ad"))
    assert batch_job() == {"system": "htcondor", "job": "12", "task": "3"}
    (tmp_path / "ad").write_text("nothing")
    assert batch_job() == {}


def test_what_was_asked(environment):
    """SLURM knows better than the script, whose options may be others; no limit is none."""
    environment(BASEPAR_ASKED="cores=2:memory=3000:seconds=60:nonsense=1:memory")
    assert measured("part").asked == {"cores": 2.0, "seconds": 60.0}  # the last word had none
    environment(BASEPAR_ASKED="cores=2:memory=3000:seconds=60", NSLOTS="4")
    assert measured("part").asked == {"cores": 4.0, "memory": 3000.0, "seconds": 60.0}
    environment(SLURM_JOB_ID="1", SLURM_CPUS_ON_NODE="3", SLURM_MEM_PER_CPU="100")
    assert measured("part").asked == {"cores": 3.0, "memory": 300.0 * 2**20, "seconds": 60.0}
    environment(SLURM_MEM_PER_NODE="500", SLURM_JOB_START_TIME="10", SLURM_JOB_END_TIME="17")
    assert measured("part").asked == {"cores": 3.0, "memory": 500.0 * 2**20, "seconds": 7.0}
    environment(SLURM_JOB_END_TIME=str(10 + 365 * 86400), SLURM_MEM_PER_NODE="0")
    assert measured("part").asked == {"cores": 3.0, "memory": 300.0 * 2**20}


PROGRAM = """
import json, os, subprocess, sys, time
from sweeps.store.usage import measured
before = measured("part")
child = "import time; block = bytes(%d) * 1; block = bytearray(b'x' * %d)"
subprocess.run([sys.executable, "-S", "-c", child % (1, 150_000_000)], check=True)
ours = bytearray(b"x" * 100_000_000); del ours
while time.process_time() < 0.5: pass
print(json.dumps([before.document(), measured("part", 2).document(), time.process_time()]))
"""


def test_a_process_that_used_so_much():
    """100 MB here, which are freed again, and 150 MB in a child: two such at a time."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    before, after, spent = json.loads(ran.stdout)
    more = after["memory"] - before["memory"]
    # b"x" * n is copied by bytearray: twice as much for a moment, of both.
    assert 2 * 100e6 + 2 * 300e6 - 50e6 < more < 2 * 100e6 + 2 * 300e6 + 100e6
    assert spent - 0.01 <= after["cpu_seconds"] < spent + 5.0
    assert after["seconds"] >= before["seconds"] + 0.4  # its 0.5 s less what its start took


def test_workers_of_a_job_are_added_up():
    """Their common parent counts once."""
    job = {"system": "slurm", "job": "7"}
    one = Usage("worker", "a", job, 5.0, 1.0, {1: 100, 2: 10}, 0, {"cores": 2.0})
    two = Usage("worker", "a", job, 6.0, 2.0, {1: 100, 3: 20}, 0, {"cores": 2.0})
    other = Usage("worker", "b", {"system": "slurm", "job": "8"}, 1.0, 1.0, {1: 7})
    found = [one.document() for one in together([one, other, two])]
    assert found[0] == {
        **{"role": "worker", "host": "a", "seconds": 6.0, "cpu_seconds": 3.0, "memory": 130},
        **{"asked": {"cores": 2.0}, **job},
    }
    assert [one["job"] for one in found] == ["7", "8"]
