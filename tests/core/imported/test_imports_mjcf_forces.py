"""Force laws and surroundings of MJCF models: what is read has MuJoCo's forces, what is left out
is said, and what no mechanism file has is rejected."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from basepar_core.dynamics import force_columns, observe, prepare
from basepar_core.dynamics.motion import Motion
from basepar_core.errors import FileError
from basepar_core.imported.formats import read_file

FLOATING = """<mujoco model="float"><option gravity="1 2 -9"{option}/><worldbody>
  <body name="b" pos="0.1 0.2 0.3" quat="0.9 0.1 0.3 0.2">
    <joint name="F" type="free" armature="0.4"{free}/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.1 0.05 0"/><site name="s" pos="0.1 0 0.2"/>
    <body name="c" pos="0 0.3 0"><joint name="H" axis="1 0 1" armature="0.2" damping="0.1"/>
      <geom size="0.1" pos="0 0.2 0.1"/><site name="u" pos="0 0.1 0"/></body></body>
  <site name="t" pos="0.5 1 0.3"/></worldbody>
  <tendon><spatial name="rope" stiffness="30" damping="2" limited="true" range="0 9">
      <site site="s"/><site site="t"/></spatial>
    <spatial name="rubber" stiffness="20" springlength="0.1"><site site="u"/><site site="s"/>
    </spatial></tendon></mujoco>"""


def written(folder, option="", free=""):
    path = folder / "float.xml"
    path.write_text(FLOATING.format(option=option, free=free))
    return path


def test_added_mass_springs_and_dampers_between_points_are_mujocos(tmp_path):
    path = written(tmp_path)
    it = read_file(path).mechanism
    model, motion = (
        prepare(it),
        Motion(np.arange(5.0), *np.random.default_rng(2).uniform(-1, 1, (3, 7, 5))),
    )
    chosen = force_columns.columns(it)
    seen = force_columns.with_columns(model, {}, motion, observe(model, {}, motion), chosen)
    values = force_columns.column_values(it, chosen, it.nominal)
    ours = seen.W[0] @ np.concatenate([it.inertial_parameters(it.nominal), values])
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    start = Rotation.from_quat([0.9, 0.1, 0.3, 0.2], scalar_first=True)
    for s in range(5):
        q, v, a = motion.q[:, s], motion.q_dot[:, s], motion.q_ddot[:, s]
        R = start * Rotation.from_rotvec(q[3:6])
        data.qpos[:3] = np.array([0.1, 0.2, 0.3]) + start.apply(q[:3])
        data.qpos[3:7], data.qpos[7] = R.as_quat(scalar_first=True), q[6]
        data.qvel[:], data.qacc[:] = v, a
        data.qvel[:3] = R.apply(v[:3])  # MuJoCo's linear velocities are in the world's axes
        data.qacc[:3] = R.apply(a[:3] + np.cross(v[3:6], v[:3]))
        mujoco.mj_inverse(theirs, data)
        expected = data.qfrc_inverse.copy()
        expected[:3] = R.inv().apply(expected[:3])
        # Sums in float64 about the tree's centre of mass; rotations are met to 1e-13 rad.
        np.testing.assert_allclose(ours[s], expected, rtol=0, atol=3e-12 * np.abs(expected).max())


def test_surroundings_are_left_out_and_said(tmp_path):
    bare = read_file(written(tmp_path)).mechanism
    found = read_file(written(tmp_path, ' density="900" viscosity="0.1"', ' damping="0.3"'))
    assert found.mechanism.friction == bare.friction
    assert "1 medium (density 900.0, viscosity 0.1)" in found.dropped
    said = " ".join(found.notes)
    assert "the medium (density 900.0, viscosity 0.1) is left out" in said
    assert "joint 'F' is free: its friction (viscous 0.3) is a drag of the surroundings" in said


def test_armature_of_a_free_body_that_is_held_is_rejected(tmp_path):
    path = written(tmp_path)
    held = "</tendon><equality><connect body1='c' anchor='0 0.3 0'/></equality>"
    path.write_text(path.read_text().replace("</tendon>", held))
    with pytest.raises(FileError, match="armature, a mass without weight"):
        read_file(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('springlength="0.1"', 'springlength="0.1 0.2"', "slack from 0.1 to 0.2 m"),
        ('stiffness="20"', 'frictionloss="1"', "it has frictionloss"),
        ('stiffness="20"', 'armature="1"', "it has armature"),
        ('stiffness="20"', 'stiffness="20 3"', "a stiffness that is not linear"),
        (
            '<site site="u"/><site site="s"/>',
            '<site site="u"/><site site="s"/><site site="t"/>',
            "a path of more than two points",
        ),
    ],
)
def test_tendons_that_pull_otherwise_are_rejected(tmp_path, old, new, message):
    path = written(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(FileError, match="tendon 'rubber'") as caught:
        read_file(path)
    assert message in str(caught.value)


def test_a_tendon_that_only_limits_or_is_driven_is_left_out(tmp_path):
    path = written(tmp_path)
    text = (
        path.read_text().replace(' stiffness="30" damping="2"', "").replace(' stiffness="20"', "")
    )
    motor = "</tendon><actuator><motor tendon='rubber'/></actuator>"
    path.write_text(text.replace("</tendon>", motor))
    found = read_file(path)
    assert {"2 tendon", "1 actuator"} <= set(found.dropped)
    assert not found.mechanism.springs


DRAGGED = """<mujoco><worldbody><body name="hand" mocap="true" pos="0.3 0 0.4">
    <geom size="0.02"/></body>
  <body name="one"><joint name="A" axis="0 1 0"/><inertial pos="0.1 0 0.1" mass="1"
    diaginertia="0.1 0.1 0.1"/>
    <body name="two" pos="0.3 0 0"><joint name="B" axis="0 1 0"/><inertial pos="0 0 0.1" mass="2"
      diaginertia="0.1 0.1 0.1"/>
      <body name="three" pos="0 0 0.4"><joint name="C" axis="0 1 0"/><joint name="D" type="slide"
        axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></body>
  </body>
  </worldbody><equality><connect body1="hand" body2="three" anchor="0 0 0"/></equality></mujoco>"""


def test_a_mocap_body_that_holds_something_holds_it_to_the_ground(tmp_path):
    """By the rank of MuJoCo's own constraints: four joint values, two equations of a plane."""
    path = tmp_path / "dragged.xml"
    path.write_text(DRAGGED)
    found = read_file(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rank = np.linalg.matrix_rank(data.efc_J.reshape(-1, model.nv))
    assert len(found.mechanism.coordinates) == model.nv - rank == 2
    assert any("mocap body 'hand' is part of the ground" in note for note in found.notes)


@pytest.mark.parametrize("law", ['damping="0.1"', 'frictionloss="0.1"', 'armature="0.1"'])
def test_what_rubs_in_balls_is_left_out_on_request(tmp_path, law):
    path = tmp_path / "rubs.xml"
    text = """<mujoco><worldbody><body name="b"><joint name="B" type="ball" {}/>
      <geom size="0.1" pos="0.1 0 0"/></body></worldbody></mujoco>"""

    def content(found):
        return [line for line in found.text.splitlines() if not line.startswith("#")]

    path.write_text(text.format(""))
    plain = read_file(path)
    path.write_text(text.format(law))
    with pytest.raises(FileError, match="frictionless-balls"):
        read_file(path)
    found = read_file(path, frictionless=True)
    assert content(found) == content(plain)
    assert any("'B' is a ball" in note and "0.1 left out" in note for note in found.notes)


def test_springs_of_balls_stay_rejected(tmp_path):
    path = tmp_path / "sprung.xml"
    path.write_text(
        """<mujoco><worldbody><body name="b"><joint name="B" type="ball" stiffness="2"/>
      <geom size="0.1"/></body></worldbody></mujoco>"""
    )
    with pytest.raises(FileError, match="it is a ball joint with"):
        read_file(path, frictionless=True)
