"""URDF against Pinocchio's reading of the same file, and everything that is refused."""

import math
import re
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from basepar_core.api import load
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.motion import Motion, excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import FileError, MissingDataError
from basepar_core.files.mechanism_file import loads
from basepar_core.imported import formats
from basepar_core.imported.formats import read_file
from basepar_core.imported.rationals import NOISE, Pose, decimal, from_floats, from_rpy, quarters
from basepar_core.imported.text import number

DATA = Path(__file__).parents[2] / "data" / "imports"
#: Pinocchio's order of a body's ten in ours: m, mx, my, mz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]
#: Multiples of 90° that an import takes for exact; Pinocchio is given all their digits.
NEAR = {r"\b1\.57079632679\b": repr(math.pi / 2)}
ROUNDED = {r"\b1\.57(08|07963|079632679)\b": repr(math.pi / 2), r"\b3\.14159\b": repr(math.pi)}


def pinocchio(name: str, right_angles: bool) -> pin.Model:
    text = (DATA / name).read_text()
    for short, full in (ROUNDED if right_angles else NEAR).items():
        text = re.sub(short, full, text)
    return pin.buildModelFromXML(text)


def motion_of(count: int, seed: int = 3, samples: int = 5) -> Motion:
    q, dq, ddq = np.random.default_rng(seed).uniform(-1.5, 1.5, (3, count, samples))
    return Motion(np.arange(float(samples)), q, dq, ddq)


@pytest.mark.parametrize("right_angles", [False, True])
@pytest.mark.parametrize("name", ["arm6.urdf", "arm7.urdf", "skew.urdf"])
def test_regressor_is_pinocchios(name, right_angles):
    found = read_file(DATA / name, right_angles=right_angles, count_massless=True)
    mechanism, model = found.mechanism, pinocchio(name, right_angles)
    data = model.createData()
    # Pinocchio sorts branches by name, we keep the file's order.
    place = {name.replace("-", "_"): model.joints[model.getJointId(name)] for name in model.names}
    coordinates = [place[name] for name in mechanism.coordinates]
    moving = motion_of(len(coordinates))
    W = observe(prepare(mechanism), {}, moving).W[0]
    phi = mechanism.inertial_parameters(mechanism.nominal)
    for s in range(moving.t.size):
        q = pin.neutral(model)
        v, a = np.zeros(model.nv), np.zeros(model.nv)
        for k, joint in enumerate(coordinates):
            angle = moving.q[k, s]  # a continuous joint is a point of the circle
            q[joint.idx_q : joint.idx_q + joint.nq] = (
                angle if joint.nq == 1 else (math.cos(angle), math.sin(angle))
            )
            v[joint.idx_v], a[joint.idx_v] = moving.q_dot[k, s], moving.q_ddot[k, s]
        Y = pin.computeJointTorqueRegressor(model, data, q, v, a)
        rows = [joint.idx_v for joint in coordinates]
        blocks = []
        for body in mechanism.bodies:
            (own,) = [j.name for j in mechanism.joints if j.bodies[1] == body.name]
            first = 10 * (place[own].id - 1)
            blocks.append(Y[rows][:, first : first + 10][:, ORDER])
        expected = np.concatenate(blocks, axis=1)
        # Rotations are met to 1e-13 rad, axes to what the file prints; then rounding.
        np.testing.assert_allclose(W[s], expected, rtol=0, atol=3e-12 * np.abs(expected).max())
        torque = pin.rnea(model, data, q, v, a)[rows]
        np.testing.assert_allclose(W[s] @ phi, torque, rtol=0, atol=3e-12 * np.abs(torque).max())


@pytest.mark.parametrize(("name", "count"), [("arm6.urdf", 36), ("arm7.urdf", 43)])
def test_counts_of_the_known_arms(name, count):
    """36 of the UR's proportions (Pinocchio's regressor), 43 of the Panda's (Gaz et al. 2019)."""
    model = prepare(load(str(DATA / name)))
    assert numeric(model).rank == count
    base = symbolic(model)
    assert base.rank == count
    assert base.certificate.at_least == base.certificate.at_most == count


