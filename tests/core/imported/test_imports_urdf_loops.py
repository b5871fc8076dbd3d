"""Loops beside URDF's tree in three other dialects, against Pinocchio's constrained trees."""

import numpy as np
import pytest

from basepar_core.errors import FileError
from basepar_core.imported import read_file
from tests.core.imported.test_imports_urdf_plus import LINK, LINKAGE, Constrained

import basepar  # isort: skip

pin = pytest.importorskip("pinocchio")
from tests.oracles.constrained_tree import ConstrainedTree  # noqa: E402

HEAD, REST = LINKAGE.split('<loop name="C"')
TREE = HEAD.replace(' independent="true"', "").replace(' independent="false"', "")
GEAR = REST[REST.index("<coupling") :]
#: The same point of coupler and rocker, each in its own link.
ISAAC = """<loop_joint name="C" type="spherical">
  <link1 link="coupler" xyz="0.6 0 0" rpy="0.3 0 0"/><link2 link="rocker" xyz="0.45 0 0"/>
</loop_joint>"""
DRAKE = """<loop_joint name="C" type="continuous"><axis xyz="0 1 0"/>
  <link1 link="coupler" xyz="0.6 0 0"/><link2 link="rocker" xyz="0.45 0 0"/></loop_joint>"""
URDFDOM = """<constraint name="C" type="{}"><parent link="coupler"/>
  <parent_origin xyz="0.6 0 0"/><parent_axis xyz="0 1 0"/><child link="rocker"/>
  <child_origin xyz="0.45 0 0"/></constraint>"""
FRAMES = """<link name="end"/><link name="pin"/>
<joint name="end_a" type="fixed"><parent link="coupler"/><child link="end"/>
  <origin xyz="0.6 0 0"/></joint>
<joint name="end_b" type="fixed"><parent link="rocker"/><child link="pin"/>
  <origin xyz="0.45 0 0"/></joint>"""
COMPANION = "closed_loop: [[end_a, pin]]\ntype: ['3D']\nname_mot: [A]\n"


def written(folder, text, companion=""):
    path = folder / "robot.urdf"
    path.write_text(text)
    if companion:
        (folder / "robot.yaml").write_text(companion)
    return path


@pytest.mark.parametrize(
    ("loop", "companion"),
    [
        (ISAAC, ""),
        (DRAKE, ""),
        (URDFDOM.format("revolute"), ""),
        (URDFDOM.format("spherical"), ""),
        (FRAMES, COMPANION),
    ],
)
def test_torque_by_pinocchio(tmp_path, loop, companion):
    path = written(tmp_path, TREE + loop + GEAR, companion)
    model, oracle = basepar.load(path), Constrained()
    assert read_file(path).mechanism.coordinates == ("A",)
    q = np.array([0.1, 0.4])
    for value, rate, acceleration in zip(q, (1.5, -0.7), (2.0, 0.3), strict=True):
        closed = model.close([value], outside="raise")
        expected, _ = oracle.torque(
            {name: float(closed[name]) for name in "ABDR"}, rate, acceleration
        )
        found = model.torque([value], [rate], [acceleration])[0]
        # Some thousand operations in float64; a loop closed to 1e-12 of its size.
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def chain():
    """Crank, rod on a ball, and from the ground again a swing, a strut on a cross; the rod's end
    is fixed to the strut's."""

    def joint(name, parent, child, at, axis):
        return (
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="{at}" rpy="0.1 0 0.2"/><axis xyz="{axis}"/>'
            '<limit effort="1" velocity="1" lower="-2" upper="2"/></joint>'
        )

    def end(name, link, at):
        return (
            f'<link name="{name}"/><joint name="at_{name}" type="fixed"><parent link="{link}"/>'
            f'<child link="{name}"/><origin xyz="{at} 0 0"/></joint>'
        )

    links = "".join(LINK.format(name=name, centre=x) for name, x in CENTRES.items())
    return (
        f'<robot name="chain"><link name="base"/>{links}'
        + joint("turn", "base", "crank", "0 0 0", "0 0 1")
        + joint("ball", "crank", "rod", "0.3 0 0", "0 0 1")
        + joint("sway", "base", "swing", "0.5 0.6 0.1", "0 1 0")
        + joint("cross", "swing", "strut", "0.5 0 0", "0 0 1")
        + end("a", "rod", 0.7)
        + end("b", "strut", -0.4)
        + "</robot>"
    )


CENTRES = {"crank": 0.1, "rod": 0.4, "swing": 0.3, "strut": 0.2}
OTHERS = (
    "closed_loop: [[at_a, b]]\ntype: [6d]\nname_mot: [turn]\n"
    "joint_name: [cross, ball]\njoint_type: [UJOINT_XY, SPHERICAL]\n"
)


