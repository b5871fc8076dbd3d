"""Workers in jobs of a real SLURM, private and on this machine."""

import dataclasses
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cluster.client import connect
from cluster.errors import PlaceError
from cluster.places import Keys, Slurm
from cluster.slurm import job_script
from sweeps.run.driver import sweep
from tests.sweeps.fourbar import FourBar, spec
from tests.sweeps.run.test_sweep import assert_equal_arrays, by_hand

from .scheduler_asked import workers_of

GOLDEN = Path(__file__).parent / "golden"

DRIVER = """
import sys, time
from cluster.client import connect
from cluster.places import Slurm

if __name__ == "__main__":
    place = Slurm(workers=2, memory="600 MB", interface="lo", directory=sys.argv[1])
    with connect(place) as client:
        client.wait_for_workers(2)
        print("up", flush=True)
        time.sleep(600)
"""


@pytest.fixture
def place(in_slurm, tmp_path):
    return Slurm(
        workers=2,
        memory="600 MB",
        partition="debug",
        interface="lo",
        directory=str(tmp_path),
        patience=120,
        interval=0.5,
    )


def jobs(slurm):
    """State and reason of the jobs that SLURM still has."""
    return slurm.run("squeue", "-h", "-r", "-o", "%T %r").splitlines()


def until(condition, seconds=90.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


def names(client):
    return {worker["name"] for worker in workers_of(client).values()}


def test_job_script():
    place = Slurm(
        workers=7,
        per_job=2,
        memory="3 GB",
        walltime="1-12:00:00",
        partition="cpu",
        account="robots",
        directives=("--constraint=avx2",),
        setup=("module load python/3.11",),
        python="/opt/my python/bin/python",
    )
    keys = Keys("/home/me/k/certificate.pem", "/home/me/k/certificate.pem", "/home/me/k/key.pem")
    assert place.jobs == 4
    found = job_script(place, "basepar-1234", "tls://10.0.0.5:4321", keys)
    assert found == (GOLDEN / "slurm.sh").read_text()
    contained = replace(place, container="/images/a.sif", container_options=("--bind=/scratch",))
    inside = "exec apptainer exec --bind=/scratch /images/a.sif '/opt/my python/bin/python' -P -m"
    line = next(one for one in found.splitlines() if one.startswith("exec"))
    there = line.replace("exec '/opt/my python/bin/python' -P -m", inside)
    assert job_script(contained, "basepar-1234", "tls://10.0.0.5:4321", keys) == found.replace(
        line, there
    )
    bare = job_script(Slurm(workers=1), "basepar-1", "tls://10.0.0.5:4321", keys)
    for option in ("--partition", "--account", "--time"):  # then the cluster's defaults hold
        assert option not in bare


@pytest.mark.slow
def test_a_sweep_outlives_its_jobs(place, in_slurm, tmp_path, monkeypatch):
    """All jobs are cancelled in mid-sweep: only their replacements can finish it."""
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))  # for the evaluator, which is a test's
    before = set()

    def cancel(advance):
        if not before:
            assert 0 < advance.done < advance.total
            before.update(names(client))
            in_slurm.run("scancel", *(name.partition("-")[2] for name in before))

    with connect(place) as client:
        client.wait_for_workers(2, timeout=60)
        evaluator = FourBar(delay=0.05)  # per chunk; 25 chunks
        summary = sweep(spec(tmp_path / "slurm.zarr"), client, cancel, evaluator=evaluator)
        until(lambda: len(names(client)) == 2)
        after = names(client)
        assert client.scheduler.address.startswith("tls://127.0.0.1:")
    assert summary.done
    assert len(before) == 2
    assert not after & before
    assert jobs(in_slurm) == []
    reference = by_hand(spec(tmp_path / "hand.zarr"), FourBar())
    assert_equal_arrays(tmp_path / "slurm.zarr", reference)


@pytest.mark.slow
def test_several_workers_in_a_job(place, in_slurm):
    with connect(dataclasses.replace(place, workers=3, per_job=2)) as client:
        client.wait_for_workers(4, timeout=60)  # whole jobs
        assert len({name.rpartition("-")[0] for name in names(client)}) == 2
        environments = client.run(lambda: dict(os.environ)).values()
        assert {one["OMP_NUM_THREADS"] for one in environments} == {"1"}
        assert {one["MALLOC_TRIM_THRESHOLD_"] for one in environments} == {"268435456"}
    assert jobs(in_slurm) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"partition": "nosuch"}, "(?s)sbatch.*invalid partition"),
        ({"memory": "90 GB"}, "(?s)sbatch.*node configuration is not available"),
        ({"walltime": "10:00:00", "partition": "short"}, r"1 PENDING \(PartitionTimeLimit\)"),
        ({"interface": "ib7"}, "no 'ib7'"),
        ({"directory": "/nonexistent"}, "Nothing can be written to /nonexistent"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_job_that_cannot_start_is_told(place, in_slurm, changes, said):
    place = dataclasses.replace(place, workers=1, patience=2, **changes)
    with pytest.raises(PlaceError, match=said), connect(place):
        pass
    assert jobs(in_slurm) == []


@pytest.mark.slow
def test_jobs_that_end_at_once_are_not_submitted_for_ever(place, in_slurm):
    broken = dataclasses.replace(place, setup=("echo no such module >&2", "exit 7"))
    first = int(in_slurm.run("sbatch", "--parsable", "--output=/dev/null", "--wrap=true"))
    with pytest.raises(PlaceError, match=r"(?s)ended before a worker came.*no such module"):
        connect(broken).__enter__()
    last = int(in_slurm.run("sbatch", "--parsable", "--output=/dev/null", "--wrap=true"))
    # At first two jobs; in each of three rounds those that have ended by then, one or two.
    assert 5 <= last - first - 1 <= 8


def test_without_slurm(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    place = Slurm(workers=1, interface="lo", directory=str(tmp_path))
    with pytest.raises(PlaceError, match="login node"), connect(place):
        pass


@pytest.mark.slow
def test_jobs_end_with_a_killed_driver(in_slurm, tmp_path):
    (tmp_path / "driver.py").write_text(DRIVER)
    driver = subprocess.Popen(
        [sys.executable, str(tmp_path / "driver.py"), str(tmp_path)],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        stdout=subprocess.PIPE,
    )
    assert driver.stdout is not None
    assert driver.stdout.readline() == b"up\n"
    assert len(jobs(in_slurm)) == 2
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    until(lambda: jobs(in_slurm) == [])
