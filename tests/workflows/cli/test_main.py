"""The command line's manners: help, errors, exit statuses, list and show."""

import math
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import zarr

from basepar_core.api import load
from basepar_core.files.mechanism_file import library_path
from tests.workflows.help_text import assert_named, commands, fields
from workflows.jobs import load_jobs
from workflows.jobs.examples import study_file, sweep_file, sweep_names
from workflows.views import shipped


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help_with_an_example(name):
    text = commands()[name].format_help()
    assert f"example:\n  basepar {name}" in text
    assert "--json" in text
    # An example with --json, as docs/json.md promises.
    assert re.search(rf"^  basepar {name}.* --json", text, re.MULTILINE)


def test_list(run):
    found = run("list", "--json").json
    by_name = {entry["name"]: entry for entry in found["mechanisms"]}
    assert {"four-bar", "slider-crank", "five-bar", "parallelogram", "ur10", "rsur"} <= set(
        by_name
    )
    assert by_name["ur10"]["space"] == "spatial"
    assert by_name["ur10"]["degrees_of_freedom"] == 6
    assert by_name["four-bar"]["parameters"] == 12
    assert "four-bar" in found["sweeps"]
    shown = run("list").out
    assert all(name in shown for name in by_name)


def test_show(run):
    found = run("show", "four-bar", "--json").json
    assert found["loops"] == [["A", "B", "C", "D"]]
    assert found["degrees_of_freedom"] == 1
    assert [joint["name"] for joint in found["joints"] if joint["cut"]] == ["D"]
    assert found["coordinates"][0]["name"] == "A"
    # 34 deg in the file; held exactly.
    assert found["coordinates"][0]["assembled"] == pytest.approx(0.5934119456780721, abs=1e-15)
    rho_l = 2.7 * 0.3
    crank = found["bodies"][0]["parameters"]
    # A product of two decimals in float64.
    assert crank["m"] == pytest.approx(rho_l, rel=1e-15)
    assert crank["J"] == pytest.approx(rho_l * 0.3**2 / 3, rel=1e-14)
    shown = run("show", "five-bar").out
    assert "2 degrees of freedom" in " ".join(shown.split())


STUB = """
name: stub
space: spatial
gravity: [0, 0, -9.81]
bodies: {stub: {form: massless}, arm: {}}
joints:
  A: {type: revolute, connects: [ground, stub]}
  B: {type: revolute, connects: [stub, arm], axis: [[1, 0, 0], [1, 0, 0]],
      reference: [[0, 0, 1], [0, 0, 1]]}
coordinates: [A, B]
"""
EXCITED = (
    "excitation: {kind: states, frequency: 0.3 Hz, samples: 24, seed: 1, "
    "amplitude: {A: 1 rad, B: 1 rad}}\n"
)


def test_totals_leave_out_what_does_not_count_and_drives_are_named(run, tmp_path):
    """Ten parameters are the arm's; a file that names no drives has coordinates."""
    path = tmp_path / "stub.yaml"
    path.write_text(STUB + EXCITED)
    shown = run("show", str(path)).out
    assert "10 inertial parameters" in shown
    assert "coordinate" in shown
    assert "actuated" not in shown
    assert "of 10, symbolic" in run("base", str(path)).out
    path.write_text(STUB + EXCITED + "actuated: [B]\n")
    rows = [line for line in run("show", str(path)).out.splitlines() if "revolute" in line]
    assert ["actuated" in row for row in rows] == [False, True]


def test_symbols_are_shown_in_their_units(run, tmp_path):
    file = tmp_path / "pendulum.yaml"
    file.write_text("""
name: pendulum
space: planar
gravity: [0, -9.81]
geometry:
  l: {value: 500, unit: mm, bounds: [0.1 m, 600]}
  a: {value: 30, unit: deg}
constants: {k: {value: 3}}
bodies: {rod: {}}
joints: {A: {type: revolute, connects: [ground, rod], at: [[l*cos(a), 0], [0, 0]]}}
coordinates: [A]
""")
    length, angle, plain = run("show", str(file), "--json").json["symbols"]
    # Through SI and back: rounding.
    assert length["value"] == pytest.approx(500, rel=1e-15)
    assert length["bounds"] == pytest.approx([100, 600], rel=1e-15)
    assert angle["value"] == pytest.approx(30, rel=1e-15)
    assert plain["value"] == 3


