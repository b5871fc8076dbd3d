"""Sums of squares made small: SciPy's solver of bounds, its SLSQP, and valleys on paper."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from workflows.studies.gauss_newton import Place, bounded, minimised


def test_a_bounded_problem_is_that_of_scipy():
    """Bounds alone, many of them met; SciPy's own algorithm for these."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        system, wanted = rng.normal(size=(9, 5)), 3 * rng.normal(size=9)
        rows = np.concatenate([np.eye(5), -np.eye(5)])
        found, _ = bounded(system, wanted, rows, np.full(10, -0.4))
        expected = lsq_linear(system, wanted, (-0.4, 0.4), tol=1e-14)
        assert np.isclose(np.abs(found), 0.4).any()
        np.testing.assert_allclose(found, expected.x, atol=1e-7)  # SciPy's tolerance on its cost


def test_limits_that_cross_are_none():
    system = np.eye(2)
    assert bounded(system, np.ones(2), np.array([[1.0, 0], [-1, 0]]), np.array([1.0, 1.0])) is None


def curve(shares):
    """A decay of two rates at ten times against one of others: residuals and slopes."""
    t = np.linspace(0, 1, 10)
    a, b = 4 * shares
    wanted = np.exp(-1.1 * t) + 0.5 * np.exp(-3.7 * t) + 0.02 * np.sin(9 * t)
    left = np.exp(-a * t) + 0.5 * np.exp(-b * t) - wanted
    return left, -4 * np.stack([t * np.exp(-a * t), 0.5 * t * np.exp(-b * t)], axis=1)


@pytest.mark.parametrize("most", [2.0, 0.9])
def test_limits_are_met_as_by_slsqp(most):
    """One limit, shares² ≤ most: curved, open in the first case, met in the second."""
    seen = []

    def at(shares):
        spare, spares = np.array([most - shares @ shares]), -2 * shares[None]
        seen.append((curve(shares)[0] @ curve(shares)[0], spare[0]))
        return Place(*curve(shares), spare, spares)

    minimised(at, np.array([0.4, 0.5]))
    best = min(value for value, spare in seen if spare >= -1e-9)
    expected = minimize(
        lambda u: curve(u)[0] @ curve(u)[0],
        [0.4, 0.5],
        method="SLSQP",
        bounds=[(0, 1)] * 2,
        constraints={"type": "ineq", "fun": lambda u: most - u @ u},
        options={"ftol": 1e-15},
    )
    met = most - expected.x @ expected.x < 1e-6
    assert met == (most < 1)
    # SLSQP's own last steps, and the limit that may be missed by 1e-9.
    assert best == pytest.approx(expected.fun, rel=1e-7)
    assert len(seen) <= 15


def test_residuals_that_vanish_are_met_to_rounding():
    """Rosenbrock's valley: its residuals are 0 at (1, 1), here in the middle of the shares."""

    def at(shares):
        x, y = 2 * shares
        slopes = np.array([[-40 * x, 20], [-2, 0]])
        nothing = np.empty(0), np.empty((0, 2))
        return Place(np.array([10 * (y - x * x), 1 - x]), slopes, *nothing)

    ends = []
    minimised(lambda u: (ends.append(u), at(u))[1], np.array([0.1, 0.9]))
    np.testing.assert_allclose(ends[-1], [0.5, 0.5], atol=1e-12)
    assert len(ends) <= 12  # a dozen designs through a valley as narrow as 1 to 20


def test_a_start_that_misses_a_limit_meets_it():
    def at(shares):
        nothing = np.array([shares[0] - 0.6]), np.array([[1.0, 0.0]])
        return Place(shares - 0.2, np.eye(2), *nothing)

    ends = []
    minimised(lambda u: (ends.append(u), at(u))[1], np.array([0.3, 0.9]))
    np.testing.assert_allclose(ends[-1], [0.6, 0.2], atol=1e-9)
