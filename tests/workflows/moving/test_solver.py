"""The page's own Newton against Python's configurations, in Chromium."""

import base64
import json

import numpy as np
import pytest
from markupsafe import Markup

from basepar_core.api import load
from basepar_core.dynamics import joints, kinematics, prepare, trace
from basepar_core.files import library_names
from basepar_core.mechanism import JOINT_TYPES
from tests.workflows import browser
from workflows import moving, pages

#: Both end Newton at an update below 1e-9, whose square is below rounding; what is owed is 1e-9.
SAME = 1e-9
POSES = 50
SOLVED = """JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(
  document.getElementById("data").textContent)).map(([name, {kit, cases}]) => {
    const solver = newton(kit.machine);
    return [name, cases.map(({values, targets}) => {
      const {samples, ended} = solver.follow(new Map(Object.entries(values)), targets);
      return {ended, R: samples.map(s => s.R), p: samples.map(s => s.p), q: samples.map(s => s.q)};
    })];
  })))"""
FILMED = """JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(
  document.getElementById("data").textContent)).map(([name, {kit, cases}]) => {
    const film = filmed(kit)(new Map(Object.entries(cases[1].values)));
    return [name, {...film, poses: [...film.poses]}];
  })))"""

NEEDS = pytest.mark.skipif(
    browser.executable() is None,
    reason="no Chromium on the PATH (Debian: apt-get install chromium)",
)


@pytest.mark.parametrize("planar", [True, False])
def test_the_table_is_the_joints(planar):
    """Chains and locks of the data against `joints.py`, at configurations at random."""
    rng = np.random.default_rng(4)
    table = moving.joint_table(planar)
    assert list(table) == list(JOINT_TYPES)
    for name, entry in table.items():
        q = rng.normal(size=joints.configuration_size(name))
        if JOINT_TYPES[name].is_ball:
            q[-4:] /= np.linalg.norm(q[-4:])
        turn, shift = joints.relative_motion(name, q)
        R, p, k = np.eye(3), np.zeros(3), 0
        for step in entry["chain"]:
            if "slide" in step:
                p, k = p + R[:, step["slide"]] * q[k], k + 1
            elif "turn" in step:
                c, s = np.cos(q[k]), np.sin(q[k])
                assert step["turn"] == 2
                R, k = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), k + 1
            elif "constant" in step:
                R = R @ np.reshape(step["constant"], (3, 3))
            else:
                w, x, y, z = q[k : k + 4]
                cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
                R = R @ (np.eye(3) + 2 * w * cross + 2 * cross @ cross)
        np.testing.assert_allclose(R, turn, atol=1e-15 * 8)
        np.testing.assert_allclose(p, np.zeros(3) if shift is None else shift, atol=1e-15)
        locked = joints.locked_count(name, planar)
        assert len(entry["along"]) + len(entry["pairs"]) == locked
        for a, b in entry["pairs"]:  # they are perpendicular whatever the values are
            assert abs(R[:, b][a]) < 1e-15 * 8 or planar


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """Per shipped mechanism its model, two geometries with targets, and what the page finds."""
    rng = np.random.default_rng(7)
    made, data = {}, {}
    for name in library_names():
        model = prepare(load(name))
        it, kit = model.mechanism, moving.kit(model)
        q = np.array(kit["motion"]["q"])
        at = np.linspace(0, len(q) - 1, 2 * POSES)
        rows = np.stack([np.interp(at, np.arange(len(q)), column) for column in q.T], axis=1)
        other = {
            symbol.name: it.nominal[symbol.name] * (1 + 0.02 * rng.uniform(-1, 1))
            for symbol in it.geometry
            if symbol.name not in it.roots
        }
        made[name] = (model, [({}, rows[::2]), (other, rows[1::2])])
        cases = [{"values": values, "targets": t.tolist()} for values, t in made[name][1]]
        data[name] = {"kit": kit, "cases": cases}
    scripts = [moving.player(), moving.solver()]
    body = Markup("").join([pages.data("data", data), *map(pages.script, scripts)])
    page = tmp_path_factory.mktemp("solver") / "page.html"
    page.write_text(pages.page("0", "solver", "", body, scripts))
    with browser.browser() as chromium:
        seen = chromium.show(page, width=400, scheme="light", deeds=[SOLVED, FILMED])
    assert seen.complaints == []
    return made, *map(json.loads, seen.told)


@pytest.mark.slow
@NEEDS
@pytest.mark.parametrize("name", library_names())
def test_configurations_are_pythons(solved, name):
    """A hundred poses each, half of them at another geometry."""
    model, cases = solved[0][name]
    for (values, targets), found in zip(cases, solved[1][name], strict=True):
        columns = {symbol: np.array([x]) for symbol, x in values.items()}
        path = trace(model, columns, targets.T)
        assert path.outcome[0] == 1
        assert found["ended"] is None
        dims = kinematics.geometry(model.mechanism, columns).over_samples()
        at = kinematics.poses(model.topology, dims, path.q)
        for k in range(len(model.mechanism.bodies)):
            R = np.broadcast_to(at.R[k], (3, 3, 1, len(targets)))[:, :, 0]
            p = np.broadcast_to(at.p[k], (3, 1, len(targets)))[:, 0]
            mine = np.array([sample[k] for sample in found["R"]]).T.reshape(3, 3, -1)
            np.testing.assert_allclose(mine, R, atol=SAME)
            mine = np.array([sample[k] for sample in found["p"]]).T
            np.testing.assert_allclose(mine, p, atol=SAME)
        np.testing.assert_allclose(np.array(found["q"]).T, path.q[:, 0], atol=SAME)


@pytest.mark.slow
@NEEDS
@pytest.mark.parametrize(
    "name", ["planetary-gear", "stewart-gough", "whitworth", "rsur", "screw-jack", "dwell"]
)
def test_films_are_pythons(solved, name):
    """The same lines, marks and poses of a variant as Python's film of it."""
    model, cases = solved[0][name]
    mine, theirs = solved[2][name], moving.film(model, cases[1][0]).document()
    for key in ("frames", "closed", "motion", "flat", "bodies", "note"):
        assert mine[key] == theirs[key], key
    assert mine["duration"] == pytest.approx(theirs["duration"])
    poses = np.frombuffer(base64.b64decode(theirs["poses"]), "<f4")
    np.testing.assert_allclose(mine["poses"], poses, atol=1e-6)  # float32
    for kind in ("lines", "marks", "points"):
        assert len(mine[kind]) == len(theirs[kind])
        for one, other in zip(mine[kind], theirs[kind], strict=True):
            assert {k: v for k, v in one.items() if k not in _PLACES} == {
                k: v for k, v in other.items() if k not in _PLACES
            }
            for key in _PLACES & one.keys():
                np.testing.assert_allclose(one[key], other[key], atol=SAME, err_msg=key)


_PLACES = {"at", "ends", "along"}