def retyped():
    """Pinocchio's tree with these types: UJOINT_XY turns about its own x, then y."""
    plain, model = pin.buildModelFromXML(chain()), pin.Model()
    ids = {"universe": 0}
    for name in list(plain.names)[1:]:
        k = plain.getJointId(name)
        place, parent = plain.jointPlacements[k], ids[plain.names[plain.parents[k]]]
        if name == "cross":
            parent = model.addJoint(parent, pin.JointModelRX(), place, "cross_x")
            ids[name] = model.addJoint(parent, pin.JointModelRY(), pin.SE3.Identity(), "cross_y")
        elif name == "ball":
            ids[name] = model.addJoint(parent, pin.JointModelSpherical(), place, name)
        else:
            ids[name] = model.addJoint(parent, plain.joints[k], place, name)
        model.appendBodyToJoint(ids[name], plain.inertias[k], pin.SE3.Identity())
    ends = [pin.SE3(np.eye(3), np.array([x, 0, 0])) for x in (0.7, -0.4)]
    return ConstrainedTree(model, [((ids["ball"], ends[0]), (ids["cross"], ends[1]), 6)])


@pytest.mark.slow
def test_joints_of_another_type(tmp_path):
    path = written(tmp_path, chain(), OTHERS)
    found, oracle = read_file(path), retyped()
    assert found.mechanism.coordinates == ("turn",)
    model = basepar.load(path)
    for step, rate, acceleration in ((0.0, 1.5, -2.0), (0.1, -0.8, 1.0)):
        q = model.assembly + step
        closed = model.close(q, outside="raise")
        state = oracle.configuration(
            {
                "turn": q[0],
                "ball": np.array([float(closed[f"ball.{k}"]) for k in (1, 2, 3)]),
                "sway": float(closed["sway"]),
                "cross_x": float(closed["cross.1"]),
                "cross_y": float(closed["cross.2"]),
            }
        )
        assert oracle.gap(state) < 1e-11
        assert oracle.freedoms(state) == 1
        expected = oracle.torque(state, ["turn"], [rate], [acceleration])
        found_torque = model.torque(q, [rate], [acceleration])
        # Rotations are met to 1e-13 rad, and N by a matrix of condition below a thousand.
        np.testing.assert_allclose(found_torque, expected, rtol=1e-9)


def reasons(folder, text, companion=""):
    with pytest.raises(FileError) as rejected:
        read_file(written(folder, text, companion))
    return [f"{one.path}: {one.message}" for one in rejected.value.mistakes]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('type="spherical"', 'type="gear"', "loop_joint 'C': type 'gear' cannot be represented"),
        ('link="coupler" xyz', 'link="couple" xyz', "no link is named 'couple'"),
        ("<link2", "<limit/><link3", "<link3> of link 'rocker'"),
        ('rpy="0.3 0 0"', 'rpy="0.3 0"', "rpy = '0.3 0' is not three finite numbers"),
        ('name="C"', 'name="A"', "a joint has this name too"),
    ],
)
def test_loops_that_are_rejected(tmp_path, old, new, message):
    assert ISAAC.count(old) == 1
    found = reasons(tmp_path, TREE + ISAAC.replace(old, new) + GEAR)
    assert any(message in one for one in found), found


def test_axes_of_a_constraint_that_differ(tmp_path):
    odd = URDFDOM.format("revolute").replace(
        "</constraint>", '<child_axis xyz="1 0 0"/></constraint>'
    )
    (found,) = reasons(tmp_path, TREE + odd + GEAR)
    assert "its axis is not the same in its two frames" in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("end_a", "end_q", "no joint and no link is named 'end_q'"),
        ("'3D'", "'5d'", "type '5d' of end_a is none of 3d, 6d"),
        ("[A]", "[AA]", "no joint is named 'AA'"),
        ("name_mot", "motors", "motors: no key is named so"),
        ("['3D']", "[]", "type: names 0 types for 1 loop"),
        (
            "name_mot: [A]",
            "joint_name: [B]\njoint_type: [UJOINT_XX]",
            "its type 'UJOINT_XX' in robot.yaml is none of",
        ),
    ],
)
def test_companions_that_are_rejected(tmp_path, old, new, message):
    assert COMPANION.count(old) == 1
    found = reasons(tmp_path, TREE + FRAMES + GEAR, COMPANION.replace(old, new))
    assert any(message in one for one in found), found


def test_another_yaml_beside_it_is_none_of_its(tmp_path):
    path = written(tmp_path, TREE + ISAAC + GEAR, "robot: {speed: 3}\n")
    assert read_file(path).mechanism.coordinates == ("A",)
