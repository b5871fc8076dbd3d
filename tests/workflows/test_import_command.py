"""`basepar import`: a file of ours from URDF and MJCF, and mechanisms given as such files."""

from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "imports"


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
    assert again == output.read_text()
    shown = " ".join(
        run("import", str(DATA / "arm6.urdf"), "-o", str(output), "--force").out.split()
    )
    assert "arm-6 from URDF, 6 bodies, 6 joints" in shown
    assert "dropped: 2 visual, 3 limit, 1 material, 1 transmission" in shown


def test_a_file_that_is_there_is_not_written_over(run, tmp_path):
    output = tmp_path / "arm.yaml"
    output.write_text("mine")
    ran = run("import", str(DATA / "arm6.urdf"), "-o", str(output))
    assert ran.status == 2
    assert "--force" in ran.err
    assert output.read_text() == "mine"


def test_mechanisms_may_be_files_of_other_formats(run):
    shown = run("show", str(DATA / "four-bar.xml"), "--json").json
    assert shown["degrees_of_freedom"] == 1
    assert {joint["name"]: joint["type"] for joint in shown["joints"]}["C"] == "spherical"


def test_refusals_have_their_places(run, tmp_path):
    path = tmp_path / "bad.urdf"
    joint = '<joint name="{0}" type="floating"><parent link="a"/><child link="{0}"/></joint>'
    links = "".join(f'<link name="{name}"/>' for name in "abc")
    path.write_text(f'<robot name="r">{links}{joint.format("b")}{joint.format("c")}</robot>')
    ran = run("import", str(path), "--json")
    assert ran.status == 1
    error = ran.json["error"]
    assert error["kind"] == "file"
    assert error["where"] == ["joint 'b'", "joint 'c'"]