def test_what_the_file_says():
    found = read_file(DATA / "arm6.urdf")
    mechanism = found.mechanism
    assert loads(found.text, "again").source == found.text
    assert [body.name for body in mechanism.bodies] == [
        "shoulder",
        "upper_arm",
        "forearm",
        "wrist_1",
        "wrist_2",
        "wrist_3",
    ]
    assert "fixed to the ground, and part of it: world, base_link" in found.notes
    assert "fixed to wrist_3, and part of it: tool, tip" in found.notes
    near = "joint 'forearm': pitch 1.57079632679 is taken as 90 deg, 4.9e-12 rad off"
    assert any(near.split(":")[1] in note for note in found.notes)
    (said,) = (note for note in found.notes if "as printed" in note)
    assert "joint 'shoulder_lift': pitch 1.5708, by 3.7e-06 rad; `import --right-angles`" in said
    right = read_file(DATA / "arm6.urdf", right_angles=True)
    taken = "joint 'shoulder_lift': pitch 1.5708 is taken as 90 deg, 3.7e-06 rad off"
    assert taken in right.notes
    assert found.dropped == ("2 visual", "3 limit", "1 material", "1 transmission")
    assert "# 'upper-arm' is called upper_arm" in found.text
    # Zero is outside the elbow's limits: it starts in their middle.
    assert dict(mechanism.assembly.values)["elbow"].value == Fraction(16, 10)
    friction = {(f.coordinate, f.kind): f.value.value for f in mechanism.friction}
    assert friction == {
        ("shoulder_pan", "viscous"): Fraction(1, 2),
        ("shoulder_pan", "coulomb"): Fraction(1, 5),
    }
    # Printed decimals stay what they are.
    assert "mass: 8.393" in found.text
    assert "at: [[0, 0, 0.289159], [0, 0, 0]]" in found.text


def test_links_without_mass_are_said():
    notes = " ".join(read_file(DATA / "skew.urdf").notes)
    assert "without inertia in the file, between joints" in notes
    assert "do not count: helper" in notes


LINK = (
    '<link name="{}"><inertial><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'
)
JOINT = '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>{}</joint>'


def written(folder: Path, *parts: str) -> Path:
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">\n{chr(10).join(parts)}\n</robot>')
    return path


def test_all_mistakes_at_once(tmp_path):
    path = written(
        tmp_path,
        *(LINK.format(name) for name in "abcdefgi"),
        LINK.format("b"),
        '<link name="bad"><inertial><mass value="heavy"/></inertial></link>',
        '<link name="half"><inertial><mass value="1"/></inertial></link>',
        JOINT.format("ab", "continuous", "a", "b", ""),
        JOINT.format("bc", "revolute", "b", "c", '<axis xyz="0 0 0"/>'),
        JOINT.format("cd", "continuous", "c", "d", '<mimic joint="bb"/>'),
        JOINT.format("de", "continuous", "d", "ee", ""),
        JOINT.format("df", "screw", "d", "f", ""),
        JOINT.format("ag", "continuous", "a", "g", '<origin xyz="0 nan 0"/>'),
        JOINT.format("cg", "continuous", "c", "g", ""),
        JOINT.format("ah", "continuous", "a", "half", '<origin xyz="0 1"/>'),
        JOINT.format("ai", "floating", "a", "i", '<dynamics damping="nan"/>'),
    )
    with pytest.raises(FileError) as caught:
        read_file(path)
    found = {mistake.path: mistake for mistake in caught.value.mistakes}
    expected = {
        "link 'b'": "given twice",
        "link 'bad'": "cannot be read: value of <mass> = 'heavy' is no number",
        "link 'half'": "has no inertia; give both",
        "joint 'bc'": "its axis is zero",
        "joint 'cd'": "it mimics 'bb', and no joint is named so; joints are ab, bc, de",
        "joint 'de'": "no link is named 'ee'; did you mean 'e'",
        "joint 'df'": "Invalid joint type: screw",
        "joint 'ag'": "is not finite",
        "joint 'cg'": "hangs from 'a' already: URDF is of trees",
        "joint 'ah'": "Invalid vector length",
        # Links that hang from 'df' and 'ah', which cannot be read, are no further mistake.
        "joint 'ai'": "dynamics [nan, 0.0] is not finite",
    }
    for place, text in expected.items():
        assert text.lower() in found[place].message.lower(), (place, found[place].message)
    assert found["joint 'cd'"].line == 15
    assert set(found) == set(expected)


@pytest.mark.parametrize(
    ("low", "high", "start"), [("1", "2", 1.5), ("1", "inf", 0.0), ("nan", "2", 0.0)]
)
def test_the_assembly_begins_between_limits_that_leave_zero_out(tmp_path, low, high, start):
    limit = f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'
    joint = JOINT.format("ab", "revolute", "a", "b", limit)
    found = read_file(written(tmp_path, LINK.format("a"), LINK.format("b"), joint))
    assert prepare(found.mechanism).assembled.coordinates == pytest.approx([start], abs=0)


