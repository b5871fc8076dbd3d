"""What `status` says that jobs used, and what to ask next time: numbers worked out by hand."""

import json

import pytest

from sweeps.run import here
from sweeps.store import Store
from sweeps.store.origins import RUNS
from tests.sweeps.fourbar import FourBar, spec
from workflows.cli.main import main
from workflows.jobs import resources

GB = 10**9


@pytest.fixture
def store(tmp_path):
    """Made, and nothing else."""
    path = tmp_path / "sweep.zarr"
    here.prepare(spec(path), evaluator=FourBar())
    return Store.open(path, "r+")


def noted(store, number, used=(), **more):
    """A run, as `origins` keeps it."""
    run = {"started": f"2026-01-01T00:00:0{number}", "host": "a", "pid": number, **more}
    run |= {"ended": "later", "used": list(used)} if used else {}
    store.objects.put(f"{RUNS}/{number}", json.dumps(run).encode())


def job(role="part", seconds=100.0, cpu=150.0, memory=1 * GB, number=1, asked=()):
    told = {"role": role, "host": "a", "seconds": seconds, "cpu_seconds": cpu, "memory": memory}
    names = {"job": str(number), "system": "slurm", "cluster": "mine"}
    return told | {"asked": dict(asked)} | names


def test_parts_that_asked_for_too_much(store):
    asked = {"seconds": 3600.0, "memory": 4.0 * GB, "cores": 4.0}
    noted(store, 1, [job(asked=asked)], part="1/3")
    noted(
        store, 2, [job(seconds=200, cpu=400, memory=2.1 * GB, number=2, asked=asked)], part="2/3"
    )
    noted(store, 3, part="3/3", job="3")
    found = resources(store.path)
    (parts,) = found["jobs"]
    assert parts["used"]["seconds"] == {"median": 150.0, "max": 200.0}
    assert parts["used"]["memory"] == {"median": 1.55 * GB, "max": 2.1 * GB}
    assert parts["used"]["cores"] == {"median": 1.75, "max": 2.0}
    assert parts["asked"] == asked
    # 1.25 · 200 s = 250 s: 5 minutes; 1.25 · 2.1 GB = 2.625 GB.
    assert parts["next"] == {"seconds": 300, "memory": 2.7 * GB, "cores": 2}
    assert (found["unrecorded"], found["batch"]) == (1, True)


def test_jobs_that_were_stopped_need_more_time(store):
    noted(store, 1, [job(seconds=600, cpu=60, asked={"cores": 2.0})], part="1/2", stopped=True)
    (parts,) = resources(store.path)["jobs"]
    assert (parts["stopped"], parts["next"]["seconds"]) == (1, 1200)
    assert parts["next"]["cores"] == 1  # a tenth was busy


def test_short_jobs_do_not_tell_their_cores(store):
    noted(store, 1, [job(seconds=20, cpu=5, asked={"cores": 4.0})])
    assert resources(store.path)["jobs"][0]["next"]["cores"] == 4


def test_damaged_notes_are_left_out(store):
    wrong = [{"role": "part"}, 7, job(seconds=float("nan")), job(memory=-1), job(cpu="x")]
    noted(store, 1, [*wrong, job(role="driver")])
    store.objects.put(f"{RUNS}/2", b'{"ended": 1, "used": 7}')
    store.objects.put(f"{RUNS}/3", b"[")
    assert [one["role"] for one in resources(store.path)["jobs"]] == ["driver"]


def test_slurms_own_numbers_come_first(store, tmp_path, monkeypatch):
    """Of a job that was run again, its last run; a job that was killed is known to SLURM only."""
    noted(store, 1, [job(memory=3 * GB)], part="1/2", stopped=True)
    noted(store, 2, [job(memory=3 * GB, seconds=50)], part="1/2")
    noted(store, 3, part="2/2", job="9", system="slurm", cluster="mine")
    said = ["1|mine|COMPLETED|80|01:00||1|4G|60", "1.batch|mine|COMPLETED|80|01:00|1G|1||"]
    said += [
        "9|mine|OUT_OF_MEMORY|70|01:00||1|4G|60",
        "9.batch|mine|OUT_OF_MEMORY|70|00:10|4G|1||",
    ]
    (tmp_path / "sacct").write_text("#!/bin/sh\ncat <<.\n" + "\n".join([*said, "."]) + "\n")
    (tmp_path / "sacct").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = resources(store.path)
    (parts,) = found["jobs"]
    assert (parts["jobs"], parts["accounted"], parts["out_of_memory"]) == (3, 2, 1)
    assert parts["used"]["seconds"] == {"median": 80.0, "max": 100.0}
    assert parts["asked"] == {"seconds": 3600.0, "memory": 4.0 * 2**30, "cores": 1.0}
    # It had 4 GiB, 4.295 GB, and would have needed more: twice.
    assert parts["next"]["memory"] == 8.6 * GB
    assert found["unrecorded"] == 0


def test_a_part_notes_what_it_used(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PBS_JOBID", "12.server")
    monkeypatch.setenv("BASEPAR_ASKED", "cores=1:memory=2000000000:seconds=7200")
    path = tmp_path / "sweep.zarr"
    here.prepare(spec(path), evaluator=FourBar())
    here.part(spec(path), 1, 2, filling=lambda: here.prepare(spec(path), evaluator=FourBar()))
    assert main(["status", str(path)]) == 0
    said = capsys.readouterr().out
    assert "parts (1)" in said
    assert "2:00:00" in said
    assert main(["status", str(path), "--json"]) == 0
    (part,) = json.loads(capsys.readouterr().out)["resources"]["jobs"]
    assert part["asked"] == {"cores": 1.0, "memory": 2.0 * GB, "seconds": 7200.0}
    # Of Python with NumPy at least, of this very process and its copy at most.
    assert 50e6 < part["used"]["memory"]["max"] < 20 * GB
