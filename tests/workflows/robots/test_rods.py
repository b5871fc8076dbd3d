"""Rods that the import parts by a massless body, written as the balls that hold them."""

import mujoco
import numpy as np
import pytest

import basepar
from basepar_core.imported import read_file
from basepar_core.mechanism import Mechanism
from tests.core.imported.test_imports_rods import written

NAMES = "crank", "rod", "rocker"


def at_rest(path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """MuJoCo's mass matrix and gravity in the file's own pose, by joint names, and the point of
    the rod that is closed to the rocker."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    for k, unit in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, M[k], unit)
    order = [
        model.joint(name).dofadr[0] + k for name in NAMES for k in range(3 if name == "rod" else 1)
    ]
    sides = model.eq_data[0, :3], model.eq_data[0, 3:6]
    first = model.body(model.eq_obj1id[0]).name == "rod"
    return M[np.ix_(order, order)], data.qfrc_bias[order], sides[0 if first else 1]


@pytest.mark.parametrize("anchor", [".7 0 0", ".6 .3 -.2"])
def test_mjcf_is_the_file_that_was_imported(tmp_path, anchor):
    """The ball is one again, of the name that it had."""
    path, target = written(tmp_path, anchor=anchor), tmp_path / "out.xml"
    model = basepar.Model(read_file(path).mechanism)
    assert any(body.form == "massless" for body in model.mechanism.bodies)
    model.export(target)
    for ours, theirs in zip(at_rest(target), at_rest(path), strict=True):
        # Frames are met to 1e-14 rad and written to 17 digits.
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_sdf_reads_back(tmp_path):
    """With as many base parameters, a rod's turn a coordinate again."""
    model = basepar.Model(read_file(written(tmp_path)).mechanism)
    model.export(tmp_path / "out.sdf")
    assert 'type="ball"' in (tmp_path / "out.sdf").read_text()
    again = read_file(tmp_path / "out.sdf").mechanism
    assert kinds(again) == kinds(model.mechanism)
    assert basepar.Model(again).base().rank == model.base().rank


def kinds(mechanism: Mechanism) -> list[str]:
    return sorted(joint.type for joint in mechanism.joints)


@pytest.mark.parametrize("more", ["actuated: [rod_along]", "friction: {rod_along: {viscous: 1}}"])
def test_a_rod_whose_turn_is_driven_or_rubbed_is_not_a_ball(tmp_path, more):
    text = read_file(written(tmp_path)).text
    path = tmp_path / "rod.yaml"
    path.write_text(f"{text}{more}\n" + ("" if "actuated" in more else "actuated: [crank]\n"))
    with pytest.raises(basepar.MechanismError, match="rod_along"):
        basepar.load(path).export(tmp_path / "out.xml")


def test_a_coordinate_without_a_motor_is_told(tmp_path):
    """Drives that are just the coordinates are those of a file that names none."""
    text = read_file(written(tmp_path)).text
    path, target = tmp_path / "rod.yaml", tmp_path / "out.xml"
    for more in ("", "actuated: [crank, rod_along]\n"):
        path.write_text(text + more)
        basepar.load(path).export(target, overwrite=True)
        made = target.read_text()
        assert "No motor drives rod_along: " in made
        assert [line.split('"')[3] for line in made.splitlines() if "<motor" in line] == ["crank"]


SECOND = """  over:
    type: universal
    connects: [hub, rod]
    axis: [[0, 1, 0], [0, 0, 1]]
    reference: [[0, 0, 1], [0, 1, 0]]
  rocker:
"""


def test_massless_bodies_that_share_a_hinge(tmp_path):
    """One universal joint takes the hinge; what is left has no mass, and is named."""
    text = read_file(written(tmp_path)).text
    for old, new in (
        (
            "  rod_along: {form: massless}\n",
            "  rod_along: {form: massless}\n  hub: {form: massless}\n",
        ),
        ("connects: [rod_along, rod]", "connects: [rod_along, hub]"),
        ("  rocker:\n    type", SECOND + "    type"),
        ("coordinates: [crank, rod_along]", "coordinates: [crank, rod_along, over.1, over.2]"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = tmp_path / "rod.yaml"
    path.write_text(text.split("excitation:")[0])
    with pytest.raises(basepar.MechanismError, match="1 part of 'rod': body hub, which"):
        basepar.load(path).export(tmp_path / "out.xml")
