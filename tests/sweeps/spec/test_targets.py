"""Targets of paths in sweep and study files: read beside the file, kept by the store."""

import json

import numpy as np
import pytest

from basepar_core.errors import BaseparWarning, FileError, MechanismError, StoreError
from basepar_core.files.mechanism_file import library_path
from sweeps.chunks.evaluator import prepare
from sweeps.spec.reader import from_document, parse_sweep
from sweeps.spec.target_reader import target_lines
from sweeps.store.statuses import Status
from workflows.studies.gradients import Landscape, slope_kind
from workflows.studies.neighbourhood import _text
from workflows.studies.reader import parse_study

SWEEP = """
mechanism: pointed.yaml
space: {plan: sobol, variables: {lx1: [0.25, 0.35], lx3: [1.2, 1.4]}, candidates: 16, seed: 1}
evaluate:
  rank: none
  targets:
    wanted: curve.csv
    near: {points: [[0.3, 200 mm], [0.5, 0.4], [0.2, 0.6], [0.9, 0.1], [-0.1, 0.2]],
           fit: [position, scale]}
    stops: {points: [[0.3, 0.2], [0.5, 0.4]], timing: {A: [45 deg, 2]}}
  metrics: ["path_error(P, wanted)", "path_error(P,near)", "path_error(P,stops)"]
"""
STUDY = """
mechanism: pointed.yaml
variables: {lx1: [0.25, 0.35], lx3: [1.2, 1.4]}
targets: {wanted: curve.csv, other: {points: [[0, 0], [1, 1]]}}
objectives: {"path_error(P, wanted)/lx1": minimize}
constraints: ["path_error(P,wanted) <= 700 mm"]
trials: 8
"""
CURVE = "x,y,A\n0.3,0.2,0.7\n0.5,0.4,1.1\n0.2,0.6,2.5\n"


@pytest.fixture
def folder(tmp_path):
    points = "points: {P: {body: coupler, at: [0.3, 0.2]}}"
    source = library_path("four-bar").read_text()
    (tmp_path / "pointed.yaml").write_text(f"{source}\n{points}\n")
    (tmp_path / "curve.csv").write_text(CURVE)
    return tmp_path


def read(folder, text=SWEEP):
    return parse_sweep(text, str(folder / "sweep.yaml"))


def test_a_sweep_has_its_errors_in_arrays(folder):
    spec = read(folder)
    wanted, near, stops = spec.evaluation.targets
    assert (wanted.over, wanted.at, wanted.fit) == ("A", (0.7, 1.1, 2.5), ())
    assert near.points[0] == (0.3, 0.2)
    assert near.fit == ("timing", "position", "scale")  # no timing is stated
    assert stops.at == (np.pi / 4, 2.0)
    evaluator, columns = prepare(spec), spec.plan.rows(0, 16)
    found = evaluator(columns, np.ones(16, bool))
    units = {one.name: one.unit for one in evaluator.outputs}
    for name in ("wanted", "near", "stops"):
        array = f"path_error_P_{name}"
        assert units[array] == "m"
        good = found["status"] == Status.SOLVED
        assert good.sum() > 8
        assert (found[array][good] > 0.01).all()
        assert np.isnan(found[array][~good]).all()


def test_the_store_keeps_the_points_and_another_curve_is_another_sweep(folder):
    spec = read(folder)
    text = spec.document()
    (folder / "curve.csv").unlink()
    assert from_document(text) == spec
    assert from_document(text).hash == spec.hash
    (folder / "curve.csv").write_text(CURVE.replace("0.4", "0.41"))
    other = read(folder)
    assert other.hash != spec.hash
    (line,) = other.difference(spec.canonical)
    assert line.startswith("evaluate.targets.wanted.sha256")
    damaged = json.loads(text)
    damaged["targets"]["wanted"]["points"][0][0] = 0.31
    with pytest.raises(StoreError, match="not those of its sha256"):
        from_document(json.dumps(damaged))


