"""Derivatives by symbols of the geometry, against differences of forty digits.

The oracle closes every configuration anew in ball arithmetic, in maximal coordinates, from which
W comes by another formulation (`basepar_core/variable_precision`). Its central difference over
2⁻⁴⁰ errs by about 1e-24 of the third derivative, so what a comparison sees is the float64 side's
rounding.
"""

import math
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest
from flint import arb
from mpmath import mpf

from basepar_core.api import load
from basepar_core.base.compiled import compiled
from basepar_core.base.symbolic_route import symbolic
from basepar_core.dynamics.closure import prepare
from basepar_core.dynamics.motion import cycle, excitation
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.expressions.grammar import parse_any
from basepar_core.expressions.tree import evaluate
from basepar_core.files.mechanism_file import loads
from basepar_core.metrics import drives, sensitivity
from basepar_core.variable_precision.arithmetic import ARB, bits_of, working
from basepar_core.variable_precision.exact_geometry import symbol_values
from basepar_core.variable_precision.observation import variant

#: Step of the differences: exact in float64 beside lengths of order one.
H = 2.0**-40
DIGITS = 40
#: Rounding of the float64 side: 1e-16 times the operations on the way and the loops' condition.
ROUNDING = 1e-11

#: An elbow whose bar is as long as the root of x² + y²: its derivatives pass through a relation.
ROOTED = """
name: rooted
space: planar
gravity: [0, -9.81]
geometry:
  x: {value: 3, unit: m}
  y: {value: 4, unit: m}
  r: {value: 5, unit: m}
  l: {value: 1.5, unit: m}
relations: {r: r^2 = x^2 + y^2}
constants: {rho: {value: 2, unit: kg/m}}
bodies:
  one: {mass: rho*r, centre: [r/2, 0], inertia: rho*r^3/3}
  two: {mass: rho*l, centre: [l/2, 0], inertia: rho*l^3/3}
joints:
  A: {type: revolute, connects: [ground, one]}
  B: {type: revolute, connects: [one, two], at: [[r, 0], [0, 0]]}
coordinates: [A, B]
assembly: {A: 0.3 rad, B: 0.5 rad}
excitation: {kind: states, samples: 8, seed: 1, amplitude: {A: 1 rad, B: 1 rad}, frequency: 1 Hz}
"""

#: An arm on a nut that a screw of pitch p lifts, and a rotor n times as fast.
GEARED = """
name: geared
space: spatial
gravity: [0.3, 1, -9.81]
geometry: {n: {value: 2.5}, p: {value: 90, unit: mm}, l: {value: 0.4, unit: m}}
bodies:
  nut: {mass: 2, centre: [0.02, 0.01, 0.1], central_inertia: [0.03, 0, 0, 0.03, 0, 0.02]}
  arm: {mass: 1, centre: [l/2, 0, 0], central_inertia: [0.001, 0, 0, 0.02, 0, 0.02]}
  rotor: {mass: 0.3, centre: [0.01, 0, 0.02], central_inertia: [2e-4, 0, 0, 2e-4, 0, 3e-4]}
joints:
  N: {type: screw, connects: [ground, nut], pitch: p}
  A: {type: revolute, connects: [nut, arm], axis: [[1, 0, 0], [0, 0, 1]]}
  M: {type: revolute, connects: [arm, rotor], at: [[l, 0, 0], [0, 0, 0]]}
couplings: {drive: {values: {M: 1, A: -n, N.angle: 1}, offset: 0.1 rad}}
coordinates: [N.2, A]
assembly: {N.2: 0.3 rad, A: 0.5 rad}
excitation:
  {kind: states, samples: 8, seed: 1, amplitude: {N.2: 1 rad, A: 1 rad}, frequency: 1 Hz}
"""

CASES = {
    "four-bar": (load("four-bar"), ("lx1", "ly2", "Dx")),
    "quick-return": (load("quick-return"), ("r", "h")),  # slides, two loops
    "rssr": (load("rssr"), ("l2", "Dz")),  # spherical joints
    "rooted": (loads(ROOTED), ("x", "l")),  # W does not depend on l
    "geared": (loads(GEARED), ("n", "p")),  # ratio and pitch
}


