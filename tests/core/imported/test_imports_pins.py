"""Hinges that MJCF writes as two connects: against MuJoCo with both of its constraints."""

import re

import mujoco
import numpy as np
import pytest

import basepar
from basepar_core.errors import FileError, UsageError
from basepar_core.imported import read_file
from basepar_core.mechanism import Mechanism
from tests.core.imported.test_imports_mjcf import CONNECT, DATA, assert_same_as_mujoco
from workflows.robots import into

#: Another point of the hinge's axis, which is y of all bodies, 0.2 m off; both ends by sites.
SECOND = '<connect name="C2" body1="coupler" body2="rocker" anchor="0.8 0.2 0.1"/>'
SITES = '<connect name="C" site1="p" site2="q"/><connect name="C2" site1="p2" site2="q2"/>'


def four_bar(folder, by: str = "bodies", off: float = 0.0):
    """The four-bar with a hinge at C; by sites, the second one of the rocker is off (m) along the
    axis."""
    text = (DATA / "four-bar.xml").read_text()
    if by == "bodies":
        text = text.replace(CONNECT, CONNECT + SECOND)
    else:
        place = mujoco.MjModel.from_xml_string(text).eq_data[0, 3:6]
        near = [[0.8, y, 0.1] for y in (0.0, 0.2)]
        far = [[place[0], place[1] + y, place[2]] for y in (0.0, 0.2 + off)]
        for mass, names, spots in (("1", ("p", "p2"), near), ("0.7", ("q", "q2"), far)):
            after = f'size="0.02" mass="{mass}"/>'
            sites = "".join(
                f'<site name="{name}" pos="{" ".join(repr(float(x)) for x in spot)}"/>'
                for name, spot in zip(names, spots, strict=True)
            )
            assert text.count(after) == 1
            text = text.replace(after, after + sites)
        text = text.replace(CONNECT, SITES)
    path = folder / "four-bar.xml"
    path.write_text(text)
    return path


def kinds(mechanism: Mechanism) -> list[str]:
    return [joint.type for joint in mechanism.joints]


@pytest.mark.parametrize("by", ["bodies", "sites"])
def test_two_connects_are_a_hinge(tmp_path, by):
    """Of the plane's four-bar, 8 base parameters; six equations of MuJoCo, three redundant."""
    path = four_bar(tmp_path, by)
    found = assert_same_as_mujoco(path, "A")
    assert kinds(found.mechanism) == ["revolute"] * 4
    assert any("the hinge 'C C2' about the line through them" in one for one in found.notes)
    assert not any(one.startswith("repaired") for one in found.notes)
    assert basepar.Model(found.mechanism).base().rank == 8


def test_distances_that_differ_are_a_hinge_on_request(tmp_path):
    """Two balls leave nothing that moves then; each point moves by a quarter of the difference."""
    path = four_bar(tmp_path, "sites", 4e-7)
    plain = read_file(path)
    assert kinds(plain.mechanism)[3:] == ["spherical"] * 2
    assert plain.failure is not None
    assert any("whose distances differ by 4.0e-07 m" in one for one in plain.notes)
    assert kinds(read_file(path, repair=3e-7).mechanism)[3:] == ["spherical"] * 2
    found = read_file(path, repair=5e-7)
    assert kinds(found.mechanism) == ["revolute"] * 4
    assert found.failure is None
    said = next(one for one in found.notes if one.startswith("repaired: points of the hinge"))
    assert float(re.findall(r"by ([\d.e-]+) m", said)[0]) == pytest.approx(1e-7)
    with pytest.raises(UsageError, match="C_C2: two balls of the file, which `import --repair`"):
        into(path, basepar.Model(found.mechanism).prepared)
    # All of it is along the axes of a plane motion, which does not see that.
    states = [0.1], [0.7], [-0.3]
    exact = basepar.Model(read_file(four_bar(tmp_path, "sites")).mechanism)
    assert basepar.Model(found.mechanism).torque(*states) == pytest.approx(
        exact.torque(*states), rel=1e-9
    )


HELD = """<mujoco model="held"><option><flag contact="disable"/></option><worldbody>
<body name="post" pos="0.1 0.2 0.3" quat="0.9 0.1 -0.2 0.3">{joint}
  <inertial pos="0.1 0.02 -0.3" mass="2" fullinertia="0.3 0.2 0.25 0.01 0.02 -0.03"/>
  <body name="tip" pos="0.1 0.1 0" quat="0.8 0.2 0.1 0">
    <inertial pos="0.1 0 0" mass="0.5" diaginertia="0.01 0.02 0.015"/></body></body>
</worldbody>{more}{key}</mujoco>"""
BALL = '<joint name="J" type="ball" pos="0.1 -0.1 0.2"/>'
HINGE = '<joint name="J" pos="0.1 -0.1 0.2" axis="{}"/>'


