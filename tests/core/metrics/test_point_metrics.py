"""Metrics of points: circles that meet, Fourier's derivatives, and lines by search."""

import mpmath
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from basepar_core.dynamics import motion, path_curvature
from basepar_core.dynamics.closure import prepare, trace
from basepar_core.errors import MechanismError
from basepar_core.files import mechanism_file
from basepar_core.metrics import ClosedCycle, sensitivity
from basepar_core.metrics.cycle import find, of_cycle
from tests.core.dynamics.test_points import MOVES, four_bar, pins

LENGTHS = {"lx1": np.array([0.3, 0.25, 0.28]), "lx2": np.array([0.7, 0.75, 0.68])}


@pytest.fixture(scope="module")
def cycle():
    """Three four-bars over a turn at constant speed, 96 samples."""
    mechanism = mechanism_file.loads(
        four_bar("{A: 34 deg, B: 91.3 deg, C: -203.8 deg}").source.replace(
            "samples: 24", "samples: 96"
        )
    )
    model = prepare(mechanism)
    moving = motion.cycle(mechanism, model.assembled.coordinates)
    return ClosedCycle(model, LENGTHS, moving, trace(model, LENGTHS, moving.q).q)


def on_paper(cycle):
    """P as complex numbers (variant, sample)."""
    v = {
        n: np.asarray(x)[..., None]
        for n, x in {**cycle.model.mechanism.nominal, **LENGTHS}.items()
    }
    B, _, coupler, _ = pins(v, cycle.motion.q[0][None], 1)
    return B + coupler * (v["lx2"] / 2 + 1j * v["ly2"] / 4)


def test_extremes_of_a_path(cycle):
    P = on_paper(cycle)
    for axis, track in (("x", P.real), ("y", P.imag)):
        names = [f"point_{word}(P.{axis})" for word in ("min", "max", "range")]
        found = of_cycle(cycle, names)
        # Loops close to 1e-12; lengths are near 1.
        np.testing.assert_allclose(found[names[0]], track.min(axis=1), rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[names[1]], track.max(axis=1), rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[names[2]], np.ptp(track, axis=1), rtol=0, atol=1e-12)


def test_speed_and_acceleration_are_those_of_a_fourier_series(cycle):
    P, t = on_paper(cycle), cycle.motion.t
    rate = 2j * np.pi * np.fft.fftfreq(t.size, t[1] - t[0])
    series = np.fft.fft(P, axis=1)
    found = of_cycle(cycle, ["point_speed(P)", "point_acceleration(P)"])
    for order, name in enumerate(found, start=1):
        expected = np.abs(np.fft.ifft(series * rate**order, axis=1)).max(axis=1)
        # The closed path's series falls below 1e-9 of its size within 48 harmonics.
        np.testing.assert_allclose(found[name], expected, rtol=1e-6)


def exact_curvature(values, crank):
    """Of P's path at a crank's angle: differences at 40 digits of circles that meet."""
    with mpmath.workdps(40):
        v = {name: mpmath.mpf(float(x)) for name, x in values.items()}
        D = mpmath.mpc(v["Dx"], v["Dy"])
        span = mpmath.mpc(v["lx2"], -v["ly2"])  # from B to C, in the coupler

        def P(angle):
            B = v["lx1"] * mpmath.expj(angle)
            line, a, c = D - B, abs(span), v["lx3"]
            along = (a**2 - c**2 + abs(line) ** 2) / (2 * abs(line))
            # The side of the circles' two crossings on which C stands at the assembly.
            C = B + line / abs(line) * mpmath.mpc(along, mpmath.sqrt(a**2 - along**2))
            return B + (C - B) / span * mpmath.mpc(v["lx2"] / 2, v["ly2"] / 4)

        x, h = mpmath.mpf(float(crank)), mpmath.mpf(10) ** -12
        before, here, after = P(x - h), P(x), P(x + h)
        first, second = (after - before) / (2 * h), (after - 2 * here + before) / h**2
        return float((mpmath.conj(first) * second).imag / abs(first) ** 3)


def test_curvature_is_that_of_the_path_at_40_digits(cycle):
    moved = cycle.moves("P")
    every = path_curvature(moved[:, 1], moved[:, 2], axis=1)
    greatest = of_cycle(cycle, ["curvature_max(P)"])["curvature_max(P)"]
    for k in range(3):
        values = {**cycle.model.mechanism.nominal, **{n: x[k] for n, x in LENGTHS.items()}}
        expected = [exact_curvature(values, q) for q in cycle.motion.q[0]]
        # Differences err by h² = 1e-24; accelerations have the loops' rounding.
        np.testing.assert_allclose(every[k], expected, rtol=1e-9, atol=1e-10)
        assert greatest[k] == pytest.approx(np.abs(expected).max(), rel=1e-9)


