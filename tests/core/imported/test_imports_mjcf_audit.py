"""What a received MJCF file may do: no plugin, no file outside its folder; nothing that moves or
weighs is dropped unseen."""

import os
from pathlib import Path

import mujoco
import pytest

from basepar_core.errors import FileError
from basepar_core.imported.formats import read_file

ARM = (
    '<worldbody><body name="a"><joint name="A" axis="0 1 0" {joint}/>'
    '<geom type="capsule" size="0.05 0.2"/>{body}</body></worldbody>'
)


def written(folder: Path, text: str = "", joint: str = "", body: str = "") -> Path:
    path = folder / "arm.xml"
    path.write_text(f"<mujoco>{text}{ARM.format(joint=joint, body=body)}</mujoco>")
    return path


def refusals(path: Path) -> dict[str, str]:
    with pytest.raises(FileError) as caught:
        read_file(path)
    return {mistake.path: mistake.message for mistake in caught.value.mistakes}


BALL = '<body name="b"><joint name="B" type="ball" {}/><geom size="0.1"/></body>'
TIED = '<equality><connect body1="a" body2="b" anchor="0 0 0"/></equality>'
HANGING = '<body name="b"><joint name="B" axis="0 1 0"/><geom size="0.1"/></body>'


@pytest.mark.parametrize(
    ("parts", "place", "words"),
    [
        ({"body": BALL.format('armature="0.1"')}, "joint 'B'", "it is a ball joint with"),
        ({"body": BALL.format('damping="0.1"')}, "joint 'B'", "it is a ball joint with"),
        ({"body": BALL.format('stiffness="2"')}, "joint 'B'", "it is a ball joint with"),
        ({"joint": 'damping="0.1 0.2"'}, "joint 'A'", "damping that is not linear"),
        ({"joint": 'stiffness="1 0.2"'}, "joint 'A'", "a spring that is not linear"),
        (
            {"text": '<actuator><motor name="M" joint="A" armature="0.1"/></actuator>'},
            "actuator 'M'",
            "it has armature; give it to the joint",
        ),
        (
            {"text": '<actuator><motor name="M" joint="A" damping="0.1"/></actuator>'},
            "actuator 'M'",
            "it has damping; give it to the joint",
        ),
        (
            {"text": f'<option><flag equality="disable"/></option>{TIED}', "body": HANGING},
            "option flag equality",
            "switches off equality constraints",
        ),
        (
            {"text": '<option><flag spring="disable"/></option>', "joint": 'stiffness="2"'},
            "option flag spring",
            "switches off springs",
        ),
        (
            {"text": '<option><flag damper="disable"/></option>', "joint": 'damping="2"'},
            "option flag damper",
            "switches off damping",
        ),
        (
            {
                "text": '<option><flag frictionloss="disable"/></option>',
                "joint": 'frictionloss="2"',
            },
            "option flag frictionloss",
            "switches off frictionloss",
        ),
    ],
)
def test_what_acts_on_the_motion_is_refused(tmp_path, parts, place, words):
    assert words in refusals(written(tmp_path, **parts))[place]


def test_what_is_left_out_is_listed(tmp_path):
    text = """<asset><texture name="t" type="skybox" builtin="flat" width="4" height="4"/>
      <material name="m" rgba="1 0 0 1"/></asset>
    <contact><exclude body1="a" body2="b"/></contact>
    <actuator><position joint="A" kp="3"/></actuator>
    <sensor><jointpos joint="A"/></sensor>
    <custom><numeric name="n" data="1"/><text name="u" data="v"/></custom>
    <keyframe><key qpos="0 0"/></keyframe>"""
    found = read_file(written(tmp_path, text, body=HANGING))
    assert ", ".join(found.dropped) == (
        "2 geom, 1 actuator, 1 sensor, 1 contact exclusion, 1 keyframe, 1 material, 1 texture, "
        "1 number, 1 text"
    )


CUBE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
MESHED = (
    '{}<asset><mesh name="m" file="{}"/></asset><worldbody><body name="a"><joint name="A"/>'
    '<geom type="mesh" mesh="m"/></body></worldbody>'
)


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("", "{other}/cube.obj"),
        ("", "../other/cube.obj"),
        ('<compiler meshdir="../other"/>', "cube.obj"),
        ('<compiler assetdir="{other}"/>', "cube.obj"),
        ('<compiler meshdir="../other" strippath="true"/>', "x/cube.obj"),
        ("", "link.obj"),
    ],
)
def test_no_file_outside_the_folder_is_read(tmp_path, head, name):
    home, other = tmp_path / "home", tmp_path / "other"
    home.mkdir()
    other.mkdir()
    (other / "cube.obj").write_text(CUBE)
    (home / "link.obj").symlink_to(other / "cube.obj")
    path = home / "arm.xml"
    text = MESHED.format(head.format(other=other), name.format(other=other))
    path.write_text(f"<mujoco>{text}</mujoco>")
    mujoco.MjModel.from_xml_path(str(path))  # MuJoCo itself reads it
    (found,) = refusals(path).items()
    assert found[0].startswith("mesh ")
    assert "lies outside the folder" in found[1]
    assert "`within=FOLDER`" in found[1]
    assert read_file(path, tmp_path).dropped == ("1 geom", "1 mesh")


def test_includes_outside_are_not_opened(tmp_path):
    """Not even looked into: a pipe that nobody writes to would wait for ever."""
    home = tmp_path / "home"
    home.mkdir()
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(home / "pipe")
    path = written(home, '<include file="../pipe"/>')
    assert "lies outside" in refusals(path)["include '../pipe'"]
    path = written(home, '<include file="pipe"/>')
    assert "no ordinary file" in refusals(path)["include 'pipe'"]
    path = written(home, '<include file="inner.xml"/>')
    (home / "inner.xml").write_text('<mujoco><include file="/dev/zero"/></mujoco>')
    assert "lies outside" in refusals(path)["include '/dev/zero'"]


def test_includes_and_meshes_within_are_read(tmp_path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "cube.obj").write_text(CUBE)
    (tmp_path / "inner.xml").write_text(
        "<mujoco>" + MESHED.format('<compiler meshdir="meshes"/>', "cube.obj") + "</mujoco>"
    )
    path = tmp_path / "outer.xml"
    path.write_text('<mujoco><include file="inner.xml"/></mujoco>')
    assert [joint.name for joint in read_file(path).mechanism.joints] == ["A"]


def test_no_plugin_is_loaded(tmp_path):
    """MuJoCo knows plugins that a program registered, and opens no library that a file names."""
    (tmp_path / "evil.so").write_bytes(b"\x7fELF")
    for name in ("evil", "evil.so", str(tmp_path / "evil.so")):
        text = f'<extension><plugin plugin="{name}"><instance name="i"/></plugin></extension>'
        found = refusals(written(tmp_path, text))
        assert "plugin" in found[""]
        assert "evil.so" not in Path("/proc/self/maps").read_text()


def test_warnings_of_mujoco_are_notes(tmp_path, monkeypatch):
    """It would write MUJOCO_LOG.TXT into whatever folder one is in."""
    monkeypatch.chdir(tmp_path)
    found = read_file(written(tmp_path, '<compiler settotalmass="2"/>'))
    assert any("settotalmass" in note for note in found.notes)
    assert [path.name for path in tmp_path.iterdir()] == ["arm.xml"]
