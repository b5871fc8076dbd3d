"""Bases that float in URDF and MJCF, against Pinocchio's and MuJoCo's inverse dynamics."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import observe, prepare
from basepar_core.dynamics.motion import Motion
from basepar_core.errors import FileError
from basepar_core.imported.formats import read_file

LINK = """<link name="{}"><inertial><origin xyz="0.1 -0.02 0.05" rpy="0 0 0"/><mass value="{}"/>
  <inertia ixx="0.03" ixy="0.002" ixz="0.001" iyy="0.04" iyz="-0.003" izz="0.05"/></inertial>
</link>
"""
URDF = (
    "<robot name='walker'><link name='world'/>"
    + "".join(LINK.format(name, mass) for name, mass in (("trunk", 6), ("hip", 1), ("leg", 0.5)))
    + """<joint name="base" type="floating"><parent link="world"/><child link="trunk"/>
  <origin xyz="0.1 0.2 0.5" rpy="0 0 1.5707963267948966"/></joint>
<joint name="abduct" type="revolute"><parent link="trunk"/><child link="hip"/>
  <origin xyz="0.2 0.05 0"/><axis xyz="1 0 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="extend" type="prismatic"><parent link="hip"/><child link="leg"/>
  <origin xyz="0 0.08 -0.1"/><axis xyz="0 0 -1"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
)
UNITS = ("1 0 0", "0 1 0", "0 0 1")
#: 10 for each of three bodies, less 3 for the revolute and 6 for the prismatic joint.
RANK = 21


def moving(count):
    q, v, a = np.random.default_rng(4).uniform(-1, 1, (3, count, 6))
    return Motion(np.arange(6.0), q, v, a)


def torques(found, motion):
    """W φ (sample, coordinate)."""
    model = prepare(found.mechanism)
    phi = found.mechanism.inertial_parameters(found.mechanism.nominal)
    return observe(model, {}, motion).W[0] @ phi


def test_a_floating_joint_is_pinocchios_free_flyer(tmp_path):
    path = tmp_path / "walker.urdf"
    path.write_text(URDF)
    found = read_file(path)
    it = found.mechanism
    assert [joint.type for joint in it.joints] == ["free", "revolute", "prismatic"]
    assert symbolic(prepare(it)).rank == RANK
    # The floating joint is Pinocchio's root joint; where that is placed changes gravity only.
    fixed = URDF.replace("<link name='world'/>", "")
    fixed = fixed[: fixed.index("<joint")] + fixed[fixed.index('<joint name="abduct"') :]
    model = pin.buildModelFromXML(fixed, pin.JointModelFreeFlyer())
    data = model.createData()
    turn = Rotation.from_euler("z", np.pi / 2)
    motion = moving(8)
    seen = torques(found, motion)
    for s in range(6):
        q, v, a = motion.q[:, s], motion.q_dot[:, s], motion.q_ddot[:, s]
        quaternion = (turn * Rotation.from_rotvec(q[3:6])).as_quat()  # scalar last
        expected = pin.rnea(model, data, np.concatenate([q[:3], quaternion, q[6:]]), v, a)
        # Some hundred roundings; the quarter turn is met to what the file prints.
        np.testing.assert_allclose(seen[s], expected, rtol=0, atol=1e-12 * np.abs(expected).max())


MJCF = """<mujoco model="walker"><compiler angle="radian"/><worldbody>
<body name="trunk" pos="0.1 0.2 0.5" quat="0.5 0.5 0.5 0.5"><freejoint name="base"/>
  <inertial pos="0.1 -0.02 0.05" mass="6" fullinertia="0.03 0.04 0.05 0.002 0.001 -0.003"/>
  <body name="hip" pos="0.2 0.05 0"><joint name="abduct" axis="1 0 0"/>
    <inertial pos="0 0.1 0" mass="1" fullinertia="0.03 0.04 0.05 0.002 0.001 -0.003"/>
    <body name="leg" pos="0 0.08 -0.1"><joint name="extend" type="slide" axis="0 0 -1"/>
      <inertial pos="0 0 -0.1" mass="0.5" fullinertia="0.03 0.04 0.05 0.002 0.001 -0.003"/>
</body></body></body>{more}</worldbody>{equality}</mujoco>"""


