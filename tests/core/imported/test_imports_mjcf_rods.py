"""Rods between two balls in MJCF: their turn about their own line is a coordinate.

The same model with hinges of the file's own in the ball's place is what MuJoCo computes with."""

import mujoco
import numpy as np
import pytest

from basepar_core.dynamics import Motion, independent_values, observe, prepare
from basepar_core.imported import mjcf_rods
from basepar_core.imported.formats import read_file
from tests.campaigns.mujoco_engine import MujocoEngine
from tests.oracles.engine import rank

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
    axes = mjcf_rods.along(mujoco, mujoco.MjModel.from_xml_path(str(path)), 2)
    found = read_file(path)
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
    assert rank(np.vstack(rows)[:, weigh])[0] == engine.count(states, names, rng)[0]


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