class Case:
    """One mechanism: derivatives by both sides, W at both ends of every difference."""

    def __init__(self, name):
        self.mechanism, self.symbols = CASES[name]
        self.model = prepare(self.mechanism)
        self.motion = excitation(self.mechanism, self.model.assembled.coordinates)
        # Values with few bits, so that value ± H are exact.
        nominal = {n: float(np.float32(self.mechanism.nominal[n])) for n in self.symbols}
        self.nominal = nominal
        values = {n: np.array([x]) for n, x in nominal.items()}
        self.seen = sensitivity.slopes(self.model, values, self.motion, self.symbols)
        self.ends = {
            symbol: [self._end({**nominal, symbol: nominal[symbol] + h}) for h in (H, -H)]
            for symbol in self.symbols
        }

    def _end(self, values):
        """W (row, parameter) and φ (parameter,) to forty digits, and the samples used."""
        one = variant(self.model, values, 6)
        found = one.observe(DIGITS)
        self.picks = list(one.picks)
        with mpmath.workdps(60):
            W = [
                [mpf(int(x)) * mpf(2) ** found.scale for x in row]
                for row in found.entries.tolist()
            ]
        with working(bits_of(60)):
            known = symbol_values(self.mechanism, values)
            entries = [x for body in self.mechanism.bodies for x in body.parameters]
            phi = evaluate(entries, known, ARB)
            with mpmath.workdps(60):
                phi = [_mpf(x) for x in phi]
        return mpmath.matrix(W), mpmath.matrix(phi)

    def difference(self, symbol, function):
        """Central difference of a function of (W, φ)."""
        with mpmath.workdps(50):
            up, down = (function(*end) for end in self.ends[symbol])
            return (up - down) / (2 * mpf(H))

    def rows(self, array):
        """Rows of a (sample, coordinate, …) array at the samples that the oracle uses."""
        picked = array[self.picks]
        return picked.reshape(-1, *picked.shape[2:])


def _mpf(x):
    if isinstance(x, arb):
        man, exp = x.mid().man_exp()
        return mpmath.ldexp(mpf(int(man)), int(exp))
    return mpf(x)


@pytest.fixture(scope="module")
def cases():
    known = {}

    def get(name):
        if name not in known:
            known[name] = Case(name)
        return known[name]

    return get


def floats(matrix):
    return np.array(matrix.tolist(), float)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_regressor_and_torque(cases, name):
    case = cases(name)
    assert case.seen.closed[0]
    tau_slope = case.seen.torques()[1][0]
    for k, symbol in enumerate(case.symbols):
        exact = floats(case.difference(symbol, lambda W, phi: W))
        ours = case.rows(case.seen.W_slope[0, ..., k])
        assert np.abs(ours - exact).max() <= ROUNDING * np.abs(exact).max()
        exact = floats(case.difference(symbol, lambda W, phi: W * phi))[:, 0]
        ours = case.rows(tau_slope[..., k])
        assert np.abs(ours - exact).max() <= ROUNDING * np.abs(exact).max()


def test_root_mean_square_and_peak(cases):
    case = cases("four-bar")
    tau = case.seen.torques()[0][:, case.picks]

    def of(word):
        by = drives.DRIVE_METRICS[word].value
        return case.seen.of_cycle(lambda lanes: by(lanes.torques[:, case.picks, 0]))

    (rms, rms_slope), (peak, peak_slope) = of("torque_rms"), of("torque_peak")
    for k, symbol in enumerate(case.symbols):
        exact = case.difference(symbol, lambda W, phi: mpmath.norm(W * phi) / mpmath.sqrt(6))
        assert math.isclose(rms_slope[0, k], exact, rel_tol=ROUNDING)
        exact = case.difference(symbol, lambda W, phi: mpmath.norm(W * phi, mpmath.inf))
        assert math.isclose(peak_slope[0, k], exact, rel_tol=ROUNDING)
    # Of complex numbers, whose products are otherwise rounded.
    assert peak[0] == pytest.approx(np.abs(tau[0, :, 0]).max(), rel=1e-14)
    assert rms[0] == pytest.approx(np.sqrt((tau[0, :, 0] ** 2).mean()), rel=1e-14)


