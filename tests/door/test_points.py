"""Points from Python, by the command line and on drawings: differences over time."""

import csv
import json

import numpy as np
import pytest

import basepar
from basepar_core.errors import MissingDataError, UsageError
from tests.core.dynamics.test_points import four_bar
from workflows.cli.main import main
from workflows.drawing import Scene

ASSEMBLY = "{A: 34 deg, B: 91.3 deg, C: -203.8 deg}"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("points") / "mine.yaml"
    path.write_text(four_bar(ASSEMBLY).source, encoding="utf-8")
    return path


def test_velocities_and_accelerations_are_rates_of_positions(file):
    model, h = basepar.load(file), 1e-4
    start = np.array([[[0.6]], [[0.9]]])
    geometry = {"lx1": [[0.25], [0.3]], "lx2": [[0.75], [0.7]]}
    qd, qdd = np.array([2.0]), np.array([-3.0])
    found = model.points(start[:, 0], qd, qdd, geometry)
    assert found.position.shape == (2, 2, 3, 2)
    assert found.names == ("P", "T", "O")

    def at(t):
        return model.points(start[:, 0] + qd * t + qdd * t**2 / 2, geometry=geometry).position

    first = (8 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12 * h)
    # Fourth order in 1e-4 s: below 1e-12; rounding 1e-15 over h.
    np.testing.assert_allclose(found.velocity, first, rtol=0, atol=1e-10)
    second = (at(h) - 2 * at(0) + at(-h)) / h**2
    # Second order in 1e-4 s of motions with fourth derivatives of some hundred, rounding 1e-7.
    np.testing.assert_allclose(found.acceleration, second, rtol=0, atol=1e-5)
    np.testing.assert_array_equal(found["P"], found.position[..., 0, :])


def test_paired_geometries_and_states_beyond_reach(file):
    model = basepar.load(file)
    q, lengths = np.array([[0.6], [0.7], [0.8]]), [0.25, 0.3, 9.0]
    pairs = model.points(q, geometry={"lx1": lengths})
    for k in (0, 1):
        alone = model.points(q[k], geometry={"lx1": lengths[k]})
        # Closed from another side, both to rounding.
        np.testing.assert_allclose(pairs.position[k], alone.position, rtol=0, atol=1e-12)
    assert np.isnan(pairs.position[2]).all()
    with pytest.raises(UsageError, match=r"No point is named 'Q'; there are P, T, O\."):
        pairs["Q"]


def test_show_writes_paths_and_lists_points(file, tmp_path, capsys):
    path = tmp_path / "paths.csv"
    assert main(["show", str(file), "--trace", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [(one["name"], one["body"]) for one in facts["points"]] == [
        ("P", "coupler"),
        ("T", "rocker"),
        ("O", "ground"),
    ]
    model = basepar.load(file)
    here = model.points(model.assembly).position
    np.testing.assert_allclose([p["assembled"] for p in facts["points"]], here, atol=1e-14)
    with path.open(encoding="utf-8") as lines:
        titles, *rows = csv.reader(lines)
    assert titles[:7] == ["t", "P.x", "P.x'", "P.x''", "P.y", "P.y'", "P.y''"]
    table = np.array([[x or "nan" for x in row] for row in rows], float)
    cycle = basepar.motion(model, "cycle")
    found = model.points(cycle.q, cycle.qd, cycle.qdd)
    parts = np.stack([found.position, found.velocity, found.acceleration], axis=-1)
    np.testing.assert_allclose(table[:, 1:-3], parts.reshape(len(cycle.t), -1), rtol=0, atol=1e-9)
    assert titles[-3:] == ["P.curvature", "T.curvature", "O.curvature"]
    np.testing.assert_allclose(table[:, -3:], found.curvature, rtol=1e-9)  # O rests: nan
    assert main(["show", "four-bar", "--trace", str(tmp_path / "no.csv")]) == 1


def test_drawings_have_the_paths(file):
    model = basepar.load(file)
    scene = Scene(model.prepared, {})
    cycle = basepar.motion(model, "cycle")
    paths = model.points(cycle.q).position.transpose(1, 2, 0)
    np.testing.assert_allclose(scene.paths[:, :2, 1:], paths, rtol=0, atol=1e-12)
    figure = model.draw()
    written = {text.get_text() for text in figure.axes[0].texts}
    assert {"P", "T", "O"} <= written


def test_without_points_there_is_nothing_to_trace(tmp_path):
    from workflows.views import write_paths

    with pytest.raises(MissingDataError, match="states no points"):
        write_paths(basepar.load("four-bar").prepared, tmp_path / "no.csv")
