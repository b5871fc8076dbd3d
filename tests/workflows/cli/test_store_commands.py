"""`basepar sweep` with --from, --repair, a family; `basepar status` with --check, while filled."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from basepar_core.files.mechanism_file import library_path
from sweeps.store.lock import locked
from tests.workflows.help_text import assert_named, fields
from workflows.jobs import sweep

pytestmark = pytest.mark.slow

SWEEP = """
mechanism: four-bar
space:
  plan: product
  of:
    - {plan: sobol, variables: {lx3: [1.0, 1.6]}, candidates: 8, seed: 7}
    - {plan: grid, variables: {lx1: [0.25, 0.3, 0.7]}}
  derive: {Dx: lx3 - lx1}
evaluate: {rank: none, metrics: [stroke(D)]}
store: {chunk: 8}
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tmp_path_factory.mktemp("made")


@pytest.fixture(scope="module")
def job(made):
    (made / "job.yaml").write_text(SWEEP)
    return str(made / "job.yaml"), str(made / "job.zarr")


@pytest.fixture
def filled(run, job):
    ran = run("sweep", job[0], "--store", job[1], "--workers", "1", "--json")
    assert ran.status == 0
    return ran.json


def test_a_store_runs_again_elsewhere(run, job, filled, made):
    spec, store = job
    again = str(made / "again.zarr")
    ran = run("sweep", "--from", store, "--store", again, "--workers", "1", "--json")
    assert ran.status == 0
    assert ran.json["spec_hash"] == filled["spec_hash"]
    one, two = xr.open_zarr(store), xr.open_zarr(again)
    for name in one.variables:
        np.testing.assert_array_equal(one[name], two[name], err_msg=name)
    np.testing.assert_allclose(one["Dx"], one["lx3"] - one["lx1"], rtol=1e-15)
    # The file and the store it made are one sweep: nothing is left to do.
    assert run("sweep", spec, "--store", again, "--json").json["evaluated"] == 0


def test_nothing_missing_starts_no_worker(run, job, filled, monkeypatch):
    def nobody(place):
        raise AssertionError("workers were started")

    monkeypatch.setattr(sweep, "connect", nobody)
    assert run("sweep", job[0], "--store", job[1], "--json").json["evaluated"] == 0


def test_what_is_odd_about_the_space_is_said(run, job, filled):
    (note,) = run("status", job[1], "--json").json["notes"]
    assert re.fullmatch(
        r"Dx is swept from 0\.3\d* to 1\.\d+ m, beyond its bounds 0.6 … 1.4 m", note
    )
    assert "beyond its bounds" in run("status", job[1]).out


def test_damage_is_found_and_mended(run, job, filled):
    spec, store = job
    before = xr.open_zarr(store).load()
    Path(store, "stroke_D", "c", "1").write_bytes(b"torn")
    ran = run("status", store, "--check", "--json")
    assert ran.status == 1
    (damage,) = ran.json["damage"]
    assert damage.startswith("stroke_D, variants 8 to 16")
    ran = run("sweep", spec, "--store", store, "--repair", "--workers", "1", "--json")
    assert (ran.status, ran.json["evaluated"], len(ran.json["repaired"])) == (0, 8, 1)
    assert xr.open_zarr(store).load().equals(before)
    assert run("status", store, "--check", "--json").json["damage"] == []


def test_another_sweeps_store_is_not_mended(run, job, filled, made):
    """A wrong file or --store: refused, and its damage is as it was."""
    spec, store = job
    (made / "other.yaml").write_text(SWEEP.replace("seed: 7", "seed: 8"))
    torn, metadata = Path(store, "stroke_D", "c", "1"), Path(store, "branch", "zarr.json")
    whole = metadata.read_bytes()
    torn.write_bytes(b"torn")
    metadata.unlink()
    ran = run("sweep", str(made / "other.yaml"), "--store", store, "--repair", "--json")
    assert ran.status == 1
    assert "seed: 8 here, 7 there" in ran.json["error"]["message"]
    assert torn.read_bytes() == b"torn"
    assert not metadata.exists()
    mended = run("sweep", spec, "--store", store, "--repair", "--workers", "1", "--json")
    assert (mended.status, len(mended.json["repaired"])) == (0, 2)
    assert json.loads(metadata.read_bytes()) == json.loads(whole)


