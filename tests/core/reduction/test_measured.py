"""Reduction of measured torques, and of a second trajectory."""

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.dynamics import motion
from basepar_core.dynamics.regressor import observe
from basepar_core.errors import UsageError
from basepar_core.reduction.criteria import CRITERIA
from basepar_core.reduction.measured import (
    effective_size,
    errors_on,
    estimate_noise,
    pooled,
    reduce_measured,
)
from basepar_core.reduction.reduce import noise_levels, own_path, reduce_mechanism
from tests.core.cycles import case


@pytest.fixture(scope="module")
def measured():
    """Torques of the five-bar, 300 draws of noise: σ of 0.02 and 0.3 N m."""
    one = case("five-bar")
    sigma = np.array([0.02, 0.3])
    noise = np.random.default_rng(8).standard_normal((300, *one.W.shape[1:3])) * sigma
    W = np.repeat(one.W_b[:1], 300, axis=0)
    return W, one.torque(one.phi)[:1] + noise, sigma


def test_validation_is_the_error_of_the_same_numbers_elsewhere():
    one = case("five-bar")
    other = motion.excitation(one.model.mechanism, one.model.assembled.coordinates)
    reduced = reduce_mechanism(one.model, one.base, validate=other)
    W = observe(one.model, {}, other).W[0]
    tau = W @ one.phi[0]
    for size in (11, 7, 4, 0):
        step = one.base.rank - size
        kept = reduced.generalised(size)
        # By the generalised base parameters, not by the path's own numbers.
        model = W[..., list(kept.columns)] @ kept.nominal(one.phi[0])
        error = np.linalg.norm((tau - model) / one.noise) / np.linalg.norm(tau / one.noise)
        assert reduced.validation[step] == pytest.approx(error, rel=1e-6, abs=1e-9)
    assert reduced.validation[-1] == pytest.approx(1, rel=1e-14)  # no parameter, no torque
    document = reduced.document()
    assert [s["validation"] for s in document["steps"]] == reduced.validation.tolist()
    assert "validation" in reduced.table()[0]


def test_validation_of_a_batch_is_that_of_each():
    one = case("slider-crank")
    path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
    tau = one.torque(one.phi)
    np.testing.assert_allclose(
        errors_on(one.W_b, tau, path.values, one.noise), path.torque_error, atol=1e-9
    )  # on the trajectory itself it is the path's own error


def test_estimated_noise_is_the_noise(measured):
    W, tau, sigma = measured
    each = estimate_noise(W, tau)
    # σ² of 128 samples scatters by √(2/120) = 13 %, the mean of 300 draws by 0.8 %: four of it.
    np.testing.assert_allclose((each**2).mean(axis=0), sigma**2, rtol=0.03)
    together = estimate_noise(W, tau, "pooled")
    assert (together[:, 0] == together[:, 1]).all()
    np.testing.assert_allclose((together**2).mean(), (sigma**2).mean(), rtol=0.04)


def test_pooled_noise_is_least_squares_by_hand(measured):
    W, tau, _ = measured
    rows, torque = W[0].reshape(-1, W.shape[-1]), tau[0].ravel()
    lengths = np.linalg.norm(rows, axis=0)
    phi, *_ = np.linalg.lstsq(rows / lengths, torque, rcond=1e-12)
    rank = np.linalg.matrix_rank(rows / lengths, 1e-12)
    rss = ((torque - rows / lengths @ phi) ** 2).sum()
    expected = np.sqrt(rss / (torque.size - rank))
    np.testing.assert_allclose(estimate_noise(W[:1], tau[:1], "pooled"), expected, rtol=1e-9)


def test_per_joint_noise_is_a_fixed_point(measured):
    """Weighted least squares with the σ found gives the same σ back, joint by joint."""
    W, tau, _ = measured
    sigma = estimate_noise(W[:1], tau[:1])[0]
    rows = (W[0] / sigma[:, None]).reshape(-1, W.shape[-1])
    q, _ = np.linalg.qr(rows / np.linalg.norm(rows, axis=0))
    torque = (tau[0] / sigma).ravel()
    residual = (torque - q @ (q.T @ torque)).reshape(-1, 2)
    room = len(residual) - (q**2).sum(axis=1).reshape(-1, 2).sum(axis=0)
    np.testing.assert_allclose((residual**2).sum(axis=0) / room, 1, rtol=1e-8)


def test_measured_reduction_keeps_what_the_noise_lets_see(measured):
    W, tau, sigma = measured
    few = slice(0, 20)
    known = reduce_measured(W[few], tau[few], CRITERIA, noise=sigma)
    found = reduce_measured(W[few], tau[few], CRITERIA)
    loud = reduce_measured(W[few], tau[few], CRITERIA, noise=20 * sigma)
    bic = CRITERIA.index("bic")
    size = [np.array([s.size[0, bic] for s in r.selection]) for r in (known, found, loud)]
    assert np.abs(size[0] - size[1]).max() <= 1  # the estimate is within a few percent
    assert (size[2] <= size[0]).all()
    assert size[2].mean() < size[0].mean() < W.shape[-1]
    together = reduce_measured(W[few], tau[few], ["bic"], noise=sigma, pooling="pooled")
    np.testing.assert_array_equal(together.noise[0], pooled(sigma))


def test_effective_size():
    """White residuals are worth all samples; a first-order process what its correlation says."""
    one = case("five-bar")
    rng = np.random.default_rng(3)
    shape = (400, *one.W.shape[1:3])
    white = rng.standard_normal(shape)
    slow = np.empty(shape)
    slow[:, 0] = white[:, 0]
    for k in range(1, shape[1]):
        slow[:, k] = 0.6 * slow[:, k - 1] + 0.8 * white[:, k]
    W = np.repeat(one.W_b[:1], 400, axis=0)
    # ρ of 128 samples is biased by −(1 + 3ρ + parameters)/N, some 10 %, and clipped at 0.
    assert 0.85 * 256 < effective_size(W, white).mean() <= 256
    assert effective_size(W, slow).mean() == pytest.approx(256 * 0.4 / 1.6, rel=0.35)
    chosen = reduce_measured(W[:1], slow[:1], ["bic"], samples="estimated")
    assert chosen.samples[0] == pytest.approx(
        effective_size(W[:1] / chosen.noise[0][:, None], slow[:1] / chosen.noise[0])[0]
    )


def test_stated_noise_pooled():
    one = case("five-bar")
    mechanism = one.model.mechanism
    np.testing.assert_allclose(noise_levels(mechanism, "pooled"), 0.01)
    with pytest.raises(UsageError, match="cannot be pooled"):  # q3 slides, the others turn
        noise_levels(load("scara"), "pooled")


def test_too_few_samples_to_estimate_noise():
    one = case("five-bar")
    with pytest.raises(UsageError, match="10 torques, 11 parameters"):
        estimate_noise(one.W_b[:1, :5], one.torque(one.phi)[:1, :5])
