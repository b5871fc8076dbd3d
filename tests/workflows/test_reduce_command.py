"""`basepar reduce`: formats, sizes, validation and exported functions."""

import csv
import io

import pytest


def test_formats_say_the_same(run):
    document = run("reduce", "four-bar", "--validate", "--json").json
    rows = list(
        csv.DictReader(io.StringIO(run("reduce", "four-bar", "--validate", "--format", "csv").out))
    )
    assert [float(row["torque_error"]) for row in rows] == [
        step["torque_error"] for step in document["steps"]
    ]
    assert [float(row["validation"]) for row in rows] == [
        step["validation"] for step in document["steps"]
    ]
    stops = {name: int(row["size"]) for row in rows for name in row["selected_by"].split()}
    assert stops == {name: found["size"] for name, found in document["selected"].items()}
    latex = run("reduce", "four-bar", "--format", "latex", "--size", "3").out
    assert latex.count(r"\phi_{g,") == 3
    assert latex.count(r" \\") >= len(rows) + 1
    assert latex.count("{") == latex.count("}")


def test_export_is_compared_with_the_full_model(run, tmp_path):
    file = tmp_path / "model.py"
    found = run("reduce", "four-bar", "--size", "tolerance", "--export", str(file), "--json").json
    facts = found["export"]
    assert facts["size"] == found["selected"]["tolerance"]["size"]
    assert facts["reduced"]["operations"]["total"] < facts["base"]["operations"]["total"]
    module: dict = {}
    exec(file.read_text(), module)
    assert module["PARAMETERS"] == facts["parameters"]
    assert module["OPERATIONS"] == facts["reduced"]["operations"]
    values = {
        row["parameter"]: row["value"] for row in found["selected"]["tolerance"]["parameters"]
    }
    assert dict(zip(module["PARAMETERS"], module["VALUES"], strict=True)) == pytest.approx(
        values, rel=1e-8, abs=1e-10
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--export", "x.f90"], "ends in .py or .c"),
        (["--size", "many"], "a number, or one of the criteria"),
        (["--size", "9", "--format", "latex"], "There is no model of 9 parameters"),
    ],
)
def test_what_cannot_be_done_is_said(run, arguments, said):
    ran = run("reduce", "four-bar", *arguments)
    assert ran.status == 2
    assert said in ran.err
