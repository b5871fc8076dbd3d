"""`basepar export`: robots' files of mechanisms, at other values, with identified parameters."""

import json

from tests.workflows.robots.originals import ARM


def test_export_writes_what_import_reads(run, tmp_path):
    output, back = tmp_path / "four-bar.urdf", tmp_path / "back.yaml"
    ran = run("export", "four-bar", "--set", "lx1=0.31", "-o", str(output), "--json")
    assert ran.status == 0, ran.err
    assert (ran.json["dialect"], ran.json["file"]) == ("urdf+", str(output))
    assert set(ran.json["zeros"]) == {"A", "B", "C", "D"}
    read = run("import", str(output), "-o", str(back), "--json").json
    assert read["coordinates"] == ["A"]
    assert "0.31" in back.read_text()
    # Its own file is written anew without being asked.
    said = run("export", "four-bar", "-o", str(output)).out
    assert "four-bar as urdf+, 3 bodies" in " ".join(said.split())


def test_export_names_what_a_dialect_lacks(run):
    ran = run("export", "gripper", "--dialect", "sdf", "--json")
    assert ran.status == 1
    assert ran.json["error"]["kind"] == "mechanism"
    assert "coupling mimic" in ran.json["error"]["message"]
    assert "urdf or" in ran.json["error"]["message"]


def test_without_file_and_dialect_there_is_no_format(run, tmp_path):
    assert run("export", "four-bar").status == 2
    wrong = run("export", "four-bar", "-o", str(tmp_path / "four-bar.dae"))
    assert wrong.status == 2
    assert "--dialect" in wrong.err


def test_identified_parameters_are_written(run, tmp_path):
    names = [
        f"{body}.{kind}"
        for body in ("crank", "coupler", "rocker")
        for kind in ["m", "mx", "my", "J"]
    ]
    values = dict(zip(names, [1.5, 0, 0, 0.25] * 3, strict=True))
    document = tmp_path / "identified.json"
    document.write_text(json.dumps({"consistent": {"parameters": values}}))
    ran = run("export", "four-bar", "--dialect", "mjcf", "--parameters", str(document))
    assert ran.out.count('mass="1.5" diaginertia="0.25 0.25 0.25"') == 3
    smooth = values | {"A.smooth_coulomb": 0.37}  # simulators smooth it by themselves
    document.write_text(json.dumps({"consistent": {"parameters": smooth}}))
    ran = run("export", "four-bar", "--dialect", "urdf+", "--parameters", str(document))
    assert 'friction="0.37"' in ran.out
    document.write_text(json.dumps({"standard": values}))
    wrong = run("export", "four-bar", "--dialect", "mjcf", "--parameters", str(document))
    assert wrong.status == 1
    assert "--consistent" in wrong.err
    document.write_text(json.dumps({"consistent": {"parameters": {"crankk.m": 1}}}))
    wrong = run("export", "four-bar", "--dialect", "mjcf", "--parameters", str(document))
    assert "crankk.m" in wrong.err


def test_a_robots_own_file_is_changed_without_being_asked(run, tmp_path):
    original, output = tmp_path / "arm.urdf", tmp_path / "new.urdf"
    original.write_text(ARM)
    names = [
        f"bare.{kind}"
        for kind in ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    ]
    values = dict(zip(names, [0.5, 0, 0, 0, 0.01, 0, 0, 0.01, 0, 0.01], strict=True))
    document = tmp_path / "identified.json"
    document.write_text(json.dumps({"consistent": {"parameters": values | {"elbow.offset": 0.1}}}))
    asked = ("export", str(original), "--parameters", str(document), "-o", str(output), "--json")
    wrong = run(*asked)
    assert wrong.status == 1
    assert "elbow.offset" in wrong.json["error"]["message"]
    ran = run(*asked, "--without", "offset")
    assert ran.status == 0, ran.err
    assert (ran.json["into"], ran.json["dialect"]) == (str(original), None)
    assert ran.json["notes"] == ["inertia of bare"]
    assert "every comment stays" in output.read_text()
    # It is nobody's file to write over, and a dialect makes a new one.
    assert run(*asked, "--without", "offset").status == 2
    anew = run(
        "export", str(original), "--dialect", "urdf", "-o", str(tmp_path / "anew.urdf"), "--json"
    )
    assert anew.json["into"] is None
    assert "every comment" not in (tmp_path / "anew.urdf").read_text()


def test_a_variant_is_put_into_the_file_it_was_imported_from(run, tmp_path):
    original, imported, output = (tmp_path / name for name in ("arm.urdf", "arm.yaml", "new.urdf"))
    original.write_text(ARM)
    assert run("import", str(original), "-o", str(imported)).status == 0
    text = imported.read_text().replace("at: [[0.3, 0, 0.01]", "at: [[reach, 0, 0.01]")
    text = text.replace("bodies:", "geometry: {reach: {value: 0.3, unit: m}}\nbodies:", 1)
    imported.write_text(text)
    asked = ("export", str(imported), "--into", str(original), "-o", str(output))
    same = run(*asked)
    assert same.status == 0, same.err
    assert "nothing differs" in same.out
    assert output.read_bytes() == original.read_bytes()
    assert run(*asked, "--set", "reach=35cm", "--overwrite").status == 0
    assert output.read_text() == ARM.replace(
        '<origin xyz="0.3 0 0.01"/>', '<origin xyz="0.35 0 0.01"/>'
    )
    other = run(*asked[:-1], str(tmp_path / "new.xml"))
    assert other.status == 2
    assert "another format" in other.err


def test_extended_urdf_is_two_files(run, tmp_path):
    output = tmp_path / "robot.urdf"
    ran = run("export", "four-bar", "--dialect", "extended", "-o", str(output), "--json")
    assert ran.json["companion"] == str(tmp_path / "robot.yaml")
    assert "closed_loop" in (tmp_path / "robot.yaml").read_text()
    read = run("import", str(output), "-o", str(tmp_path / "back.yaml"), "--json")
    assert read.json["coordinates"] == ["A"]
    (tmp_path / "other.yaml").write_text("mine: 1\n")
    wrong = run("export", "four-bar", "--dialect", "extended", "-o", str(tmp_path / "other.urdf"))
    assert wrong.status == 2
    assert (tmp_path / "other.yaml").read_text() == "mine: 1\n"
    assert not (tmp_path / "other.urdf").exists()