@pytest.mark.parametrize(("low", "high"), [("-0.3", "0.5"), ("1", "2"), ("-3", "3")])
def test_the_excitation_keeps_the_limits_of_the_joint(tmp_path, low, high):
    """And is no smaller than it has to be: `excite` takes its range for the joint's."""
    limit = f'<limit lower="{low}" upper="{high}" effort="1" velocity="1"/>'
    joint = JOINT.format("ab", "revolute", "a", "b", limit)
    model = prepare(
        read_file(written(tmp_path, LINK.format("a"), LINK.format("b"), joint)).mechanism
    )
    q = excitation(model.mechanism, model.assembled.coordinates).q[0]
    assert float(low) <= q.min() < q.max() <= float(high)
    assert np.ptp(q) > 0.5 * min(2.0, 2 * (float(high) - model.assembled.coordinates[0]))


def test_a_limit_that_is_zero_but_for_rounding_leaves_an_excitation(tmp_path):
    """As one at the start itself does; within such limits nothing would move."""
    ranges = []
    for low in ("0", "-1e-10"):
        limit = f'<limit lower="{low}" upper="3" effort="1" velocity="1"/>'
        joint = JOINT.format("ab", "revolute", "a", "b", limit)
        path = written(tmp_path, LINK.format("a"), LINK.format("b"), joint)
        model = prepare(read_file(path).mechanism)
        ranges.append(np.ptp(excitation(model.mechanism, model.assembled.coordinates).q[0]))
    assert ranges[1] == ranges[0] > 0.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<robot><link>", "is not XML"),
        ("<!-- <robot> --><sdf/>", "it has to have one model"),
        ('<robot xmlns:xacro="http://x/xacro"><xacro:arm/></robot>', "xacro macros in it"),
        ('<robot name="r"><link name="a"/></robot>', "nothing moves"),
        (
            f'<robot name="r">{LINK.format("a")}{JOINT.format("j", "fixed", *"aa", "")}</robot>',
            "run in a circle: a",
        ),
    ],
)
def test_files_that_are_no_robot(tmp_path, content, message):
    path = tmp_path / "robot.urdf"
    path.write_text(content)
    with pytest.raises(FileError, match=message):
        read_file(path)


def test_a_missing_file_and_a_missing_library(tmp_path, monkeypatch):
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_file(tmp_path / "nowhere.urdf")
    monkeypatch.setitem(sys.modules, "urdf_parser_py", None)
    with pytest.raises(MissingDataError, match=r"pip install 'basepar\[urdf\]'"):
        read_file(DATA / "arm6.urdf")


def test_names_that_mean_something_here(tmp_path):
    parts = [LINK.format(name) for name in ("base", "ground", "arm.1", "arm-1")]
    parts += [
        JOINT.format("bodies", "continuous", "base", "ground", ""),
        JOINT.format("0", "continuous", "ground", "arm.1", ""),
        JOINT.format("ground", "continuous", "arm.1", "arm-1", ""),
    ]
    mechanism = read_file(written(tmp_path, *parts)).mechanism
    assert [body.name for body in mechanism.bodies] == ["ground_2", "arm_1", "arm_1_2"]
    assert [joint.name for joint in mechanism.joints] == ["bodies_2", "joint_0", "ground_2"]
    assert mechanism.joints[0].bodies == ("ground", "ground_2")


def test_planar_joints_move_in_their_plane(tmp_path):
    """Against two slides and a hinge in a row, over links without mass."""
    along = '<origin xyz="0.1 0 0.2" rpy="0 -1.5708 0.3"/><axis xyz="0 0 1"/>'
    one = read_file(
        written(
            tmp_path,
            LINK.format("a"),
            LINK.format("b"),
            JOINT.format("j", "planar", "a", "b", along),
        )
    )
    slides = [
        '<origin xyz="0.1 0 0.2" rpy="0 -1.5708 0.3"/><axis xyz="1 0 0"/>',
        '<axis xyz="0 1 0"/>',
        '<axis xyz="0 0 1"/>',
    ]
    limit = '<limit effort="1" velocity="1"/>'
    parts = [JOINT.format("x", "prismatic", "a", "m", slides[0] + limit)]
    parts += [JOINT.format("y", "prismatic", "m", "n", slides[1] + limit)]
    parts += [JOINT.format("t", "continuous", "n", "b", slides[2])]
    links = [LINK.format("a"), '<link name="m"/>', '<link name="n"/>', LINK.format("b")]
    other = read_file(written(tmp_path, *links, *parts))
    moving = motion_of(3)
    W = [observe(prepare(found.mechanism), {}, moving).W[0] for found in (one, other)]
    # The same products in another order.
    np.testing.assert_allclose(W[0], W[1][..., -10:], atol=1e-13 * np.abs(W[0]).max())


