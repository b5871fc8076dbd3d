"""Least squares in three variants: against normal equations, and coverage over draws."""

import numpy as np
import pytest
from scipy.optimize import minimize

from basepar_core.identification.diagnostics import inflation
from basepar_core.identification.estimate import HUBER, estimate
from tests.core.identification_data import cramer_rao


@pytest.fixture
def system():
    """W, φ, σ by row, groups of three noises; columns of very different size."""
    rng = np.random.default_rng(4)
    W = rng.standard_normal((600, 5)) * [1, 1e-3, 10, 1, 100]
    groups = np.repeat([0, 1, 2], 200)
    return W, np.array([1.0, 200, 0, -3, 0.02]), np.array([0.1, 1.0, 5.0]), groups


def draw(system, rng):
    W, phi, sigma, groups = system
    return W @ phi + sigma[groups] * rng.standard_normal(len(W))


def test_ols_is_the_normal_equations(system):
    W, _, _, groups = system
    tau = draw(system, np.random.default_rng(1))
    found = estimate(W, tau, groups, "ols")
    np.testing.assert_allclose(found.values, np.linalg.solve(W.T @ W, W.T @ tau), rtol=1e-9)
    plain = estimate(W, tau, 0 * groups, "ols")
    rss = ((tau - W @ plain.values) ** 2).sum()
    expected = rss / (600 - 5) * np.linalg.inv(W.T @ W)
    np.testing.assert_allclose(plain.covariance, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "method", ["ols", "weighted", pytest.param("irls", marks=pytest.mark.slow)]
)
def test_deviations_are_those_of_repeated_draws(system, method):
    W, phi, sigma, groups = system
    rng = np.random.default_rng(8)
    found = [estimate(W, draw(system, rng), groups, method) for _ in range(400)]
    spread = np.std([one.values for one in found], axis=0)
    stated = np.mean([one.deviations for one in found], axis=0)
    # A standard deviation from 400 draws is itself known to 3.5 %: four of these.
    np.testing.assert_allclose(stated, spread, rtol=0.14)
    inside = [np.abs(one.values - phi) <= one.half_widths() for one in found]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.02)  # 2000 intervals: σ = 0.5 %
    noise = np.mean([one.sigma for one in found], axis=0)
    # 400 draws of 200 rows: 0.25 %; irls' median is less sharp and has the fit's share in it.
    np.testing.assert_allclose(noise, sigma, rtol=0.02)
    bound = cramer_rao(W, sigma[groups])
    if method == "weighted":
        np.testing.assert_allclose(spread, bound, rtol=0.14)
    elif method == "ols":
        assert (spread > 1.5 * bound).any()  # what weights are for
    else:
        np.testing.assert_allclose(spread, bound / np.sqrt(0.95), rtol=0.14)


def test_irls_is_the_minimum_of_hubers_loss_and_shrugs_off_outliers(system):
    W, phi, _, groups = system
    rng = np.random.default_rng(2)
    tau = draw(system, rng)
    tau[rng.choice(600, 30, replace=False)] += 500
    found = estimate(W, tau, groups, "irls")
    plain = estimate(W, tau, groups, "weighted")
    error, before = (np.abs(one.values - phi) / cramer_rao(W, 1.0) for one in (found, plain))
    assert error.max() < before.max() / 5

    def loss(x):
        r = np.abs(tau - W @ (x / scale)) / found.sigma[groups]
        return np.where(r < HUBER, r**2 / 2, HUBER * r - HUBER**2 / 2).sum()

    scale = np.linalg.norm(W, axis=0)
    best = minimize(loss, found.values * scale, method="BFGS").x / scale
    # BFGS by differences stops at 1e-5 of the loss' curvature.
    np.testing.assert_allclose(best, found.values, atol=1e-2 * found.deviations.max(), rtol=1e-3)
    assert (found.weights < 1 / 3).mean() == pytest.approx(0.05, abs=0.01)


def test_residuals_that_follow_one_another_are_seen():
    rng = np.random.default_rng(0)
    white = rng.standard_normal(4000)
    assert inflation(white, np.zeros(4000, int)) < 1.2
    red = np.convolve(white, np.ones(16) / 4, "same")
    # A moving average of 16: Σρ over both sides is 16, so √16.
    assert inflation(red, np.zeros(4000, int)) == pytest.approx(4, rel=0.2)
