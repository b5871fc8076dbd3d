"""MJCF against MuJoCo: inverse dynamics of trees and of loops, and everything that is refused."""

import re
import sys
from functools import cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.motion import Motion, excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import FileError, MissingDataError
from basepar_core.imported.formats import Imported, read_file

DATA = Path(__file__).parents[2] / "data" / "imports"


@cache
def imported(name: str) -> Imported:
    return read_file(DATA / name)


def torques(found: Imported, moving: Motion) -> np.ndarray:
    """W φ (sample, coordinate)."""
    seen = observe(prepare(found.mechanism), {}, moving)
    assert seen.closed.all()
    return seen.W[0] @ found.mechanism.inertial_parameters(found.mechanism.nominal)


def test_inverse_dynamics_of_a_tree():
    found = imported("tree.xml")
    model = mujoco.MjModel.from_xml_path(str(DATA / "tree.xml"))
    data = mujoco.MjData(model)
    count = model.nv
    assert len(found.mechanism.coordinates) == count == 12
    rng = np.random.default_rng(5)
    q, dq, ddq = rng.uniform(-1, 1, (3, count, 6))
    # A ball's rotation vector has the angular velocity for its rate at zero only.
    q[-3:] = 0.0
    found_torques = torques(found, Motion(np.arange(6.0), q, dq, ddq))
    for s in range(6):
        data.qpos[:] = model.qpos0
        data.qpos[: count - 3] += q[:-3, s]
        data.qvel[:], data.qacc[:] = dq[:, s], ddq[:, s]
        mujoco.mj_inverse(model, data)
        # MuJoCo sums in float64 about the tree's centre of mass; rotations are met to 1e-13 rad.
        expected = data.qfrc_inverse
        atol = 2e-12 * np.abs(expected).max()
        np.testing.assert_allclose(found_torques[s], expected, rtol=0, atol=atol)


def test_what_the_tree_says():
    found = imported("tree.xml")
    kinds = {joint.name: joint.type for joint in found.mechanism.joints}
    assert kinds == {
        "hinge": "revolute",
        "slide": "prismatic",
        "u1": "universal",
        "about": "cylindrical",
        "turn": "planar",
        "b": "spherical",
    }
    notes = " ".join(found.notes)
    assert "u1 and u2 are one universal joint: u1 is u1.1, u2 is u1.2" in notes
    assert "fixed to slid, and part of it: tip" in notes
    assert "fixed to the ground, and part of it: post" in notes
    assert "joint 'hinge': its values count from ref" in notes


def closed_states(model: mujoco.MjModel, driven: int, moving: Motion):
    """Per sample: qpos on the constraints with one joint at given values, T = ∂q̇/∂u, q̇, q̈."""
    data = mujoco.MjData(model)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    others = [k for k in range(model.nv) if k != driven]

    def rows():
        mujoco.mj_fwdPosition(model, data)
        equal = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        J = data.efc_J.reshape(-1, model.nv)[equal]
        return J.copy(), data.efc_pos[equal].copy()

    def velocities(J, u):
        v = np.zeros(model.nv)
        v[driven] = u
        v[others] = -np.linalg.lstsq(J[:, others], J[:, driven] * u, rcond=1e-9)[0]
        return v

    step = 1e-5
    here = 0.0
    for s in range(moving.t.size):
        for target in np.linspace(here, moving.q[0, s], 20):
            move = np.zeros(model.nv)
            move[driven] = target - here
            mujoco.mj_integratePos(model, data.qpos, move, 1.0)
            here = target
            for _ in range(20):
                J, gap = rows()
                move = np.zeros(model.nv)
                move[others] = -np.linalg.lstsq(J[:, others], gap, rcond=1e-9)[0]
                mujoco.mj_integratePos(model, data.qpos, move, 1.0)
        u, du = moving.q_dot[0, s], moving.q_ddot[0, s]
        J, gap = rows()
        assert np.abs(gap).max() < 1e-12
        T, v, qpos = velocities(J, 1.0), velocities(J, u), data.qpos.copy()
        slopes = []
        for sign in (1, -1):
            mujoco.mj_integratePos(model, data.qpos, v, sign * step)
            slopes.append(rows()[0] @ v)
            data.qpos[:] = qpos
        drift = (slopes[0] - slopes[1]) / (2 * step)
        a = np.zeros(model.nv)
        a[driven] = du
        right = J[:, driven] * du + drift
        a[others] = -np.linalg.lstsq(J[:, others], right, rcond=1e-9)[0]
        rows()
        yield qpos, T, v, a


