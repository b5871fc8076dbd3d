"""--set and --variant: a command's mechanism at other values than its file's."""

import re
import shutil
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

import basepar
from sweeps.store import Store
from tests.security import made
from workflows.studies import judge, study_of

SWEEP = """
mechanism: four-bar
space: {plan: sobol, variables: {lx1: [0.25, 0.35], Dx: [0.9, 1.1]}, candidates: 8, seed: 2}
store: {chunk: 8}
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return Path(made.swept(tmp_path_factory.mktemp("swept"), SWEEP).store)


def values(document):
    return {one["name"]: one["value"] for one in document["symbols"]}


@pytest.mark.slow
def test_every_command_takes_them(run, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        "show four-bar",
        "base four-bar",
        "reduce four-bar",
        "onedof four-bar",
        "simulate four-bar -o run.csv --overwrite",
    ]
    record = tmp_path / "run.csv"
    for line in lines:
        told = set()
        for words in ([], ["--variant", f"{store}:3", "--set", "rho=5 kg/m"]):
            found = run(*line.split(), *words, "--json")
            assert found.status == 0, line
            told.add(record.read_text() if "simulate" in line else str(found.json))
        assert len(told) == 2, line


def test_values_are_those_of_the_variant(run, store):
    held = Store.open(store)
    shown = run("show", "four-bar", "--variant", f"{store}:5", "--json").json
    assert shown["design"] == f"variant 5 of {store}"
    found = values(shown)
    assert found["lx1"] == float(np.asarray(held["lx1"][5]))
    assert found["Dx"] == float(np.asarray(held["Dx"][5]))
    over = run("show", "four-bar", "--variant", f"{store}:5", "--set", "lx1=30 cm", "--json").json
    assert (values(over)["lx1"], values(over)["Dx"]) == (0.3, found["Dx"])
    assert over["design"] == f"variant 5 of {store}, with lx1=30 cm"


@pytest.mark.slow
def test_the_best_of_two_objectives_is_that_of_the_first(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    basepar.study("quick-return", "two.zarr", trials=256, workers=1, quiet=True)
    shown = run("show", "--variant", "two.zarr:best").out
    said = r"^variant (\d+) of two\.zarr, its best variant by torque_rms$"
    (row,) = re.findall(said, shown, re.MULTILINE)
    verdict = judge(study_of("two.zarr"), Store.open("two.zarr"), 0, 256)
    assert int(row) == np.where(verdict.feasible, verdict.values[:, 0], np.inf).argmin()


def test_exported_code_says_its_values(run, tmp_path):
    file = tmp_path / "four_bar.c"
    assert run("reduce", "four-bar", "--set", "lx1=34 cm", "--export", str(file)).status == 0
    assert "four-bar at lx1 = 0.34 m" in file.read_text()


@pytest.mark.slow
def test_a_study_s_best_design(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = basepar.study("four-bar", "some.zarr", trials=20, workers=1, quiet=True)
    shown = run("show", "four-bar", "--variant", "some.zarr:best", "--json").json
    assert shown["design"] == f"variant {study.best['variant']} of some.zarr"
    found = values(shown)
    for name, value in study.best["parameters"].items():
        assert found[name] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "lx1"], "is not of the form NAME=VALUE"),
        (["--set", "lx1=1", "--set", "lx1=2"], "is given twice"),
        (["--set", "lx9=1"], "no symbol 'lx9'"),
        (["--set", "lx1=2kg"], r'is expected here\. The file has lx1="0.3 m"'),
        (["--variant", "{store}:8"], "has no variant '8': .* has variants 0 to 7"),
        (["--variant", "nothing.zarr:1"], "There is no store"),
        (["--variant", "8"], "write STORE:N"),
    ],
)
def test_mistakes(run, store, words, said):
    found = run("show", "four-bar", *(word.format(store=store) for word in words), "--json")
    assert found.status in (1, 2)
    assert re.search(said, found.json["error"]["message"])


def test_the_unit_of_a_value_without_an_assembly(run):
    message = run("show", "four-bar", "--set", "lx1=310", "--json").json["error"]["message"]
    assert "no assembly at lx1 = 310 m on" in message
    assert message.endswith("Write lx1=310mm if that is meant, which is within the file's bounds.")


@pytest.mark.parametrize("other", ["ur5", "slider-crank"])
def test_another_mechanism_s_store(run, store, other):
    """The slider-crank has a symbol lx1 too."""
    found = run("show", other, "--variant", f"{store}:1", "--json")
    assert f"is of 'four-bar', not of '{other}'" in found.json["error"]["message"]


def test_a_file_that_has_changed_since(run, store, tmp_path):
    text = resources.files("basepar_core.library").joinpath("four-bar.yaml").read_text()
    file = tmp_path / "changed.yaml"
    file.write_text(text.replace("lx2: {value: 0.7,", "lx2: {value: 0.71,"))
    found = run("show", str(file), "--variant", f"{store}:1", "--json")
    assert found.status == 0
    assert "has changed since" in (found.err + found.out)
    assert "(lx2)" in (found.err + found.out)


def test_comments_and_descriptions_are_no_change(run, store, tmp_path):
    text = resources.files("basepar_core.library").joinpath("four-bar.yaml").read_text()
    file = tmp_path / "commented.yaml"
    file.write_text("# Mine.\n" + text.replace("driven at the crank", "driven by the crank"))
    found = run("show", str(file), "--variant", f"{store}:1", "--json")
    assert found.status == 0
    assert "has changed since" not in found.err + found.out


def test_a_variant_that_is_not_evaluated_yet(run, store, tmp_path):
    half = tmp_path / "half.zarr"
    shutil.copytree(store, half)
    for name in ("lx1", "Dx", "status"):
        shutil.rmtree(half / name / "c")
    found = values(run("show", "four-bar", "--variant", f"{half}:5", "--json").json)
    assert found["lx1"] == float(np.asarray(Store.open(store)["lx1"][5]))


def test_in_python():
    model = basepar.load("four-bar", {"lx1": "32 cm", "Dx": 0.95})
    assert model.mechanism.nominal["lx1"] == 0.32
    W = basepar.load("four-bar").regressor([0.6], [1.0], [0.0], geometry={"lx1": 0.32, "Dx": 0.95})
    np.testing.assert_allclose(model.regressor([0.6], [1.0], [0.0]), W, atol=1e-10)
