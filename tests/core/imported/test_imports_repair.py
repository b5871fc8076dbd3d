"""Loops that stay open: closed by the least change of dimensions, or written as they are."""

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.errors import AssemblyError, FileError
from basepar_core.imported.formats import read_file

LINK = """<link name="{}"><inertial><mass value="1"/>
  <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""
JOINT = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>
  <origin xyz="{}" rpy="0 0 {}"/><axis xyz="0 0 1"/></joint>"""


def four_bar(folder, off: str = "0.0003", length: str = "0.5"):
    """Revolute joints about z, closed by a ball; one origin lies out of the plane."""
    path = folder / "bar.urdf"
    path.write_text(
        '<robot name="bar"><link name="base"/>'
        + "".join(LINK.format(name) for name in ("crank", "rod", "rocker"))
        + JOINT.format("A", "base", "crank", "0 0 0", "1.1")
        + JOINT.format("B", "crank", "rod", f"0.2 0 {off}", "-0.9")
        + JOINT.format("D", "base", "rocker", "0.5 0 0", "1.3")
        + '<loop_joint name="C" type="spherical">'
        + f'<link1 link="rod" xyz="{length} 0 0"/><link2 link="rocker" xyz="0.3 0 0"/>'
        + "</loop_joint></robot>"
    )
    return path


def test_the_least_change_closes_a_plane_loop_in_space(tmp_path):
    """Eight points share the gap across the plane: 0.3 mm / 8 each, at right angles to it."""
    path = four_bar(tmp_path)
    found = read_file(path, repair=1e-3)
    assert found.failure is None
    note = next(one for one in found.notes if one.startswith("repaired"))
    moves = [float(x) for x in re.findall(r"by ([\d.e-]+) m", note)]
    # Printed to three digits.
    assert moves == pytest.approx([0.3e-3 / 8] * 8, rel=1e-2)
    assert len(found.mechanism.coordinates) == 1
    assert prepare(found.mechanism).assembled.residual < 1e-12


@pytest.mark.slow
def test_points_move_by_no_more_than_the_tolerance(tmp_path):
    found = read_file(four_bar(tmp_path), repair=1e-5)
    assert "stays open by" in found.failure.message
    assert not any(one.startswith("repaired") for one in found.notes)


TURNED = """<joint name="{}" type="continuous"><parent link="{}"/><child link="{}"/>
  <origin xyz="{}" rpy="{}"/><axis xyz="0 0 1"/></joint>"""
PIN = """<loop_joint name="{}" type="revolute"><axis xyz="0 0 1"/>
  <link1 link="{}" xyz="{}"/><link2 link="{}" xyz="{}"/></loop_joint>"""


def moved(found):
    """What moved and how far, in the order of the note."""
    note = next(one for one in found.notes if one.startswith("repaired"))
    return [
        (what.strip(), float(x))
        for what, x in re.findall(r"([\w .()]+?) by ([\d.e-]+) (?:m|rad)", note)
    ]


def is_stuck(path):
    """Whether a file stays open, or closes and cannot move."""
    try:
        return read_file(path).failure is not None
    except FileError as error:
        return "nothing moves" in str(error)


def swing(folder, lengths=("0.3", "0.3", "0.3"), tilt="0", last="0"):
    """Three cranks about z that carry one bar; mobile only if they are equally long."""
    path = folder / "swing.urdf"
    path.write_text(
        '<robot name="swing"><link name="base"/>'
        + "".join(LINK.format(name) for name in ("one", "two", "three", "bar"))
        + TURNED.format("A", "base", "one", "0 0 0", "0 0 1.1")
        + TURNED.format("B", "base", "two", "0.5 0 0", f"{tilt} 0 1.1")
        + TURNED.format("C", "base", "three", "1.1 0 0", "0 0 1.1")
        + TURNED.format("D", "one", "bar", f"{lengths[0]} 0 0", "0 0 -1.1")
        + PIN.format("E", "two", f"{lengths[1]} 0 {last}", "bar", "0.5 0 0")
        + PIN.format("F", "three", f"{lengths[2]} 0 0", "bar", "1.1 0 0")
        + "</robot>"
    )
    return path


