"""Base parameters as code and as LaTeX, and all routes beside each other."""

import ctypes
import re
import shutil
import subprocess

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.files.mechanism_file import loads

TILTED = """
name: tilted
space: spatial
gravity: [0, 0, -9.81]
geometry: {a: {value: 0.4, unit: m}, tilt: {value: 40, unit: deg}}
bodies: {one: {}, two: {}}
joints:
  A: {type: revolute, connects: [ground, one], axis: [[0, 1, 0], [0, 1, 0]]}
  B: {type: revolute, connects: [one, two], at: [[a, 0, 0], [0, 0, 0]],
      axis: [[0, cos(tilt), sin(tilt)], [0, cos(tilt), sin(tilt)]]}
coordinates: [A, B]
excitation: {kind: states, samples: 40, seed: 1, amplitude: {A: 1 rad, B: 1 rad}, frequency: 1 Hz}
"""


def of(name):
    return symbolic(prepare(loads(TILTED) if name == "tilted" else load(name)))


def by_hand(base, values, phi):
    """φ_b = φ₁ + β φ₂ with β evaluated by the sweep's own route."""
    beta = base.beta_matrix(base.beta_entries(values))[0]
    return phi[list(base.kept)] + beta @ phi[list(base.eliminated)]


@pytest.fixture(params=["four-bar", "tilted", "ur10"])
def case(request, tmp_path, monkeypatch):
    base = of(request.param)
    model = loads(TILTED) if request.param == "tilted" else load(request.param)
    rng = np.random.default_rng(3)
    values = {name: value * rng.uniform(0.8, 1.2) for name, value in model.nominal.items()}
    phi = rng.standard_normal(len(base.parameters))
    return request.param, base, values, phi


def arguments(base, values):
    from workflows.export.base import _symbols

    return [values[name] for name in _symbols(base)]


def test_python(case):
    from workflows.export.base import export

    _, base, values, phi = case
    scope: dict = {}
    exec(export(base, "python"), scope)
    found = scope["base_parameters"](*arguments(base, values), phi)
    assert scope["PARAMETERS"] == list(base.parameters)
    # The same rational functions in another order of operations.
    np.testing.assert_allclose(found, by_hand(base, values, phi), rtol=1e-12, atol=1e-12)


