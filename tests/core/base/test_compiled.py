"""β, φ_b and their derivatives against sympy's values and differences of forty digits."""

import pickle

import mpmath
import numpy as np
import pytest
import sympy

from basepar_core.base.compiled import compiled
from basepar_core.base.symbolic_route import numeric, symbolic
from basepar_core.dynamics import closure
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.expressions.tree import OPERATORS, evaluate, names
from basepar_core.files import mechanism_file
from basepar_core.symbolic.algebraic_roots import symbol_values

#: A root that depends on symbols, an angle, and every function that inertias may contain.
ROOTED = """
name: rooted
space: planar
gravity: [0, -9.81]
geometry:
  x: {value: 3/10, unit: m}
  y: {value: 45/100, unit: m}
  r: {value: 0.541, unit: m}
  t: {value: 50, unit: deg}
relations: {r: r^2 = x^2 + y^2}
constants: {rho: {value: 2, unit: kg/m}, unused: {value: 1, unit: kg}}
bodies:
  one: {mass: rho*r, centre: [r/2, -x/(2*r)*y], inertia: "rho*max(x, y)*r^2*sin(t)^2"}
  two:
    mass: rho*min(x, y, 1 m) + rho*abs(x - y)
    centre: [sqrt(x*y)/2, x*cos(t)]
    inertia: rho*x^3*(x/y)^(y/x)*tan(t) + rho*y^3*(x/y)^(5/2)
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[r, x*sin(t)], [y, 0]]}
coordinates: [A, B]
excitation: {kind: states, samples: 40, seed: 1, amplitude: {A: 1 rad, B: 1 rad}, frequency: 1 Hz}
"""
PRECISE = {
    **OPERATORS,
    "number": lambda exact: mpmath.mpf(exact.numerator) / exact.denominator,
    "pi": lambda: +mpmath.pi,
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "abs": abs,
    "min": min,
    "max": max,
}
CASES = ["four-bar", "sla-suspension", "rooted"]


def load(name):
    return mechanism_file.loads(ROOTED) if name == "rooted" else mechanism_file.load(name)


_known = {}


def of(name):
    if name not in _known:
        mechanism = load(name)
        _known[name] = mechanism, symbolic(closure.prepare(mechanism), exact=False)
    return _known[name]


def sample(mechanism, count, seed=0):
    """Random values of all symbols that follow from no relation."""
    rng = np.random.default_rng(seed)
    roots = {relation.symbol for relation in mechanism.relations}
    free = [name for name in mechanism.nominal if name not in roots]
    return {name: mechanism.nominal[name] * rng.uniform(0.9, 1.1, count) for name in free}


def precisely(mechanism, trees, values):
    """Trees in forty digits; roots by mpmath."""
    values = dict(values)
    for relation in mechanism.relations:

        def gap(root, relation=relation):
            return evaluate([relation.polynomial], {**values, relation.symbol: root}, PRECISE)[0]

        values[relation.symbol] = mpmath.findroot(gap, mechanism.nominal[relation.symbol])
    return evaluate(trees, values, PRECISE)


def wanted(mechanism, base, values):
    """β's entries and φ_b in forty digits."""
    trees = [entry.expression for entry in base.beta]
    inertias = [x for body in mechanism.bodies for x in body.parameters]
    found = precisely(mechanism, [*trees, *inertias], values)
    beta, phi = found[: len(trees)], found[len(trees) :]
    combined = [phi[k] for k in base.kept]
    for entry, value in zip(base.beta, beta, strict=True):
        combined[entry.base] += value * phi[base.eliminated[entry.eliminated]]
    return beta, combined


def slopes(mechanism, base, values, symbol):
    """Central differences of the same; their error is of order 1e-24 at steps of 1e-12."""
    step = mpmath.mpf("1e-12")
    high, low = (
        wanted(mechanism, base, {**values, symbol: values[symbol] + sign * step})
        for sign in (1, -1)
    )
    return [
        [(a - b) / (2 * step) for a, b in zip(*pair, strict=True)]
        for pair in zip(high, low, strict=True)
    ]


def close(found, expected):
    # Some tens of float64 operations, on terms at most a hundred times their sum.
    expected = np.array([float(x) for x in np.ravel(expected)]).reshape(np.shape(found))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives_in_forty_digits(name, jit):
    mechanism, base = of(name)
    functions = compiled(base, mechanism, jit)
    values = sample(mechanism, 3)
    found = functions.beta(values), functions.base_parameters(values)
    by_beta = functions.beta_derivative(values)
    by_phi = functions.base_parameters_derivative(values)
    assert by_beta.shape == (3, len(base.beta), len(functions.beta_symbols))
    assert by_phi.shape == (3, base.rank, len(functions.symbols))
    with mpmath.workdps(40):
        for variant in range(3 if name == "rooted" else 1):
            here = {symbol: mpmath.mpf(x[variant]) for symbol, x in values.items()}
            for ours, theirs in zip(found, wanted(mechanism, base, here), strict=True):
                close(ours[variant], theirs)
            for symbol in here:
                beta, phi = slopes(mechanism, base, here, symbol)
                for theirs, ours, symbols in (
                    (beta, by_beta, functions.beta_symbols),
                    (phi, by_phi, functions.symbols),
                ):
                    if symbol in symbols:
                        close(ours[variant, :, symbols.index(symbol)], theirs)
                    else:
                        assert not any(theirs)