def test_a_file_of_ones_own(run, tmp_path):
    text = """
name: pendulum
space: planar
gravity: [0, -9.81]
geometry: {l: {value: 500, unit: mm}}
bodies: {rod: {number: 1, mass: 2 kg, centre: [l/2, 0], central_inertia: 1/100}}
joints: {A: {type: revolute, connects: [ground, rod]}}
coordinates: [A]
assembly: {A: 10 deg}
excitation: {kind: states, samples: 20, seed: 1, amplitude: {A: 1 rad}, frequency: 1 Hz}
"""
    file = tmp_path / "pendulum.yaml"
    file.write_text(text)
    found = run("base", str(file), "--json").json
    # About a fixed pivot: J and both first moments by gravity; the mass does nothing.
    assert found["rank"] == 3
    assert found["eliminated"] == found["no_effect"] == ["rod.m"]


@pytest.mark.parametrize(
    ("arguments", "status", "kind"),
    [
        (("nope",), 2, "usage"),
        (("show",), 2, "usage"),
        (("base", "four-bar", "--route", "magic"), 2, "usage"),
        (("show", "no-such-mechanism"), 1, "file"),
        (("show", "four-bar", "-o", "four-bar.gif"), 2, "usage"),
        (("sweep", "no-such-sweep"), 2, "usage"),
        (("sweep", "four-bar", "--cluster", "moon"), 2, "usage"),
        (("sweep", "four-bar", "--workers", "0"), 2, "usage"),
        (("status", "no-such.zarr"), 1, "store"),
    ],
)
def test_failures_are_one_document(run, arguments, status, kind):
    ran = run(*arguments, "--json")
    assert ran.status == status
    assert ran.json["error"]["kind"] == kind
    assert ran.json["error"]["message"]
    plain = run(*arguments)
    assert plain.status == status
    assert plain.out == ""
    assert plain.err.startswith("basepar: ")
    assert "Traceback" not in plain.err


def test_what_the_system_refuses_is_one_message(run, tmp_path):
    (tmp_path / "file").write_text("")
    ran = run("show", "four-bar", "-o", str(tmp_path / "file" / "four-bar.svg"), "--json")
    assert ran.status == 1
    assert ran.json["error"]["where"] == [str(tmp_path / "file")]


def test_a_grid_that_nobody_can_count(run, tmp_path):
    axis = "{from: 0.5, to: 1, count: 2000}"
    names = ("lx1", "lx2", "ly2", "lx3", "Dx", "Dy")
    variables = ", ".join(f"{name}: {axis}" for name in names)
    file = tmp_path / "sweep.yaml"
    file.write_text(f"mechanism: four-bar\nspace: {{plan: grid, variables: {{{variables}}}}}\n")
    ran = run("sweep", str(file), "--json")
    assert ran.status == 1
    assert (ran.json["error"]["kind"], ran.json["error"]["where"]) == ("file", ["space"])


def test_an_excitation_that_cannot_be_followed_is_the_files_fault(run, tmp_path):
    from basepar_core.files.mechanism_file import library_path

    text = library_path("four-bar").read_text()
    assert "amplitude: {A: 0.6 rad}" in text
    file = tmp_path / "four-bar.yaml"
    # A crank longer than the others leave it room for: it swings about its assembly only.
    text = text.replace("lx1: {value: 0.3", "lx1: {value: 1.8").replace("{A: 0.6 rad}", "{A: 3}")
    file.write_text(text.replace("bounds: [0.2, 1.5]", "bounds: [0.2, 2]"))
    ran = run("base", str(file), "--json")
    assert ran.status == 1
    assert (ran.json["error"]["kind"], ran.json["error"]["where"]) == ("motion", ["excitation"])


def test_a_defect_is_one_message_and_its_traceback_can_be_had(run, monkeypatch):
    def broken():
        raise OverflowError("cannot fit 'int'\ninto an index")

    monkeypatch.setattr(shipped, "document", broken)
    ran = run("list", "--json")
    assert (ran.status, ran.err) == (1, "")
    assert ran.json["error"]["kind"] == "internal"
    said = ran.json["error"]["message"]
    assert "OverflowError: cannot fit 'int' into an index" in said
    assert "report it" in said
    plain = run("list")
    assert (plain.status, plain.out, plain.err) == (1, "", f"basepar: {said}\n")
    monkeypatch.setenv("BASEPAR_DEBUG", "1")
    ran = run("list", "--json")
    assert ran.json["error"]["kind"] == "internal"
    assert "Traceback" in ran.err
    assert "in broken" in ran.err


def test_stopped_by_hand(run, monkeypatch):
    def stopped():
        raise KeyboardInterrupt

    monkeypatch.setattr(shipped, "document", stopped)
    ran = run("list", "--json")
    assert ran.status == 1
    assert ran.json["error"] == {"kind": "interrupted", "message": "stopped", "where": []}
    plain = run("list")
    assert (plain.status, plain.out, plain.err) == (1, "", "basepar: stopped\n")