def test_sweeps_without_targets_keep_their_hash():
    plain = parse_sweep("mechanism: four-bar\nspace: {plan: grid, variables: {lx1: [0.3]}}\n")
    assert "targets" not in plain.canonical["evaluate"]
    assert "targets" not in json.loads(plain.document())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("missing.csv", "missing.csv cannot be read: No such file"),
        ("{file: curve.csv, points: [[0, 0], [1, 1]]}", "a file, or points: one of the two"),
        ("{file: curve.csv, timing: {A: [1, 2, 3]}}", "the timing is its column t, or one"),
        ("{points: [[0, 0], [1, 1]], timing: {A: [1]}}", "1 value for 2 points"),
        ("{points: [[0, 0], [1, 1]], timing: {B: [1, 2]}}", "'B', which is none of t, A"),
        ("{points: [[0, 0, 0], [1, 1, 0]]}", "have x and y"),
        (
            "{points: [[0, 0], [1, 1]], fit: [position]}",
            "at least 3 are needed where timing, position are free",
        ),
        (
            "{points: [[0, 0], [1, 1], [2, 3], [3, 0]], fit: [position, rotation, scale, timing]}",
            "at least 5 are needed where timing, position, rotation, scale are free: almost any",
        ),
        (
            "{points: [[0, 0], [1, 1], [2, 0]], fit: [timing, position, scale]}",
            "at least 4 are needed where timing, position, scale are free: almost any",
        ),
        (
            "{points: [[0, 0], [1, 1]], timing: {A: [1, 2]}, fit: [position, scale, rotation]}",
            "at least 3 are needed where position, rotation, scale are free: almost any",
        ),
        ("{file: curve.csv, fit: [sise]}", "no thing to fit 'sise'"),
        ("{points: [[0, 2 rad/s], [1, 1]]}", "m"),
    ],
)
def test_mistakes(folder, line, said):
    text = SWEEP.replace("wanted: curve.csv", f"wanted: {line}")
    with pytest.raises(FileError, match=said):
        read(folder, text)


@pytest.mark.parametrize(
    ("curve", "said"),
    [
        ("x,y,B\n1,2,3\n", "must name x,y .*, and with a timing one of t, A; it has x, y, B"),
        ("x,y\n1,2\n1,zwei\n1,2\n", "line 3 of curve.csv: 'zwei' is no number"),
        ("x,y\n1,2\n1\n1,2\n", "line 3 of curve.csv: 1 entry for 2 columns"),
        ("x,y\n1,2\n1,inf\n1,2\n", "line 3 of curve.csv: its numbers are not finite"),
        ("x,y\n1,2\n", "too few points: at least 2"),
        ("", "it has nothing"),
        ("x (mm),y (mm)\n1,2\n", r"it has x \(mm\), y \(mm\); units stand in brackets"),
        ("x [kg],y\n1,2\n1,2\n", r"curve.csv, x: is in \[kg\], but m or a multiple"),
        ("x [mm],y\n1 mm,2\n1,2\n", "'1 mm' is no number; a unit stands in its column's title"),
    ],
)
def test_mistakes_of_a_curve(folder, curve, said):
    (folder / "curve.csv").write_text(curve)
    with pytest.raises(FileError, match=said):
        read(folder)


def test_titles_state_units(folder):
    (folder / "curve.csv").write_text(
        "x [mm], y [cm], A [deg]\n700,20,90\n500,40,180\n200,60,270\n"
    )
    wanted = read(folder).evaluation.targets[0]
    assert wanted.points == ((0.7, 0.2), (0.5, 0.4), (0.2, 0.6))
    assert wanted.at == (np.pi / 2, np.pi, 3 * np.pi / 2)


def test_far_targets_are_told(folder, recwarn):
    (folder / "curve.csv").write_text("x,y,A\n300,200,0.7\n500,400,1.1\n200,600,2.5\n")
    near = "[[300, 200], [500, 400], [200, 600], [900, 100], [-100, 200]]"
    text = SWEEP.replace("[[0.3, 200 mm], [0.5, 0.4], [0.2, 0.6], [0.9, 0.1], [-0.1, 0.2]]", near)
    assert near in text
    read(folder, text)
    (only,) = (str(one.message) for one in recwarn)  # of a size that is fitted nothing is told
    assert only.startswith("evaluate.targets.wanted (line 7): curve.csv lies up to 640 m from the")
    assert only.endswith("in m: if mm is meant, title the columns x [mm],y [mm].")
    inline = f"{{points: {near}, fit: [position]}}"
    with pytest.warns(BaseparWarning, match="if mm is meant, write the points so: .300 mm, 200"):
        read(folder, text.replace("curve.csv", inline))


