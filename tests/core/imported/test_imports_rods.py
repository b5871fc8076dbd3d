"""Rods between two balls: their turn about their own line is a coordinate.

What MuJoCo computes with is the same model with hinges of the file's own in the ball's place, what
Pinocchio does is a tree with three turns in a row there."""

from dataclasses import replace
from fractions import Fraction

import mujoco
import numpy as np
import pytest

import basepar
from basepar_core.dynamics import Motion, independent_values, observe, prepare
from basepar_core.imported.draft import NOTHING, Connection, Draft, End, Link
from basepar_core.imported.formats import read_file
from basepar_core.imported.rationals import UNITS, ZERO
from basepar_core.imported.rods import part_rods
from tests.campaigns.mujoco_engine import MujocoEngine
from tests.campaigns.pinocchio_engine import PinocchioEngine, rod_axes
from tests.oracles.engine import moving, rank

BALL = '<joint name="rod" type="ball"/>'
WORDS = "across", "over", "along"


def hinges(axes=("0 1 0", "0 0 1", "1 0 0")):
    pairs = zip(WORDS, axes, strict=True)
    return "".join(f'<joint name="rod {word}" axis="{axis}"/>' for word, axis in pairs)


ROBOT = """<mujoco><worldbody>
<body name="crank"><joint name="crank" axis="0 0 1"/>
  <inertial pos=".1 .01 .02" mass="1" fullinertia=".03 .03 .04 .001 .002 .003"/>
  <body name="rod" pos=".2 0 .05">{joint}
    <inertial pos=".3 .02 .01" mass="2" fullinertia=".03 .05 .06 .002 .001 .003"/></body></body>
<body name="rocker" pos=".8 .1 0" euler="20 30 0"><joint name="rocker" axis="0 0 1"/>
  <inertial pos="0 .2 .03" mass="1.5" fullinertia=".03 .03 .05 .002 .004 .001"/></body>
</worldbody><equality><connect name="end" body1="rod" body2="rocker" anchor=".7 0 0"/></equality>
{keys}</mujoco>"""


def written(folder, joint=BALL, keys="", anchor=".7 0 0"):
    path = folder / "rod.xml"
    text = ROBOT.format(joint=joint, keys=keys).replace('anchor=".7 0 0"', f'anchor="{anchor}"')
    path.write_text(text)
    return path


@pytest.mark.parametrize("anchor", [".7 0 0", "0 -.7 0", ".6 .3 -.2"])
def test_torque_and_count_are_those_of_hinges(tmp_path, anchor):
    path = written(tmp_path, anchor=anchor)
    found = read_file(path)
    axes = rod_axes(found.text)["rod"]
    it, names = found.mechanism, list(found.mechanism.coordinates)
    assert found.failure is None
    assert names == ["crank", "rod_along"]
    assert any("'rod' holds a rod between two balls" in note for note in found.notes)
    values = [name for joint in it.joints for name in joint.values]
    stack = hinges([" ".join(repr(float(x)) for x in axis) for axis in axes])
    model = mujoco.MjModel.from_xml_path(str(written(tmp_path, stack, anchor=anchor)))
    engine, prepared = MujocoEngine(model, found.notes, values), prepare(it)
    phi, rng = it.inertial_parameters(it.nominal), np.random.default_rng(1)
    states, rows = [], []
    for _ in range(25):
        q, rates, accelerations = rng.uniform(-0.2, 0.2, (3, 2, 1))  # on one branch
        seen = observe(prepared, {}, Motion(np.zeros(1), q, rates, accelerations))
        rows.append(seen.W[0, 0])
        start = engine.configuration(dict(zip(names, q[:, 0], strict=True)))
        loose = [k for k in range(engine.speeds) if k not in engine._split(names)[0]]
        states.append(engine.closed_near(start, loose))
        expected = engine.torque(states[-1], names, rates[:, 0], accelerations[:, 0])
        # Both sides solve for dependent speeds by a matrix with a condition of about ten.
        np.testing.assert_allclose(seen.W[0, 0] @ phi, expected, rtol=0, atol=1e-11 * 20)
    weigh = np.repeat(phi.reshape(-1, 10).any(axis=1), 10)  # the body between the joints does not
    assert (
        rank(np.vstack(rows)[:, weigh])[0]
        == engine.count(states, names, moving(rng, names, states))[0]
    )


def test_a_keyframe_turns_the_rod(tmp_path):
    ball = mujoco.MjModel.from_xml_path(str(written(tmp_path)))
    model = mujoco.MjModel.from_xml_path(str(written(tmp_path, hinges())))
    engine = MujocoEngine(model, [], [])
    pose = engine.closed_near(np.array([0.2, 0.1, 0.1, 0.9, 0.1]), [0, 1, 2, 4])
    data = mujoco.MjData(model)
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    back, turn = np.zeros(4), np.zeros(4)
    mujoco.mju_negQuat(back, data.xquat[1])
    mujoco.mju_mulQuat(turn, back, data.xquat[2])
    at = [pose[0], *turn, pose[4]]
    assert len(at) == ball.nq
    key = f'<keyframe><key name="there" qpos="{" ".join(map(repr, map(float, at)))}"/></keyframe>'
    found = read_file(written(tmp_path, keys=key), keyframe="there")
    values = independent_values(found.mechanism).at
    assert values["rod_along"] == pytest.approx(0.9, abs=2e-9)  # written with nine decimals
    assert values["rod_across.1"] == pytest.approx(pose[1], abs=1e-8)


