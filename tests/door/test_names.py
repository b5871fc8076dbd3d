"""Names of the library: loaded lazily, documented with examples that run, short to print."""

import doctest
import importlib
import inspect
import pkgutil
import re
import runpy
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

import basepar
from basepar_core.arrays import Array
from workflows.cli.main import main

NAMES = [one.name for one in pkgutil.iter_modules(basepar.__path__) if one.name != "__main__"]
MODULES = ["basepar", *(f"basepar.{name}" for name in NAMES)]
PUBLIC = [getattr(basepar, name) for name in basepar.__all__ if not name.startswith("__")]
MADE = [one for one in PUBLIC if not (inspect.isclass(one) and issubclass(one, Exception))]
#: What a name of the library must not load before it is used.
HEAVY = {"numpy", "sympy", "numba", "dask", "xarray", "optuna", "basepar_core", "workflows"}


#: Modules whose examples start workers, compile or identify.
SLOW = ("runs", "contacts", "identified", "results")


def marks(module):
    """Of a module's examples."""
    return [pytest.mark.slow] if module.removeprefix("basepar.") in SLOW else []


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
PLAIN = tuple(
    f"basepar.{name}"
    for name in ("axes", "command", "errors", "foreign", "html", "torques", "version")
)


RAISE_NOTHING = ("document", "base_parameters", "to_dataframe", "metric")


def members(one):
    if not inspect.isclass(one):
        return [one]
    own = [m for n, m in vars(one).items() if not n.startswith("_") and inspect.isfunction(m)]
    return [one, *own]


def by_module(words):
    with mock.patch.object(sys, "argv", ["basepar", *words]):
        runpy.run_module("basepar", run_name="__main__")


@pytest.mark.parametrize("command", [main, by_module])
def test_the_command_says_the_same_version(capsys, command):
    with pytest.raises(SystemExit) as ended:
        command(["--version"])
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
            assert member.__name__ in RAISE_NOTHING, member


def properties(one):
    """Properties of a class, by name, and the functions that compute them."""
    found = {n: getattr(m, "fget", None) or getattr(m, "func", None) for n, m in vars(one).items()}
    return {n: f for n, f in found.items() if f is not None and not n.startswith("_")}


def arrays_without_shape_or_unit(one):
    """Functions, methods and properties that give arrays and miss their shape or unit."""
    given = [*members(one), *(properties(one).values() if inspect.isclass(one) else ())]
    return [
        f"{one.__name__}.{f.__name__}"
        for f in given
        if inspect.isfunction(f) and f.__annotations__.get("return") is Array
        for text in [inspect.getdoc(f) or ""]
        if not SHAPE.search(text) or not UNIT.search(text)
    ]


#: `(…, coordinate)` or `(sample,)`; a unit, or that there is SI or none.
SHAPE = re.compile(r"\([^()]*[…\w]+[^()]*\)")
UNIT = re.compile(r"\b(SI|rad|m|kg|N|N m|s|J|units?)\b")


@pytest.mark.parametrize("one", MADE, ids=lambda one: one.__name__)
def test_every_property_is_documented_and_arrays_have_shape_and_unit(one):
    if inspect.isclass(one):
        assert [n for n, f in properties(one).items() if not inspect.getdoc(f)] == []
    assert arrays_without_shape_or_unit(one) == []


def test_an_array_without_shape_or_unit_is_seen():
    class Planted:
        @property
        def bare(self) -> Array:
            """Some numbers."""

        def told(self) -> Array:
            """(…, coordinate), rad or m."""

    assert arrays_without_shape_or_unit(Planted) == ["Planted.bare"]


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
    assert "crank.mx − crank.J/lx1" in base._repr_html_()
    assert "\\" in base._repr_latex_()