def assert_same_as_mujoco(path: Path, driven: str) -> Imported:
    """d'Alembert: the tree's inverse dynamics projected on the closed motion, without forces of
    the constraints."""
    found = read_file(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    assert found.mechanism.coordinates == (driven,)
    prepared = prepare(found.mechanism)
    full = excitation(found.mechanism, prepared.assembled.coordinates)
    moving = Motion(*(getattr(full, n)[..., ::12] for n in ("t", "q", "q_dot", "q_ddot")))
    ours = torques(found, moving)
    number = int(model.jnt_dofadr[model.joint(driven).id])
    data, forces = mujoco.MjData(model), np.zeros(model.nv)
    expected = []
    for qpos, T, v, a in closed_states(model, number, moving):
        data.qpos[:], data.qvel[:], data.qacc[:] = qpos, v, a
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_rne(model, data, 1, forces)
        expected.append(T @ forces)
    # The constraint's rate comes from differences over 1e-5: about 1e-10 of it is missed.
    atol = 1e-8 * np.abs(expected).max()
    np.testing.assert_allclose(ours[:, 0], expected, rtol=0, atol=atol)
    return found


def test_inverse_dynamics_of_a_four_bar():
    found = assert_same_as_mujoco(DATA / "four-bar.xml", "A")
    joints = {joint.name: (joint.type, joint.bodies) for joint in found.mechanism.joints}
    assert joints["C"] == ("spherical", ("coupler", "rocker"))
    assert "connect 'C' is a spherical joint" in found.notes


def test_a_four_bar_has_eight():
    """Of 30, as in the plane of 12 (planar paper); the connect's third equation is redundant."""
    model = prepare(imported("four-bar.xml").mechanism)
    assert len(model.mechanism.parameter_names) == 30
    base = symbolic(model)
    assert (base.rank, numeric(model).rank, base.certificate.at_least) == (8, 8, 8)


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    text = (DATA / "four-bar.xml").read_text()
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = folder / "changed.xml"
    path.write_text(text)
    return path


CONNECT = '<connect name="C" body1="coupler" body2="rocker" anchor="0.8 0 0.1"/>'


def test_connect_by_sites_is_the_same(tmp_path):
    sites = [
        ('size="0.02" mass="1"/>', 'size="0.02" mass="1"/><site name="p" pos="0.8 0 0.1"/>'),
        # Where the anchor is in the rocker, from MuJoCo's own compilation.
        ('size="0.02" mass="0.7"/>', 'size="0.02" mass="0.7"/><site name="q" pos="{} {} {}"/>'),
        (CONNECT, '<connect name="C" site1="p" site2="q"/>'),
    ]
    model = mujoco.MjModel.from_xml_path(str(DATA / "four-bar.xml"))
    place = [repr(float(x)) for x in model.eq_data[0, 3:6]]
    sites[1] = (sites[1][0], sites[1][1].format(*place))
    one = imported("four-bar.xml").mechanism
    two = read_file(changed(tmp_path, *sites)).mechanism
    assert one.joints == two.joints
    assert one.coordinates == two.coordinates


def test_a_floating_coupler_held_by_two_connects(tmp_path):
    """A free joint is no joint; constraints carry the body."""
    text = """<mujoco model="hung"><option><flag contact="disable"/></option><worldbody>
    <body name="crank" euler="0 -60 0"><joint name="A" axis="0 -1 0"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body>
    <body name="rocker" pos="0.9 0 0" euler="0 -80 0">
      <joint name="D1" axis="0 -1 0"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.02"/>
      <body name="fork" pos="0.5 0 0"><joint name="D2" axis="0 -1 0"/>
        <geom type="capsule" fromto="0 0 0 0.1 0.1 0" size="0.02"/></body></body>
    <body name="rod" pos="0.15 0 0.26"><freejoint/>
      <geom type="capsule" fromto="0 0 0 0.8 0 0.2" size="0.02"/></body>
    </worldbody><equality>
      <connect name="B" body1="crank" body2="rod" anchor="0.3 0 0"/>
      <weld name="C" body1="rod" body2="fork"/>
    </equality></mujoco>"""
    path = tmp_path / "hung.xml"
    path.write_text(text)
    found = read_file(path)
    kinds = {joint.name: joint.type for joint in found.mechanism.joints}
    assert kinds == {
        "A": "revolute",
        "D1": "revolute",
        "D2": "revolute",
        "B": "spherical",
        "C": "fixed",
    }
    assert "rod" in [body.name for body in found.mechanism.bodies]
    # Nine speeds and nine equations, one of which says nothing new: all hinges are parallel.
    assert len(found.mechanism.coordinates) == 1
    assert_same_as_mujoco(path, found.mechanism.coordinates[0])


@pytest.mark.parametrize("by", ["bodies", "sites"])
def test_a_weld_without_torque_is_a_connect(tmp_path, by):
    """MuJoCo multiplies the rotation's equations by torquescale; a rigid weld would lock it."""
    weld = '<weld name="C" body1="coupler" body2="rocker" anchor="{}" {} torquescale="0"/>'
    model = mujoco.MjModel.from_xml_path(str(DATA / "four-bar.xml"))
    near, far = ([repr(float(x)) for x in model.eq_data[0, k : k + 3]] for k in (0, 3))
    changes = [(CONNECT, weld.format(" ".join(far), f'relpose="{" ".join(near)} 1 0 0 0"'))]
    if by == "sites":
        changes = [
            ('size="0.02" mass="1"/>', 'size="0.02" mass="1"/><site name="p" pos="0.8 0 0.1"/>'),
            (
                'size="0.02" mass="0.7"/>',
                f'size="0.02" mass="0.7"/><site name="q" pos="{" ".join(far)}"/>',
            ),
            (CONNECT, '<weld name="C" site1="p" site2="q" torquescale="0"/>'),
        ]
    found = assert_same_as_mujoco(changed(tmp_path, *changes), "A")
    assert {joint.name: joint.type for joint in found.mechanism.joints}["C"] == "spherical"
    assert any("torquescale = 0" in note for note in found.notes)


def test_connected_to_the_world_without_names(tmp_path):
    """A two-link arm whose tip is held: no name but one, and that one twice."""
    text = """<!-- not a <robot> --><mujoco><worldbody>
    <body><joint name="A" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 .1" size=".02"/>
      <body pos=".3 0 .1"><joint axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .3 0 -.2" size=".02"/>
        <body name="ground" pos=".3 0 -.2"><joint axis="0 1 0"/><geom size=".05"/></body>
      </body></body></worldbody>
    <equality><connect name="A" body1="ground" anchor="0.1 0 0"/></equality></mujoco>"""
    path = tmp_path / "nameless.xml"
    path.write_text(text)
    found = assert_same_as_mujoco(path, "A")
    joints = [(joint.name, joint.bodies) for joint in found.mechanism.joints]
    assert joints == [
        ("A", ("ground", "body_1")),
        ("joint_2", ("body_1", "body_2")),
        ("joint_3", ("body_2", "ground_2")),
        ("A_connect", ("ground_2", "ground")),
    ]


def test_motors_choose_the_coordinates(tmp_path):
    motor = ("</equality>", '</equality><actuator><motor joint="D"/></actuator>')
    found = assert_same_as_mujoco(changed(tmp_path, motor), "D")
    assert "1 actuator" in found.dropped


def test_columns_besides_inertia(tmp_path):
    joint = ('<joint name="A" axis="0 -1 0"/>', '<joint name="A" axis="0 -1 0" {}/>')
    extra = 'damping="0.1" armature="0.01" frictionloss="0.3" stiffness="2" springref="30"'
    path = changed(tmp_path, (joint[0], joint[1].format(extra)))
    mechanism = read_file(path).mechanism
    values = {(f.coordinate, f.kind): float(f.value.value) for f in mechanism.friction}
    assert values == {("A", "viscous"): 0.1, ("A", "coulomb"): 0.3, ("A", "rotor"): 0.01}
    (spring,) = mechanism.springs
    assert (spring.name, spring.coordinate) == ("A_spring", "A")
    assert float(spring.stiffness.value) == 2
    assert float(spring.rest.value) == pytest.approx(np.pi / 6, rel=1e-15)


STACKS = """<mujoco model="stacks"><option><flag contact="disable"/></option><worldbody>
  <body name="puck" pos="0.1 0 0" euler="10 0 20"><joint name="x" type="slide" axis="1 0 0"/>
    <joint name="y" type="slide" axis="0 1 0"/><geom type="box" size="0.1 0.2 0.1"/>
    <body name="thigh" pos="0 0.3 0" euler="0 30 0"><joint name="hip_x" axis="1 0 0"/>
      <joint name="hip_z" axis="0 0 1" pos="0.01 0 0"/><joint name="hip_y" axis="0.1 1 0"/>
      <geom type="capsule" fromto="0 0 0 0.1 0 -0.4" size="0.05"/>
      <body name="shank" pos="0.1 0 -0.4"><joint name="a" axis="1 0 0"/>
        <joint name="b" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0.1 -0.3" size="0.04"/></body></body></body>
  </worldbody>{}</mujoco>"""
TIE = '<equality><joint name="tie" joint1="b" joint2="hip_y" polycoef="0 0.5 0 0 0"/></equality>'


@pytest.mark.parametrize(("equality", "stubs"), [("", 2), (TIE, 3)])
def test_stacks_of_joints_by_mujocos_inverse_dynamics(tmp_path, equality, stubs):
    """Two slides, three hinges; hinges that cross are one joint unless one is coupled."""
    path = tmp_path / "stacks.xml"
    path.write_text(STACKS.format(equality))
    found = read_file(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY
    data = mujoco.MjData(model)
    assert len(found.mechanism.bodies) == model.nbody - 1 + stubs
    free = [0, 1, 2, 3, 4, 5] + ([] if equality else [6])
    assert len(found.mechanism.coordinates) == len(free)
    G = np.eye(model.nv)[:, free]
    if equality:
        G[6, 4] = 0.5
    q, dq, ddq = np.random.default_rng(6).uniform(-1, 1, (3, len(free), 5)) * 0.6
    ours = torques(found, Motion(np.arange(5.0), q, dq, ddq))
    for s in range(5):
        data.qpos[:], data.qvel[:], data.qacc[:] = G @ q[:, s], G @ dq[:, s], G @ ddq[:, s]
        mujoco.mj_inverse(model, data)
        expected = G.T @ data.qfrc_inverse
        # As of the tree above: float64 about the tree's centre of mass, rotations to 1e-13 rad.
        atol = 3e-12 * np.abs(expected).max()
        np.testing.assert_allclose(ours[s], expected, rtol=0, atol=atol)


def test_all_refusals_at_once(tmp_path):
    text = """<mujoco><worldbody>
    <body name="light" gravcomp="0.5"><joint name="l" axis="1 0 0"/><geom size="0.1"/></body>
    <body name="two"><joint name="p" axis="1 0 0"/><joint name="q" axis="1 1 0"/>
      <geom size="0.1"/><site name="s"/></body>
    <body name="three"><joint name="r" axis="1 0 0"/><geom size="0.1"/><site name="t"/></body>
    </worldbody>
    <tendon><spatial name="rope" armature="1"><site site="s"/><site site="t"/></spatial></tendon>
    <equality><joint name="gear" joint1="p" joint2="r"/>
      <tendon name="taut" tendon1="rope"/></equality>
    </mujoco>"""
    path = tmp_path / "refused.xml"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        read_file(path)
    found = {mistake.path: mistake.message for mistake in caught.value.mistakes}
    expected = {
        "body 'light'": "gravcomp = 0.5",
        "tendon 'rope'": "it has armature",
        "equality 'taut' (tendon)": "its tendon is no sum of joint values",
    }
    assert found.keys() == expected.keys()
    for place, words in expected.items():
        assert words in found[place]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>",
            "MuJoCo does not compile",
        ),
        ("<mujoco><worldbody/></mujoco>", "nothing moves: no body has a joint"),
        (
            '<mujoco><worldbody><body name="a"><joint/><geom size="1"/></body></worldbody>'
            '<equality><weld body1="a"/></equality></mujoco>',
            "loops leave no degree of freedom",
        ),
    ],
)
def test_models_that_do_not_move(tmp_path, text, message):
    path = tmp_path / "still.xml"
    path.write_text(text)
    with pytest.raises(FileError, match=message):
        read_file(path)


