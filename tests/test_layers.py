"""The direction of the arrows between the four packages, as a test."""

import ast
from pathlib import Path

import pytest

import basepar_core
import cluster
import sweeps

PACKAGES = {"basepar_core": basepar_core, "sweeps": sweeps, "cluster": cluster}
FORBIDDEN = {
    "basepar_core": {"sweeps", "workflows", "cluster", "dask", "distributed", "xarray", "optuna"},
    "sweeps": {"workflows", "cluster", "optuna"},
    "cluster": {"basepar_core", "sweeps", "workflows", "xarray", "optuna"},
}


def imported(file: Path) -> set[str]:
    """Top-level packages a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_layer_looks_only_down(layer):
    files = list(Path(PACKAGES[layer].__file__).parent.rglob("*.py"))
    assert len(files) > 1
    for file in files:
        strays = imported(file) & FORBIDDEN[layer]
        assert not strays, f"{file} imports {strays}"


def test_the_check_sees_imports(tmp_path):
    file = tmp_path / "stray.py"
    file.write_text("def f():\n    from dask.distributed import Client\n    return Client\n")
    assert imported(file) & FORBIDDEN["basepar_core"] == {"dask"}