def test_a_ball_of_the_tree_and_a_connect(tmp_path):
    """A hinge about the same line, as a file of its own; the connect is on a fixed body."""
    path, turned = tmp_path / "held.xml", 0.4
    connect = '<equality><connect name="E" body1="tip" anchor="0.3 -0.1 0.2"/></equality>'
    plain = mujoco.MjModel.from_xml_string(HELD.format(joint=BALL, more=connect, key=""))
    data = mujoco.MjData(plain)
    mujoco.mj_forward(plain, data)
    post, tip = (data.body(name) for name in ("post", "tip"))
    at = tip.xpos + tip.xmat.reshape(3, 3) @ plain.eq_data[0, :3]
    axis = post.xmat.reshape(3, 3).T @ (at - post.xpos) - plain.jnt_pos[0]
    axis /= np.linalg.norm(axis)
    quat = np.cos(turned / 2), *(np.sin(turned / 2) * axis)
    key = f'<keyframe><key name="k" qpos="{" ".join(repr(float(x)) for x in quat)}"/></keyframe>'
    path.write_text(HELD.format(joint=BALL, more=connect, key=key))
    found = read_file(path, keyframe="k")
    assert kinds(found.mechanism) == ["revolute"]
    text = HELD.format(joint=HINGE.format(" ".join(map(repr, map(float, axis)))), more="", key="")
    hinge = mujoco.MjModel.from_xml_string(text)
    model, one = basepar.Model(found.mechanism), mujoco.MjData(hinge)
    assert abs(abs(model.assembly[0]) - turned) < 1e-3  # stated to a thousandth
    sign = np.sign(model.assembly[0])
    for q, v, a in np.random.default_rng(3).uniform(-1, 1, (4, 3)):
        one.qpos[:], one.qvel[:], one.qacc[:] = sign * q, sign * v, sign * a
        mujoco.mj_inverse(hinge, one)
        # Two float64 recursions; rotations are met to 1e-14 rad.
        assert model.torque([q], [v], [a])[0] == pytest.approx(
            sign * one.qfrc_inverse[0], rel=1e-11, abs=1e-11
        )


def test_three_points_hold_all(tmp_path):
    path = four_bar(tmp_path)
    third = SECOND.replace("C2", "C3").replace("0.8 0.2 0.1", "0.9 0.2 0.1")
    path.write_text(path.read_text().replace(SECOND, SECOND + third))
    with pytest.raises(FileError, match="nothing moves"):
        read_file(path)


def changed(folder, path, old: str, new: str):
    """A file's mechanism with other numbers, put into the file; both."""
    text = read_file(path).text
    assert text.count(old) == 1
    made = folder / "made.yaml"
    made.write_text(text.replace(old, new))
    model, target = basepar.load(made), folder / "new.xml"
    target.write_bytes(into(path, model.prepared).text)
    return model, target


@pytest.mark.parametrize("second", [("p2", "q2"), ("q2", "p2")])
def test_a_shorter_coupler_goes_into_both_connects(tmp_path, second):
    """The file that is made has the mechanism's torque, as read again and by MuJoCo; the second
    connect may name its ends the other way round."""
    path = four_bar(tmp_path, "sites")
    text = path.read_text()
    ends = 'site1="{}" site2="{}"'
    assert text.count(ends.format("p2", "q2")) == 1
    path.write_text(text.replace(ends.format("p2", "q2"), ends.format(*second)))
    model, target = changed(tmp_path, path, "at: [[0.8, 0, 0.1]", "at: [[0.75, 0, 0.1]")
    again = basepar.Model(assert_same_as_mujoco(target, "A").mechanism)
    states = [0.1], [0.7], [-0.3]
    assert again.torque(*states) == pytest.approx(model.torque(*states), rel=1e-11)


def test_a_hinge_that_moves_takes_both_anchors(tmp_path):
    """Anchors are points of the first body; the second's follow from the reference pose."""
    path = four_bar(tmp_path)
    line = next(one for one in read_file(path).text.splitlines() if "at: [[0.8, 0, 0.1]" in one)
    x, _, z = (float(x) for x in re.findall(r"[-\d.e]+", line.split("], [")[1]))
    turn = np.radians(80 - 10)  # of the coupler against the rocker about y, by the file
    ends = [0.85, 0, 0.1], [x + 0.05 * float(np.cos(turn)), 0, z - 0.05 * float(np.sin(turn))]
    model, target = changed(tmp_path, path, line, f"    at: [{ends[0]}, {ends[1]}]")
    text = target.read_text()
    assert 'anchor="0.85 0 0.1"' in text
    assert 'anchor="0.85 0.2 0.1"' in text
    again = basepar.Model(assert_same_as_mujoco(target, "A").mechanism)
    states = [0.1], [0.7], [-0.3]
    assert again.torque(*states) == pytest.approx(model.torque(*states), rel=1e-11)


def test_a_hinge_of_connects_that_name_bodies_in_either_order(tmp_path):
    """The second one's anchor is a point of the rocker, which does not move there."""
    path = four_bar(tmp_path)
    at = mujoco.MjModel.from_xml_path(str(path)).eq_data[1, 3:6]
    other = f'body1="rocker" body2="coupler" anchor="{" ".join(repr(float(x)) for x in at)}"'
    text = path.read_text()
    written = 'body1="coupler" body2="rocker" anchor="0.8 0.2 0.1"'
    assert text.count(written) == 1
    path.write_text(text.replace(written, other))
    line = next(one for one in read_file(path).text.splitlines() if "at: [[0.8, 0, 0.1]" in one)
    x, _, z = (float(x) for x in re.findall(r"[-\d.e]+", line.split("], [")[1]))
    turn = np.radians(80 - 10)  # of the coupler against the rocker about y, by the file
    ends = [0.85, 0, 0.1], [x + 0.05 * float(np.cos(turn)), 0, z - 0.05 * float(np.sin(turn))]
    model, target = changed(tmp_path, path, line, f"    at: [{ends[0]}, {ends[1]}]")
    moved = mujoco.MjModel.from_xml_path(str(target)).eq_data[1, :3]
    # The hinge's point in the rocker, 0.2 m along its axis; files have 17 digits.
    x, _, z = ends[1]
    np.testing.assert_allclose(moved, [x, at[1], z], rtol=0, atol=1e-14)
    again = basepar.Model(assert_same_as_mujoco(target, "A").mechanism)
    states = [0.1], [0.7], [-0.3]
    assert again.torque(*states) == pytest.approx(model.torque(*states), rel=1e-11)
