"""Written files against the engines that load them: Pinocchio for trees, MuJoCo for loops."""

import mujoco
import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import Motion, prepare
from tests.core.imported.test_imports_mjcf import closed_states
from tests.workflows.robots.test_round_trips import torques
from workflows.robots import robot_file

pin = pytest.importorskip("pinocchio")
from tests.campaigns.robots import judged  # noqa: E402


def configured(model, values: dict[str, float]) -> np.ndarray:
    """Pinocchio's configuration: a cosine and a sine of every continuous joint."""
    q = pin.neutral(model)
    for name, value in values.items():
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:
            q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        else:
            q[joint.idx_q] = value
    return q


@pytest.mark.parametrize("name", ["ur10", "panda", "gripper"])
def test_trees_by_pinocchio(name):
    ours = prepare(load(name))
    text = robot_file(ours, "urdf").text
    model = pin.buildModelFromXML(text)
    data = model.createData()
    names = ours.mechanism.coordinates
    # Of the gripper the right finger goes as the left one does.
    follow = {"R": "L"} if name == "gripper" else {}
    G = np.zeros((model.nv, len(names)))
    for one in (*names, *follow):
        G[model.joints[model.getJointId(one)].idx_v, names.index(follow.get(one, one))] = 1
    rng = np.random.default_rng(6)
    start = ours.assembled.coordinates[:, None]
    q = start + rng.uniform(-0.1, 0.1, (len(names), 4))
    rates = rng.uniform(-2, 2, (2, *q.shape))
    expected = []
    for s in range(q.shape[1]):
        values = dict(zip(names, q[:, s], strict=True))
        values |= {one: values[leader] for one, leader in follow.items()}
        at = configured(model, values)
        expected.append(G.T @ pin.rnea(model, data, at, G @ rates[0, :, s], G @ rates[1, :, s]))
    # Two float64 recursions over at most seven bodies.
    atol = 1e-12 * np.abs(expected).max()
    np.testing.assert_allclose(torques(ours, q, rates), expected, rtol=0, atol=atol)


def test_a_base_that_floats_is_pinocchios_free_flyer():
    ours = prepare(load("quadruped"))
    model = pin.buildModelFromXML(robot_file(ours, "urdf").text)
    data, names = model.createData(), ours.mechanism.coordinates
    place = [
        model.joints[model.getJointId(name.partition(".")[0])].idx_v
        + (int(name.partition(".")[2]) - 1 if "." in name else 0)
        for name in names
    ]
    rng = np.random.default_rng(2)
    q = ours.assembled.coordinates.copy()
    rates = rng.uniform(-1, 1, (2, len(names)))
    at = configured(model, {n: x for n, x in zip(names, q, strict=True) if "." not in n})
    at[:3] = q[:3]  # and no rotation
    v, a = np.zeros((2, model.nv))
    v[place], a[place] = rates
    expected = pin.rnea(model, data, at, v, a)[place]
    found = torques(ours, q[:, None], rates[:, :, None])[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("name", ["rsur", "3-rps"])  # a universal joint, a ball in the tree
def test_extended_urdf_by_pinocchio(name, tmp_path):
    """Its loader's own reading of both files: Nᵀ (M v̇ + h) with the kernel N of its frames."""
    written = robot_file(prepare(load(name)), "extended")
    (tmp_path / "robot.urdf").write_text(written.text)
    (tmp_path / "robot.yaml").write_text(written.companion)
    path = tmp_path / "robot.urdf"
    record = judged(path, tmp_path, "URDF", pin.buildModelFromUrdf(str(path)), 60.0)
    assert record["freedoms"] == record["read"] == len(load(name).coordinates)
    # Loops are closed to rounding on both sides, to 1e-12 rad where rotations close them.
    assert record["torque"] < 1e-10


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "rsur"])
def test_loops_by_mujoco(name):
    """d'Alembert: the tree's inverse dynamics projected on the closed motion; values are ours."""
    ours = prepare(load(name))
    (driven,) = ours.mechanism.coordinates
    model = mujoco.MjModel.from_xml_string(robot_file(ours, "mjcf").text)
    start = ours.assembled.coordinates
    number = int(model.jnt_dofadr[model.joint(driven).id])
    # MuJoCo's values are the mechanism's, and its loops are closed at qpos0.
    assert model.qpos0[number] == pytest.approx(start[0], abs=1e-15)
    step = np.linspace(0.02, 0.3, 4)
    rates = np.random.default_rng(8).uniform(-2, 2, (2, 1, 4))
    moving = Motion(np.arange(4.0), step[None], *rates)  # `closed_states` counts from qpos0
    data, forces, expected = mujoco.MjData(model), np.zeros(model.nv), []
    for qpos, T, v, a in closed_states(model, number, moving):
        data.qpos[:], data.qvel[:], data.qacc[:] = qpos, v, a
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_rne(model, data, 1, forces)
        expected.append(T @ forces)
    found = torques(ours, start[:, None] + moving.q, rates)[:, 0]
    # The constraint's rate comes from differences over 1e-5: about 1e-10 of it is missed.
    atol = 1e-8 * np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=0, atol=atol)
