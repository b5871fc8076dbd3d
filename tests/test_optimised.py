"""Nothing depends on what `python -OO` leaves out: assert statements and docstrings.

Kernels are compiled once more then (numba's cache knows functions by their byte code, in which the
docstring has a place), so what is run here needs none.
"""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from basepar_core.certificate.checker.checking import digest
from tests.core.certificate.test_certificate import made

PACKAGES = ("basepar_core", "sweeps", "workflows", "cluster")
FILES = [path for package in PACKAGES for path in Path(package).rglob("*.py")]
#: Functions that only look.
PURE = {"isinstance", "len", "all", "any", "set", "tuple", "get_args", "issubclass"}


def asserts(tree):
    return [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def test_asserts_do_nothing():
    """They tell the type checker what is known; none calls what could matter."""
    found = 0
    for path in FILES:
        for statement in asserts(ast.parse(path.read_text(encoding="utf-8"))):
            found += 1
            for node in ast.walk(statement.test):
                assert not isinstance(node, ast.NamedExpr | ast.Await | ast.Yield), path
                if isinstance(node, ast.Call):
                    assert ast.unparse(node.func) in PURE, f"{path}:{node.lineno}"
    assert found > 50


@pytest.mark.slow
def test_no_docstring_is_read():
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        used = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        assert "__doc__" not in [node.attr for node in used], path
        names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        assert "__doc__" not in names, path


@pytest.mark.parametrize(
    ("status", "change"),
    [
        pytest.param(0, lambda d: None, marks=pytest.mark.slow),
        pytest.param(1, lambda d: d["at_least"].update(rank=7), marks=pytest.mark.slow),
        pytest.param(
            1,
            lambda d: d["at_most"]["vectors"][0]["entries"].update({"crank.mx": "2"}),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            1,
            lambda d: d["at_least"]["minor"].update(determinant="1"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            1, lambda d: d["mechanism"]["joints"][0]["bodies"].reverse(), marks=pytest.mark.slow
        ),
    ],
    ids=["true", "rank", "vector", "minor", "mechanism"],
)
def test_certificates_are_checked_all_the_same(tmp_path, status, change):
    document = made("four-bar")
    change(document)
    document["digest"] = digest(document)
    (tmp_path / "c.json").write_text(json.dumps(document))
    words = ["verify", str(tmp_path / "c.json"), "--json"]
    command = [sys.executable, "-OO", "-m", "workflows.cli.main", *words]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (status, "")
    assert ("error" in json.loads(ran.stdout)) == bool(status)