def compiled_c(text, folder):
    source, library = folder / "base.c", folder / "base.so"
    source.write_text(text)
    subprocess.run(
        ["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True
    )
    return ctypes.CDLL(str(library))


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c(case, tmp_path):
    from workflows.export.base import export

    _, base, values, phi = case
    function = compiled_c(export(base, "c"), tmp_path).base_parameters
    pointer = np.ctypeslib.ndpointer(float)
    numbers = arguments(base, values)
    function.argtypes = [ctypes.c_double] * len(numbers) + [pointer, pointer]
    out = np.empty(base.rank)
    function(*numbers, phi, out)
    np.testing.assert_allclose(out, by_hand(base, values, phi), rtol=1e-12, atol=1e-12)


def differences(base, values, phi):
    """Central differences of the sweep's own evaluation, (base, symbol)."""
    from workflows.export.base import _symbols

    columns = []
    for name in _symbols(base):
        step = 1e-5 * abs(values[name])
        high, low = ({**values, name: values[name] + sign * step} for sign in (1, -1))
        columns.append((by_hand(base, high, phi) - by_hand(base, low, phi)) / (2 * step))
    return np.array(columns).T


#: A four-bar's lengths, called by words of Python and C and by the functions' own arguments.
AWKWARD = {"lx1": "lambda", "lx2": "double", "ly2": "out", "lx3": "phi"}


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_symbols_named_like_words_of_the_languages(tmp_path):
    from workflows.export.base import export

    text = load("four-bar").source
    for name, word in AWKWARD.items():
        text = re.sub(rf"\b{name}\b", word, text)
    mechanism = loads(text)
    base = symbolic(prepare(mechanism), exact=False)
    phi = np.arange(1.0, 13.0)
    numbers = arguments(base, mechanism.nominal)
    assert len(numbers) == 4
    expected = by_hand(base, mechanism.nominal, phi)
    scope: dict = {}
    exec(export(base, "python"), scope)
    # The same rational functions in another order of operations.
    np.testing.assert_allclose(scope["base_parameters"](*numbers, phi), expected, rtol=1e-12)
    function = compiled_c(export(base, "c"), tmp_path).base_parameters
    pointer = np.ctypeslib.ndpointer(float)
    function.argtypes = [ctypes.c_double] * 4 + [pointer, pointer]
    out = np.empty(base.rank)
    function(*numbers, phi, out)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


# A step of 1e-5 leaves an error of 1e-10 by curvature and as much by rounding, times some tens.
SLOPES = {"rtol": 1e-7, "atol": 1e-7}


def test_derivatives_in_python(case):
    from workflows.export.base import _symbols, export

    _, base, values, phi = case
    scope: dict = {}
    exec(export(base, "python"), scope)
    found = scope["base_parameters_derivative"](*arguments(base, values), phi)
    assert scope["SYMBOLS"] == _symbols(base)
    assert np.abs(found).max() > 0
    np.testing.assert_allclose(found, differences(base, values, phi), **SLOPES)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_derivatives_in_c(case, tmp_path):
    from workflows.export.base import export

    _, base, values, phi = case
    library = compiled_c(export(base, "c"), tmp_path)
    pointer = np.ctypeslib.ndpointer(float)
    numbers = arguments(base, values)
    library.base_parameters_derivative.argtypes = [
        *[ctypes.c_double] * len(numbers),
        pointer,
        pointer,
    ]
    out = np.empty((base.rank, len(numbers)))
    library.base_parameters_derivative(*numbers, phi, out)
    np.testing.assert_allclose(out, differences(base, values, phi), **SLOPES)
    columns = (ctypes.c_int * base.rank).in_dll(library, "base_columns")
    assert tuple(columns) == base.kept


def test_columns_of_the_regressor_belong_to_base_parameters(run):
    """W[:, columns] @ φ_b is W @ φ."""
    from basepar_core.base import nominal_observation

    document = run("base", "four-bar", "--json").json
    model = prepare(load("four-bar"))
    W = nominal_observation(model).stacked[0]
    phi = np.random.default_rng(1).standard_normal(W.shape[1])
    at = dict(zip(document["parameters"], phi, strict=True))
    combined = [
        at[row["parameter"]] + sum(value * at[name] for name, value in row["values"].items())
        for row in document["base"]
    ]
    # Rounding of torques of order 100.
    np.testing.assert_allclose(W[:, document["columns"]] @ combined, W @ phi, atol=1e-11)
    table = run("base", "four-bar", "--columns").out
    plain = run("base", "four-bar").out
    assert "column of W" in table
    assert "column of W" not in plain
    rows = [
        line.split()
        for line in table.splitlines()
        if line.split()[:1] and line.strip()[0].isdigit()
    ]
    assert [int(row[-1]) for row in rows] == document["columns"]


def test_latex(run):
    text = run("base", "four-bar", "--eliminate", "J1,J2,J3,m1", "--format", "latex").out
    assert text.count("\\phi_{b,") == 8
    assert r"mx_{\mathrm{crank}} - \frac{J_{\mathrm{crank}}}{lx_{1}}" in text


def test_numbers_have_no_formula(run):
    ran = run("base", "four-bar", "--route", "numeric", "--format", "c", "--json")
    assert ran.status == 2
    assert "symbolic route" in ran.json["error"]["message"]


@pytest.mark.parametrize(
    ("name", "rank", "agreed", "product"),
    [
        ("four-bar", 8, "agreed", True),
        ("parallelogram", 3, "agreed", True),
        ("watt-ii", 13, "agreed", False),  # the bell crank's cut: a condition does not hold
    ],
)
def test_all_routes(run, name, rank, agreed, product):
    found = run("base", name, "--route", "all", "--json").json
    assert found["agreed"] == agreed
    checks = {"product", "black-box"} if product else {"black-box"}
    assert set(found["routes"]) == {"symbolic", "numeric", "precise", *checks}
    assert set(found["not_run"]) == {"product"} - checks
    assert found["rank"] == found["routes"]["precise"]["rank"] == rank
    assert all(document["route"] == route for route, document in found["routes"].items())


def test_columns_are_of_the_table(run):
    ran = run("base", "slider-crank", "--columns", "--format", "latex")
    assert ran.status == 2
    assert "--columns goes with --format table" in ran.err
