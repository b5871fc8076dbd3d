"""What a command proposes in the end where warnings were shown, and that doing it works."""

import re
import shlex

import pytest

from basepar_core.files import library_path

# They are shown on purpose.
pytestmark = pytest.mark.filterwarnings("default::basepar_core.errors.BaseparWarning")

SWEEP = "mechanism: crank.yaml\nspace: {plan: grid, variables: {lx1: [0.30, 0.31]}}\n"
STUDY = (
    "mechanism: crank.yaml\nvariables: {lx1: [0.30, 0.31]}\n"
    "objectives: {torque_rms: minimize}\ntrials: 2\nsampler: {kind: random}\n"
)


@pytest.fixture
def crank(tmp_path, monkeypatch):
    """`crank(speed)`: the four-bar at another speed of its cycle, beside a sweep and a study."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(SWEEP)
    (tmp_path / "best.yaml").write_text(STUDY)
    text = library_path("four-bar").read_text(encoding="utf-8")

    def write(speed):
        assert "speed: 6.28 rad/s" in text
        (tmp_path / "crank.yaml").write_text(text.replace("6.28 rad/s", speed), encoding="utf-8")

    return write


@pytest.mark.parametrize(("kind", "file"), [("sweep", "job"), ("study", "best")])
def test_the_store_for_a_corrected_file(run, crank, kind, file):
    crank("60")
    few = ("--workers", "1", "--quiet")
    ran = run(kind, f"{file}.yaml", "--store", "old.zarr", *few)
    assert "If the warning above is right, correct the file; old.zarr keeps the" in ran.out
    proposed, *others = re.findall(r"\n  .*?basepar (.*)", ran.out)
    assert proposed == f"{kind} {file}.yaml --store old-2.zarr"
    assert "report old.zarr" in others
    again = run(kind, f"{file}.yaml", "--store", "old.zarr", *few)
    assert "If the warning above is right" in again.out

    crank("60 rpm")
    assert "holds another" in run(kind, f"{file}.yaml", "--store", "old.zarr", *few).err
    right = run(*shlex.split(proposed), *few)
    assert right.status == 0
    assert "warning" not in right.out
    assert f"{kind} {file}.yaml" not in right.out


def test_the_record_of_a_corrected_file(run, crank, tmp_path):
    crank("60")
    asked = ("simulate", "crank.yaml", "--motion", "cycle", "-o", "a record.csv")
    ran = run(*asked)
    assert (
        "If the warning above is right, correct the file, and write a record.csv anew" in ran.out
    )
    (proposed,) = re.findall(r"\n  .*?basepar (.*)", ran.out)
    before = (tmp_path / "a record.csv").read_text()

    crank("60 rpm")
    again = run(*shlex.split(proposed))
    assert again.status == 0
    assert "warning" not in again.out
    assert (tmp_path / "a record.csv").read_text() != before


def test_several_warnings_are_counted(run, crank, tmp_path):
    crank("60")
    file = tmp_path / "crank.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("gravity: [0, -9.81]", "gravity: [0, -9810]"), encoding="utf-8")
    ran = run("simulate", "crank.yaml", "-o", "record.csv")
    assert "If one of the 2 warnings above is right" in ran.out


def test_a_range_beyond_bounds_counts(run, crank, tmp_path):
    """Notes of the sweep are warnings, too."""
    crank("60 rpm")
    job = tmp_path / "job.yaml"
    job.write_text(SWEEP.replace("0.30", "0.17"), encoding="utf-8")
    ran = run("sweep", "job.yaml", "--store", "old.zarr", "--workers", "1", "--quiet")
    assert "beyond its bounds" in ran.err
    assert "If the warning above is right" in ran.out
    assert "sweep job.yaml --store old-2.zarr" in ran.out


def test_no_command_repeats_values_that_may_be_wrong(run, crank):
    crank("60 rpm")
    ran = run("simulate", "crank.yaml", "--set", "lx1=0.0003", "-o", "record.csv")
    assert "Next" not in ran.out
    what = 'what was read as --set lx1="0.0003 m"'
    assert f"is right, correct {what}, and write record.csv anew" in ran.out
    crank("60")  # here the file may be wrong, too
    words = ("simulate", "crank.yaml", "--set", "lx1=0.0003", "-o", "record.csv", "--json")
    assert len(run(*words, "--overwrite").json["warnings"]) == 2
    ran = run("simulate", "crank.yaml", "--set", "lx1=0.0003", "-o", "other.csv")
    assert f"above is right, correct {what}, or the file, and write" in ran.out


def test_a_condition_that_the_file_does_not_meet_is_told_once(run, crank, tmp_path):
    crank("60 rpm")
    job = tmp_path / "job.yaml"
    job.write_text(SWEEP.replace("plan: grid", 'plan: grid, where: ["lx1 > 305 mm"]'))
    ran = run("sweep", "job.yaml", "--store", "a.zarr", "--workers", "1", "--quiet")
    assert (ran.err + ran.out).count("own geometry does not meet") == 1
    assert "own geometry does not meet" in run("status", "a.zarr").out
