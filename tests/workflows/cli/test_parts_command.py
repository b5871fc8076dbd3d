"""`basepar sweep` with --prepare, --part, --finish, and its exit statuses."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import xarray as xr

from sweeps.store import Store, check_and_repair

SWEEP = """
mechanism: four-bar
space: {plan: sobol, variables: {lx3: [1.0, 1.6]}, candidates: 24, seed: 7}
evaluate: {rank: none, metrics: [mass]}
store: {chunk: 8}
"""


@pytest.fixture
def job(tmp_path):
    (tmp_path / "job.yaml").write_text(SWEEP)
    return str(tmp_path / "job.yaml"), "--store", str(tmp_path / "job.zarr")


def test_parts_and_what_is_left(run, job, tmp_path):
    found = run("sweep", *job, "--prepare", "--json")
    assert (found.status, found.json["counts"]) == (0, {"pending": 24})
    found = run("sweep", *job, "--part", "2/3", "--quiet", "--json")
    assert found.status == 0
    assert (found.json["part"], found.json["total"], found.json["evaluated"]) == ("2/3", 8, 8)
    assert (found.json["counts"], found.json["stopped"]) == ({"solved": 8}, False)
    again = run("sweep", *job, "--part", "2/3", "--quiet")
    assert "part 2/3 of" in again.out
    assert "8 solved; 0 variants evaluated" in again.out
    left = run("status", str(tmp_path / "job.zarr"), "--json").json
    assert left["counts"] == {"pending": 16, "solved": 8}
    assert left["runs"][-1]["part"] == "2/3"
    done = run("sweep", *job, "--finish", "--quiet", "--json")
    assert (done.status, done.json["evaluated"], done.json["done"]) == (0, 16, True)
    assert run("sweep", *job, "--quiet", "--json").json["evaluated"] == 0
    stored = xr.open_zarr(tmp_path / "job.zarr")
    # 2.7 kg/m times the lengths 0.3, 0.7 and lx3: the sum of three products.
    mass = stored.mass.values - stored.mass.values[0]
    slope = mass[1:] / (stored.lx3.values - stored.lx3.values[0])[1:]
    np.testing.assert_allclose(slope, slope[0], rtol=1e-12)
    assert check_and_repair.find(tmp_path / "job.zarr") == []


def test_how_to_go_on(run, job):
    found = run("sweep", *job, "--prepare")
    assert "--part 1/4" in found.out
    assert "--finish" in found.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--part", "0/3"], "write K/N"),
        (["--part", "4/3"], "write K/N"),
        (["--part", "third"], "write K/N"),
        (["--part", "1/3", "--prepare"], "--prepare and --part: one after the other"),
        (["--part", "1/3", "--cluster", "hpc"], "whoever runs this command is the worker"),
        (["--part", "1/3", "--retry-failed"], "--retry-failed is for the whole sweep"),
        (["--prepare", "--repair"], "--repair is for the whole sweep"),
        (["--part", "1/3", "--workers", "0"], "at least 1 is needed"),
    ],
)
def test_what_does_not_go_together(run, job, words, said):
    found = run("sweep", *job, *words)
    assert found.status == 2
    assert said in found.err


def test_a_part_without_a_store(run, job):
    found = run("sweep", *job, "--part", "1/3", "--json")
    assert found.status == 1
    assert "make it first, with --prepare" in found.json["error"]["message"]


def test_no_chunk_is_begun_that_cannot_end(run, job):
    run("sweep", *job, "--prepare", "--quiet")
    found = run("sweep", *job, "--part", "1/1", "--within", "1", "--json")  # 2 s to end
    assert (found.status, found.json["evaluated"], found.json["stopped"]) == (4, 0, True)
    assert run("sweep", *job, "--part", "1/1", "--json").status == 0


@pytest.mark.slow
def test_sigterm_by_the_command(tmp_path):
    """A process of its own: what is begun is stored, the exit status is 4, and it goes on."""
    job = SWEEP.replace("candidates: 24", "candidates: 4096").replace("mass", "torque_rms, mass")
    (tmp_path / "job.yaml").write_text(job)
    path = tmp_path / "job.zarr"
    command = [sys.executable, "-m", "workflows.cli.main", "sweep", str(tmp_path / "job.yaml")]
    command += ["--store", str(path), "--quiet", "--json"]
    environment = os.environ | {"PYTHONPATH": ":".join(sys.path)}
    subprocess.run([*command, "--prepare"], env=environment, check=True, capture_output=True)
    part = subprocess.Popen([*command, "--part", "1/1"], env=environment, stdout=subprocess.PIPE)
    records, end = Store.open(path).records(), time.monotonic() + 240
    while not records.numbers(0, 512):
        assert time.monotonic() < end
        time.sleep(0.02)
    part.send_signal(signal.SIGTERM)
    out, _ = part.communicate(timeout=240)
    assert part.returncode == 4
    assert json.loads(out)["stopped"]
    assert json.loads(out)["evaluated"] == 8 * len(records.numbers(0, 512)) < 4096
    assert check_and_repair.find(path) == []
