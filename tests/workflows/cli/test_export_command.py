"""`basepar export`: robots' files of mechanisms, at other values, with identified parameters."""

import json


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
    document.write_text(json.dumps({"standard": values}))
    wrong = run("export", "four-bar", "--dialect", "mjcf", "--parameters", str(document))
    assert wrong.status == 1
    assert "--consistent" in wrong.err
    document.write_text(json.dumps({"consistent": {"parameters": {"crankk.m": 1}}}))
    wrong = run("export", "four-bar", "--dialect", "mjcf", "--parameters", str(document))
    assert "crankk.m" in wrong.err
