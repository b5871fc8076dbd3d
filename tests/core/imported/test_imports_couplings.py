"""URDF's mimic joints and MJCF's equalities as couplings: Pinocchio, MuJoCo, what is rejected.

The hands are of our own numbers: data/imports/hand.urdf and hand.xml.
"""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics import Motion, observe, prepare
from basepar_core.errors import FileError
from basepar_core.imported.formats import Imported, read_file

DATA = Path(__file__).parents[2] / "data" / "imports"
#: Rotations are met to 1e-13 rad by rational ones; then float64's sums of some hundred terms.
SHARE = 3e-12


def torques(found: Imported, moving: Motion) -> np.ndarray:
    """W φ (sample, coordinate)."""
    seen = observe(prepare(found.mechanism), {}, moving)
    assert seen.closed.all()
    return seen.W[0] @ found.mechanism.inertial_parameters(found.mechanism.nominal)


def random_motion(found: Imported, samples: int = 6) -> Motion:
    """Steps small enough to be followed from the assembly, one after the other."""
    rng = np.random.default_rng(4)
    count = len(found.mechanism.coordinates)
    start = prepare(found.mechanism).assembled.coordinates[:, None]
    q = start + np.cumsum(rng.uniform(-0.1, 0.1, (count, samples)), axis=1)
    dq, ddq = rng.uniform(-2, 2, (2, count, samples))
    return Motion(np.arange(float(samples)), q, dq, ddq)


def agree(ours: np.ndarray, theirs: np.ndarray) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=SHARE * np.abs(theirs).max())


def test_urdf_by_pinocchios_mimic_joints():
    """Pinocchio has a joint model of its own for them: nv is 3, torques are the leaders'."""
    found = read_file(DATA / "hand.urdf")
    assert found.mechanism.coordinates == ("wrist", "finger_1", "thumb")
    model = pin.buildModelFromXML((DATA / "hand.urdf").read_text(), mimic=True)
    assert model.nv == 3
    data, moving = model.createData(), random_motion(found)
    place = [model.joints[model.getJointId(name)].idx_v for name in found.mechanism.coordinates]
    expected = []
    for s in range(moving.t.size):
        q, v, a = np.zeros((3, 3))
        q[place], v[place], a[place] = moving.q[:, s], moving.q_dot[:, s], moving.q_ddot[:, s]
        expected.append(pin.rnea(model, data, q, v, a)[place])
    agree(torques(found, moving), np.array(expected))


def test_urdf_by_pinocchios_free_tree():
    """The same from the tree without them: τ = Gᵀ rnea(G q + v0)."""
    found = read_file(DATA / "hand.urdf")
    model = pin.buildModelFromXML((DATA / "hand.urdf").read_text())
    data, moving = model.createData(), random_motion(found)
    follow = {"finger_2": (1, 1, 0), "tip": (2, -0.8757, 0.15), "hinge": (1, 12.5, -0.2)}
    G, start = np.zeros((6, 3)), np.zeros(6)
    for k, name in enumerate(found.mechanism.coordinates):
        G[model.joints[model.getJointId(name)].idx_v, k] = 1
    for name, (leader, multiplier, offset) in follow.items():
        row = model.joints[model.getJointId(name)].idx_v
        G[row, leader], start[row] = multiplier, offset
    expected = [
        G.T @ pin.rnea(model, data, G @ q + start, G @ v, G @ a)
        for q, v, a in zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True)
    ]
    agree(torques(found, moving), np.array(expected))


