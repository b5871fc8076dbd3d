"""Sweeps and studies in Python: the commands' stores; scripts and notebooks need no guard."""

import subprocess
import sys
from textwrap import indent

import nbclient
import nbformat
import optuna
import pytest
import xarray

import basepar

SWEEP = {
    "mechanism": "four-bar",
    "space": {"plan": "sobol", "variables": {"lx1": [0.2, 0.4]}, "candidates": 8, "seed": 1},
    "evaluate": {"metrics": ["torque_rms"]},
}
#: The same as a file.
FILE = """
mechanism: four-bar
space: {plan: sobol, variables: {lx1: [0.2, 0.4]}, candidates: 8, seed: 1}
evaluate: {metrics: [torque_rms]}
"""
#: A script notes in a file that it runs; what a worker prints may go anywhere.
NOTE = """
with open("ran.txt", "a") as note:
    note.write(f"{__name__}\\n")
"""
WORK = f"""
import basepar
found = basepar.sweep({SWEEP!r}, "found.zarr", workers=2, quiet=True)
print(int((found.status == 1).sum()))
"""
SCRIPT = NOTE + WORK
GUARD = 'if __name__ == "__main__":\n'
GUARDED = NOTE + GUARD + indent(WORK, "    ")


#: Every test starts workers, most of them twice.
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_mapping_and_a_file_give_what_the_command_stores(tmp_path):
    from workflows.cli.main import main

    (tmp_path / "mine.yaml").write_text(FILE)
    arguments = ["sweep", "mine.yaml", "--store", "command.zarr", "--workers", "1", "--quiet"]
    assert main(arguments) == 0
    command = xarray.open_zarr("command.zarr").load()
    by_keys = basepar.sweep(SWEEP, "keys.zarr", workers=1, quiet=True)
    table = basepar.dataframe("keys.zarr")
    assert table.index.name == "variant"
    assert {"lx1", "torque_rms", "status"} <= set(table.columns)
    assert "singular_values" not in table.columns
    assert table["torque_rms"].tolist() == by_keys.torque_rms.values.tolist()
    by_file = basepar.sweep("mine.yaml", workers=1, quiet=True)
    assert (tmp_path / "mine.zarr").is_dir()
    for found in (by_keys, by_file, basepar.open("keys.zarr")):
        assert "[8 values with" in repr(found.torque_rms)  # nothing is read before it is needed
        xarray.testing.assert_equal(found.load(), command)
    page = basepar.report("keys.zarr", tmp_path / "page.html")
    assert "four-bar" in page.read_text()


@pytest.mark.parametrize("piped", [False, True], ids=["script", "pipe"])
@pytest.mark.parametrize("script", [SCRIPT, GUARDED], ids=["bare", "guarded"])
def test_no_worker_imports_the_script(tmp_path, script, piped):
    (tmp_path / "script.py").write_text(script)
    command = [sys.executable, "-"] if piped else [sys.executable, "script.py"]
    ran = subprocess.run(
        command, input=script if piped else None, capture_output=True, text=True, check=False
    )
    assert ran.stdout.split() == ["8"], ran.stderr
    assert (tmp_path / "ran.txt").read_text() == "__main__\n"


@pytest.mark.parametrize("script", [SCRIPT, GUARDED], ids=["bare", "guarded"])
def test_no_worker_imports_the_notebook(tmp_path, script):
    """In Jupyter's own kernel, where an event loop runs in the main thread."""
    shown = nbformat.v4.new_code_cell("basepar.load('four-bar')")
    cells = [nbformat.v4.new_code_cell(script), shown]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(notebook, timeout=800, resources={"metadata": {"path": "."}})
    client.execute()
    printed = [out.text for out in cells[0].outputs if out.get("name") == "stdout"]
    assert "".join(printed).split() == ["8"]
    assert (tmp_path / "ran.txt").read_text() == "__main__\n"
    (value,) = shown.outputs
    assert "<svg" in value.data["text/html"]


def test_progress_is_one_output_of_a_notebook_s_cell():
    """Without widgets: the text of the last picture. Optuna's tqdm asks for them on stderr."""
    sweep = nbformat.v4.new_code_cell(WORK.replace(", quiet=True", ""))
    study = nbformat.v4.new_code_cell(
        'basepar.study("four-bar", "few.zarr", trials=20, workers=1).front[0]["variant"];'
    )
    notebook = nbformat.v4.new_notebook(cells=[sweep, study])
    client = nbclient.NotebookClient(notebook, timeout=800, resources={"metadata": {"path": "."}})
    client.execute()
    for cell, end in ((sweep, "8/8"), (study, "20 of 20 trials")):
        shown = [out.data["text/plain"] for out in cell.outputs if "data" in out]
        assert len(shown) == 1
        assert end in shown[0]
    assert "stderr" not in [out.get("name") for out in sweep.outputs]


def test_a_study_has_its_best_its_trials_and_its_optuna_study():
    found = basepar.study("four-bar", "few.zarr", trials=20, workers=1, quiet=True)
    assert isinstance(found.study, optuna.Study)
    assert len(found.study.trials) == 20
    assert found.dataset.sizes["variant"] == 20
    best = found.best
    row = found.dataset.isel(variant=best["variant"]).load()
    for name, value in best["parameters"].items():
        assert float(row[name]) == value
    assert float(row.torque_rms) == best["values"]["torque_rms"]
    assert found.study.best_value == best["values"]["torque_rms"]
    table = found.to_dataframe()
    assert table.loc[best["variant"], "torque_rms"] == best["values"]["torque_rms"]
    assert f"<td>{best['variant']}</td>" in found._repr_html_()
    assert len(repr(found)) <= 1000


def test_mistakes_of_a_mapping_have_their_paths():
    wrong = {**SWEEP, "evaluate": {"metrics": ["torque_rms"], "speed": 1}}
    with pytest.raises(basepar.FileError, match=r"evaluate\.speed|speed"):
        basepar.sweep(wrong, workers=1)
    with pytest.raises(basepar.BaseparError):
        basepar.open("none.zarr")
