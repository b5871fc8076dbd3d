"""`basepar reduce`: formats, sizes, validation and exported functions."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from workflows import reproduce


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
    assert "& AIC & AICc & BIC & MDL & FPE" in latex
    assert r" 1\, " not in latex


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


@pytest.mark.slow
def test_measured_torques(run, tmp_path):
    """The slider-crank paper's data with noise: what a record is worth, held against another."""
    folder = Path(reproduce.__file__).parent
    rng = np.random.default_rng(6)
    for name in ("train", "validation"):
        rows = np.loadtxt(folder / f"identification-{name}.csv", delimiter=",", skiprows=1)
        rows[:, 4] += 0.01 * rng.standard_normal(len(rows))
        file = tmp_path / f"{name}.csv"
        np.savetxt(file, rows, delimiter=",", header="t,q,qd,qdd,tau", comments="")
    arguments = (
        *("reduce", str(folder / "identification-mechanism.yaml")),
        *("--data", str(tmp_path / "train.csv")),
        *("--second", str(tmp_path / "validation.csv")),
        *("--columns", "A=q,A'=qd,A''=qdd,tau.A=tau"),
        *("--estimate-noise", "--criteria", "bic"),
    )
    found = run(*arguments, "--json").json
    assert found["record"].endswith("train.csv")
    assert found["noise_estimated"]
    # A thousand samples estimate σ to 1/√2000 = 2.2 %: four of it.
    assert found["noise"]["A"] == pytest.approx(0.01, rel=0.1)
    size = found["selected"]["bic"]["size"]
    assert 0 < size <= len(found["base"])
    chosen = next(step for step in found["steps"] if step["size"] == size)
    # As good on a record that it has not seen, whose torque is of the same size.
    assert chosen["validation"] == pytest.approx(chosen["torque_error"], rel=0.5)
    shown = run(*arguments).out
    assert "noise of the torques, estimated" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--export", "x.f90"], "ends in .py or .c"),
        (["--size", "many"], "a number, or one of the criteria"),
        (["--estimate-noise"], "goes with --data"),
        (["--data", "x.csv", "--export", "x.c"], "does not go with --data"),
        (["--size", "9"], "has 8 base parameters, and reductions leave so many to 0. Ask for"),
        (["--samples", "0"], "a positive number"),
        (["--samples", "nan"], "a positive number"),
        (["--samples", "some"], "no number, nor `estimated`"),
    ],
)
def test_what_cannot_be_done_is_said(run, arguments, said):
    ran = run("reduce", "four-bar", *arguments)
    assert ran.status == 2
    assert said in ran.err
