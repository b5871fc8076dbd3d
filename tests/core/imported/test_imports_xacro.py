"""Files of xacro against the same robot written by hand, and everything that xacro says no to."""

import os
import sys
import time
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

import basepar
from basepar_core.errors import FileError, MissingDataError, Mistake, UsageError
from basepar_core.imported import formats, read_file, xacro
from basepar_core.mechanism import Mechanism
from tests.core.imported import test_imports_sdf_stubs as stubs

ROBOT = """<?xml version="1.0"?>
<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="reach" default="0.4"/>
  <xacro:property name="half" value="${reach / 2}"/>
  <xacro:property name="reach" value="$(arg reach)"/>
  <xacro:include filename="parts/link.xacro"/>
  <link name="base"/>
  <xacro:part name="upper" parent="base" mass="2" at="0 0 0.1"/>
  <xacro:if value="${reach > 0}">
    <xacro:part name="fore" parent="upper" mass="${2 * 0.75}" at="${reach} 0 0"/>
  </xacro:if>
</robot>
"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="part" params="name parent mass at">
    <link name="${name}"><inertial><origin xyz="${half} 0 0.01"/><mass value="${mass}"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="${mass * reach**2 / 12}" iyz="0" izz="0.03"/>
    </inertial></link>
    <joint name="${name}_joint" type="continuous"><parent link="${parent}"/>
      <child link="${name}"/><origin xyz="${at}"/><axis xyz="0 1 0"/></joint>
  </xacro:macro>
</robot>
"""


def by_hand(folder: Path, reach: float) -> Path:
    """What the macros mean, without xacro."""
    parts = ['<robot name="arm"><link name="base"/>']
    for name, parent, mass, at in (
        ("upper", "base", 2.0, "0 0 0.1"),
        ("fore", "upper", 1.5, f"{reach} 0 0"),
    ):
        parts.append(
            f'<link name="{name}"><inertial><origin xyz="{reach / 2} 0 0.01"/>'
            f'<mass value="{mass}"/><inertia ixx="0.01" ixy="0" ixz="0" '
            f'iyy="{mass * reach**2 / 12}" iyz="0" izz="0.03"/></inertial></link>'
            f'<joint name="{name}_joint" type="continuous"><parent link="{parent}"/>'
            f'<child link="{name}"/><origin xyz="{at}"/><axis xyz="0 1 0"/></joint>'
        )
    path = folder / "hand.urdf"
    path.write_text("".join(parts) + "</robot>")
    return path


@pytest.fixture
def robot(tmp_path) -> Path:
    """The file, with what it includes, in a folder with a space."""
    folder = tmp_path / "my robots"
    (folder / "parts").mkdir(parents=True)
    (folder / "parts" / "link.xacro").write_text(PART)
    (folder / "arm.urdf.xacro").write_text(ROBOT)
    return folder / "arm.urdf.xacro"


def said(mechanism: Mechanism) -> Mechanism:
    """Without the text it is from, whose comments differ."""
    return replace(mechanism, source="")


@pytest.mark.parametrize(("given", "reach"), [({}, 0.4), ({"reach": "0.25"}, 0.25)])
def test_macros_properties_and_arguments(robot, tmp_path, given, reach):
    found, expected = read_file(robot, xacro=given), read_file(by_hand(tmp_path, reach))
    assert said(found.mechanism) == said(expected.mechanism)
    note = "expanded by xacro" + (" with reach:=0.25" if given else "")
    assert found.notes[0] == note


def test_in_python(robot, tmp_path):
    by_default = basepar.load(robot, xacro=True)
    shorter = basepar.load(robot, xacro={"reach": "0.25"})
    assert said(by_default.mechanism) == said(basepar.load(by_hand(tmp_path, 0.4)).mechanism)
    assert said(shorter.mechanism) == said(basepar.load(by_hand(tmp_path, 0.25)).mechanism)


def rejected(path: Path, given=None) -> tuple[str, int | None]:
    with pytest.raises(FileError) as caught:
        read_file(path, xacro={} if given is None else given)
    (mistake,) = caught.value.mistakes
    return mistake.message, mistake.line