def test_equal_lengths_are_recognised(tmp_path):
    path = swing(tmp_path, ("0.3", "0.30003", "0.3"))
    assert is_stuck(path)
    found = read_file(path, repair=1e-3)
    assert found.failure is None
    assert len(found.mechanism.coordinates) == 1
    moves = moved(found)
    assert [x for _, x in moves] == sorted((x for _, x in moves), reverse=True)
    # A third of the difference for two cranks, two thirds for one, half at either point.
    assert {round(x / 0.5e-5) for _, x in moves} == {1, 2}
    assert prepare(found.mechanism).assembled.residual < 1e-12


@pytest.mark.slow
def test_parallel_axes_are_recognised(tmp_path):
    path = swing(tmp_path, tilt="0.00002")
    assert is_stuck(path)
    found = read_file(path, repair=1e-3)
    assert len(found.mechanism.coordinates) == 1
    assert moved(found)[0] == ("axis of B in base (to that of A in base)", 2e-5)


@pytest.mark.slow
def test_axes_that_meet_are_recognised(tmp_path):
    """A spherical four-bar: all axes through one point, but for 0.02 mm."""
    path = tmp_path / "ball.urdf"
    path.write_text(
        '<robot name="ball"><link name="base"/>'
        + "".join(LINK.format(name) for name in ("one", "two", "three"))
        + TURNED.format("A", "base", "one", "0 0 0", "0 0 0")
        + TURNED.format("B", "one", "two", "0.00002 0 0", "0.7 0 0")
        + TURNED.format("D", "base", "three", "0 0 0", "1.3 0 0")
        + '<loop_joint name="C" type="revolute"><axis xyz="0 0 1"/><link1 link="two" '
        'rpy="0.9 0 0"/><link2 link="three" rpy="-0.8 0 0"/></loop_joint></robot>'
    )
    assert is_stuck(path)
    found = read_file(path, repair=1e-3)
    assert found.failure is None
    assert len(found.mechanism.coordinates) == 1


def _turn(axis):
    """A frame with this z axis."""
    z = np.array(axis) / np.linalg.norm(axis)
    x = np.cross((0.3, 0.5, 0.8), z)
    x /= np.linalg.norm(x)
    return Rotation.from_matrix(np.stack([x, np.cross(z, x), z], axis=1))


def spherical(folder, digits):
    """Three arms of two hinges each between base and platform, all nine axes through one point,
    printed to so many decimals."""

    def cone(width, phase, k):
        turn, tilt = np.radians(120 * k + phase), np.radians(width)
        return (np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt))

    def placed(one, two):
        """A frame in another, both at their distances from the common point along z."""
        (R, d), (S, e) = one, two
        at = R.inv().apply(e * S.apply((0, 0, 1))) - np.array((0, 0, d))
        rpy = (R.inv() * S).as_euler("xyz")
        return [" ".join(f"{x:.{digits}f}" for x in v) for v in (at, rpy)]

    base, parts = (Rotation.identity(), 0.0), []
    for k in range(3):
        motor, arm, tip = (
            (_turn(cone(*where, k)), 0.1 + 0.0123 * k + 0.007 * n)
            for n, where in enumerate(((50, 0), (85, 50), (55, 90)))
        )
        parts.append(TURNED.format(f"m{k}", "base", f"one{k}", *placed(base, motor)))
        parts.append(TURNED.format(f"e{k}", f"one{k}", f"two{k}", *placed(motor, arm)))
        if k == 0:
            platform = tip
            parts.append(TURNED.format("p0", "two0", "platform", *placed(arm, tip)))
            continue
        (x, r), (y, s) = placed(arm, tip), placed(platform, tip)
        parts.append(
            f'<loop_joint name="p{k}" type="revolute"><axis xyz="0 0 1"/><link1 link="two{k}" '
            f'xyz="{x}" rpy="{r}"/><link2 link="platform" xyz="{y}" rpy="{s}"/></loop_joint>'
        )
    links = [f"{word}{k}" for k in range(3) for word in ("one", "two")]
    path = folder / "spherical.urdf"
    path.write_text(
        '<robot name="spherical"><link name="base"/>'
        + "".join(LINK.format(name) for name in (*links, "platform"))
        + "".join(parts)
        + "</robot>"
    )
    return path