def test_a_missing_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingDataError, match=r"pip install 'basepar\[mjcf\]'"):
        read_file(DATA / "four-bar.xml")


FOUR_BAR = Path(__file__).parents[2] / "data" / "imports" / "four-bar.xml"
#: Element that is blamed, by an attribute and what stands in its place.
NOT_FINITE = {
    ("joint 'A'", 'axis="0 -1 0"', 'axis="inf 0 1"'),
    ("joint 'A'", 'axis="0 -1 0"', 'axis="nan 0 1"'),
    ("joint 'A'", 'axis="0 -1 0"', 'axis="1e200 1e200 0"'),  # scaled to one it is zero
    ("body 'rocker'", 'pos="0.8 0 0"', 'pos="inf 0 0"'),
    ("body 'rocker'", 'euler="0 -80 0"', 'euler="0 inf 0"'),
    ("equality 'C'", 'anchor="0.8 0 0.1"', 'anchor="inf 0 0.1"'),
    ("option", 'gravity="0 0 -9.81"', 'gravity="0 0 inf"'),
    ("joint 'D'", 'name="D"', 'name="D" ref="inf"'),
    ("joint 'D'", 'name="D"', 'name="D" stiffness="inf"'),
    ("joint 'D'", 'name="D"', 'name="D" damping="inf"'),
    ("joint 'D'", 'name="D"', 'name="D" armature="inf"'),
    ("joint 'D'", 'name="D"', 'name="D" pos="inf 0 0"'),
}


@pytest.mark.parametrize(("blamed", "old", "new"), sorted(NOT_FINITE))
def test_numbers_that_no_mechanism_has(tmp_path, monkeypatch, capfd, blamed, old, new):
    """MuJoCo reads inf and nan as numbers; its own warnings go nowhere, not to a file either."""
    monkeypatch.chdir(tmp_path)
    text = FOUR_BAR.read_text()
    assert old in text
    (tmp_path / "model.xml").write_text(text.replace(old, new, 1))
    with pytest.raises(FileError, match=re.escape(blamed)):
        read_file("model.xml")
    assert capfd.readouterr() == ("", "")
    assert [path.name for path in tmp_path.iterdir()] == ["model.xml"]


def test_a_mocap_body_that_holds_nothing_is_part_of_the_ground(tmp_path):
    path = tmp_path / "marked.xml"
    path.write_text(
        """<mujoco><worldbody><body name="marker" mocap="true"><geom size="0.1"/></body>
    <body name="arm"><joint name="p" axis="1 0 0"/><geom size="0.1"/></body>
    </worldbody></mujoco>"""
    )
    found = read_file(path)
    assert [body.name for body in found.mechanism.bodies] == ["arm"]
    assert any("'marker' is part of the ground" in note for note in found.notes)
