"""Mistakes as a new user of docs/ makes them: what the message says to write is right.

Thirty of them in a table, each with the facts that its message must have: where it is, what is
wrong, and what to write, with this file's names. Then records and studies whose message is done
literally, and works the next time.
"""

import math
import re
import shlex
import warnings

import pytest

import basepar
from basepar_core.errors import FileError, UsageError
from basepar_core.files import library_path, loads

NAMES = ["time,crank angle,motor torque", "Time [s],A_pos [deg],A_torque", "t,phi,tau"]


@pytest.mark.parametrize("header", NAMES)
def test_titles_of_a_record(run, tmp_path, header):
    lines = run("simulate", "four-bar", "-o", str(tmp_path / "good.csv"), "--json")
    assert lines.status == 0
    rows = (tmp_path / "good.csv").read_text().splitlines()
    first = rows[0].split(",")
    wanted = [first.index(name) for name in ("t", "A", "tau.A")]
    file = tmp_path / "run.csv"
    cells = (row.split(",") for row in rows[1:])
    file.write_text("\n".join([header, *(",".join(c[k] for k in wanted) for c in cells)]) + "\n")
    wrong = run("identify", "four-bar", str(file), "--json")
    assert wrong.status
    (said,) = re.findall(r"Say which they are: --columns (.*)$", wrong.json["error"]["message"])
    again = run("identify", "four-bar", str(file), "--columns", said.rstrip("."), "--json")
    told = again.json.get("error", {}).get("message", "")
    # The columns are found; an angle in rad under a title in deg is another mistake, and is told.
    assert again.status == 0 or "has no column" not in told


