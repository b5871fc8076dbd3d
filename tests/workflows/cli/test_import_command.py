"""`basepar import`: a file of ours from URDF and MJCF, and mechanisms given as such files."""

import json
import re
import subprocess
import sys
from pathlib import Path

DATA = Path(__file__).parents[2] / "data" / "imports"


def test_import_writes_a_file_that_reads_back(run, tmp_path):
    output = tmp_path / "arm.yaml"
    ran = run("import", str(DATA / "arm6.urdf"), "-o", str(output), "--json")
    assert ran.status == 0
    document = ran.json
    assert document["format"] == "URDF"
    assert document["file"] == str(output)
    assert document["coordinates"][0] == "shoulder_pan"
    assert "1 transmission" in document["dropped"]
    base = run("base", str(output), "--route", "numeric", "--json").json
    assert base["rank"] == 36
    again = run("import", str(DATA / "arm6.urdf")).out
    # Before all else both name the schema, from where each of them is.
    assert again.splitlines()[1:] == output.read_text().splitlines()[1:]
    shown = " ".join(
        run("import", str(DATA / "arm6.urdf"), "-o", str(output), "--overwrite").out.split()
    )
    assert "arm-6 from URDF, 6 bodies, 6 joints" in shown
    assert "dropped: 2 visual, 3 limit, 1 material, 1 transmission" in shown


def test_a_file_that_is_there_is_not_written_over(run, tmp_path):
    output = tmp_path / "arm.yaml"
    output.write_text("mine")
    ran = run("import", str(DATA / "arm6.urdf"), "-o", str(output))
    assert ran.status == 2
    assert "--overwrite" in ran.err
    assert output.read_text() == "mine"


def test_mechanisms_may_be_files_of_other_formats(run):
    shown = run("show", str(DATA / "four-bar.xml"), "--json").json
    assert shown["degrees_of_freedom"] == 1
    assert {joint["name"]: joint["type"] for joint in shown["joints"]}["C"] == "spherical"


def test_refusals_have_their_places(run, tmp_path):
    path = tmp_path / "bad.urdf"
    joint = '<joint name="{0}" type="screw"><parent link="a"/><child link="{0}"/></joint>'
    links = "".join(f'<link name="{name}"/>' for name in "abc")
    path.write_text(f'<robot name="r">{links}{joint.format("b")}{joint.format("c")}</robot>')
    ran = run("import", str(path), "--json")
    assert ran.status == 1
    error = ran.json["error"]
    assert error["kind"] == "file"
    assert error["where"] == ["joint 'b'", "joint 'c'"]  # no link but for them hangs from nothing


TETHER = '<tether><link1 link="shoulder"/><link2 link="wrist_1"/></tether></robot>'


def test_no_command_takes_a_robot_of_which_something_would_be_dropped(run, tmp_path):
    path, sweep, study = tmp_path / "arm.urdf", tmp_path / "sweep.yaml", tmp_path / "study.yaml"
    path.write_text((DATA / "arm6.urdf").read_text().replace("</robot>", TETHER))
    sweep.write_text("mechanism: arm.urdf\nspace: {plan: grid, variables: {}}\n")
    study.write_text("mechanism: arm.urdf\nvariables: {}\nobjectives: {torque_rms: minimize}\n")
    certificate = tmp_path / "arm.cert"
    arm = str(path)
    given = [
        ["show", arm],
        ["base", arm],
        ["base", arm, "--certificate", str(certificate)],
        ["import", arm],
        ["reduce", arm],
        ["excite", arm, "-o", str(tmp_path / "exciting.yaml")],
        ["simulate", arm, "-o", str(tmp_path / "run.csv")],
        ["identify", arm, str(tmp_path / "run.csv")],
        ["onedof", arm],
        ["sweep", str(sweep)],
        ["study", str(study)],
    ]
    for arguments in given:
        ran = run(*arguments, "--json")
        assert ran.status == 1, arguments
        assert (
            "link 'shoulder', link 'wrist_1': it is not known here" in ran.json["error"]["message"]
        )
    made = run("base", str(DATA / "arm6.urdf"), "--certificate", str(certificate))
    assert made.status == 0
    ran = run("verify", str(certificate), "--mechanism", arm, "--json")
    assert "it is not known here" in ran.json["error"]["message"]


def test_commands_say_what_an_import_left_out(tmp_path):
    """Once on stderr, and among the facts; in a process of its own, as people see it."""
    told = "left out of the URDF file: 2 visual, 3 limit, 1 material, 1 transmission"
    command = [
        sys.executable,
        "-m",
        "workflows.cli.main",
        "show",
        str(DATA / "arm6.urdf"),
        "--json",
    ]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stderr.count(told) == 1
    (warning,) = json.loads(ran.stdout)["warnings"]
    assert warning.endswith(told)


def test_a_robot_that_stays_open_is_written_with_what_is_open(run, tmp_path):
    """A loop whose pin is out of reach: the file is there, the status says that it is not done."""
    path = tmp_path / "open.urdf"
    loop = """<loop_joint name="L" type="spherical"><link1 link="{}" xyz="9 0 0"/>
      <link2 link="{}" xyz="0 0 99"/></loop_joint></robot>"""
    text = (DATA / "arm6.urdf").read_text()
    links = re.findall(r'<link name="(\w+)"', text)
    path.write_text(text.replace("</robot>", loop.format(links[0], links[-1])))
    made = tmp_path / "open.yaml"
    ran = run("import", str(path), "-o", str(made), "--json")
    assert ran.status == 1
    assert "stays open by" in ran.json["open"]
    assert "# OPEN, to be fixed by hand" in made.read_text()


XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="reach" default="0.4"/><link name="base"/>
<link name="arm"><inertial><origin xyz="$(arg reach) 0 0"/><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="A" type="continuous"><parent link="base"/><child link="arm"/></joint></robot>
"""


def test_xacro_is_expanded_when_asked(run, tmp_path):
    file, made = tmp_path / "arm.xacro", tmp_path / "arm.yaml"
    file.write_text(XACRO)
    words = ("import", str(file), "-o", str(made))
    ran = run(*words, "--xacro", "--xacro-arg", "reach:=0.75")
    assert ran.status == 0, ran.err
    assert "expanded by xacro with reach:=0.75" in ran.out
    assert "centre: [0.75, 0, 0]" in made.read_text()
    unasked = run("import", str(file))
    assert unasked.status == 1
    assert f"basepar import {file} --xacro" in unasked.err
    alone = run(*words[:2], "--xacro-arg", "reach:=1")
    assert (alone.status, "goes with --xacro" in alone.err) == (2, True)
    unlike = run(*words[:2], "--xacro", "--xacro-arg", "reach=1")
    assert (unlike.status, "NAME:=VALUE" in unlike.err) == (2, True)
    empty = run(*words[:2], "--xacro", "--xacro-arg", "reach:=")
    assert (empty.status, "without a value, such as 'reach'" in empty.err) == (2, True)