@pytest.mark.parametrize(
    ("fit", "count", "least"),
    [
        ("[timing, position, rotation]", 3, 4),
        ("[timing, rotation]", 3, 0),
        ("[timing, position, rotation]", 4, 0),
        ("[timing, position]", 3, 0),
    ],
)
def test_points_that_a_fit_alone_may_meet_are_warned_of(folder, fit, count, least, recwarn):
    points = [[0.3, 0.2], [0.5, 0.4], [0.2, 0.6], [0.4, 0.5]][:count]
    read(folder, SWEEP.replace("wanted: curve.csv", f"wanted: {{points: {points}, fit: {fit}}}"))
    said = [str(one.message) for one in recwarn if "large enough" in str(one.message)]
    assert len(said) == (1 if least else 0)
    if least:
        assert (
            "meets 3 points where timing, position, rotation are free. Give at least 4" in said[0]
        )


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("path_error(P, wnated)", "there is no target 'wnated'; did you mean 'wanted'"),
        (
            "path_error(P)",
            r"takes a target too: write path_error\(P, NAME\); there are wanted, near",
        ),
        ("path_error(Q, wanted)", r"no point and target .of `targets`. 'Q,wanted'"),
        ("path_error(A, wanted)", r"no point and target .of `targets`. 'A,wanted'"),
        ("function_error(P, wanted)", r"no joint value and target .*'P,wanted'"),
        ("pose_error(P, wanted)", "pose_error does not take the target wanted, which has points$"),
        ("function_error(A, nothing)", "no target 'nothing'; add here `targets: {wanted: curve"),
        ("clearance(P, coupler)", "P is a point of coupler: their distance is constant"),
        ("clearance(coupler, P)", "P is a point of coupler: their distance is constant"),
        ("clearance(crank, P)", r"the second is a body: write clearance\(P, crank\)"),
        ("clearance(crank)", r"takes two: write clearance\(crank, NAME\) with a body"),
        ("clearance(crank, crank)", "crank has no distance from itself"),
        ("clearance(P, crank)", r"crank has no shape: add `shape: \{capsule"),
        ("clearance(crank, ground)", "crank and ground have no shape: add"),
        ("clearance(wheel, ground)", "no pair of a body or point and a body with a shape"),
    ],
)
def test_unknown_points_and_targets_are_named(folder, metric, said):
    with pytest.raises(FileError, match=said):
        read(folder, SWEEP.replace("path_error(P, wanted)", metric))
    study = STUDY.replace("path_error(P, wanted)", metric).replace("other:", "near:")
    with pytest.raises(FileError, match=said):
        parse_study(study.replace("/lx1", ""), str(folder / "study.yaml"))


def test_timing_that_the_cycle_does_not_have_is_reported_before_the_sweep(folder):
    source = (folder / "pointed.yaml").read_text()
    whole = "turns: 1"
    assert whole in source
    (folder / "pointed.yaml").write_text(source.replace(whole, "turns: 0.25"))
    with pytest.raises(MechanismError, match=r"asks for A = 2\.5"):
        prepare(read(folder))


def test_a_study_follows_exact_slopes(folder):
    spec = parse_study(STUDY, str(folder / "study.yaml"))
    (used,) = spec.sweep.evaluation.targets  # nothing speaks of the other
    assert used.name == "wanted"
    assert slope_kind("path_error(P,wanted)") == "exact"
    landscape = Landscape.of(spec)
    design = {"lx1": 0.3, "lx3": 1.3}
    here, h = landscape.at(design), 1e-5
    for name in design:
        up, down = (landscape.at({**design, name: design[name] + x}) for x in (h, -h))
        expected = (up.values["path_error(P,wanted)"] - down.values["path_error(P,wanted)"]) / 2
        slope = here.slopes["path_error(P,wanted)"][list(design).index(name)]
        # Differences err by h² times a third derivative near ten.
        assert slope == pytest.approx(expected / h, abs=1e-8)