def test_condition(cases):
    case = cases("four-bar")
    base = symbolic(case.model)
    kept = list(base.kept)
    # The same samples on both sides: six rows of eight columns would be singular, so the
    # derivative is of the condition of the first five columns.
    few = type("Few", (), {"kept": tuple(kept[:5])})
    picked = {"W": case.seen.W[:, case.picks], "W_slope": case.seen.W_slope[:, case.picks]}
    seen = SimpleNamespace(symbols=case.seen.symbols, closed=case.seen.closed, **picked)
    number, slope = sensitivity.condition(seen, few)

    def exact(W, _):
        columns = [W[:, k] / mpmath.norm(W[:, k]) for k in few.kept]
        A = mpmath.matrix(W.rows, len(columns))
        for k, column in enumerate(columns):
            A[:, k] = column
        sigma = mpmath.svd_r(A, compute_uv=False)
        return max(sigma) / min(sigma)

    for k, symbol in enumerate(case.symbols):
        found = case.difference(symbol, exact)
        # Rounding of W weighs with the condition in a small singular value, twice in its vectors.
        assert math.isclose(slope[0, k], found, rel_tol=ROUNDING * number[0])


def test_condition_is_that_of_the_plain_matrix(cases):
    case = cases("four-bar")
    base = symbolic(case.model)
    number, _ = sensitivity.condition(case.seen, base)
    values = {n: np.array([x]) for n, x in case.nominal.items()}
    W = observe(case.model, values, case.motion).stacked[0][:, list(base.kept)]
    # LAPACK's rounding, times the condition of 1e1 to 1e2.
    plain = np.linalg.cond(W / np.linalg.norm(W, axis=0))
    assert number[0] == pytest.approx(plain, rel=1e-12)


def test_torque_by_base_parameters():
    """d(W φ) = d(W_b) φ_b + W_b dφ_b, with φ_b and dφ_b from the compiled expressions."""
    mechanism = load("four-bar")
    model = prepare(mechanism)
    functions = compiled(base := symbolic(model), mechanism)
    symbols = tuple(name for name in functions.symbols if name != "rho")
    values = {"lx1": np.array([0.25, 0.35]), "Dx": np.array([1.1, 0.9])}
    seen = sensitivity.slopes(
        model, values, cycle(mechanism, model.assembled.coordinates), symbols
    )
    phi, slope = functions.base_parameters(values), functions.base_parameters_derivative(values)
    slope = slope[..., [functions.symbols.index(name) for name in symbols]]
    W, W_slope = seen.W[..., list(base.kept)], seen.W_slope[..., list(base.kept), :]
    reduced = np.einsum("vtcbs,vb->vtcs", W_slope, phi) + np.einsum("vtcb,vbs->vtcs", W, slope)
    tau, tau_slope = seen.torques()
    assert np.abs(np.einsum("vtcb,vb->vtc", W, phi) - tau).max() < 1e-12 * np.abs(tau).max()
    # Both sides are float64; terms cancel to about a tenth.
    assert np.abs(reduced - tau_slope).max() < ROUNDING * np.abs(tau_slope).max()


def rocker(crank, lx1, lx2, ly2, lx3, Dx, Dy):
    """Value of joint D where the crank stands at an angle, on the library's branch: circles."""
    B = mpmath.mpc(lx1 * mpmath.cos(crank), lx1 * mpmath.sin(crank))
    across = B - mpmath.mpc(Dx, Dy)
    far, rod = abs(across), mpmath.hypot(lx2, ly2)
    inner = mpmath.acos((far**2 + lx3**2 - rod**2) / (2 * far * lx3))
    return mpmath.arg(across), inner


def test_joint_values_and_stroke():
    mechanism = load("four-bar")
    model = prepare(mechanism)
    motion = cycle(mechanism, model.assembled.coordinates)
    symbols = ("lx1", "lx2", "ly2", "lx3", "Dx", "Dy")
    seen = sensitivity.slopes(model, {}, motion, symbols)
    value, slope = seen.of_cycle(lambda lanes: lanes.joint("D"))
    with mpmath.workdps(50):
        sizes = [mpf(repr(mechanism.nominal[name])) for name in symbols]

        def at(sample, branch, *lengths):
            first, inner = rocker(mpf(float(motion.q[0, sample])), *lengths)
            return first + branch * inner

        def off(sample, branch):
            """From D's value: the rocker's x-axis points from C to D."""
            angle = float(at(sample, branch, *sizes)) + math.pi
            return abs(math.remainder(angle - value[0, sample], 2 * math.pi))

        samples = range(0, 128, 16)
        signs = [sign for sign in (1, -1) if max(off(s, sign) for s in samples) < 1e-9]
        assert len(signs) == 1
        for k in range(len(symbols)):
            step = [mpf(H) if j == k else mpf(0) for j in range(len(symbols))]
            for s in samples:
                up = at(s, signs[0], *(x + d for x, d in zip(sizes, step, strict=True)))
                down = at(s, signs[0], *(x - d for x, d in zip(sizes, step, strict=True)))
                exact = float((up - down) / (2 * mpf(H)))
                assert slope[0, s, k] == pytest.approx(exact, rel=ROUNDING, abs=ROUNDING)
    high, low = value[0].argmax(), value[0].argmin()
    found, moved = seen.of_cycle(lambda lanes: np.ptp(lanes.joint("D"), axis=1))
    assert found[0] == np.ptp(value)
    np.testing.assert_allclose(moved[0], slope[0, high] - slope[0, low], rtol=1e-13)