INERTIAL = """<inertial>{}<mass{}/><inertia {}/></inertial>"""
#: Of bodies: mass, centre, xx, xy, xz, yy, yz, zz; half a rod lies on either side of a weld.
INERTIAS = {
    "crank": ("1", ".1 .01 .02", (0.03, 0.001, 0.002, 0.03, 0.003, 0.04)),
    "rod": ("2", ".3 .02 .01", (0.03, 0.002, 0.001, 0.05, 0.003, 0.06)),
    "tip": (".5", "0 .05 .01", (0.02, 0.001, 0.003, 0.03, 0.002, 0.02)),
    "rocker": ("1.5", "0 .2 .03", (0.03, 0.002, 0.004, 0.03, 0.001, 0.05)),
}
SIX = "ixx", "ixy", "ixz", "iyy", "iyz", "izz"
#: Joints: parent, child, xyz and rpy in the parent.
JOINTS = {
    "A": ("base", "crank", "0 0 0", "0 0 0"),
    "B": ("crank", "rod", ".2 0 .05", ".1 .2 .3"),
    "C": ("base", "rocker", ".8 .1 0", ".4 .5 0"),
    "D": ("rocker", "tip", "0 .4 0", ".2 0 .1"),
}


def urdf(folder):
    """A spatial four-bar; its rod is two links between balls, welded to each other."""
    parts = ['<robot name="bar"><link name="base"/>']
    for name, (mass, at, six) in INERTIAS.items():
        numbers = " ".join(f'{key}="{x}"' for key, x in zip(SIX, six, strict=True))
        inertial = INERTIAL.format(f'<origin xyz="{at}"/>', f' value="{mass}"', numbers)
        parts.append(f'<link name="{name}">{inertial}</link>')
    for name, (parent, child, xyz, rpy) in JOINTS.items():
        parts.append(
            f'<joint name="{name}" type="continuous"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/></joint>'
        )
    for link, xyz, rpy in (("rod", ".5 .2 .1", "0 0 0"), ("tip", ".1 0 -.05", ".2 .3 .1")):
        parts.append(
            f'<link name="{link}_end"/><joint name="{link}_weld" type="fixed">'
            f'<parent link="{link}"/><child link="{link}_end"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/></joint>'
        )
    (folder / "robot.urdf").write_text("".join(parts) + "</robot>")
    (folder / "robot.yaml").write_text(
        "closed_loop: [['rod_end', 'tip_end']]\ntype: ['6d']\nname_mot: ['A']\n"
        "joint_name: ['B', 'D']\njoint_type: ['SPHERICAL', 'SPHERICAL']\n"
    )
    return folder / "robot.urdf"


def test_a_rod_of_two_welded_links_by_pinocchio(tmp_path):
    path = urdf(tmp_path)
    found = read_file(path)
    assert found.failure is None
    it, names = found.mechanism, list(found.mechanism.coordinates)
    assert names == ["A", "B_along"]
    assert [body.name for body in it.bodies if body.form == "massless"] == ["rod_along"]
    engine, prepared = PinocchioEngine(path, "", found), prepare(it)
    phi, rng = it.inertial_parameters(it.nominal), np.random.default_rng(1)
    model = basepar.Model(it)
    states, rows = [], []
    for _ in range(25):
        q = model.assembly + rng.uniform(-0.1, 0.1, 2)
        closed = model.close(q)
        values = {name: float(closed[name]) for joint in it.joints for name in joint.values}
        states.append(engine.configuration(values))
        # Closed by us, seen by Pinocchio; a digit is lost to an inverse with a condition of 20.
        assert np.abs(engine.gap(states[-1])).max() < 1e-11
        rates, accelerations = rng.uniform(-1, 1, (2, 2))
        motion = Motion(np.zeros(1), q[:, None], rates[:, None], accelerations[:, None])
        rows.append(observe(prepared, {}, motion).W[0, 0])
        expected = engine.torque(states[-1], names, rates, accelerations)
        np.testing.assert_allclose(rows[-1] @ phi, expected, rtol=0, atol=1e-10)
    assert rank(np.vstack(rows))[0] == engine.count(states, names, moving(rng, names, states))[0]
    assert model.base(route="numeric").rank == rank(np.vstack(rows))[0]


@pytest.mark.parametrize("closes", [False, True])
def test_a_chain_of_two_balls_is_a_rod_where_a_loop_closes_behind_it(closes):
    """Where none does, all values of both balls are free."""
    end = End(ZERO, UNITS[2], UNITS[0])
    far = replace(end, at=(Fraction(1), Fraction(0), Fraction(0)))
    draft = Draft("chain", "URDF", ZERO, ground=["base"])
    draft.links += [Link(name, NOTHING) for name in ("base", "rod", "tip")]
    draft.connections += [
        Connection("one", "spherical", ("base", "rod"), (end, end)),
        Connection("two", "spherical", ("rod", "tip"), (far, end)),
    ]
    if closes:
        draft.connections.append(Connection("pin", "revolute", ("base", "tip"), (far, far)))
    part_rods(draft)
    names = ["one across", "one along"] if closes else ["one"]
    assert [one.name for one in draft.connections][: len(names)] == names
