"""Criteria of model selection, written a second time and against simulated noise."""

import math
from dataclasses import replace

import numpy as np
import pytest

from basepar_core.errors import MissingDataError, UsageError
from basepar_core.reduction.criteria import CRITERIA, expected_rss, select
from basepar_core.reduction.path import backward
from basepar_core.reduction.reduce import own_path
from tests.core.cycles import case, rows


def by_hand(name: str, rss: float, k: int, n: float, known: bool) -> float:
    """The criteria as docs/reduction.md prints them, σ = 1."""
    if name == "mdl":
        return by_hand("bic", rss, k, n, known) / 2
    likelihood = rss if known and name in ("aic", "bic") else n * math.log(rss / n)
    if name == "fpe":
        return rss / n * (n + k) / (n - k)
    penalty = {
        "aic": lambda: 2 * k,
        "bic": lambda: k * math.log(n),
        "aicc": lambda: 2 * k + 2 * k * (k + 1) / (n - k - 1),
    }[name]()
    return likelihood + penalty


class TestCriteria:
    @pytest.mark.parametrize("known", [True, False])
    def test_formulas_on_measured_torque(self, known):
        one = case("five-bar")
        rng = np.random.default_rng(12)
        tau = one.torque(one.phi) + one.noise * rng.standard_normal(one.W.shape[:3])
        path = backward(one.W_b, tau, 1 / one.noise)
        n = tau[0].size
        names = CRITERIA[1:]
        found = select(path, names, n, noise_known=known, measured=True)
        for lane in range(len(tau)):
            for place, name in enumerate(names):
                expected = [
                    by_hand(name, rss, int(k), n, known)
                    for rss, k in zip(path.rss[lane], path.sizes, strict=True)
                ]
                # The same few operations in another order.
                assert found.values[lane, place].tolist() == pytest.approx(expected, rel=1e-12)
                assert found.size[lane, place] == path.sizes[int(np.argmin(expected))]

    def test_formulas_on_own_torque(self):
        one = case("ur10")
        path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
        n = one.W[0, ..., 0].size
        names = CRITERIA[1:]
        found = select(path, names, n, noise_known=True)
        for lane in range(len(one.W)):
            # ‖τ‖ and the errors once more from scratch: RSS of the path is a product of them.
            torque = (one.torque(one.phi)[lane] / one.noise).ravel()
            rss = (path.torque_error[lane] * np.linalg.norm(torque)) ** 2
            for place, name in enumerate(names):
                expected = [
                    by_hand(name, rss[step] + (n - k), int(k), n, known=True)
                    for step, k in enumerate(path.sizes)
                ]
                # ln(RSS/n) near 0 loses what ln cannot see of n: 768 × 1e-16 beside 10.
                assert found.values[lane, place].tolist() == pytest.approx(expected, rel=1e-10)
                best = int(np.argmin(expected))
                assert found.size[lane, place] == path.sizes[best]
                assert found.error[lane, place] == path.torque_error[lane, best]

    def test_mdl_and_bic_agree(self):
        one = case("ur10")
        path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
        found = select(path, ("bic", "mdl"), 768, noise_known=True)
        assert (found.values[:, 0] == 2 * found.values[:, 1]).all()
        assert (found.size[:, 0] == found.size[:, 1]).all()

    def test_tolerance_is_met_by_the_least_size(self):
        one = case("ur10")
        path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
        for tolerance in (1e-5, 1e-3, 0.01, 0.3):
            found = select(path, ["tolerance"], 1, noise_known=False, tolerance=tolerance)
            for lane, errors in enumerate(path.torque_error):
                sizes = [k for k, e in zip(path.sizes, errors, strict=True) if e < tolerance]
                assert found.size[lane, 0] == min(sizes)
                assert found.error[lane, 0] < tolerance

    def test_error_equal_to_the_tolerance_is_not_below_it(self):
        W = np.eye(2)[None, :, None, :]
        path = backward(W, np.array([[[3.0], [4.0]]]))
        error = float(path.torque_error[0, 1])  # 0.6
        assert select(path, ["tolerance"], 1, noise_known=False, tolerance=error).size[0, 0] == 2
        above = error * (1 + 1e-12)
        assert select(path, ["tolerance"], 1, noise_known=False, tolerance=above).size[0, 0] == 1

    def test_tolerance_out_of_reach_keeps_all_and_says_so(self):
        rng = np.random.default_rng(3)
        path = backward(rng.standard_normal((1, 30, 1, 2)), rng.standard_normal((1, 30, 1)))
        found = select(path, ["tolerance"], 30, noise_known=False, measured=True)
        assert found.size[0, 0] == 2
        assert found.error[0, 0] > 0.01

    def test_expectation_is_the_mean_of_measurements(self):
        # Noise of two different levels on the five-bar's torques; models of every size.
        one, draws = case("five-bar"), 4000
        noise = np.array([0.02, 0.5])
        tau = one.torque(one.phi)[:1]
        path = backward(one.W_b[:1], tau, 1 / noise, one.error[:1])
        columns, torque = rows(one.W_b[0], tau[0], 1 / noise)
        n = torque.size
        rng = np.random.default_rng(17)
        measured = tau[0] + noise * rng.standard_normal((draws, *tau[0].shape))
        flat = (measured / noise).reshape(draws, n)
        expected = expected_rss(path.rss, path.sizes, n)[0]
        for step, k in enumerate(path.sizes):
            left = np.setdiff1d(np.arange(columns.shape[1]), path.removed[0, 1 : step + 1])
            lengths = np.linalg.norm(columns[:, left], axis=0)
            Q = np.linalg.qr(columns[:, left] / lengths)[0]
            rss = ((flat - flat @ Q @ Q.T) ** 2).sum(axis=1)
            # RSS/σ² is noncentral χ² with n − k degrees of freedom and noncentrality RSS₀: its
            # variance is 2(n − k) + 4 RSS₀. Five standard errors of a mean of 4000: 1 in 1e6.
            spread = math.sqrt((2 * (n - k) + 4 * path.rss[0, step]) / draws)
            assert abs(rss.mean() - expected[step]) < 5 * spread
            if k >= 9:  # and fine enough to tell n − k from n
                assert 5 * spread < k / 4

    def test_too_few_samples_never_win(self):
        rng = np.random.default_rng(5)
        path = backward(rng.standard_normal((4, 3, 1, 5)), rng.standard_normal((4, 3, 1)))
        for n in (1, 2, 3, 6):
            for known, measured in ((True, False), (True, True), (False, True)):
                found = select(path, CRITERIA[1:], n, noise_known=known, measured=measured)
                assert np.isfinite(found.values.min(axis=2)).all()
                assert (found.size < max(n, 1)).all()

    def test_logarithm_of_a_perfect_fit(self):
        W = np.random.default_rng(7).standard_normal((1, 20, 1, 3))
        path = backward(W, W[..., 1])
        found = select(path, CRITERIA[1:], 20, noise_known=False, measured=True)
        assert np.isfinite(found.values).all()
        assert (found.size == 1).all()

    def test_ties_go_to_the_smaller_model(self):
        path = backward(np.zeros((1, 5, 1, 4)), np.ones((1, 5, 1)))
        even = replace(
            path, torque_error=np.array([[1.0, 3.0, 3.0, 3.0, 3.0]]), torque_norm=np.ones(1)
        )
        found = select(even, ["aic"], 9, noise_known=True, measured=True)
        assert found.values[0, 0].tolist() == [9.0, 15.0, 13.0, 11.0, 9.0]  # whole numbers
        assert found.size.tolist() == [[0]]

    @pytest.mark.parametrize("name", CRITERIA[1:])
    def test_own_torque_without_noise_has_only_the_tolerance(self, name):
        path = backward(np.ones((1, 4, 1, 1)), np.ones((1, 4, 1)))
        with pytest.raises(MissingDataError, match=rf"(?s)no noise in it.*{name}.*State `noise"):
            select(path, ["tolerance", name], 4, noise_known=False)
        assert select(path, ["tolerance"], 4, noise_known=False).size.tolist() == [[1]]

    def test_mistakes_are_named(self):
        path = backward(np.ones((1, 4, 1, 1)), np.ones((1, 4, 1)))
        with pytest.raises(UsageError, match="No such criterion: cp"):
            select(path, ["aic", "cp"], 4, noise_known=True)
        with pytest.raises(UsageError, match="tolerance is 1"):
            select(path, ["aic"], 4, noise_known=True, tolerance=1.0)
