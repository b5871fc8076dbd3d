"""`basepar identify`, `base --with`, and `basepar reproduce identification`."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from basepar_core.base import nominal_observation, numeric
from basepar_core.base.numeric_route import check
from basepar_core.dynamics import closure
from basepar_core.files import mechanism_file
from tests.core import identification_data as data
from workflows.jobs.motion_files import with_excitation
from workflows.reproduce import identification
from workflows.reproduce.comparison import Verdict

ARGUMENTS = [
    "identify",
    str(data.MECHANISM),
    str(data.TRAIN),
    "--columns",
    "A=q,A'=qd,A''=qdd,tau.A=tau",
    "--eliminate",
    "m1,m2,m3,mx3,my3,J3",
]


@pytest.mark.slow
def test_identify_document(run):
    ran = run(*ARGUMENTS, "--validate", str(data.VALIDATION), "--dependent", "m2=0.22,m3=0.25",
              "--json")  # fmt: skip
    found = ran.json
    assert {p["parameter"] for p in found["parameters"]} == set(data.BASE)
    for one in found["parameters"]:
        assert one["value"] == pytest.approx(data.BASE[one["parameter"]], abs=1e-7)
        assert one["interval"][0] < one["value"] < one["interval"][1]
    assert found["validation"]["relative_error"] < 1e-6
    assert found["standard"]["rod.mx"] == pytest.approx(0.0275, abs=1e-7)
    json.dumps(found, allow_nan=False)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--known", "J1"], "not of the form"),
        (["--known", "J1=x"], "no number"),
        (["--with", "friction"], "has no column friction"),
    ],
)
def test_identify_refuses(run, more, says):
    ran = run(*ARGUMENTS, *more, "--json")
    assert ran.status == 2
    assert says in ran.json["error"]["message"]


def test_base_with_friction(run):
    found = run("base", "four-bar", "--with", "friction", "--json").json
    assert found["rank"] == 10
    assert {"A.viscous", "A.coulomb"} <= {row["parameter"] for row in found["base"]}
    assert run("base", "four-bar", "--with", "friction", "--route", "precise").status == 2


#: By hand from the shipped file: 2.7 kg/m, 0.1 and 0.4 m, slider 0.8 kg; and the units.
BY_HAND = {
    "crank.my": (0.0, "kg m"),
    "crank.J": (0.0009 - 0.1 * 0.0135, "kg m^2"),
    "rod.m": (1.08 + 0.0135 / 0.1 + 0.8, "kg"),
    "rod.mx": (0.216 + 0.4 * 0.8, "kg m"),
    "rod.my": (0.0, "kg m"),
    "rod.J": (0.0576 + 0.16 * 0.8, "kg m^2"),
}


def test_the_walk_in_the_docs(run, tmp_path, monkeypatch):
    """A new user's first identification, as printed, against the file's values by hand."""
    page = Path(__file__).parents[3] / "docs" / "identification.md"
    printed = re.search(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.S)[1]
    commands = [shlex.split(line[1:]) for line in re.findall(r"^\$ basepar.*", printed, re.M)]
    monkeypatch.chdir(tmp_path)
    *simulated, last = commands
    assert [words[1] for words in simulated] == ["simulate", "simulate"]
    for words in simulated:
        assert run(*words[1:]).status == 0
    shown = run(*last[1:]).out
    for line in printed.splitlines()[4:7]:  # the table's rows in the docs are what is printed
        assert " ".join(line.split()) in " ".join(shown.split())
    found = run(*last[1:], "--json").json
    for one in found["parameters"]:
        value, unit = BY_HAND[one["parameter"]]
        assert one["unit"] == unit
        assert one["file"] == pytest.approx(value, abs=1e-15)
        assert one["off"] == pytest.approx((one["value"] - value) / one["deviation"], rel=1e-6)
        assert abs(one["off"]) < 4  # one of six beyond: 4e-4 by chance
    assert found["sigma"]["A"] == pytest.approx(0.005, rel=0.15)  # stated; 3 of its deviations
    assert found["position_noise"]["A"] == pytest.approx(1e-4, rel=0.15)
    assert found["sigma_unit"] == {"A": "N m"}
    assert len(found["parameters"]) == 6


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--noise", "B=1"], "is no coordinate; they are A; write --noise A=1."),
        (["--noise", "B=1deg"], "they are A. --noise is in N*m; write --position-noise A=1deg."),
        (["--noise", "A=1deg"], "--noise is in N*m; write --position-noise A=1deg."),
        (["--position-noise", "A=1N*m"], "is in rad; write --noise A=1N*m."),
        (["--noise", "A=1mm"], "'1mm' is in mm, but N*m is expected here"),
        (["--noise", "A=-1"], "no standard deviation"),
        (["--samples", "3"], "at least 16"),
        (["--with", "friction"], "names these columns without one"),
        (["-o", "run.txt"], "write FILE.csv"),
        (["--contacts", "tip"], "tip is no point of a body of 'slider-crank'; there are"),
        (["--push", "5N"], "name them in --contacts"),
    ],
)
def test_simulate_refuses(run, tmp_path, words, says):
    written = [] if "-o" in words else ["-o", str(tmp_path / "run.csv")]
    ran = run("simulate", "slider-crank", *written, *words, "--json")
    assert ran.status in (1, 2)
    assert says in ran.json["error"]["message"]
    assert not (tmp_path / "run.csv").exists()


def test_a_record_with_a_push(run, tmp_path):
    """Columns of the force at the point that the file names, which `identify` reads."""
    path, record = tmp_path / "pushed.yaml", tmp_path / "run.csv"
    tool = "points: {tool: {body: slider, at: [10 mm, 0]}}\n"
    path.write_text(mechanism_file.load("slider-crank").source + tool)
    words = ["--contacts", "tool", "--push", "20N", "--noise", "A=0", "-o", str(record)]
    document = run("simulate", str(path), *words, "--json").json
    assert (document["contacts"], document["push"]) == (["tool"], 20.0)
    header = record.read_text().splitlines()[0]
    assert header == "t,A,tau.A,force.tool.x,force.tool.y"
    found = run("identify", str(path), str(record), "--json").json
    # Positions without noise, smoothed: some 1e-4 of the torque is left.
    assert found["relative_error"] < 1e-3


def test_friction_that_was_not_asked_for(run, tmp_path):
    """What to add stands before the table, and with it nothing is left to explain."""
    source, record = mechanism_file.load("slider-crank").source, tmp_path / "run.csv"
    path = tmp_path / "rubbing.yaml"
    friction = "friction: {A: {viscous: 0.05, coulomb: 0.2}}\n"
    lines = [line for line in source.splitlines() if not line.startswith("friction:")]
    path.write_text("\n".join([*lines, friction]))
    run("simulate", str(path), "--with", "friction", "-o", str(record))
    words = ["identify", str(path), str(record)]
    (note, *_) = run(*words, "--json").json["notes"]
    assert note["kind"] == "omitted"
    assert note["text"].endswith("add --with friction")
    shown = run(*words).out
    assert (
        0 < shown.index("omitted: the file names friction of A; with") < shown.index("deviation")
    )
    with_it = run(*words, "--with", "friction", "--json").json
    assert "omitted" not in {one["kind"] for one in with_it["notes"]}
    assert f"is {with_it['torque_error']:.2%} instead of" in note["text"]


@pytest.mark.parametrize("given", ["time=t,q=A,T=tau.A", "t=time,q=A,T=tau.A"])
def test_columns_the_wrong_way_round(run, tmp_path, given):
    record = tmp_path / "run.csv"
    assert run("simulate", "slider-crank", "-o", str(record)).status == 0
    record.write_text(record.read_text().replace("t,A,tau.A", "time,q,T", 1))
    ran = run("identify", "slider-crank", str(record), "--columns", given)
    assert "1 mistake" in ran.err
    assert "title in the file: write --columns t=time,A=q,tau.A=T" in ran.err


@pytest.mark.slow
def test_the_papers_tables(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(identification, "DRAWS", 12)
    found = identification.reproduce(lambda _: None, tmp_path)
    assert found.reproduced
    assert [table.counts[Verdict.AGREES] for table in found.tables[:2]] == [12, 6]
    other = {n.where for t in found.tables for n in t.numbers if n.verdict != Verdict.AGREES}
    assert other <= {"crank.my"}  # 4.5 deviations of ours: its trajectory is not printed
    assert all(path.stat().st_size > 10_000 for path in found.figures)


# excite, --observation, --consistent.


@pytest.mark.slow
def test_excite_writes_a_mechanism_that_has_the_motion(run, tmp_path):
    path = tmp_path / "exciting.yaml"
    found = run("excite", "four-bar", "--speed", "A=2", "--margin", "0.5", "--random", "5",
                "--starts", "1", "-o", str(path), "--json").json  # fmt: skip
    assert found["value"] == found["condition"] < found["random"]["best"] < found["file"] * 10
    assert found["margin"]["least"] >= 0.5
    (limits,) = found["limits"]
    assert limits["speed"] == 2
    assert max(limits["used"].values()) <= 1
    # The file's own sweep of W has this condition, by the route that sweeps take.
    mechanism = mechanism_file.load(str(path))
    assert mechanism.cycle == mechanism_file.load("four-bar").cycle
    model = closure.prepare(mechanism)
    seen = nominal_observation(model)
    base = numeric(model, seen=seen)
    held = check(seen.stacked, seen.error, base.kept, base.eliminated, base.nominal_beta[None])
    names = run("base", str(path), "--json").json["eliminated"]
    if list(base.eliminated_names) == names:  # the condition is φ₁'s
        assert held.condition[0] == pytest.approx(found["condition"], rel=1e-6)
    csv = tmp_path / "exciting.csv"
    again = run("excite", "four-bar", "--speed", "A=2", "--margin", "0.5", "--random", "5",
                "--starts", "1", "-o", str(csv), "--json").json  # fmt: skip
    assert again["excitation"] == found["excitation"]  # seeded
    text = with_excitation(
        mechanism_file.load("four-bar").source, "excitation: {kind: data, file: exciting.csv}\n"
    )
    (tmp_path / "data.yaml").write_text(text)
    measured = closure.prepare(mechanism_file.load(str(tmp_path / "data.yaml")))
    ours = nominal_observation(measured)
    # Phases written to 17 digits: sines of angles up to 5 · 2π.
    np.testing.assert_allclose(ours.W, seen.W, atol=1e-9 * np.abs(seen.W).max())


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--range", "Q=0:1"], "Q cannot be limited; known are A, B, C, D"),
        (["--speed", "A=fast"], "--speed A: fast"),
        (["-o", "motion.txt"], "write FILE.yaml or FILE.csv"),
        (["--margin", "2"], "not between 0 and 1"),
    ],
)
def test_excite_refuses(run, more, says):
    ran = run("excite", "four-bar", *more, "--json")
    assert ran.status == 2
    assert says in ran.json["error"]["message"]


def test_base_from_energies(run):
    torque = run("base", "four-bar", "--json").json
    energy = run("base", "four-bar", "--observation", "energy", "--json").json
    assert energy["rank"] == torque["rank"] == 8
    assert energy["base"] == torque["base"]
    assert energy["singular_values"] != torque["singular_values"]
    ran = run("base", "four-bar", "--observation", "energy", "--with", "friction", "--json")
    assert ran.status == 2
    assert ran.json["error"]["where"] == ["A.viscous", "A.coulomb"]
    assert run("base", "four-bar", "--observation", "energy", "--route", "precise").status == 2


@pytest.mark.slow
def test_identify_consistent(run):
    pytest.importorskip("cvxpy")
    found = run(*ARGUMENTS, "--consistent", "--dependent", "m2=0.22,m3=0.25", "--json").json
    near = found["consistent"]
    # Exact signals of real bodies: what is weighed stays, the rest is theirs.
    assert near["parameters"]["rod.m"] == pytest.approx(0.22, rel=1e-6)
    assert near["parameters"]["rod.J"] == pytest.approx(11 / 2400, rel=1e-4)
    assert min(near["least"].values()) > 0
    assert "parameters that bodies can have" in run(*ARGUMENTS, "--consistent").out