def test_without_being_asked_the_line_to_use_is_told(robot):
    with pytest.raises(FileError, match=r"basepar import '.*arm\.urdf\.xacro' --xacro"):
        read_file(robot)
    with pytest.raises(FileError, match=r"in Python xacro=True"):
        basepar.load(robot)


@pytest.mark.parametrize(
    ("old", "new", "words", "line"),
    [
        ("${reach / 2}", "${reech / 2}", "name 'reech' is not defined", 4),
        ("<xacro:part name", "<xacro:prat name", "unknown macro name: xacro:prat", 8),
        ("$(arg reach)", "$(arg reich)", "Undefined substitution argument reich", 5),
        ("</robot>", "</robott>", "mismatched tag: line 12", 12),
        ("parts/link", "parts/lonk", "No such file", None),
        ("$(arg reach)", "$(find nowhere)/x", "ament_index_python", 4),
    ],
)
def test_xacros_own_words_and_the_line(robot, old, new, words, line):
    robot.write_text(ROBOT.replace(old, new, 1))
    message, found = rejected(robot)
    assert message.startswith("xacro: ")
    assert words in message
    assert "Traceback" not in message
    assert found == line


def test_the_line_of_a_file_that_is_included(robot):
    part = robot.parent / "parts" / "link.xacro"
    part.write_text(PART.replace("${at}", "${reach +}"))
    message, line = rejected(robot)
    assert "line 7 of link.xacro has 'reach +'" in message
    assert line is None
    part.write_text(PART)
    robot.write_text(ROBOT.replace('"2"', '"heavy"'))
    assert "line 4 of link.xacro has 'mass * reach**2 / 12'" in rejected(robot)[0]


def test_mistakes_of_the_robot_are_those_of_what_xacro_makes(robot):
    (robot.parent / "parts" / "link.xacro").write_text(PART.replace("${mass}", "heavy"))
    with pytest.raises(FileError, match=r"arm\.urdf\.xacro, as xacro expands it: \d") as caught:
        read_file(robot, xacro={})
    assert "'heavy'" in str(caught.value)


def test_no_shell_and_no_other_option(robot, tmp_path):
    """An argument stays one word, and names are names."""
    other = '<xacro:arg name="other" default="-"/>'
    robot.write_text(ROBOT.replace("<xacro:arg", f"{other}<xacro:arg", 1))
    read_file(robot, xacro={"reach": "0.4", "other": f"; touch {tmp_path}/owned; $(touch x)"})
    assert not (tmp_path / "owned").exists()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"-o": "x"}, "'-o' is no name of an argument"),
        ({1: "x"}, "1 is no name of an argument"),
        ({"reach": ""}, "leaves out arguments without a value, such as 'reach'"),
        ({"reach": " "}, "leaves out arguments without a value, such as 'reach'"),
        ({"_reach": "1"}, "begin with one _, such as '_reach'"),
        ({"reach": "a:=b"}, "no value that has := in it, as 'reach' has"),
        ({"reach": None}, "'reach' is a text or a number, not None"),
        ({"reach": "", "_x": "1"}, "'reach': write .*; xacro leaves out .* '_x'"),
        ("left", "such as xacro={'side': 'left'}, or {} for none, not 'left'"),
        (True, "or {} for none, not True"),
    ],
)
def test_arguments_that_xacro_would_drop_or_misread(robot, given, words):
    with pytest.raises(UsageError, match=words):
        read_file(robot, xacro=given)


def test_a_path_that_xacro_takes_for_an_argument(robot):
    path = robot.rename(robot.with_name("arm:=left.xacro"))
    with pytest.raises(UsageError, match=r"left\.xacro' has := in it.*; rename the file"):
        read_file(path, xacro={})


@pytest.mark.parametrize("asked", [True, {}, {"reach": "1"}])
@pytest.mark.parametrize("source", ["four-bar", "arm.yaml"])
def test_mechanism_files_are_not_for_xacro(source, asked):
    with pytest.raises(UsageError, match=f"{source} is a mechanism file, and xacro is for files"):
        basepar.load(source, xacro=asked)