def test_a_neighbourhood_has_the_points_itself(folder):
    spec = parse_study(STUDY, str(folder / "study.yaml"))
    text = _text(spec, {"lx1": 0.3, "lx3": 1.3}, folder / "near.yaml", 0.1, 16, 0)
    mechanism = (folder / "pointed.yaml").read_text()
    (folder / "near-mechanism.yaml").write_text(mechanism)
    (folder / "curve.csv").unlink()
    near = parse_sweep(text, str(folder / "near.yaml"))
    assert near.evaluation.targets == spec.sweep.evaluation.targets


def test_functions_and_poses(folder):
    """From files and from the sweep's own text; a store has them again, a sweep file too."""
    (folder / "swing.csv").write_text("A,value\n0.7,2.0\n2.0,2.2\n4.0,1.9\n")
    (folder / "stations.csv").write_text("x,y,angle\n0.5,0.3,0.5\n0.2,0.8,0.7\n0.1,0.4,0.2\n")
    text = """
mechanism: pointed.yaml
space: {plan: sobol, variables: {lx1: [0.25, 0.35]}, candidates: 4, seed: 1}
evaluate:
  rank: none
  targets:
    swing: swing.csv
    same: {points: [[2.0], [2.2], [108.8619810748 deg]], timing: {A: [0.7, 2, 4]}, fit: [position]}
    stations: {file: stations.csv, arm: 300 mm}
    posed: {points: [[0.5, 0.3], [0.2, 0.8]], angles: [30 deg, 0.7], arm: 0.3, timing: {A: [1, 2]}}
  metrics: ["function_error(D, swing)", "function_error(D,same)", "pose_error(P,stations)",
            "pose_error(P,posed)"]
"""
    spec = read(folder, text)
    swing, same, stations, posed = spec.evaluation.targets
    assert swing.is_function
    assert same.points[2][0] == pytest.approx(1.9, abs=1e-8)
    assert (same.fit, stations.fit) == (("position",), ("timing",))
    assert (stations.angles, stations.arm) == ((0.5, 0.7, 0.2), 0.3)
    assert posed.angles[0] == pytest.approx(np.pi / 6)
    again = from_document(spec.document())
    assert (again, again.hash) == (spec, spec.hash)
    assert (
        parse_sweep(
            text.split("targets:")[0] + f"targets: {target_lines(spec.evaluation.targets)}\n",
            str(folder / "sweep.yaml"),
        ).evaluation.targets
        == spec.evaluation.targets
    )
    evaluator, columns = prepare(spec), spec.plan.rows(0, 4)
    found = evaluator(columns, np.ones(4, bool))
    units = {one.name: one.unit for one in evaluator.outputs}
    assert (units["function_error_D_swing"], units["pose_error_P_posed"]) == ("rad", "m")
    assert np.isfinite(found["pose_error_P_stations"]).all()
    assert (found["function_error_D_same"] < found["function_error_D_swing"]).all()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{points: [[1], [2]]}", "a function of a coordinate or of t states its timing"),
        ("{points: [[1], [2]], timing: {A: [1, 2]}, fit: [rotation]}", "does not turn"),
        ("{points: [[1, 2], [2, 3]], angles: [1, 2]}", "angles need an arm"),
        ("{points: [[1, 2], [2, 3]], angles: [1], arm: 0.1}", "1 value for 2 points"),
        (
            "{points: [[1, 2], [2, 3]], angles: [1, 2], arm: 0.1, fit: [scale]}",
            "nothing is fitted",
        ),
        ("{points: [[1, 2], [2]]}", "have x and y"),
    ],
)
def test_mistakes_of_functions_and_poses(folder, line, said):
    with pytest.raises(FileError, match=said):
        read(folder, SWEEP.replace("wanted: curve.csv", f"wanted: {line}"))