def test_a_free_joint_of_mujoco(tmp_path):
    path = tmp_path / "walker.xml"
    path.write_text(MJCF.format(more="", equality=""))
    found = read_file(path)
    it = found.mechanism
    assert [joint.type for joint in it.joints] == ["free", "revolute", "prismatic"]
    assert symbolic(prepare(it)).rank == RANK
    assert "joint 'base' is free" in " ".join(found.notes)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    place = [it.coordinates.index(name) for name in (*(f"base.{k}" for k in range(1, 7)),
             "abduct", "extend")]  # fmt: skip
    motion = moving(8)
    seen = torques(found, motion)[:, place]
    start = Rotation.from_quat([0.5, 0.5, 0.5, 0.5])
    for s in range(6):
        q, v, a = (x[place, s] for x in (motion.q, motion.q_dot, motion.q_ddot))
        R = start * Rotation.from_rotvec(q[3:6])
        data.qpos[:3] = np.array([0.1, 0.2, 0.5]) + start.apply(q[:3])
        data.qpos[3:7] = R.as_quat(scalar_first=True)
        data.qpos[7:] = q[6:]
        # MuJoCo's linear velocity and force of a free joint are in the world's axes.
        data.qvel[:], data.qacc[:] = v, a
        data.qvel[:3] = R.apply(v[:3])
        data.qacc[:3] = R.apply(a[:3] + np.cross(v[3:6], v[:3]))
        mujoco.mj_inverse(model, data)
        expected = data.qfrc_inverse.copy()
        expected[:3] = R.inv().apply(expected[:3])
        # MuJoCo sums in float64 about the tree's centre of mass.
        np.testing.assert_allclose(seen[s], expected, rtol=0, atol=2e-12 * np.abs(expected).max())


def test_a_loop_on_a_base_takes_its_coordinates_together(tmp_path):
    """A crank and a rod that floats by itself in the file, held to trunk and crank."""
    more = """<body name="rod" pos="0.1 0.2 0.9"><freejoint/><inertial pos="0 0 0" mass="1"
      diaginertia="1 1 1"/></body>"""
    equality = "<equality><weld body1='rod' body2='leg'/></equality>"
    path = tmp_path / "held.xml"
    path.write_text(MJCF.format(more=more, equality=equality))
    it = read_file(path).mechanism
    assert [joint.type for joint in it.joints].count("free") == 1
    assert set(it.coordinates) == {*(f"base.{k}" for k in range(1, 7)), "abduct", "extend"}
    assert (
        symbolic(prepare(it)).rank == RANK
    )  # rod and leg are one body: ten parameters more, none


def test_two_bases_float_apart(tmp_path):
    more = """<body name="other" pos="0 0 2"><freejoint/><inertial pos="0 0 0" mass="1"
      diaginertia="1 1 1"/></body>"""
    path = tmp_path / "two.xml"
    path.write_text(MJCF.format(more=more, equality=""))
    it = read_file(path).mechanism
    assert symbolic(prepare(it)).rank == RANK + 10


BASE = 'name="base" type="floating"'
BESIDE = r"hangs from 'trunk', and what floats hangs from the root link \(world\)"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name="abduct" type="revolute"', 'name="abduct" type="floating"', BESIDE),
        (
            '1.5707963267948966"/>',
            '0"/><dynamics damping="1"/>',
            "damping or friction, which nothing can exert",
        ),
    ],
    ids=["from a moving link", "damped"],
)
def test_what_cannot_float(tmp_path, old, new, message):
    path = tmp_path / "walker.urdf"
    assert old in URDF
    path.write_text(URDF.replace(old, new))
    with pytest.raises(FileError, match=message):
        read_file(path)