def test_a_regime_metric_without_motors(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where the study puts its store and journal
    file = tmp_path / "study.yaml"
    file.write_text(
        "mechanism: four-bar\nvariables: {lx1: [0.2, 0.3]}\n"
        "objectives: {motor_torque_rms(M): minimize}\ntrials: 4\n"
    )
    message = run("study", str(file), "--json").json["error"]["message"]
    assert "there is no motor_torque_rms(M): the mechanism has no steady regime" in message
    assert "ask for torque_rms" in message
    file.write_text(file.read_text().replace("motor_torque_rms(M)", "torque_rms"))
    assert run("study", str(file), "--json", "--workers", "1").status == 0


def test_a_mechanism_where_a_study_is_needed(run):
    message = run("study", "slider-crank", "--json").json["error"]["message"]
    assert "begins with `mechanism: slider-crank` (docs/study-files.md)" in message


def shipped(name):
    """A shipped file without its first line, which names the schema."""
    return library_path(name).read_text(encoding="utf-8").split("\n", 1)[1]


FOUR_BAR, FIVE_BAR, GEARS = map(shipped, ("four-bar", "five-bar", "planetary-gear"))
ARM = """\
name: arm
space: spatial
gravity: [0, 0, -9.81]
geometry:
  h: {value: 0.35, unit: m}
  a: {value: 0.25, unit: m, bounds: [0.2, 0.4]}
bodies:
  column: {mass: 6 kg, centre: [0, 0, h/2], central_inertia: [0.08, 0, 0, 0.08, 0, 0.02]}
  arm: {mass: 3 kg, centre: [a/2, 0, 0], central_inertia: [0.004, 0, 0, 0.02, 0, 0.02]}
joints:
  yaw: {type: revolute, connects: [ground, column]}
  shoulder: {type: revolute, connects: [column, arm], at: [[0, 0, h], [0, 0, 0]],
    axis: [[0, 1, 0], [0, 1, 0]]}
coordinates: [yaw, shoulder]
excitation: {kind: states, samples: 60, seed: 1, frequency: 0.5 Hz,
  amplitude: {yaw: 1, shoulder: 1}}
"""
SWEEP = """\
mechanism: four-bar
space:
  plan: sobol
  variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6]}
  candidates: 16
evaluate: {metrics: [torque_rms]}
"""
TABLE = "mechanism: four-bar\nspace: {plan: table, file: rows.csv}\n"
STUDY = """\
mechanism: four-bar
variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6]}
objectives: {torque_rms: minimize}
constraints: ["stroke(D) >= 40 deg"]
trials: 4
sampler: {kind: tpe}
"""
DATA = re.sub(r"excitation: .*", "excitation: {kind: data, file: rows.csv}", FOUR_BAR)
ROWS_OF_NMM = "t,A,tau.A [Nmm]\n" + "".join(f"{k / 100},{k / 100},1\n" for k in range(40))
ROWS = "".join(f"{k / 100},{0.5 + k / 100},1\n" for k in range(20))


def file(text, old, new):
    """A good file with one mistake in it."""
    assert old in text
    return text.replace(old, new, 1)


#: Of every mistake: the command, the file that it is given, the table beside it, and the facts.
MISTAKES = {
    # Mechanisms
    "a tab": ("show", file(FOUR_BAR, "  A: {type", "\tA: {type"), "", ("line 21", "blanks, not")),
    "bodies as a list": (
        "show",
        re.sub(r"(?m)^  (\w+): +\{number", r"  - {name: \1, number", FOUR_BAR),
        "",
        ("bodies (line 17)", "write crank: {…}"),
    ),
    "lengths that do not close": (
        "show",
        file(
            FOUR_BAR,
            "lx3: {value: 1.3, unit: m, bounds: [1.0, 1.6]}",
            "lx3: {value: 13 cm, unit: m}",
        ),
        "",
        ("Joint 'D' stays open by 4", " mm (allowed", "lx3 = 0.13"),
    ),
    "a length beyond its bounds": (
        "show",
        file(FOUR_BAR, "Dx: {value: 1.0", "Dx: {value: 4"),
        "",
        ("Joint 'D' stays open", "Dx = 4 m is beyond its own bounds, 0.6 to 1.4 m"),
    ),
    "a joint left out": (
        "show",
        re.sub(r"(?m)^  D: .*\n", "", FOUR_BAR),
        "",
        (
            "3 degrees of freedom",
            "rocker has one joint only (C)",
            "`joints`",
            "type: revolute, connects: [ground, rocker]",
        ),
    ),
    "no blank behind a colon": (
        "show",
        file(FOUR_BAR, "{A: 34 deg", "{A:34 deg"),
        "",
        ("assembly.A:34 deg (line", "write 'A: 34 deg'"),
    ),
    "a decimal comma before a unit": (
        "show",
        file(ARM, "mass: 6 kg", "mass: 6,5 kg"),
        "",
        ("bodies.column.5 kg (line 8)", "write 6.5 kg"),
    ),
    "an amplitude beyond dead centre": (
        "base",
        file(FOUR_BAR, "lx3: {value: 1.3", "lx3: {value: 0.9").replace("0.3,", "0.9,"),
        "",
        ("from the assembly (A = 34.0 deg)", "times its amplitude", "On this branch A goes from"),
    ),
    "an excitation of the rocker, as of the crank": (
        "base",
        file(FOUR_BAR, "coordinates: [A]\nactuated: [A]", "coordinates: [D]")
        .replace("{A: 34 deg,", "{A: 34 deg, D: -79 deg,")
        .replace("amplitude: {A: 0.6 rad}", "amplitude: {D: 170 deg}")
        .partition("cycle:")[0],
        "",
        ("On this branch D goes", "It can if assembled at D", "`coordinates: [A]`"),
    ),
    "a mass that varies": (
        "sweep",
        file(SWEEP, "lx1: [0.2, 0.6]", "crank.mass: [3, 5]"),
        "",
        ("space.variables.crank.mass (line 4)", "`mass: crank_mass` in crank"),
    ),
    "one joint of an angle's three": (
        "study",
        file(STUDY, "stroke(D) >= 40 deg", "transmission_angle(C) >= 40 deg"),
        "",
        ("constraints[0] (line 4)", "transmission_angle(B,C,D)"),
    ),
    "turns a minute": (
        "show",
        file(FOUR_BAR, "speed: 6.28 rad/s", "speed: 60 1/min"),
        "",
        ("cycle.joints.A.speed (line", "write '60 rpm'"),
    ),
    "a unit in words": (
        "show",
        file(FOUR_BAR, "unit: m,", "unit: metres,"),
        "",
        ("(line 9)", "did you mean 'm'?"),
    ),
    "a symbol named like a unit": (
        "show",
        FOUR_BAR.replace("lx1", "cm"),
        "",
        ("geometry.cm (line 9)", "'cm' is a unit", "choose another name"),
    ),
    "a coordinate too few": (
        "show",
        re.sub(r"(?m)^ *E: \{kind.*\n|, E: [-0-9.]+ [a-zN*]+(?=\})|, E(?=\])", "", FIVE_BAR),
        "",
        ("2 degrees of freedom", "1 coordinate is named (A)", "`coordinates: [A, B]`"),
    ),
    "a value in another unit": (
        "show",
        file(GEARS, "zs: {value: 24,", "zs: {value: 24 m,"),
        "",
        ("geometry.zs.value (line 11)", "unit is apart", "or a bare 24 if it has none"),
    ),
    # Sweeps
    "no plan": (
        "sweep",
        file(SWEEP, "  plan: sobol\n", ""),
        "",
        ("line 3", "write `plan: sobol`"),
    ),
    "a step for a count": (
        "sweep",
        file(SWEEP, "[0.2, 0.6]", "{from: 0.2, to: 0.6, step: 0.1}").replace("sobol", "grid"),
        "",
        ("space.variables.lx1 (line 4)", "{from: 0.2, to: 0.6, count: 5}"),
    ),
    "a length without a unit": (
        "sweep",
        file(SWEEP, "  candidates", "  where: [lx1 + lx3 <= 2]\n  candidates"),
        "",
        ("space.where[0] (line 5)", "write '2 m' or '2 mm'"),
    ),
    "a metric without quotes": (
        "sweep",
        file(SWEEP, "[torque_rms]", "[torque_rms, transmission_angle(B, C, D)]"),
        "",
        ("line 6", 'write [torque_rms, "transmission_angle(B, C, D)"]'),
    ),
    "a metric in other words": (
        "sweep",
        file(SWEEP, "[torque_rms]", "[torque_rms, torque_max]"),
        "",
        ("evaluate.metrics[1] (line 6)", "mean 'torque_peak'"),
    ),
    "a section's key at the top": (
        "sweep",
        SWEEP.replace("evaluate: {metrics: [torque_rms]}", "metrics: [torque_rms]"),
        "",
        ("metrics (line 6)", "its place is in `evaluate`: `metrics: [torque_rms]`"),
    ),
    "another word for how many": (
        "sweep",
        file(SWEEP, "candidates:", "samples:"),
        "",
        ("space.samples (line 5)", "write `candidates: "),
    ),
    "a file's key in a joint": (
        "show",
        file(FOUR_BAR, "D: {type: revolute,", "D: {type: revolute, friction: [viscous],"),
        "",
        ("joints.D.friction", "in `friction` at the top of the file: `D: [viscous]`"),
    ),
    "friction inside out": (
        "show",
        file(FOUR_BAR, "friction: {A: [viscous, coulomb]}", "friction: {viscous: {A: 1}}"),
        "",
        ("friction (line", "write `friction: {A: {viscous: 1}}`"),
    ),
    "moments of inertia first": (
        "show",
        file(ARM, "[0.08, 0, 0, 0.08, 0, 0.02]", "[0.02, 0.03, 0.01, 0, 0, 0]"),
        "",
        ("the order is Ixx, Ixy, Ixz, Iyy, Iyz, Izz", "write [0.02, 0, 0, 0.03, 0, 0.01]"),
    ),
    "another program's word for a key": (
        "show",
        file(FOUR_BAR, "connects: [crank, coupler]", "bodies: [crank, coupler]"),
        "",
        ("joints.B.bodies", "unknown key; write `connects: [crank, coupler]`"),
    ),
    "a value with its unit": (
        "show",
        file(FOUR_BAR, "lx1: {value: 0.3, unit: m, bounds: [0.2, 1.5]}", "lx1: {value: 0.3 m}"),
        "",
        ("geometry.lx1.value", "write lx1: {value: 0.3, unit: m}"),
    ),
    "a law that stands too high": (
        "show",
        file(FOUR_BAR, "cycle: {joints: {A: {", "cycle: {A: {").replace("turns: 1}}", "turns: 1}"),
        "",
        ("cycle (line", "write `joints: {A: {kind: constant_speed, "),
    ),
    "a ratio of two joints": (
        "show",
        file(GEARS, "{values: {C: zs + 2*zp, P1: zp}}", "{joints: [C, P1], ratio: -2.5}"),
        "",
        ("couplings.ring", "{C: 1, P1: 2.5}} for C = -2.5·P1", "{C: 2.5, P1: 1}} for P1"),
    ),
    "a coordinate too many": (
        "show",
        file(FOUR_BAR, "coordinates: [A]", "coordinates: [A, D]"),
        "",
        ("coordinates (line", "1 degree of freedom: write `coordinates: [A]`, without D"),
    ),
    "another unit's numbers": (
        "sweep",
        file(SWEEP, "[0.2, 0.6]", "[200, 600]"),
        "",
        ("space.variables.lx1 (line 4)", "write [200 mm, 600 mm] if mm is meant, [200 m, 600 m]"),
    ),
    "an objective turned round": (
        "study",
        file(STUDY, "{torque_rms: minimize}", "{minimize: torque_rms}"),
        "",
        ("objectives.minimize (line 3)", "write {torque_rms: minimize}"),
    ),
    "a metric without its joints": (
        "study",
        file(STUDY, "torque_rms: minimize", "transmission_angle: maximize"),
        "",
        ("line 3", "write one of transmission_angle(A,B,C), transmission_angle(C,B,A)"),
    ),
    "a number chosen by the program": (
        "sweep",
        SWEEP + "store: {chunk: auto}\n",
        "",
        ("store.chunk (line 7)", "take the key out"),
    ),
    "two signs in a condition": (
        "sweep",
        file(SWEEP, "  candidates", "  where: ['1 m < lx1 + lx3 < 2 m']\n  candidates"),
        "",
        ("line 5", "'1 m < lx1 + lx3' and 'lx1 + lx3 < 2 m'"),
    ),
    "a table's column": (
        "sweep",
        TABLE,
        "lx1,L3\n0.3,1.2\n",
        ("space.file (line 2)", "rows.csv, line 1, L3", "lx1, lx2, ly2, lx3, Dx, Dy"),
    ),
    # Studies
    "a direction": ("study", file(STUDY, "minimize", "min"), "", ("line 3", "'minimize'")),
    "an objective alone": (
        "study",
        file(STUDY, "{torque_rms: minimize}", "torque_rms"),
        "",
        ("objectives (line 3)", "write {torque_rms: minimize}"),
    ),
    "a range by its ends": (
        "study",
        file(STUDY, "[0.2, 0.6]", "{low: 0.2, high: 0.6}"),
        "",
        ("variables.lx1 (line 2)", "write [0.2, 0.6]"),
    ),
    "a sampler in capitals": ("study", file(STUDY, "tpe", "TPE"), "", ("line 6", "mean 'tpe'")),
    "a sampler as papers write it": (
        "study",
        file(STUDY, "tpe", "NSGA-II"),
        "",
        ("line 6", "mean 'nsga2'"),
    ),
    "a stroke in mm": (
        "study",
        file(STUDY, "40 deg", "40 mm"),
        "",
        (
            "constraints[0] (line 4)",
            "compares rad (or no unit) and mm",
            "D is revolute: stroke(D) is an angle, in deg or rad, and four-bar has no joint whose",
        ),
    ),
    "an address with one slash": (
        "study",
        STUDY + "study: {storage: sqlite:best.db}\n",
        "",
        ("study.storage (line 7)", "write sqlite:///best.db"),
    ),
    # Data
    "titles of other words": (
        "identify",
        "four-bar",
        f"time,angle,torque\n{ROWS}",
        ("no columns t, A, tau.A", "--columns t=time,A=angle,tau.A=torque"),
    ),
    "units in parentheses": (
        "identify",
        "four-bar",
        f"t (s),A (deg),tau.A (N*m)\n{ROWS}",
        ("brackets", "write t [s],A [deg],tau.A [N*m]"),
    ),
    "no titles": (
        "identify",
        "four-bar",
        ROWS,
        ("The first line names the columns", "write t,A,tau.A above the numbers"),
    ),
    "semicolons": (
        "identify",
        "four-bar",
        "t;A;tau.A\n" + ROWS.replace(",", ";").replace(".", ","),
        ("commas, not by ';'", "decimals have a point"),
    ),
    "a word among numbers": (
        "identify",
        "four-bar",
        f"t,A,tau.A\n{ROWS}\n0.3,n/a,1\n",
        ("row 23", "'n/a' is no number", "leave the cell empty"),
    ),
    "units in an excitation's titles": (
        "show",
        DATA,
        "t [s],A [deg],A' [deg/s],A'' [deg/s^2]\n0,1,2,3\n",
        ("excitation.file (line 28)", "numbers are SI", "must name t,A,A',A''"),
    ),
    # Options and commands
    "a command": ("shwo", "four-bar", "", ("there is no 'shwo'", "did you mean 'show'?")),
    "a value apart": (
        "show",
        "four-bar --set lx1 0.31",
        "",
        ("--set", "write --set lx1=0.31"),
    ),
    "a symbol": ("show", "four-bar --set lx9=0.31", "", ("'lx9'", "did you mean 'lx")),
    "the wrong file": (
        "base",
        SWEEP,
        "",
        ("the file of a sweep or of a study", "Give the mechanism that it names (four-bar)"),
    ),
    "the order of files": (
        "identify",
        f"rows.csv {'four-bar'}",
        ROWS,
        ("no keys", "named before it"),
    ),
    "a mechanism to import": (
        "import",
        FOUR_BAR,
        "",
        ("is a mechanism file already", "show file.yaml"),
    ),
}


#: More of them, found by trying what came later.
LATER = {
    "three bodies": (
        "show",
        file(FOUR_BAR, "connects: [crank, coupler]", "connects: [ground, crank, coupler]"),
        "",
        ("joints.B.connects (line 22)", "two bodies", "[ground, crank], [ground, coupler]"),
    ),
    "a joint's other name": (
        "show",
        file(FOUR_BAR, "B: {type: revolute", "B: {type: hinge"),
        "",
        ("joints.B.type", "did you mean 'revolute'?"),
    ),
    "a point by its place": (
        "show",
        FOUR_BAR + "points: {P: [0.1, 0.2]}\n",
        "",
        ("points.P", "write {body: rocker, at: [0.1, 0.2]}"),
    ),
    "a drawing in mm": (
        "show",
        re.sub(
            r"assembly: .*",
            "assembly: {A: 34 deg, points: {B: [250, 170], C: [160, 1480]}}",
            FOUR_BAR,
        ),
        "",
        ("assembly.points", "833 times", "[250 mm, 170 mm]"),
    ),
    "a coupling's coefficients": (
        "show",
        FIVE_BAR + "couplings: {gear: {A: 20, E: -40}}\n",
        "",
        ("couplings.gear", "write {values: {A: 20, E: -40}}"),
    ),
    "a spring's rest": (
        "show",
        FOUR_BAR + "springs: {S: {joint: A, stiffness: 100}}\n",
        "",
        ("springs.S.rest", "write `rest: 0 rad`"),
    ),
    "gravity of the plane in space": (
        "show",
        file(shipped("scara"), "gravity: [0, 0, -9.81]", "gravity: [0, -9.81]"),
        "",
        ("gravity (line", "write [0, 0, -9.81]"),
    ),
    "a plan's other name": (
        "sweep",
        file(SWEEP, "sobol", "latin_hypercube"),
        "",
        ("space.plan (line 3)", "did you mean 'lhs'?"),
    ),
    "conditions in words": (
        "sweep",
        file(SWEEP, "  candidates", "  where: ['lx1 < 0.5 m and lx3 < 1.4 m']\n  candidates"),
        "",
        ("line 5", "'lx1 < 0.5 m' and 'lx3 < 1.4 m'"),
    ),
    "a target of nothing": (
        "sweep",
        file(SWEEP, "torque_rms", "'path_error(P, wanted)'"),
        "",
        ("line 6", "add `points: {P:", "`targets: {wanted: curve.csv}`"),
    ),
    "trials as a float": ("study", file(STUDY, "trials: 4", "trials: 1e3"), "", ("write 1000",)),
    "a range in words": (
        "study",
        file(STUDY, "stroke(D) >= 40 deg", "stroke(D) between 40 and 60 deg"),
        "",
        ("constraints[0] (line 4)", "write two conditions"),
    ),
    "a law's speed": (
        "identify",
        "four-bar rows.csv --with stribeck@slow",
        f"t,A,tau.A\n{ROWS}",
        ("write stribeck@0.1",),
    ),
    "rows of no record": (
        "identify",
        "four-bar rows.csv --validate-rows 1:9",
        ROWS,
        ("goes with --validate SECOND.csv",),
    ),
    "a record without -o": ("simulate", "four-bar run.csv", "", ("required: -o FILE.csv",)),
    "a force in words": ("onedof", "four-bar --force 'B crank x'", "", ("write B:crank:x",)),
    "two values": (
        "show",
        "four-bar --set 'lx1=0.31 lx3=1.2'",
        "",
        ("write lx1=0.31,lx3=1.2",),
    ),
    "a colon": ("show", "four-bar --set lx1:0.31", "", ("write lx1=0.31",)),
    "a film's ending": ("animate", "four-bar -o film.mov", "", ("name the file film.html",)),
    "a dialect in capitals": (
        "export",
        "four-bar --dialect URDF -o x.urdf",
        "",
        ("did you mean 'urdf'?",),
    ),
    "a mechanism to explore": ("explore", "four-bar", "", ("sweep SPEC --store four-bar.zarr",)),
    "a mesh to import": ("import", "rows.csv", ROWS, ("not XML, as URDF, SDF and MJCF files",)),
}


#: Of 56 more that a reader of docs/ wrote down before trying them, those whose message did not
#: say what to write; the others did.
TRIED = {
    "one number for a vector": (
        "show",
        file(ARM, "centre: [a/2, 0, 0]", "centre: a/2"),
        "",
        ("bodies.arm.centre", "write [a/2, 0, 0]"),
    ),
    "one amplitude for all": (
        "show",
        file(ARM, "{yaw: 1, shoulder: 1}", "1 rad"),
        "",
        ("excitation.amplitude", "write {yaw: 1 rad, shoulder: 1 rad}"),
    ),
    "parent and child": (
        "show",
        file(ARM, "connects: [ground, column]", "parent: world, child: column"),
        "",
        ("joints.yaw.connects", "write `connects: [ground, column]`"),
    ),
    "the world": (
        "show",
        file(ARM, "[ground, column]", "[world, column]"),
        "",
        ("no body is named 'world'; did you mean 'ground'?",),
    ),
    "dots for a range": (
        "sweep",
        file(SWEEP, "[0.2, 0.6]", "0.2..0.6"),
        "",
        ("space.variables.lx1 (line 4)", "write [0.2, 0.6]"),
    ),
    "a space that is flat": (
        "sweep",
        "mechanism: four-bar\nplan: sobol\nvariables: {lx1: [0.2, 0.6]}\ncandidates: 16\n",
        "",
        ("`space: {plan: sobol, variables: {lx1: [0.2, 0.6]}, candidates: 16}`",),
    ),
    "a sampler's own option": (
        "study",
        file(STUDY, "{kind: tpe}", "{kind: nsga2, population_size: 50}"),
        "",
        ("sampler.population_size", "write options: {population_size: 50}"),
    ),
    "another sampler's option": (
        "study",
        file(STUDY, "{kind: tpe}", "{kind: tpe, population_size: 50}"),
        "",
        ("sampler.population_size (line 6)", "of nsga2, nsga3, not of tpe"),
    ),
    "an option's other name": (
        "study",
        file(STUDY, "{kind: tpe}", "{kind: tpe, n_startup: 5}"),
        "",
        ("did you mean 'n_startup_trials'? tpe's own options stand in `options: {…}`",),
    ),
    "trials of the sampler": (
        "study",
        file(STUDY, "trials: 4\nsampler: {kind: tpe}", "sampler: {kind: tpe, n_trials: 60}"),
        "",
        (
            "sampler.n_trials (line 5): the number of trials stands at the top of the file: "
            "write `trials: 60` there and leave this out",
        ),
    ),
    "trials of the sampler's options": (
        "study",
        file(STUDY, "{kind: tpe}", "{kind: tpe, options: {budget: 60}}"),
        "",
        ("sampler.options.budget (line 6)", "`trials: 4`: leave this out"),
    ),
    "a record without its mechanism": (
        "identify",
        "rows.csv",
        ROWS,
        ("DATA is missing: `basepar identify MECHANISM DATA`",),
    ),
    "blanks for commas": (
        "base",
        "four-bar --eliminate J1 J2 J3",
        "",
        ("if it belongs to --eliminate, write --eliminate J1,J2,J3",),
    ),
    "another name for --store": (
        "sweep",
        "four-bar --output x.zarr",
        "",
        ("--output; did you mean '--store'?",),
    ),
    "another name for study": ("optimize", "four-bar", "", ("did you mean 'study'?",)),
    "a coordinate left out": (
        "show",
        file(ARM, "coordinates: [yaw, shoulder]", "coordinates: [yaw]"),
        "",
        ("'shoulder' is not among the coordinates (yaw); write `coordinates: [yaw, shoulder]`",),
    ),
    "a spatial word in the plane": (
        "base",
        "four-bar --eliminate coupler.Izz",
        "",
        ("did you mean coupler.J?",),
    ),
    "steps of a range": (
        "sweep",
        "mechanism: four-bar\nspace:\n  plan: grid\n"
        "  variables: {lx1: {from: 0.2, to: 0.6, steps: 5}}\n",
        "",
        ("space.variables.lx1.steps (line 4)", "write `count: 5`"),
    ),
    "start and stop of a range": (
        "sweep",
        "mechanism: four-bar\nspace:\n  plan: grid\n"
        "  variables: {lx1: {start: 0.2, stop: 0.6, num: 5}}\n",
        "",
        ("write `from: 0.2`", "did you mean 'to'?", "write `count: 5`"),
    ),
    "degrees in a constraint": (
        "study",
        file(STUDY, "stroke(D) >= 40 deg", "stroke(D) >= 40"),
        "",
        ("constraints (line", "40 is taken as 40 rad", "write '40 deg'"),
    ),
    "directions beside objectives": (
        "study",
        file(
            STUDY,
            "objectives: {torque_rms: minimize}",
            "objectives: [torque_rms]\ndirections: [minimize]",
        ),
        "",
        ("directions (line", "write `objectives: {torque_rms: minimize}`, without this line"),
    ),
    "friction by the words of URDF": (
        "show",
        file(ARM, "coordinates:", "friction: {yaw: {damping: 0.4, friction: 0.6}}\ncoordinates:"),
        "",
        ("write `viscous: 0.4`", "write `coulomb: 0.6`"),
    ),
    "intervals in degrees": (
        "excite",
        "ur5 --range q1=-60:20,q2=-90:90 -o e.yaml",
        "",
        ("--range q1=-60deg:20deg,q2=-90deg:90deg",),
    ),
    "bounds in parentheses": (
        "show",
        file(ARM, "bounds: [0.2, 0.4]", "bounds: (0.2, 0.4)"),
        "",
        ("lists are in brackets: write bounds: [0.2, 0.4]",),
    ),
    "the points of a joint swapped": (
        "base",
        file(FOUR_BAR, "[[lx2, -ly2], [0, 0]]", "[[0, 0], [lx2, -ly2]]"),
        "",
        ("With the two points of C the other way round", "in coupler, the second in rocker"),
    ),
    "a wrong body in a joint": (
        "show",
        file(FOUR_BAR, "connects: [coupler, rocker]", "connects: [crank, rocker]"),
        "",
        ("With joints.C.connects: [coupler, rocker] all loops close",),
    ),
    "a weld with an angle": (
        "show",
        file(FOUR_BAR, "C: {type: revolute", "C: {type: fixed"),
        "",
        ("assembly.C (line", "if it turns, as -203.8 deg tells, write `type: revolute` there"),
    ),
    "a weld with a length": (
        "show",
        file(
            file(FOUR_BAR, "C: {type: revolute", "C: {type: fixed"),
            "C: -203.8 deg",
            "C: lx1 + 2 mm",
        ),
        "",
        ("if it slides, as lx1 + 2 mm tells, write `type: prismatic` and its `axis` there",),
    ),
    "a weld with a bare number": (
        "show",
        file(file(FOUR_BAR, "C: {type: revolute", "C: {type: fixed"), "C: -203.8 deg", "C: 2"),
        "",
        ("if it turns or slides, write `type: revolute` or `type: prismatic` and its `axis`",),
    ),
    "a constant that is swept": (
        "sweep",
        file(SWEEP, "lx1: [0.2, 0.6]", "rho: [2, 3]"),
        "",
        ("move its line from `constants` of the mechanism's file to `geometry`",),
    ),
    "a number of values in the list": (
        "sweep",
        "mechanism: four-bar\nspace: {plan: grid, variables: {lx1: [0.2, 0.6, 5]}}\n",
        "",
        ("write {from: 0.2, to: 0.6, count: 5}",),
    ),
    "damping of a spring": (
        "show",
        file(
            ARM,
            "coordinates:",
            "springs: {S: {connects: [ground, arm], at: [[0, 0, 1], [a, 0, 0]], rest: 1 m,"
            " stiffness: 10 N/m, damping: 2 N*s/m}}\ncoordinates:",
        ),
        "",
        (
            "springs.S.damping (line",
            "write `dampers: {S_damper: {connects: [ground, arm], at: [[0, 0, 1], [a, 0, 0]], "
            "damping: 2 N*s/m}}`",
        ),
    ),
    "a list with blanks": (
        "base",
        "four-bar --eliminate crank.mx, coupler.mx",
        "",
        ("write --eliminate crank.mx,coupler.mx",),
    ),
    "a table with an index": (
        "sweep",
        TABLE,
        ",lx1\n0,0.3\n1,0.4\n",
        ("a column without a title (an index?): take it out of all lines",),
    ),
    "an option for the record": (
        "identify",
        "four-bar --data run.csv",
        "",
        ("--data; it stands without an option: `basepar identify MECHANISM DATA`",),
    ),
    "both ends of a range in degrees": (
        "onedof",
        "four-bar --range -20 20",
        "",
        ("write -20deg 20deg, or -20rad 20rad",),
    ),
    "a type of joint by another name": (
        "show",
        file(FOUR_BAR, "A: {type: revolute", "A: {type: hinge"),
        "",
        ("1 mistake", "did you mean 'revolute'?"),
    ),
    "points in parentheses": (
        "show",
        file(FOUR_BAR, "at: [[Dx, Dy], [lx3, 0]]", "at: [(Dx, Dy), (lx3, 0)]"),
        "",
        ("lists are in brackets: write [[Dx, Dy], [lx3, 0]]",),
    ),
    "a centre in parentheses": (
        "show",
        file(FOUR_BAR, "centre: [lx3/2, 0]", "centre: (lx3/2, 0)"),
        "",
        ("1 mistake", "lists are in brackets: write centre: [lx3/2, 0]"),
    ),
    "a function in a mapping": (
        "show",
        file(FOUR_BAR, "mass: rho*lx1", "mass: max(rho*lx1, 1 kg)"),
        "",
        ("1 mistake", 'needs quotes: write mass: "max(rho*lx1, 1 kg)"'),
    ),
    "a pin on ground without its place": (
        "base",
        file(FOUR_BAR, ", at: [[Dx, Dy], [lx3, 0]]", ""),
        "",
        ("Dx, Dy are used nowhere, and A, D have no `at`",),
    ),
    "a range in parentheses": (
        "sweep",
        file(SWEEP, "{lx1: [0.2, 0.6], lx3: [1.0, 1.6]}", "\n    lx1: (0.2, 0.6)"),
        "",
        ("space.variables.lx1 (line 5)", "lists are in brackets: write [0.2, 0.6]"),
    ),
    "a body for a joint value": (
        "sweep",
        file(SWEEP, "torque_rms", "stroke(rocker)"),
        "",
        ("no joint value 'rocker'; it is a body, its joints are C, D",),
    ),
    "objectives of another program": (
        "study",
        file(STUDY, "{torque_rms: minimize}", "[{name: torque_rms, goal: minimise}]"),
        "",
        ("write {torque_rms: minimize}",),
    ),
    "trials of another program": (
        "study",
        file(STUDY, "trials: 4", "n_trials: 4"),
        "",
        ("1 mistake", "did you mean 'trials'?"),
    ),
    "a matrix of inertia that is not symmetric": (
        "show",
        file(
            ARM,
            "[0.08, 0, 0, 0.08, 0, 0.02]",
            "[[0.08, 0.01, 0], [0, 0.08, 0], [0, 0, 0.02]]",
        ),
        "",
        ("write [0.08, 0.01, 0, 0.08, 0, 0.02], if its upper half is right (Iyx is 0 below)",),
    ),
    "a list of amplitudes": (
        "show",
        file(ARM, "{yaw: 1, shoulder: 1}", "[1, 20 deg]"),
        "",
        ("excitation.amplitude", "write {yaw: 1, shoulder: 20 deg}"),
    ),
    "friction as a number": (
        "show",
        file(ARM, "coordinates:", "friction: {yaw: 0.4}\ncoordinates:"),
        "",
        ("write `yaw: {viscous: 0.4}`",),
    ),
    "the words of springs": (
        "show",
        file(
            ARM,
            "coordinates:",
            "springs: {k: {connects: [ground, arm], k: 500 N/m, l0: 0.1 m}}\ncoordinates:",
        ),
        "",
        (
            "write `stiffness: 500 N/m`",
            "write `rest: 0.1 m`",
            "write `at: [[0, 0, 0], [0, 0, 0]]`",
        ),
    ),
    "a matrix of inertia": (
        "show",
        file(
            ARM, "[0.08, 0, 0, 0.08, 0, 0.02]", "[[0.08, 0.01, 0], [0.01, 0.09, 0], [0, 0, 0.02]]"
        ),
        "",
        ("bodies.column.central_inertia", "write [0.08, 0.01, 0, 0.09, 0, 0.02]"),
    ),
    "moments by name": (
        "show",
        file(ARM, "[0.08, 0, 0, 0.08, 0, 0.02]", "{ixx: 0.08, iyy: 0.09, izz: 0.02}"),
        "",
        ("bodies.column.central_inertia", "write [0.08, 0, 0, 0.09, 0, 0.02]"),
    ),
    "an origin of URDF": (
        "show",
        file(ARM, "at: [[0, 0, h], [0, 0, 0]]", "origin: [0, 0, h]"),
        "",
        ("joints.shoulder.origin", "write `at: [[0, 0, h], [0, 0, 0]]`"),
    ),
    "limits of URDF": (
        "show",
        file(ARM, "at: [[0, 0, h], [0, 0, 0]]", "limits: [-1, 1], at: [[0, 0, h], [0, 0, 0]]"),
        "",
        ("joints.shoulder.limits", "take it out", "`basepar excite --range`"),
    ),
    "a unit at one end only": (
        "sweep",
        file(SWEEP, "lx1: [0.2, 0.6]", "lx1: [200 mm, 600]"),
        "",
        ("space.variables.lx1 (line 4)", "write [200 mm, 600 mm]"),
    ),
    "a symbol that is not varied": (
        "sweep",
        file(SWEEP, "lx1: [0.2, 0.6]", "lx1: 0.3"),
        "",
        ("space.variables.lx1 (line 4)", "take it out here, or write it in `derive`"),
    ),
    "constraints by name": (
        "study",
        file(STUDY, '["stroke(D) >= 40 deg"]', '{stroke(D): ">= 40 deg"}'),
        "",
        ('write ["stroke(D) >= 40 deg"]',),
    ),
    "a section too deep": (
        "study",
        file(
            STUDY,
            "variables: {lx1: [0.2, 0.6], lx3: [1.0, 1.6]}",
            "space: {variables: {lx1: [0.2, 0.6]}}",
        ),
        "",
        ("what is in it stands here: write `variables: {lx1: [0.2, 0.6]}`",),
    ),
    "a drive's torque": (
        "sweep",
        file(SWEEP, "torque_rms", "torque_rms(A)"),
        "",
        ("no such value: 'torque_rms(A)'; write torque_rms, which is stored for every drive",),
    ),
    "candidates of a grid": (
        "sweep",
        file(SWEEP, "plan: sobol", "plan: grid"),
        "",
        ("space.candidates (line", "`count` for each variable", "or `plan: sobol`"),
    ),
    "two ends that are one": (
        "study",
        file(STUDY, "lx3: [1.0, 1.6]", "lx3: [1.3, 1.3]"),
        "",
        ("variables.lx3 (line 2)", "take it out here, or write it in `derive`"),
    ),
    "values to choose from": (
        "study",
        file(STUDY, "lx1: [0.2, 0.6]", "lx1: [0.2, 0.4, 0.6]"),
        "",
        ("write {choices: [0.2, 0.4, 0.6]} for these, or [0.2, 0.6] for a range",),
    ),
    "a range by steps": (
        "study",
        file(STUDY, "lx1: [0.2, 0.6]", "lx1: [0.2, 0.6, 0.1]"),
        "",
        (
            "1 mistake",
            "a range is [low, high]: write [0.2, 0.6], or in steps of 0.1 {choices: [0.2, 0.3, "
            "0.4, 0.5, 0.6]}",
        ),
    ),
    "a range with its count": (
        "study",
        file(STUDY, "lx1: [0.2, 0.6]", "lx1: [0.2, 0.6, 9]"),
        "",
        ("1 mistake", "write [0.2, 0.6]; `trials` says how many designs"),
    ),
    "a torque of the only drive": (
        "study",
        file(STUDY, "torque_rms: minimize", "torque_rms(A): minimize"),
        "",
        ("1 mistake", "torque_rms is one value, of the only drive: write torque_rms"),
    ),
    "a motor's constant as in its data sheet": (
        "show",
        f"{FOUR_BAR}motors: {{M: {{joint: A, voltage: 24 V, resistance: 0.6 Ohm, "
        "constant: 64 mN*m/A}}\n",
        "",
        ("3 mistakes", "write voltage: 24\n", "write resistance: 0.6\n", "write constant: 0.064"),
    ),
    "few degrees in a constraint": (
        "study",
        file(STUDY, "stroke(D) >= 40 deg", "stroke(D) >= 5"),
        "",
        ("5 is taken as 5 rad", "write '5 deg'"),
    ),
    "gravity of space in the plane": (
        "show",
        FOUR_BAR.replace("gravity: [0, -9.81]", "gravity: [0, -9.81, 0]"),
        "",
        ("gravity (line", "write [0, -9.81]"),
    ),
    "damping in a joint": (
        "show",
        file(ARM, "connects: [ground, column]", "connects: [ground, column], damping: 0.2"),
        "",
        ("joints.yaw.damping", "write `friction: {yaw: {viscous: 0.2}}`"),
    ),
    "units without a sign between": (
        "identify",
        "four-bar rows.csv",
        ROWS_OF_NMM,
        ("did you mean 'N*mm'?",),
    ),
    "a bracket left open": (
        "show",
        file(ARM, "[ground, column]", "[ground, column"),
        "",
        ("the list that begins with '[' in line", "has no ']'"),
    ),
}


def test_bounds_in_metres_of_a_symbol_in_millimetres():
    given = library_path("four-bar").read_text()
    line = "lx1: {value: 300, unit: mm, bounds: [0.2, 0.6]}"
    given = re.sub(r"lx1: \{.*\}", line, given, count=1)
    said = r"300 mm is beyond its bounds, 0.2 to 0.6 mm; in m they hold it: write bounds: \[0.2 m"
    with pytest.warns(basepar.BaseparWarning, match=said):
        loads(given)


def test_a_body_with_both_pins_at_its_origin():
    given = library_path("four-bar").read_text()
    pins = given.replace("[Dx, Dy], [lx3, 0]", "[Dx, Dy], [0, 0]")
    with pytest.warns(
        basepar.BaseparWarning, match=r"joints.C .*joints.D .* stand at one point of rocker"
    ):
        loads(pins)


def test_constants_may_be_empty():
    given = library_path("four-bar").read_text()
    moved = re.sub(r"constants: .*", "  rho: {value: 2.7, unit: kg/m}\nconstants:", given)
    assert loads(moved).constants == ()


def test_gravity_that_points_upwards():
    given = library_path("four-bar").read_text().replace("[0, -9.81]", "[0, 9.81]")
    said = r"9.81 points along \+y; if y points up, write \[0, -9.81\]"
    with pytest.warns(basepar.BaseparWarning, match=said):
        loads(given)


def test_the_cosine_of_degrees():
    given = library_path("four-bar").read_text().replace("lx3/2, 0]", "lx3/2*cos(30), 0]")
    with pytest.warns(basepar.BaseparWarning, match=r"write 'cos\(30 deg\)' or 'cos\(30 rad\)'"):
        loads(given)


def test_degrees_are_told_where_friction_dominates(run, tmp_path):
    """Inertias alone would not tell: their torque is a small part of friction's."""
    given, path = tmp_path / "slow.yaml", tmp_path / "run.csv"
    friction = "friction: {A: {viscous: 60}}"
    given.write_text(re.sub("friction: .*", friction, FOUR_BAR), encoding="utf-8")
    words = ["--motion", "excitation", "--with", "friction", "--noise", "A=0.001"]
    assert run("simulate", str(given), "-o", str(path), *words, "--json").status == 0
    titles, *rows = path.read_text().splitlines()
    place = titles.split(",").index("A")
    cells = [row.split(",") for row in rows]
    for row in cells:
        row[place] = repr(float(row[place]) * 180 / 3.141592653589793)
    path.write_text("\n".join([titles, *map(",".join, cells)]) + "\n")
    wrong = run("identify", str(given), str(path), "--with", "friction", "--json")
    message = wrong.json["error"]["message"]
    assert "degrees where radians are meant" in message
    assert "Write the unit into the titles: `A [deg]`." in message


@pytest.mark.parametrize("degrees", [["E"], ["A"], ["A", "E"]])
def test_the_columns_in_degrees_are_named(run, tmp_path, degrees):
    path = tmp_path / "run.csv"
    assert run("simulate", "five-bar", "-o", str(path), "--json").status == 0
    titles, *rows = path.read_text().splitlines()
    names, cells = titles.split(","), [list(map(float, row.split(","))) for row in rows]
    for row in cells:
        for k in map(names.index, degrees):
            row[k] *= 180 / math.pi

    def write(unit):
        title = ",".join(f"{x}{unit}" if x in degrees else x for x in names)
        text = "\n".join([title, *(",".join(map(repr, row)) for row in cells)])
        path.write_text(text, encoding="utf-8")

    write("")
    message = run("identify", "five-bar", str(path), "--json").json["error"]["message"]
    assert "looks like degrees" in message
    assert ("the others" in message) == (len(degrees) == 1)
    told = " and ".join(f"`{x} [deg]`" for x in degrees)
    assert f"Write the unit into the titles: {told}." in message
    write(" [deg]")
    assert run("identify", "five-bar", str(path), "--json").status == 0


@pytest.mark.parametrize(("times", "unit"), [(1e3, "N*mm"), (1e2, "N*cm")])
def test_the_unit_of_a_torque_follows_from_its_size(run, tmp_path, times, unit):
    path = tmp_path / "run.csv"
    assert run("simulate", "four-bar", "-o", str(path), "--json").status == 0
    titles, *rows = path.read_text().splitlines()
    place = titles.split(",").index("tau.A")
    cells = [row.split(",") for row in rows]
    for row in cells:
        row[place] = repr(float(row[place]) * times)
    path.write_text("\n".join([titles, *map(",".join, cells)]) + "\n")
    wrong = run("identify", "four-bar", str(path), "--json").json["error"]["message"]
    assert f"Write the unit into its title, `tau.A [{unit}]`." in wrong
    text = path.read_text().replace("tau.A", f"tau.A [{unit}]", 1)
    path.write_text(text)
    assert run("identify", "four-bar", str(path), "--json").status == 0


@pytest.mark.parametrize("command", ["identify", "reduce"])
def test_two_torques_whose_titles_are_exchanged(run, tmp_path, command):
    """The proposed columns are those of the record in order, and nothing is left to report."""
    good, path = tmp_path / "good.csv", tmp_path / "run.csv"
    assert run("simulate", "five-bar", "-o", str(good), "--json").status == 0
    header, rows = good.read_text().split("\n", 1)
    assert header == "t,A,E,tau.A,tau.E"
    path.write_text(f"t,A,E,tau.E,tau.A\n{rows}")
    words = {"identify": [command, "five-bar", str(path)], "reduce": [command, "five-bar"]}[
        command
    ]
    words += ["--data", str(path)] if command == "reduce" else []
    first, *_ = run(*words, "--json").json["notes"]
    assert first["kind"] == "exchanged"
    given = re.search(r"give (--columns \S+)$", first["text"])[1]
    assert given == "--columns tau.A=tau.E,tau.E=tau.A"
    kinds = {note["kind"] for note in run(*words, *given.split(), "--json").json["notes"]}
    assert kinds <= {"insignificant"}


def test_a_speed_in_turns_a_minute():
    given = library_path("four-bar").read_text().replace("speed: 6.28 rad/s", "speed: 300")
    with pytest.warns(
        basepar.BaseparWarning, match="which is 2865 rpm; write '300 rpm', '300 deg/s'"
    ):
        loads(given)


def test_a_place_in_the_frame_of_the_drawing():
    """D's place on the rocker, 1.3 m from C, given where it is in the world."""
    given = library_path("four-bar").read_text()
    drawn = "assembly: {points: {B: [249 mm, 168 mm], C: [736 mm, 1373 mm]}}"
    given = re.sub("assembly: .*", drawn, given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loads(given)
    wrong = given.replace("[Dx, Dy], [lx3, 0]", "[Dx, Dy], [Dx, Dy]")
    said = "C and D are 1.3 m apart as drawn, and 1.005 m on rocker"
    with pytest.warns(basepar.BaseparWarning, match=said):
        loads(wrong)


def test_a_rest_length_in_millimetres():
    spring = "springs: {k: {connects: [ground, arm], at: [[0, 0, 0], [0, 0, 0]], rest: 250}}"
    with pytest.warns(basepar.BaseparWarning, match="write '250 mm' or '250 m'"):
        loads(f"{ARM}{spring}\n")


def test_an_amplitude_in_millimetres():
    said = r"amplitude.q3 \(line \d+\): 80 is taken as 80 m; write '80 mm' or"
    with pytest.warns(basepar.BaseparWarning, match=said):
        loads(file(shipped("scara"), "q3: 0.08 m", "q3: 80"))


def test_gravity_in_millimetres():
    given = file(ARM, "gravity: [0, 0, -9.81]", "gravity: [0, 0, -9810]")
    with pytest.warns(basepar.BaseparWarning, match="write '-9810 mm/s\\^2'"):
        loads(given)


@pytest.mark.parametrize("centre", ["1/0", "1e99999999"])
def test_a_centre_that_is_no_number(centre):
    with pytest.raises(FileError, match=r"bodies\.arm\.centre"):
        loads(file(ARM, "centre: [a/2, 0, 0]", f"centre: [{centre}, 0, 0]"))


def test_a_centre_in_millimetres():
    """Bare numbers are in m; a body whose centre is tens of metres away is most likely in mm."""
    given = file(ARM, "centre: [a/2, 0, 0]", "centre: [60, 0, 0]")
    with pytest.warns(
        basepar.BaseparWarning, match="60 is taken as 60 m; write '60 mm' or '60 m'"
    ):
        loads(given)


@pytest.mark.parametrize(
    ("command", "given", "rows", "facts"),
    [*MISTAKES.values(), *LATER.values(), *TRIED.values()],
    ids=[*MISTAKES, *LATER, *TRIED],
)
def test_the_message_says_what_to_write(run, tmp_path, monkeypatch, command, given, rows, facts):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    words = [] if "\n" in given else shlex.split(given)
    if "\n" in given:
        (tmp_path / "file.yaml").write_text(given, encoding="utf-8")
        words = ["file.yaml"]
    words += ["rows.csv"] * (words == ["four-bar"] and command == "identify")
    wrong = run(command, *words, "--json")
    assert wrong.status in (1, 2)
    message = wrong.json["error"]["message"]
    assert [fact for fact in facts if fact not in message] == [], message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mass: 6 kg,", "mass:6 kg,"),
        ("a: {value: 0.25,", "a: {value: 0,25,"),
        (
            "coordinates:",
            "motors: {M: {joint: yaw, voltage: 9, resistance: 1 Ohm, constant: 1}}\ncoordinates:",
        ),
    ],
)
def test_a_slip_is_one_mistake(old, new):
    """What follows from it, a mass that is missing or a value of 0, is not told."""
    wrong = file(ARM, old, new)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FileError) as raised:
            loads(wrong)
    assert len(raised.value.mistakes) == 1, raised.value