def test_mjcf_by_mujocos_free_tree():
    """Equalities off, its motions restricted to what they demand: τ = Gᵀ τ(tree).

    MuJoCo's order: wrist, finger_1, finger_2, turn, rise, thumb_1, thumb_2, thumb_3.
    """
    found = read_file(DATA / "hand.xml")
    assert found.mechanism.coordinates == ("wrist", "finger_1", "turn.2", "thumb_1", "thumb_3")
    G, start = np.zeros((8, 5)), np.zeros(8)
    for row, column in ((0, 0), (1, 1), (3, 2), (5, 3), (7, 4)):
        G[row, column] = 1
    G[2, 1], start[2] = 1.5, 0.002  # mirror
    G[4, 2], start[4] = 0.002, 0.001  # rise - 0.002 turn = 0.001
    # thumb_2 + 0.75 thumb_3 = 0.1 + 0.5 (2 thumb_1)
    G[6, 3], G[6, 4], start[6] = 1.0, -0.75, 0.1
    model = mujoco.MjModel.from_xml_path(str(DATA / "hand.xml"))
    data, moving = mujoco.MjData(model), random_motion(found)
    off = mujoco.mjtDisableBit
    others = (off.mjDSBL_SPRING, off.mjDSBL_DAMPER, off.mjDSBL_LIMIT)
    ties, passive = int(off.mjDSBL_EQUALITY), sum(map(int, others))
    expected = []
    for q, v, a in zip(moving.q.T, moving.q_dot.T, moving.q_ddot.T, strict=True):
        data.qpos[:], data.qvel[:], data.qacc[:] = model.qpos0 + start + G @ q, G @ v, G @ a
        model.opt.disableflags &= ~(ties | passive)
        mujoco.mj_fwdPosition(model, data)
        kept = data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        assert kept.sum() == 3
        np.testing.assert_allclose(data.efc_pos[kept], 0, atol=1e-15)  # rounding of values near 1
        J = np.array(data.efc_J).reshape(-1, model.nv)[kept]
        np.testing.assert_allclose(J @ G, 0, atol=1e-15)
        model.opt.disableflags |= ties | passive
        mujoco.mj_inverse(model, data)
        expected.append(G.T @ data.qfrc_inverse)
    agree(torques(found, moving), np.array(expected))


def test_what_the_hands_say():
    urdf, mjcf = read_file(DATA / "hand.urdf"), read_file(DATA / "hand.xml")
    assert [one.name for one in urdf.mechanism.couplings] == [
        "finger_2_mimic",
        "tip_mimic",
        "hinge_mimic",
    ]
    assert [one.name for one in mjcf.mechanism.couplings] == ["mirror", "pitch", "pull"]
    assert "1 tendon" in mjcf.dropped  # one of four: three are in equalities
    assert not any("mimic" in what for what in urdf.dropped)


def test_a_spring_on_a_slide_that_is_counted_the_other_way():
    (spring,) = read_file(DATA / "hand.xml").mechanism.springs
    assert (spring.coordinate, str(spring.rest.value)) == ("turn.1", "-1/50")


@pytest.mark.slow
def test_base_parameters_of_the_hand():
    """By the symbolic route, and by the singular values of W in float64."""
    model = prepare(read_file(DATA / "hand.urdf").mechanism)
    base = symbolic(model)
    moving = random_motion(read_file(DATA / "hand.urdf"), 80)
    W = observe(model, {}, moving).W[0].reshape(-1, 60)
    sizes = np.linalg.norm(W, axis=0)
    # What is zero is rounding, some 1e-15 of lengths near one.
    kept = sizes > 1e-12
    sigma = np.linalg.svd(W[:, kept] / sizes[kept], compute_uv=False)
    assert int((sigma > 1e-10 * sigma[0]).sum()) == base.rank


# Rejected.


def reasons(path: Path) -> dict[str, str]:
    with pytest.raises(FileError) as caught:
        read_file(path)
    return {mistake.path: mistake.message for mistake in caught.value.mistakes}


def urdf_with(
    folder: Path, mimic: str, kind: str = "revolute", leader: str = "continuous"
) -> Path:
    """Two joints, the second with an element."""
    link = (
        '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link>'
    )
    joint = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    parts = [link.format(name) for name in "abcd"]
    parts += [
        joint.format("A", leader, "a", "b", limit),
        joint.format("B", kind, "b", "c", limit + mimic),
        joint.format("C", "continuous", "c", "d", ""),
    ]
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return path


