"""Names of the library: loaded lazily, documented with examples that run, short to print."""

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import basepar
from workflows.cli.main import main

MODULES = ["basepar", *(f"basepar.{one.name}" for one in pkgutil.iter_modules(basepar.__path__))]
PUBLIC = [getattr(basepar, name) for name in basepar.__all__ if not name.startswith("__")]
MADE = [one for one in PUBLIC if not (inspect.isclass(one) and issubclass(one, Exception))]
#: What a name of the library must not load before it is used.
HEAVY = {"numpy", "sympy", "numba", "dask", "xarray", "optuna", "basepar_core", "workflows"}


def marks(module):
    """Examples that start workers are slow."""
    return [pytest.mark.slow] if module == "basepar.runs" else []


def test_nothing_is_loaded_before_it_is_used():
    code = "import sys, basepar; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "basepar" in ran.stdout.split()
    assert not HEAVY & set(ran.stdout.split())


def test_the_package_is_typed_and_has_a_version():
    assert Path(basepar.__file__).with_name("py.typed").exists()
    assert basepar.__version__[0].isdigit()


@pytest.mark.parametrize("name", [pytest.param(one, marks=marks(one)) for one in MODULES])
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0
    assert tried > 0 or name in PLAIN


#: Modules of which the door names no function.
PLAIN = tuple(f"basepar.{name}" for name in ("axes", "errors", "html", "torques", "version"))


def members(one):
    if not inspect.isclass(one):
        return [one]
    own = [m for n, m in vars(one).items() if not n.startswith("_") and inspect.isfunction(m)]
    return [one, *own]


def test_the_command_says_the_same_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"basepar {basepar.__version__}\n"


@pytest.mark.parametrize("one", MADE, ids=lambda one: one.__name__)
def test_every_name_is_documented_with_an_example(one):
    for member in members(one):
        text = inspect.getdoc(member) or ""
        assert text, member
        if len(inspect.signature(member).parameters) > 1 or member is one:
            assert "Examples\n--------" in text, member
        if inspect.isfunction(member) and "Raises" not in text:
            assert member.__name__ in ("document", "base_parameters", "to_dataframe"), member


@pytest.mark.parametrize("name", ["four-bar", "sla-suspension", "stewart-gough"])
def test_values_print_short_and_show_a_table(name):
    model = basepar.load(name)
    closed = model.close(model.assembly)
    for value in (model, model.mechanism, model._engine.model, closed, *_bases(model)):
        assert 10 < len(repr(value)) <= 1000
    assert "<svg" in model._repr_html_()
    assert all(joint.name in model._repr_html_() for joint in model.mechanism.joints)


def _bases(model):
    return [model.base()] if model.mechanism.planar else []


def test_base_parameters_show_their_terms():
    base = basepar.load("four-bar").base(eliminate=["J1", "J2", "J3", "m1"])
    assert "<svg" in base._repr_html_()
    assert "crank.mx + (-1/lx1)·crank.J" in base._repr_html_()
    assert "\\" in base._repr_latex_()