@pytest.mark.parametrize(
    ("value", "write"),
    [
        (90, "write alpha: {value: 90, unit: deg}, or unit: rad; 90 rad are 5157 deg"),
        (0.5, "write alpha: {value: 0.5, unit: rad}, or unit: deg"),
    ],
)
def test_an_angle_without_a_unit_is_one_mistake_at_its_line(value, write):
    """It is used twice, in an axis; what is to be edited is the symbol."""
    wrong = file(ARM, "axis: [[0, 1, 0],", "axis: [[0, -sin(alpha), cos(alpha)],")
    wrong = wrong.replace("  h:", f"  alpha: {{value: {value}}}\n  h:")
    with pytest.raises(FileError) as raised:
        loads(wrong)
    (one,) = raised.value.mistakes
    assert one.path == "geometry.alpha"
    assert one.message.endswith(write)


@pytest.mark.parametrize("stated", ["{S: 0, C: 90 deg}", "{S: 0, C: 90 deg, P1: 30 deg}"])
def test_a_value_against_a_coupling(run, tmp_path, stated):
    gears = tmp_path / "gears.yaml"
    gears.write_text(f"{GEARS}assembly: {stated}\n", encoding="utf-8")
    found = {one["name"]: one for one in run("show", str(gears), "--json").json["branch_found"]}
    # By hand: 60 C + 18 P1 with P1 = (24 C)/18 where it is not stated, and as stated.
    total = 60 + 24 if "P1" not in stated else 60 + 18 / 3
    assert found["C"]["coupling"] == "ring"
    assert found["C"]["offset"] == pytest.approx(total * 1.5707963267948966)


def test_a_motion_misspelt():
    with pytest.raises(UsageError, match="did you mean 'cycle'"):
        basepar.motion("four-bar", "cycel")
