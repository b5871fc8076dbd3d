"""Base parameters as code and as LaTeX, and all routes beside each other."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

from basepar_core.base.symbolic import symbolic
from basepar_core.closure import prepare
from basepar_core.files import load, loads

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
    from workflows.export import _symbols

    return [values[name] for name in _symbols(base)]


def test_python(case):
    from workflows.export import export

    _, base, values, phi = case
    scope: dict = {}
    exec(export(base, "python"), scope)
    found = scope["base_parameters"](*arguments(base, values), phi)
    assert scope["PARAMETERS"] == list(base.parameters)
    # The same rational functions in another order of operations.
    np.testing.assert_allclose(found, by_hand(base, values, phi), rtol=1e-12, atol=1e-12)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c(case, tmp_path):
    from workflows.export import export

    _, base, values, phi = case
    source, library = tmp_path / "base.c", tmp_path / "base.so"
    source.write_text(export(base, "c"))
    subprocess.run(
        ["cc", "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True
    )
    function = ctypes.CDLL(str(library)).base_parameters
    pointer = np.ctypeslib.ndpointer(float)
    numbers = arguments(base, values)
    function.argtypes = [ctypes.c_double] * len(numbers) + [pointer, pointer]
    out = np.empty(base.rank)
    function(*numbers, phi, out)
    np.testing.assert_allclose(out, by_hand(base, values, phi), rtol=1e-12, atol=1e-12)


def test_latex(run):
    text = run("base", "four-bar", "--eliminate", "J1,J2,J3,m1", "--format", "latex").out
    assert text.count("\\phi_{b,") == 8
    assert r"mx_{\mathrm{crank}} - \frac{J_{\mathrm{crank}}}{lx_{1}}" in text


def test_numbers_have_no_formula(run):
    ran = run("base", "four-bar", "--route", "numeric", "--format", "c", "--json")
    assert ran.status == 2
    assert "symbolic route" in ran.json["error"]["message"]


@pytest.mark.parametrize(
    ("name", "rank", "agreed"),
    [("four-bar", 8, "agreed"), ("parallelogram", 3, "agreed"), ("watt-ii", 13, "doubtful")],
)
def test_all_routes(run, name, rank, agreed):
    found = run("base", name, "--route", "all", "--json").json
    assert found["agreed"] == agreed
    assert set(found["routes"]) == {"symbolic", "numeric", "precise"}
    assert found["rank"] == found["routes"]["precise"]["rank"] == rank
    assert all(document["route"] == route for route, document in found["routes"].items())