@pytest.mark.parametrize(
    ("mimic", "types", "message"),
    [
        ('<mimic joint="Z"/>', {}, "no joint is named so; joints are A, C"),
        ('<mimic joint="b"/>', {}, "no joint is named so"),
        ('<mimic joint="A" multiplier="0"/>', {}, "multiplier of 0"),
        ('<mimic joint="A" multiplier="nan"/>', {}, "not finite"),
        ('<mimic joint="A" multiplier="x"/>', {}, "multiplier of <mimic> = 'x' is no number"),
        ('<mimic joint="A" offset="inf"/>', {}, "not finite"),
        ('<mimic joint="A"/>', {"leader": "fixed"}, "'A' is fixed: only joints of one value"),
        ('<mimic joint="A"/>', {"kind": "planar"}, "'B' is planar: only joints of one value"),
        ('<mimic joint="A"/>', {"leader": "planar"}, "'A' is planar: only joints of one value"),
        ('<mimic joint="B"/>', {}, "in a circle: B"),
        ('<mimic joint="A"/><mimic joint="C"/>', {}, "given twice"),
    ],
)
def test_mimic_joints_that_are_no_couplings(tmp_path, mimic, types, message):
    found = reasons(urdf_with(tmp_path, mimic, **types))
    assert message in found["joint 'B'"]
    assert not any("hang from nothing" in one for one in found.values())


ROS = (
    '<ros2_control name="c" type="system"><joint name="B"><param name="mimic">{}</param>'
    '<param name="multiplier">{}</param></joint></ros2_control></robot>'
)


def test_a_mimic_that_is_said_twice(tmp_path):
    """A controller's parameters that repeat the joint's own element tie nothing else."""
    path = urdf_with(tmp_path, '<mimic joint="A" multiplier="-2"/>')
    text = path.read_text()
    path.write_text(text.replace("</robot>", ROS.format("A", "-2.0")))
    assert len(read_file(path).mechanism.couplings) == 1
    for leader, multiplier in (("C", "-2"), ("A", "2"), ("A", "two")):
        path.write_text(text.replace("</robot>", ROS.format(leader, multiplier)))
        assert "it couples joints" in reasons(path)["ros2_control 'c'"]


def test_a_mimic_of_a_mimic(tmp_path):
    path = urdf_with(tmp_path, '<mimic joint="A" multiplier="2"/>')
    text = path.read_text().replace(
        '<child link="d"/></joint>', '<child link="d"/><mimic joint="B" multiplier="3"/></joint>'
    )
    path.write_text(text)
    mechanism = read_file(path).mechanism
    assert (mechanism.coordinates, len(mechanism.couplings)) == (("A",), 2)


def test_mimics_in_a_circle(tmp_path):
    path = urdf_with(tmp_path, '<mimic joint="C"/>')
    text = path.read_text().replace(
        '<child link="d"/></joint>', '<child link="d"/><mimic joint="B"/></joint>'
    )
    path.write_text(text)
    found = reasons(path)
    assert set(found) == {"joint 'B'", "joint 'C'"}
    assert all("in a circle" in message for message in found.values())


HINGES = """<mujoco><worldbody><body name="b1"><joint name="p" axis="1 0 0"/>
  <joint name="q" axis="{}"/><geom size="0.1"/>
  <body name="b2"><joint name="r" axis="0 0 1"/><geom size="0.1"/>
  <body name="b3"><joint name="s" type="ball"/><geom size="0.1" pos="0.1 0 0"/></body>
  </body></body>
  <body name="b4"><joint name="t" axis="0 1 0"/><geom size="0.1"/></body></worldbody>
  <tendon>{}</tendon><equality>{}</equality></mujoco>"""