ANGLES = st.floats(-7, 7, allow_nan=False)


@settings(suppress_health_check=[HealthCheck.too_slow])  # of a busy machine, not of the code
@given(ANGLES, ANGLES, ANGLES)
def test_rotations_are_orthogonal_and_close(roll, pitch, yaw):
    matrix = Pose(turn=from_rpy(roll, pitch, yaw)).matrix
    product = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in matrix] for p in matrix]
    assert product == [[int(i == k) for k in range(3)] for i in range(3)]
    angles = [
        angle if (exact := quarters(angle)) is None else exact[0] * math.pi / 2
        for angle in (roll, pitch, yaw)
    ]
    expected = Rotation.from_euler("xyz", angles).as_matrix()
    # Three turns of at most 2·1e-13 rad each, and float64 in the comparison.
    np.testing.assert_allclose(np.array(matrix, float), expected, atol=1e-12)
    back = from_floats(Rotation.from_matrix(expected).as_quat(scalar_first=True))
    # Components below NOISE of the largest are zeros, or as large: 2 NOISE about each axis.
    given_back = np.array(Pose(turn=back).matrix, float)
    np.testing.assert_allclose(given_back, expected, atol=8 * NOISE)


@pytest.mark.parametrize(
    ("angle", "turns"),
    [
        (1.57, 1),
        (1.5708, 1),
        (-1.570796, -1),
        (3.14159, 2),
        (-4.712389, -3),
        (4e-17, 0),
        (1.6, None),
        (1.575, None),
        (0.01, None),
        (0.7854, None),
        (3.0, None),
    ],
)
def test_right_angles_as_printed(angle, turns):
    found = quarters(angle, as_printed=True)
    assert (found and found[0]) == turns
    if turns is None:
        assert found is None
    else:
        assert found[1] == abs(angle - turns * math.pi / 2)
        assert quarters(angle) == (found if found[1] <= NOISE else None)


@given(st.floats(-1e6, 1e6, allow_nan=False))
def test_printed_decimals_are_kept(value):
    assert Fraction(number(decimal(value))) == Fraction(Decimal(repr(value)))


class _Counted(bytes):
    """Counts the bytes that `find` went over."""

    seen = 0

    def find(self, what, start=0):
        found = super().find(what, start)
        self.seen += (len(self) if found < 0 else found + len(what)) - start
        return found


@pytest.mark.parametrize("open_", [b"<!--", b"<? ?>", b"< ", b"<!-->"])
def test_a_long_file_is_looked_through_once(open_):
    """Each of a million comments that nobody closes was read to the end of 3 MB: for hours."""
    content = _Counted(open_ * (3_000_000 // len(open_)))
    assert formats._root(content) == b""
    # Past an opening its own bytes are looked at again, no others.
    assert len(content) / 2 < content.seen <= 2 * len(content)


def test_the_first_element_is_behind_comments_and_instructions():
    text = b"""<?xml version="1.0"?><!-- <mujoco> --><!DOCTYPE x> <robot name="a"/><mujoco/>"""
    assert formats._root(text) == b"robot"
    assert formats._root(b"<!-- <robot> ") == b""


def test_a_centre_of_mass_is_as_printed_however_small(tmp_path):
    """1.9e-10 m at 0.3 kg is a share of 1e-8 of the torque of a light arm."""
    path = tmp_path / "small.urdf"
    path.write_text(
        """<robot name="small"><link name="base"/><link name="arm"><inertial>
    <origin xyz="0.1 1.9e-10 3e-61" rpy="0 0 0"/><mass value="0.3"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="A" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>"""
    )
    it = read_file(path).mechanism
    numbers = dict(zip(it.parameter_names, it.inertial_parameters(it.nominal), strict=True))
    assert numbers["arm.my"] == pytest.approx(0.3 * 1.9e-10)
    assert numbers["arm.mz"] == 0