@pytest.mark.parametrize("name", ["four-bar", "ur10"])
def test_values_by_sympy(name):
    """The texts of β, which share nothing with the trees that are compiled."""
    mechanism, base = of(name)
    functions = compiled(base, mechanism)
    values = sample(mechanism, 2)
    found = functions.beta(values)
    for variant in range(2):
        here = {sympy.Symbol(k): sympy.Float(x[variant], 30) for k, x in values.items()}
        close(found[variant], [sympy.sympify(e.text).subs(here) for e in base.beta])


@pytest.mark.parametrize("name", CASES)
def test_the_sweeps_own_evaluation(name):
    """Chunks on NumPy and rows by numba against plain evaluation, entry by entry."""
    mechanism, base = of(name)
    values = sample(mechanism, 10_000, seed=2)  # more than two chunks
    plain = base.beta_entries(symbol_values(mechanism, values)).T
    for jit in (False, True):
        functions = compiled(base, mechanism, jit)
        found = functions.beta(values)
        # The same rational functions in another order of operations.
        np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-13)
        distinct = functions.distinct_beta(values)
        places = np.array(functions.distinct_of_entry)
        assert (distinct[:, places[places >= 0]] == found[:, places >= 0]).all()
        assert (found[:, places < 0] == found[0, places < 0]).all()
        assert distinct.shape[1] == len(set(places[places >= 0]))


@pytest.mark.parametrize("jit", [False, True])
def test_constants_and_numbers_broadcast(jit):
    mechanism, base = of("four-bar")
    functions = compiled(base, mechanism, jit)
    nominal = functions.beta({})
    assert nominal.shape == (1, len(base.beta))
    close(nominal[0], [entry.value for entry in base.beta])
    many = functions.beta({"lx1": np.full(5, mechanism.nominal["lx1"]), "lx2": 0.7})
    assert (many == nominal).all()
    assert functions.beta({"lx1": np.zeros(0)}).shape == (0, len(base.beta))
    unmoved = functions.beta({"Dx": np.linspace(0.9, 1.1, 4)})  # β does not know this one
    assert unmoved.shape == (4, len(base.beta))
    assert (unmoved == nominal).all()


@pytest.mark.parametrize("jit", [False, True])
def test_poles_are_infinite_and_said_nothing_of(jit, recwarn):
    mechanism, base = of("four-bar")
    found = compiled(base, mechanism, jit).beta({"lx1": np.array([0.0, 0.3])})
    depends = np.array(["lx1" in names(entry.expression) for entry in base.beta])
    assert np.isinf(found[0, depends]).any()
    assert np.isfinite(found[0, ~depends]).all()
    assert np.isfinite(found[1]).all()
    assert not recwarn


def test_a_given_array_is_filled():
    mechanism, base = of("four-bar")
    functions = compiled(base, mechanism)
    values = sample(mechanism, 6)
    out = np.full((6, base.rank, len(functions.symbols)), np.nan)
    assert functions.base_parameters_derivative(values, out) is out
    assert (out == functions.base_parameters_derivative(values)).all()
    for wrong in (np.empty((6, 2)), np.empty(out.shape, np.float32), out.transpose(0, 2, 1)):
        with pytest.raises(UsageError, match="contiguous float64 array of shape"):
            functions.base_parameters_derivative(values, wrong)


def test_functions_travel():
    mechanism, base = of("rooted")
    functions = compiled(base, mechanism)
    values = sample(mechanism, 2)
    again = pickle.loads(pickle.dumps(functions))
    assert (again.base_parameters(values) == functions.base_parameters(values)).all()


def test_all_mistakes_of_values_at_once():
    mechanism, base = of("rooted")
    values = {"x": np.ones(2), "y": np.ones(3), "r": 1.0, "z": 2.0}
    with pytest.raises(UsageError) as caught:
        compiled(base, mechanism).beta(values)
    text = str(caught.value)
    for part in ("no symbol is named z", "r follows from its relation", r"differ (2, 3)"):
        assert part in text


def test_refusals():
    mechanism, base = of("four-bar")
    with pytest.raises(UsageError, match="of 'four-bar', not of 'rooted'"):
        compiled(base, load("rooted"))
    with pytest.raises(UsageError, match="needs expressions"):
        compiled(numeric(closure.prepare(mechanism)), mechanism)
    bare = mechanism_file.loads(
        ROOTED[: ROOTED.index("bodies:")].replace("rho: {", "rho1: {")
        + """
bodies: {one: {}, two: {}}
"""
        + ROOTED[ROOTED.index("joints:") :]
    )
    functions = compiled(symbolic(closure.prepare(bare), exact=False), bare)
    assert np.isfinite(functions.beta({})).all()
    with pytest.raises(MissingDataError, match="one, two of 'rooted' have none"):
        functions.base_parameters({})