def test_two_underscores_are_a_name(robot):
    robot.write_text(ROBOT.replace("reach)", "__reach)").replace('arg name="', 'arg name="__'))
    assert read_file(robot, xacro={"__reach": "0.25"}).notes[0].endswith("__reach:=0.25")


def test_warnings_are_notes(robot):
    robot.write_text(ROBOT.replace('"parts/link.xacro"', '"parts/link.xacro" more="1"'))
    found = read_file(robot, xacro={})
    assert found.notes[:2] == (
        "expanded by xacro",
        "xacro: warning: xacro:include: unknown attribute(s): more",
    )


@pytest.mark.slow
def test_without_merged_stubs_it_says_so_too(tmp_path, monkeypatch):
    """The strut closes in the second draft only; where nothing moves in that one, the first stays,
    open."""
    path = stubs.written(tmp_path, stubs.robot(("x", "y", "z"), strut=True))
    found = read_file(path, xacro={})
    assert found.failure is None
    assert found.notes[0] == "expanded by xacro"
    firsts = []

    def close(draft, *others):
        if firsts:
            raise FileError("strut", [Mistake("", "nothing moves")])
        firsts.append(closed(draft, *others))
        return firsts[0]

    closed = formats.closed
    monkeypatch.setattr(formats, "closed", close)
    left = read_file(path)
    assert left.failure is firsts[0].failure is not None
    assert "# OPEN" in left.text


def test_a_file_of_the_packages_name_is_not_run(robot, monkeypatch):
    (robot.parent / "xacro.py").write_text("open('owned', 'w')\ndef main(): pass\n")
    monkeypatch.chdir(robot.parent)
    read_file(robot, xacro={})
    assert not (robot.parent / "owned").exists()


def test_what_takes_too_long_is_ended(robot):
    robot.write_text(ROBOT.replace("${reach / 2}", "${10**10**9}"))
    begun = time.monotonic()
    with pytest.raises(FileError, match=r"more than 1\.5 s and was ended"):
        xacro.expanded(robot, {}, seconds=1.5)
    assert time.monotonic() - begun < 30  # of a sum that takes hours


def test_mujocos_files_are_expanded_by_hand(tmp_path):
    path = tmp_path / "a.xacro"
    path.write_text('<mujoco xmlns:xacro="http://www.ros.org/wiki/xacro"/>')
    assert "xacro FILE > FILE.xml" in rejected(path)[0]


@pytest.mark.parametrize("is_folder", [False, True])
def test_where_there_is_no_package_the_command_is_used(robot, tmp_path, monkeypatch, is_folder):
    """A folder of its name, with nothing of Python in it, is none."""
    if is_folder:
        (tmp_path / "found" / "xacro").mkdir(parents=True)
    spec = PathFinder.find_spec("xacro", [str(tmp_path / "found")])
    assert (spec is not None) == is_folder
    monkeypatch.setattr(xacro, "find_spec", lambda name: spec)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"pip install 'basepar\[xacro\]'"):
        read_file(robot, xacro={})
    command = tmp_path / "xacro"
    command.write_text(f"#!{sys.executable}\nimport xml.parsers.expat, xacro\nxacro.main()\n")
    os.chmod(command, 0o755)
    found = read_file(robot, xacro={}).mechanism
    assert said(found) == said(read_file(by_hand(tmp_path, 0.4)).mechanism)


def test_a_file_without_macros_stays_what_it_is(tmp_path):
    path = by_hand(tmp_path, 0.3)
    found = read_file(path, xacro={})
    assert said(found.mechanism) == said(read_file(path).mechanism)
    assert found.notes[0] == "expanded by xacro"


def test_an_argument_that_the_file_does_not_ask_for_is_rejected(robot):
    """xacro itself drops it without a word."""
    with pytest.raises(UsageError, match=r"asks for no argument 'raech'; did you mean 'reach'"):
        read_file(robot, xacro={"raech": "0.5"})