def test_curvature_in_space_is_a_helix_s_and_has_no_number_at_rest():
    t = np.linspace(0, 3, 7)
    v = np.stack([-2 * np.sin(t), 2 * np.cos(t), 0 * t + 0.5])
    a = np.stack([-2 * np.cos(t), -2 * np.sin(t), 0 * t])
    # r/(r² + c²), whatever the pace along it; rounding.
    np.testing.assert_allclose(path_curvature(v, a, 0), 2 / 4.25, rtol=1e-14)
    np.testing.assert_allclose(path_curvature(3 * v, 9 * a + v, 0), 2 / 4.25, rtol=1e-14)
    assert np.isnan(path_curvature(0 * v, a, 0)).all()


def test_straightness_is_the_distance_from_the_best_line(cycle):
    """The line of least squares by search over its direction."""
    found = of_cycle(cycle, ["straightness(P)"])["straightness(P)"]
    for path, value in zip(on_paper(cycle), found, strict=True):
        path = path - path.mean()

        def missed(angle, path=path):
            return ((path * np.exp(-1j * angle)).imag ** 2).sum()

        coarse = min(np.linspace(0, np.pi, 181), key=missed)
        best = minimize_scalar(
            missed,
            bounds=(coarse - 0.05, coarse + 0.05),
            method="bounded",
            options={"xatol": 1e-10},
        ).x
        # The search ends within 1e-8 (its function is flat there) of the angle.
        assert value == pytest.approx(np.abs((path * np.exp(-1j * best)).imag).max(), abs=1e-7)


def test_a_point_that_goes_along_a_line_is_straight():
    """Of a slider-crank's piston nothing but rounding is off the line, wherever that leads."""
    text = mechanism_file.load("slider-crank").source
    body = mechanism_file.load("slider-crank").bodies[-1].name
    mechanism = mechanism_file.loads(
        f"{text}\npoints: {{S: {{body: {body}, at: [0.01, 0.02]}}}}\n"
    )
    model = prepare(mechanism)
    moving = motion.cycle(mechanism, model.assembled.coordinates)
    closed = ClosedCycle(model, {}, moving, trace(model, {}, moving.q).q)
    assert of_cycle(closed, ["straightness(S)"])["straightness(S)"] < 1e-12


@pytest.mark.parametrize("symbol", ["lx1", "lx2", "ly2", "Dx"])
def test_slopes_of_extremes_are_exact(cycle, symbol):
    """Against differences of circles that meet, of fourth order in 1e-3 of a length."""
    model, h = cycle.model, 1e-3
    seen = sensitivity.slopes(model, {}, cycle.motion, [symbol])
    for axis in (0, 1):
        for extreme in (np.min, np.max, np.ptp):
            value, slope = seen.of_cycle(
                lambda lanes, axis=axis, extreme=extreme: extreme(lanes.tracks("P")[:, axis], -1)
            )

            def on_paper(shift, axis=axis, extreme=extreme):
                v = {**model.mechanism.nominal}
                v[symbol] += shift
                B, _, coupler, _ = pins(v, cycle.motion.q[0], 1)
                P = B + coupler * (v["lx2"] / 2 + 1j * v["ly2"] / 4)
                return extreme((P.real, P.imag)[axis])

            shares = zip((1, -8, 8, -1), (-2, -1, 1, 2), strict=True)
            expected = sum(w * on_paper(k * h) for w, k in shares) / (12 * h)
            assert value[0] == pytest.approx(on_paper(0), abs=1e-12)
            # Differences err by h⁴ times a fifth derivative of some hundred.
            assert slope[0, 0] == pytest.approx(expected, abs=1e-8)


def test_points_that_are_none_have_no_metrics(cycle):
    mechanism = cycle.model.mechanism
    assert find(mechanism, "point_range(P.z)") is None
    assert find(mechanism, "point_range(P)") is None
    assert find(mechanism, "straightness(Q)") is None
    with pytest.raises(MechanismError, match="no point 'Q': P, T, O"):
        cycle.path("Q")
    assert "P: {body" in MOVES