def test_what_is_not_finite_is_null(run, monkeypatch):
    odd = {"a": [math.inf, -math.inf, math.nan, 1.5], "b": {"c": (np.float64("inf"), 2, "inf")}}
    monkeypatch.setattr(shipped, "document", lambda: odd)
    assert run("list", "--json").json == {
        "a": [None, None, None, 1.5],
        "b": {"c": [None, 2, "inf"]},
    }


@pytest.mark.parametrize(
    ("command", "options"),
    [("list", ()), ("show", ("four-bar", "-o", "four-bar.svg")), ("base", ("four-bar",))],
)
def test_help_names_the_fields_that_are_printed(run, command, options, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_named(fields(command), run(command, *options, "--json").json)


def test_a_store_of_somebody_else(run, tmp_path):
    zarr.create_group(tmp_path / "other.zarr")
    ran = run("status", str(tmp_path / "other.zarr"), "--json")
    assert ran.status == 1
    assert "not the store of a sweep" in ran.json["error"]["message"]


def test_all_mistakes_of_a_file(run, tmp_path):
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "name: wrong\nspace: planar\ngravity: [0, -9.81 kg]\nbodies: {rod: {mas: 1}}\n"
        "joints: {A: {type: revolut, connects: [ground, rod]}}\ncoordinates: [B]\n"
    )
    error = run("show", str(file), "--json").json["error"]
    assert {"gravity[1]", "bodies.rod.mas", "joints.A.type"} <= set(error["where"])
    assert "did you mean 'revolute'" in error["message"]


def test_wrong_number_of_coordinates(run, tmp_path):
    from basepar_core.files.mechanism_file import library_path

    text = library_path("five-bar").read_text()
    file = tmp_path / "five-bar.yaml"
    start = text.index("coordinates:")
    file.write_text(text[:start] + "coordinates: [A]\n")
    error = run("show", str(file), "--json").json["error"]
    assert error["kind"] == "mechanism"
    assert "2 degrees of freedom" in error["message"]
    assert error["where"] == ["coordinates"]


@pytest.mark.parametrize(
    ("words", "remedy"),
    [
        (("sweep", "study.yaml"), r"is a study file, .* `\S*basepar study .*study.yaml`"),
        (("study", "sweep.yaml"), r"is a sweep file, .* `\S*basepar sweep .*sweep.yaml`"),
        (
            ("sweep", "mechanism.yaml"),
            r"is a mechanism file, .* `\S*basepar show .*`mechanism: mech",
        ),
        (("study", "mechanism.yaml"), r"is a mechanism file, .*docs/study-files.md"),
        (("study", "store.zarr"), r"is a store, .* `\S*basepar status"),
        (("show", "sweep.yaml"), r"1 mistake\n.*sweep or of a study. .* names \(four-bar\)"),
        (("sweep", "dwell"), r"dwell is a study \(`\S*basepar study dwell`\) and a mechanism"),
    ],
)
def test_a_file_of_another_kind_is_named(run, tmp_path, monkeypatch, words, remedy):
    shutil.copy(study_file("four-bar"), tmp_path / "study.yaml")
    shutil.copy(sweep_file("four-bar"), tmp_path / "sweep.yaml")
    shutil.copy(library_path("four-bar"), tmp_path / "mechanism.yaml")
    zarr.create_group(tmp_path / "store.zarr")
    monkeypatch.chdir(tmp_path)
    ran = run(*words)
    assert ran.status == (1 if words[0] == "show" else 2)
    assert re.search(remedy, ran.err), ran.err


@pytest.mark.parametrize("name", sweep_names())
def test_nothing_is_odd_about_shipped_sweeps(name):
    assert load_jobs(name)[""].notes == ()


def test_the_list_says_what_the_reader_finds(run):
    """The list has what the files state; the reader checks and computes."""
    for entry in run("list", "--json").json["mechanisms"]:
        mechanism = load(entry["name"])
        assert entry == {
            "name": mechanism.name,
            "space": "planar" if mechanism.planar else "spatial",
            "bodies": len(mechanism.bodies),
            "joints": len(mechanism.joints),
            "degrees_of_freedom": len(mechanism.coordinates),
            "parameters": len(mechanism.parameter_names),
            "description": mechanism.description,
        }


def test_the_list_loads_no_computer_algebra():
    program = (
        "import sys\nfrom workflows.cli.main import main\nmain(['list', '--json'])\n"
        "heavy = {'sympy', 'numba', 'scipy', 'dask', 'xarray', 'matplotlib'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ran.stderr == "[]\n"