def test_status_says_who_fills_it(run, job, filled, made):
    with locked(made / "job.zarr") as held:
        held.tell(done=12, total=24, evaluated=6, seconds=2.0, workers=2)
        held._write()
        document = run("status", job[1], "--json", "--check").json
        now = document["running"]
        assert_named(fields("status"), document)
        shown = " ".join(run("status", job[1]).out.split())  # lines are wrapped
    assert (now["settled"], now["rate"], now["seconds_left"]) == (12, 3.0, 4.0)
    assert "3 variants per second on 2 workers, about 0:00:04 left" in shown
    assert run("status", job[1], "--json").json["running"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Name a sweep file, or a store"),
        (["four-bar", "--from", "x.zarr"], "one of them"),
        (["--from", "x.zarr"], "--from needs --store"),
        (["--from", "x.zarr", "--store", "x.zarr"], "name the same store"),
    ],
)
def test_usage(run, arguments, words):
    ran = run("sweep", *arguments, "--json")
    assert ran.status == 2
    assert words in ran.json["error"]["message"]


def test_a_family_has_a_group_for_each(run, made):
    (made / "family.yaml").write_text(
        "mechanisms: {light: four-bar, five: five-bar}\n"
        "space: {plan: grid, variables: {lx1: [0.3]}}\nevaluate: {rank: none}\n"
    )
    root = made / "family.zarr"
    ran = run("sweep", str(made / "family.yaml"), "--store", str(root), "--workers", "1", "--json")
    assert ran.status == 0
    assert {name: one["total"] for name, one in ran.json["members"].items()} == {
        "light": 1,
        "five": 1,
    }
    five = xr.open_zarr(root, group="five", consolidated=False)
    assert five.attrs["mechanism"] == "five-bar"
    assert five.sizes["parameter"] == 16
    shown = run("status", str(root))
    assert shown.status == 0
    assert "sweep of four-bar" in shown.out
    assert "sweep of five-bar" in shown.out
    again = run("sweep", str(made / "family.yaml"), "--store", str(root), "--json")
    assert [one["evaluated"] for one in again.json["members"].values()] == [0, 0]
    other = str(made / "other.zarr")
    rerun = run("sweep", "--from", str(root), "--store", other, "--workers", "1", "--json")
    assert [one["evaluated"] for one in rerun.json["members"].values()] == [1, 1]
    assert xr.open_zarr(other, group="five", consolidated=False).load().equals(five.load())


MEASURED = """
t,A,A',A''
0,0.60,0.0,0.5
0.1,0.65,0.9,0.3
0.2,0.75,1.1,-0.4
0.3,0.80,0.2,-0.9
"""


def test_a_measured_motion_goes_with_the_store(run, made, monkeypatch):
    """The store runs again where the motion's file is not, or where another has its name."""
    home = made / "home"
    home.mkdir()
    text = library_path("four-bar").read_text()
    motion = re.compile(r"^cycle:.*$", re.MULTILINE)
    (home / "mine.yaml").write_text(motion.sub("cycle: {kind: data, file: run.csv}", text))
    (home / "run.csv").write_text(MEASURED.strip())
    (home / "job.yaml").write_text(
        "mechanism: mine.yaml\nspace: {plan: grid, variables: {lx1: [0.3, 0.31]}}\n"
        "evaluate: {rank: none, metrics: [torque_rms]}\nstore: {chunk: 2}\n"
    )
    one, two = str(made / "measured.zarr"), str(made / "twice.zarr")
    ran = run("sweep", str(home / "job.yaml"), "--store", one, "--workers", "1", "--json")
    assert ran.json["counts"] == {"solved": 2}
    away = made / "away"
    away.mkdir()
    (away / "run.csv").write_text(MEASURED.strip().replace("0.65", "0.66"))
    monkeypatch.chdir(away)
    again = run("sweep", "--from", one, "--store", two, "--workers", "1", "--json")
    assert again.status == 0
    assert again.json["spec_hash"] == ran.json["spec_hash"]
    assert xr.open_zarr(one).load().equals(xr.open_zarr(two).load())


def test_a_changed_metric_is_not_the_stores_sweep(run, made):
    (made / "own.py").write_text("def far(cycle):\n    return cycle.q[0, :, 0]\n")
    (made / "own.yaml").write_text(
        "mechanism: four-bar\nspace: {plan: grid, variables: {lx1: [0.3]}}\n"
        "evaluate: {rank: none, own: {far: own.py:far}}\nstore: {chunk: 1}\n"
    )
    store, other = str(made / "own.zarr"), str(made / "own-again.zarr")
    ran = run("sweep", str(made / "own.yaml"), "--store", store, "--workers", "1", "--json")
    assert ran.status == 0
    (made / "own.py").write_text("def far(cycle):\n    return 2 * cycle.q[0, :, 0]\n")
    again = run("sweep", "--from", store, "--store", other, "--json")
    assert again.status == 1
    assert "It is not the same any more, and was not run" in again.json["error"]["message"]
    assert not Path(other).exists()