def test_without_a_floating_joint_the_root_stands(tmp_path):
    path = tmp_path / "walker.urdf"
    path.write_text(URDF.replace(BASE, 'name="base" type="fixed"'))
    assert [joint.type for joint in read_file(path).mechanism.joints] == ["revolute", "prismatic"]


def test_a_base_is_let_go_or_fixed_on_request(tmp_path):
    """A root let go is a free-flyer of Pinocchio; one of MuJoCo is fixed, and let go again."""
    root = URDF.replace("<link name='world'/>", "")
    root = root[: root.index("<joint")] + root[root.index('<joint name="abduct"') :]
    path = tmp_path / "walker.urdf"
    path.write_text(root)
    found = read_file(path, base="free")
    model = pin.buildModelFromXML(root, pin.JointModelFreeFlyer())
    data, motion = model.createData(), moving(8)
    seen = torques(found, motion)
    for s in range(6):
        q, v, a = motion.q[:, s], motion.q_dot[:, s], motion.q_ddot[:, s]
        quaternion = Rotation.from_rotvec(q[3:6]).as_quat()
        expected = pin.rnea(model, data, np.concatenate([q[:3], quaternion, q[6:]]), v, a)
        np.testing.assert_allclose(seen[s], expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert any("the base is fixed: URDF does not say" in note for note in read_file(path).notes)

    path = tmp_path / "walker.xml"
    path.write_text(MJCF.format(more="", equality=""))
    found = read_file(path, base="fixed")
    assert [joint.type for joint in found.mechanism.joints] == ["revolute", "prismatic"]
    path.write_text(MJCF.format(more="", equality="").replace('<freejoint name="base"/>', ""))
    model = mujoco.MjModel.from_xml_path(str(path))
    data, motion = mujoco.MjData(model), moving(2)
    seen = torques(found, motion)
    for s in range(6):
        data.qpos[:], data.qvel[:] = motion.q[:, s], motion.q_dot[:, s]
        data.qacc[:] = motion.q_ddot[:, s]
        mujoco.mj_inverse(model, data)
        expected = data.qfrc_inverse
        np.testing.assert_allclose(seen[s], expected, rtol=0, atol=2e-12 * np.abs(expected).max())
    free = read_file(
        path, base="free"
    )  # and back again: trunk stands on the ground, and is let go
    assert symbolic(prepare(free.mechanism)).rank == RANK


def test_a_base_that_something_else_holds_is_not_let_go(tmp_path):
    path = tmp_path / "arm.urdf"
    path.write_text(URDF.replace(BASE, 'name="base" type="prismatic"'))
    with pytest.raises(FileError, match="cannot be free: nothing that carries joints stands"):
        read_file(path, base="free")


CARRIED = """<mujoco model="carried"><worldbody><body name="trunk">{joints}
  <inertial pos="0.1 0 0" mass="6" diaginertia="0.03 0.04 0.05"/>
  <body name="leg" pos="0 0.08 -0.1"><joint name="extend" type="slide" axis="0 0 -1"/>
    <inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.03 0.04 0.05"/></body></body>
</worldbody></mujoco>"""
SLIDES = [
    f'<joint name="to_{n}" type="slide" axis="{a}"/>' for n, a in zip("xyz", UNITS, strict=True)
]


@pytest.mark.parametrize(
    ("joints", "count"),
    [
        ([*SLIDES, '<joint name="turn" type="ball"/>'], 6),
        ([SLIDES[0], SLIDES[2], '<joint name="turn" axis="0 1 0"/>'], 3),
        (['<joint name="turn" axis="0 1 0"/>'], 0),
    ],
)
def test_a_base_that_joints_carry_is_not_called_fixed(tmp_path, joints, count):
    path = tmp_path / "carried.xml"
    path.write_text(CARRIED.format(joints="".join(joints)))
    notes = read_file(path).notes
    said = [one for one in notes if "trunk moves against the ground by joints of the file" in one]
    assert bool(said) == bool(count)
    assert any("the base is fixed" in one for one in notes) == (not count)
    assert not count or f"{count} of 6 degrees of freedom" in said[0]