@pytest.mark.slow  # compiles kernels that no other test of this kind needs
def test_spherical_joint_values():
    """No closed form: differences of float64, which err by h² and 1e-16/h, about 1e-9."""
    mechanism = load("rssr")
    model = prepare(mechanism)
    motion = excitation(mechanism, model.assembled.coordinates)
    names = [j.values[0] for j in mechanism.joints if j.type == "spherical"]
    l2, h = mechanism.nominal["l2"], 1e-6
    seen = sensitivity.slopes(model, {"l2": np.array([l2])}, motion, ["l2"])
    ends = [sensitivity.slopes(model, {"l2": np.array([l2 + d])}, motion, ["l2"]) for d in (h, -h)]
    for name in names:
        up, down = (end.of_cycle(lambda x, name=name: x.joint(name))[0] for end in ends)
        slope = seen.of_cycle(lambda x, name=name: x.joint(name))[1][..., 0]
        assert np.abs((up - down) / (2 * h) - slope).max() < 1e-7 * max(1, np.abs(slope).max())


def test_variants_are_alone():
    """A variant's derivatives are the same whatever it is computed with."""
    mechanism = load("four-bar")
    model = prepare(mechanism)
    motion = cycle(mechanism, model.assembled.coordinates)
    lengths = np.array([0.25, 9.0, 0.35])  # the second cannot be assembled
    all_three = sensitivity.slopes(model, {"lx1": lengths}, motion, ["lx1", "Dx"])
    assert all_three.closed.tolist() == [True, False, True]
    for k in (0, 2):
        one = sensitivity.slopes(model, {"lx1": lengths[[k]]}, motion, ["Dx", "lx1"])
        # Sums of other lengths and orders in LAPACK and einsum: a few roundings.
        scale = np.abs(one.W_slope).max()
        assert np.abs(one.W_slope[0][..., ::-1] - all_three.W_slope[k]).max() < 1e-12 * scale


def test_chain_rule_of_expressions():
    known = load("four-bar").nominal
    dims = dict.fromkeys(("a", "b"))
    assert known
    found = [
        parse_any(text, dims)[0]
        for text in ("max(a, b)^2 / sqrt(b)", "abs(b - a) + sin(a*b)", "min(a, 3) ^ b")
    ]
    a, b = 2.0, 5.0
    slopes = {"a": np.array([1.0, 0.0, 2.0]), "b": np.array([0.0, 1.0, -1.0])}
    values, moved = sensitivity.differentiated(found, {"a": a, "b": b}, slopes, 3)
    by_a = [0.0, -1 + b * math.cos(a * b), b * a ** (b - 1)]
    by_b = [1.5 * b**0.5, 1 + a * math.cos(a * b), a**b * math.log(a)]
    expected = [[x, y, 2 * x - y] for x, y in zip(by_a, by_b, strict=True)]
    np.testing.assert_allclose(moved, expected, rtol=1e-13)
    np.testing.assert_allclose(values, [b**1.5, 3 + math.sin(a * b), a**b], rtol=1e-14)


def test_a_root_of_a_negative_number_has_no_value():
    found = [parse_any("sqrt(a)", {"a": None})[0]]
    value, slope = sensitivity.differentiated(found, {"a": -1.0}, {"a": np.ones(1)}, 1)
    assert np.isnan(value[0])
    assert np.isnan(slope).all()


def test_symbols_that_are_none():
    model = prepare(loads(ROOTED))
    motion = excitation(model.mechanism, model.assembled.coordinates)
    with pytest.raises(UsageError, match=r"by its symbols .*, not by r, z"):
        sensitivity.slopes(model, {}, motion, ["x", "r", "z"])