@pytest.mark.slow
def test_axes_that_meet_in_one_point_are_recognised(tmp_path):
    """Of base and platform three axes each, of the links two; no two points are as far from it."""
    path = spherical(tmp_path, digits=5)
    assert is_stuck(path)
    found = read_file(path, repair=1e-3)
    assert found.failure is None
    assert len(found.mechanism.coordinates) == 3
    # Printed points are off by 1e-5 m, and frames by 1e-5 rad at 0.1 m.
    assert 0 < moved(found)[0][1] < 5e-5
    assert prepare(found.mechanism).assembled.residual < 1e-12


@pytest.mark.slow
def test_right_angles_are_recognised(tmp_path):
    """Printed to five digits, they hold a plane loop's axes apart."""
    path = swing(tmp_path, tilt="1.5708")
    text = path.read_text().replace('xyz="0 0 1"/></joint>', 'xyz="0 0 1"/></joint>', 1)
    tilted = text.replace(
        'name="B" type="continuous"><parent link="base"/><child link="two"/>\n'
        '  <origin xyz="0.5 0 0" rpy="1.5708 0 1.1"/><axis xyz="0 0 1"/>',
        'name="B" type="continuous"><parent link="base"/><child link="two"/>\n'
        '  <origin xyz="0.5 0 0" rpy="1.5708 0 1.1"/><axis xyz="0 1 0"/>',
    )
    assert tilted != text
    path.write_text(
        tilted.replace(
            '<link1 link="two" xyz="0.3 0 0"/>',
            '<link1 link="two" xyz="0.3 0 0" rpy="-1.5708 0 0"/>',
        )
    )
    assert is_stuck(path)
    found = read_file(path, repair=1e-3)
    assert len(found.mechanism.coordinates) == 1
    assert any("roll 1.5708 is taken as 90 deg" in note for note in found.notes)


def test_what_closes_is_left_alone(tmp_path):
    exact, same = (read_file(four_bar(tmp_path, off="0"), repair=x).text for x in (0.0, 1e-3))
    assert exact == same


@pytest.mark.slow
def test_a_file_that_does_not_assemble_is_written_and_says_so(tmp_path):
    path = four_bar(tmp_path, off="0", length="2")  # out of the rocker's reach by far
    found = read_file(path)
    assert isinstance(found.failure, AssemblyError)
    assert found.notes[0].startswith("OPEN, to be fixed by hand: Joint")
    assert "# OPEN" in found.text.splitlines()[2]
    with pytest.raises(AssemblyError, match="stays open"):
        load(path)


def test_axes_that_pass_each_other_are_no_structure(tmp_path):
    """Where two axes of a body are closest there is no axis within the tolerance."""
    path = four_bar(tmp_path, "0.3")
    text = path.read_text()
    old = '<origin xyz="0.5 0 0" rpy="0 0 1.3"/><axis xyz="0 0 1"/>'
    assert text.count(old) == 1
    path.write_text(
        text.replace(old, '<origin xyz="0.5 0.4 0" rpy="0 0 1.3"/><axis xyz="0 1 1"/>')
    )
    found = read_file(path, repair=1e-4)
    assert found.failure is not None
    assert not any(one.startswith("repaired") for one in found.notes)


@pytest.mark.parametrize(("yaw", "listed"), [("3.1e-31", False), ("3e-10", True)])
def test_angles_are_listed_if_they_are_off_by_more_than_rounding(tmp_path, yaw, listed):
    path = tmp_path / "arm.urdf"
    joint = JOINT.format("A", "base", "arm", "0 0 0", yaw)
    path.write_text(f'<robot name="arm"><link name="base"/>{LINK.format("arm")}{joint}</robot>')
    notes = read_file(path).notes
    assert any("rad off" in one for one in notes) == listed
