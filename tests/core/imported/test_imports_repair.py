"""Loops that stay open: closed by the least change of dimensions, or written as they are."""

import re

import pytest

from basepar_core.api import load
from basepar_core.dynamics import prepare
from basepar_core.errors import AssemblyError
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


def test_what_closes_is_left_alone(tmp_path):
    exact, same = (read_file(four_bar(tmp_path, off="0"), repair=x).text for x in (0.0, 1e-3))
    assert exact == same


def test_a_file_that_does_not_assemble_is_written_and_says_so(tmp_path):
    path = four_bar(tmp_path, off="0", length="2")  # out of the rocker's reach by far
    found = read_file(path)
    assert isinstance(found.failure, AssemblyError)
    assert found.notes[0].startswith("OPEN, to be fixed by hand: Joint")
    assert "# OPEN" in found.text.splitlines()[2]
    with pytest.raises(AssemblyError, match="stays open"):
        load(path)
