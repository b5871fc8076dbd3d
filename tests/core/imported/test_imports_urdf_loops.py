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
    for step, rate, acceleration in ((0.0, 1.5, -2.0), (-0.1, -0.8, 1.0)):
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


PINS = (
    "pin_loops:\n- {name: C, parent: coupler, child: rocker, parent_xyz: [0.6, 0, 0], "
    "child_xyz: [0.45, 0, 0], axis: [0, -1, 0]}\nactuated_joints: [A]\n"
)
BALLS = PINS.replace("pin", "ball").replace(", axis: [0, -1, 0]", "")


@pytest.mark.parametrize(("text", "kind"), [(PINS, "revolute"), (BALLS, "spherical")])
@pytest.mark.parametrize("folder", ["", "urdf"])
def test_torque_by_pinocchio_of_loop_closures(tmp_path, text, kind, folder):
    """Beside the file, or in the folder above it."""
    (tmp_path / folder).mkdir(exist_ok=True)
    path = written(tmp_path / folder, TREE + GEAR)
    (tmp_path / "loop_closures.yaml").write_text(text)
    it = read_file(path).mechanism
    assert it.coordinates == ("A",)
    assert {joint.name: joint.type for joint in it.joints}["C"] == kind
    model, oracle = basepar.load(path), Constrained()
    closed = model.close([0.4], outside="raise")
    expected, _ = oracle.torque({name: float(closed[name]) for name in "ABDR"}, -0.7, 0.3)
    # Some thousand operations in float64; a loop closed to 1e-12 of its size.
    assert model.torque([0.4], [-0.7], [0.3])[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_torque_by_pinocchio_of_closures_in_the_root_link(tmp_path):
    """The coupler's length and direction are such that the loop is closed at zero."""
    tip = np.array([0.7 + 0.45 * np.cos(1.2), 0, 0.1 + 0.45 * np.sin(1.2)])
    arm = tip - [0.25, 0, 0]
    turned = f'xyz="0.25 0.0 0.0" rpy="0 {-float(np.arctan2(arm[2], arm[0]))!r} 0"'
    text = (TREE + GEAR).replace('xyz="0.25 0.0 0.0"', turned)
    path = written(tmp_path, text)
    (tmp_path / "loop_closures.yaml").write_text(
        f"closures: [{{link_a: coupler, link_b: rocker, point: {tip.tolist()}, axis: [0, 1, 0]}}]"
        "\ndependent: [B, D]\nindependent: [A]\n"
    )
    tree = pin.buildModelFromXML(text)
    ends = [
        (tree.getJointId(name), pin.SE3(np.eye(3), np.array([x, 0, 0])))
        for name, x in (("B", np.linalg.norm(arm)), ("D", 0.45))
    ]
    oracle = ConstrainedTree(tree, [(*ends, 3)], [{"A": 6.0, "R": -1.0}])
    model = basepar.load(path)
    assert model.coordinates == ("A",)
    closed = model.close([0.3], outside="raise")
    state = oracle.configuration({name: float(closed[name]) for name in "ABDR"})
    assert oracle.gap(state) < 1e-12
    expected = oracle.torque(state, ["A"], np.array([1.5]), np.array([2.0]))
    # Some thousand operations in float64; a loop closed to 1e-12 of its size.
    np.testing.assert_allclose(model.torque([0.3], [1.5], [2.0]), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("parent: coupler", "parent: couple", "C: no link is named 'couple'"),
        ("child_xyz: [0.45, 0, 0]", "child_xyz: [0.45, 0]", "a loop has name, parent"),
        (", axis: [0, -1, 0]", "", "axis if it is a pin"),
        ("axis: [0, -1, 0]", "axis: [0, 0, 0]", "axis if it is a pin"),
        ("pin_loops", "gear_loops", "gear_loops: no key is named so"),
        ("[A]", "[AA]", "no joint is named 'AA'"),
    ],
)
def test_loop_closures_that_are_rejected(tmp_path, old, new, message):
    assert PINS.count(old) == 1
    (tmp_path / "loop_closures.yaml").write_text(PINS.replace(old, new))
    found = reasons(tmp_path, TREE + GEAR)
    assert any(message in one for one in found), found


NAMED = FRAMES.replace('"end"', '"closing_x_1"').replace('"pin"', '"closing_x_2"')
BOTH = NAMED + NAMED.replace("_1", "_1_z").replace("_2", "_2_z").replace("end_", "far_").replace(
    ' 0 0"', ' 0.1 0"'
)
LETTERED = NAMED.replace("closing_x_1", "closedloop1_A").replace("closing_x_2", "closedloop1_B")
TURNED = LETTERED.replace(' 0 0"/>', ' 0 0" rpy="-1.5707963267948966 0 0"/>')


@pytest.mark.parametrize(
    ("frames", "closing", "count", "kinds"),
    [
        (NAMED, "spherical", 1, ["spherical"]),
        (BOTH, "spherical", 2, ["revolute"]),
        (TURNED, "revolute", 1, ["revolute"]),
    ],
)
def test_frames_that_are_named_as_ends_of_loops(tmp_path, frames, closing, count, kinds):
    path = written(tmp_path, TREE + frames + GEAR)
    plain = read_file(path)
    assert [one.type for one in plain.mechanism.joints] == ["revolute"] * 4
    assert f"{count} pair of frames named as ends of loops" in plain.left_out
    assert any("import --closing" in note for note in plain.notes)
    held = read_file(path, closing=closing).mechanism
    assert [one.type for one in held.joints][4:] == kinds  # two points of a line are a hinge
    assert len(held.coordinates) == 1


def test_closing_where_nothing_asks_for_it(tmp_path):
    with pytest.raises(FileError, match="no frames are named as ends of loops"):
        read_file(written(tmp_path, TREE + GEAR), closing="fixed")
    with pytest.raises(FileError, match=r"robot\.yaml says how loops are closed"):
        read_file(written(tmp_path, TREE + FRAMES + GEAR, COMPANION), closing="fixed")


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


def test_a_type_for_no_joint_changes_nothing_and_is_noted(tmp_path):
    """What loads these files goes through the model's joints, and passes over other names."""
    more = "joint_name: [AA]\njoint_type: [SPHERICAL]\n"
    found = read_file(written(tmp_path, TREE + FRAMES + GEAR, COMPANION + "\n" + more))
    plain = read_file(written(tmp_path, TREE + FRAMES + GEAR, COMPANION))
    assert found.mechanism.joints == plain.mechanism.joints
    (said,) = (note for note in found.notes if "no joint is named 'AA'" in note)
    assert said.endswith("its type SPHERICAL changes nothing")


def test_another_yaml_beside_it_is_none_of_its(tmp_path):
    path = written(tmp_path, TREE + ISAAC + GEAR, "robot: {speed: 3}\n")
    assert read_file(path).mechanism.coordinates == ("A",)