@pytest.mark.parametrize(
    ("tendon", "equality", "place", "message"),
    [
        (
            "",
            '<joint name="e" joint1="r" joint2="t" polycoef="0 1 0 0.5 0"/>',
            "equality 'e' (joint)",
            "its polycoef is of degree 3, and a coupling is linear",
        ),
        ("", '<joint name="e" joint1="r"/>', "equality 'e' (joint)", "holds r at one value"),
        (
            "",
            '<joint name="e" joint1="r" joint2="t" polycoef="0.1 0 0 0 0"/>',
            "equality 'e' (joint)",
            "holds r at one value",
        ),
        (
            '<fixed name="f"><joint joint="r" coef="1"/></fixed>',
            '<tendon name="e" tendon1="f"/>',
            "equality 'e' (tendon)",
            "holds r at one value",
        ),
        (
            '<fixed name="f" stiffness="3"><joint joint="r" coef="1"/><joint joint="t" coef="1"/>'
            "</fixed>",
            "",
            "tendon 'f'",
            "it has stiffness",
        ),
        (
            '<fixed name="f"><joint joint="r" coef="nan"/><joint joint="t" coef="1"/></fixed>',
            '<tendon name="e" tendon1="f"/>',
            "equality 'e' (tendon)",
            "not finite",
        ),
    ],
)
def test_equalities_that_are_no_couplings(tmp_path, tendon, equality, place, message):
    path = tmp_path / "model.xml"
    path.write_text(HINGES.format("0 1 0", tendon, equality))
    assert message in reasons(path)[place]


def test_an_idle_tendon_is_left_out(tmp_path):
    path = tmp_path / "model.xml"
    tendon = '<fixed name="f"><joint joint="r" coef="1"/></fixed>'
    path.write_text(HINGES.format("0 1 0", tendon, ""))
    found = read_file(path)
    assert "1 tendon" in found.dropped
    assert not found.mechanism.couplings


MIMIC = (
    '<gazebo><plugin name="m" filename="libroboticsgroup_gazebo_mimic_joint_plugin.so">'
    "<joint>finger_1</joint><mimicJoint>{}</mimicJoint><multiplier>{}</multiplier>"
    "<offset>{}</offset></plugin></gazebo></robot>"
)


def hand(folder: Path, *changes: tuple[str, str]) -> Path:
    text = (DATA / "hand.urdf").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "hand.urdf"
    path.write_text(text)
    return path


def test_a_plugin_that_mimics_is_a_mimic_element(tmp_path):
    stated = '<mimic joint="finger_1" multiplier="12.5" offset="-0.2"/>'
    expected = read_file(DATA / "hand.urdf").mechanism.couplings
    said = read_file(hand(tmp_path, ("</robot>", MIMIC.format("hinge", "12.5", "-0.2"))))
    assert said.mechanism.couplings == expected
    assert any("by which hinge mimics finger_1, as it says itself" in one for one in said.dropped)
    alone = hand(tmp_path, (stated, ""), ("</robot>", MIMIC.format("hinge", "12.5", "-0.2")))
    found = read_file(alone)
    assert found.mechanism.couplings == expected
    assert any("mimics 'finger_1' by a plugin" in note for note in found.notes)
    other = hand(tmp_path, ("</robot>", MIMIC.format("hinge", "12", "-0.2")))
    with pytest.raises(FileError, match="it may couple what it names"):
        read_file(other)


FINGER = (
    '<gazebo><plugin name="f" filename="libgazebo_underactuated_finger.so">'
    "<actuatedJoint>finger_1</actuatedJoint><virtualJoint><name>hinge</name>"
    "<scale_factor>{}</scale_factor></virtualJoint></plugin></gazebo></robot>"
)


def test_fingers_that_a_plugin_couples(tmp_path):
    """Their values are the leader's over a factor."""
    stated = '<mimic joint="finger_1" multiplier="12.5" offset="-0.2"/>'
    mimic = '<mimic joint="finger_1" multiplier="12.5"/>'
    expected = read_file(hand(tmp_path, (stated, mimic))).mechanism.couplings
    found = read_file(hand(tmp_path, (stated, ""), ("</robot>", FINGER.format("0.08"))))
    assert found.mechanism.couplings == expected
    for factor in ("0", "fast"):
        with pytest.raises(FileError, match="it may couple what it names"):
            read_file(hand(tmp_path, (stated, ""), ("</robot>", FINGER.format(factor))))


def test_a_fixed_joint_mimics_nothing(tmp_path):
    path = hand(tmp_path, ('name="hinge" type="revolute"', 'name="hinge" type="fixed"'))
    found = read_file(path)
    assert len(found.mechanism.couplings) == 2
    assert any("'hinge' is fixed, so what it mimics has no effect" in n for n in found.notes)
