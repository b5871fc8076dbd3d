"""Reduction paths against least squares for every candidate, lane by lane."""

import math

import numpy as np
import pytest

from basepar_core.reduction.criteria import CRITERIA, select
from basepar_core.reduction.path import TIE, Path, backward, forward
from basepar_core.reduction.reduce import own_path
from tests.core.cycles import MECHANISMS, case, rows
from tests.oracles import elimination


def same_as_brute_force(path: Path, W: np.ndarray, tau: np.ndarray, weights: np.ndarray) -> None:
    """Every lane, every step."""
    for lane in range(len(W)):
        columns, torque = rows(W[lane], tau[lane], weights)
        removed, errors = elimination.backward(columns, torque)
        assert path.removed[lane].tolist() == [-1, *removed], lane
        # Least squares of condition up to 3e4 err by 1e4 × 1e-16 of the torque; what counts as
        # equal is 1e-12.
        np.testing.assert_allclose(path.torque_error[lane], errors, rtol=1e-9, atol=TIE)


class TestBackward:
    @pytest.mark.parametrize("name", MECHANISMS)
    def test_own_torque_as_by_brute_force(self, name):
        one = case(name)
        path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
        same_as_brute_force(path, one.W_b, one.torque(one.phi), 1 / one.noise)

    @pytest.mark.parametrize("name", MECHANISMS)
    def test_unsymmetrical_bodies_as_by_brute_force(self, name):
        one = case(name)
        tau = one.torque(one.random_phi(5))
        weights = np.ones(len(one.noise))
        path = backward(one.W_b, tau, error=one.error)
        same_as_brute_force(path, one.W_b, tau, weights)
        # Variants that differ: a kernel that mixes up its lanes would not have got here.
        assert len({tuple(np.round(lane, 6)) for lane in path.torque_error}) == len(one.W)

    def test_measured_torque_as_by_brute_force(self):
        one = case("five-bar")
        rng = np.random.default_rng(11)
        tau = one.torque(one.random_phi(5))
        tau = tau + 0.3 * tau.std() * rng.standard_normal(tau.shape)
        path = backward(one.W_b, tau)
        assert (path.torque_error[:, 0] > 0.1).all()  # noise that no parameter explains
        same_as_brute_force(path, one.W_b, tau, np.ones(2))

    def test_each_coordinate_counts_by_its_noise(self):
        one = case("five-bar")
        tau, noise = one.torque(one.random_phi(5)), np.array([0.01, 1.0])
        path = backward(one.W_b, tau, 1 / noise, one.error)
        same_as_brute_force(path, one.W_b, tau, 1 / noise)
        plain = backward(one.W_b, tau, error=one.error)
        assert (path.removed != plain.removed).any(axis=1).all()
        assert path.torque_norm == pytest.approx(
            [np.linalg.norm(x / noise) for x in tau], rel=1e-13
        )

    def test_values_are_least_squares(self):
        one = case("five-bar")
        tau = one.torque(one.random_phi(5))
        path = backward(one.W_b, tau, 1 / one.noise)
        for lane in range(len(tau)):
            columns, torque = rows(one.W_b[lane], tau[lane], 1 / one.noise)
            for step in range(1, columns.shape[1]):
                left = np.setdiff1d(np.arange(columns.shape[1]), path.removed[lane, 1 : step + 1])
                expected = np.zeros(columns.shape[1])
                expected[left] = elimination.solve(columns[:, left], torque)
                # Condition up to 2e3 times rounding, on either side.
                scale = np.abs(expected).max()
                np.testing.assert_allclose(
                    path.values[lane, step], expected, rtol=1e-11, atol=1e-11 * scale
                )

    def test_errors_grow_from_nothing_to_everything(self):
        one = case("ur10")
        path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
        assert (np.diff(path.torque_error, axis=1) >= 0).all()
        assert (path.torque_error[:, 0] < 1e-14).all()  # β regroups exactly, to rounding
        # Squares of 36 steps are added up: rounding.
        assert path.torque_error[:, -1] == pytest.approx(1.0, rel=1e-13)
        assert np.sort(path.removed[:, 1:], axis=1).tolist() == [list(range(36))] * len(one.W)

    def test_scale_changes_nothing(self):
        one = case("five-bar")
        tau = one.torque(one.random_phi(5))
        plain = backward(one.W_b, tau, 1 / one.noise)
        units = 10.0 ** np.random.default_rng(2).integers(-3, 4, one.base.rank)
        other = backward(one.W_b * units, 7e5 * tau, 1 / (3e-4 * one.noise))
        assert (other.removed == plain.removed).all()
        # Division by column norms undoes the units to rounding, times the condition of 2e3.
        np.testing.assert_allclose(other.torque_error, plain.torque_error, rtol=1e-11, atol=TIE)
        back = other.values * units / 7e5
        np.testing.assert_allclose(back, plain.values, rtol=1e-9, atol=1e-9)


class TestForward:
    @pytest.mark.parametrize("name", ["five-bar", "ur10"])
    def test_as_by_brute_force(self, name):
        one = case(name)
        tau = one.torque(one.random_phi(5))
        path = forward(one.W_b, tau, 1 / one.noise, one.error)
        for lane in range(len(tau)):
            columns, torque = rows(one.W_b[lane], tau[lane], 1 / one.noise)
            added = elimination.forward(columns, torque)
            assert path.removed[lane, :0:-1].tolist() == added
            errors = [
                elimination.torque_error(columns[:, sorted(added[:k])], torque)
                for k in range(len(added), -1, -1)
            ]
            # As for backward elimination.
            np.testing.assert_allclose(path.torque_error[lane], errors, rtol=1e-9, atol=TIE)

    def test_differs_from_backward(self):
        one = case("five-bar")
        arguments = one.W, one.phi, one.base.kept, one.noise, one.error
        there, here = own_path(*arguments), own_path(*arguments, "forward")
        assert (there.removed != here.removed).any()

    def test_dependent_columns_are_added_last(self):
        rng = np.random.default_rng(4)
        W = rng.standard_normal((2, 20, 1, 4))
        W[..., 2] = W[..., 0] + W[..., 1]
        tau = W[..., 2] + 0.1 * W[..., 3]  # the dependent one alone would be the best first
        path = forward(W, tau)
        assert (path.removed[:, 1] == 2).all()
        assert (path.dependent == 1).all()

    def test_dependent_columns_are_added_after_useless_ones(self):
        W = np.eye(3)[None, :, None, [0, 0, 1]]  # the second is the first once more
        path = forward(W, W[..., 0])
        assert path.removed[0].tolist() == [-1, 1, 2, 0]


class TestDependentColumns:
    def test_four_bar_at_constant_speed_has_seven_of_eight(self):
        one = case("four-bar", ("m1", "J1", "J2", "J3"))
        assert {"crank.mx", "coupler.m"} < set(one.base.base_names)
        path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
        # Of the two that are proportional the later leaves, first of all.
        assert {one.base.base_names[k] for k in path.removed[:, 1]} == {"coupler.m"}
        assert (path.dependent == 1).all()
        assert (path.torque_error[:, 1] < 1e-14).all()  # rounding: the step costs nothing
        same_as_brute_force(path, one.W_b, one.torque(one.phi), 1 / one.noise)

    def test_column_that_does_nothing_leaves_first(self):
        one = case("four-bar")
        path = own_path(one.W, one.phi, one.base.kept, one.noise, one.error)
        assert {one.base.base_names[k] for k in path.removed[:, 1]} == {"crank.J"}

    def test_equal_columns_leave_from_the_last(self):
        # Four orthogonal columns that matter equally: every step is a tie.
        W = np.eye(4)[None, :, None, :]
        path = backward(W, np.ones((1, 4, 1)))
        assert path.removed[0].tolist() == [-1, 3, 2, 1, 0]
        # √(k/4) is exact but for the square root.
        assert path.torque_error[0] == pytest.approx(np.sqrt(np.arange(5) / 4), abs=1e-15)

    @pytest.mark.parametrize(
        ("gap", "first"), [(0.2 * TIE, 1), (5 * TIE, 0)], ids=["equal", "different"]
    )
    def test_what_counts_as_equal(self, gap, first):
        # Dropping column 0 leaves an error of a, dropping column 1 one of a + gap.
        a = 0.1
        parts = np.array([a, a + gap, math.sqrt(1 - a**2 - (a + gap) ** 2)])
        path = backward(np.eye(3)[None, :, None, :], parts[None, :, None])
        assert path.removed[0, 1] == first

    def test_every_lane_has_its_own(self):
        rng = np.random.default_rng(8)
        W = rng.standard_normal((5, 30, 2, 5))
        W[1, ..., 3] = 2 * W[1, ..., 0]
        W[2, ..., 0] = 0.0
        W[3, ..., 2] = W[3, ..., 0] - W[3, ..., 1]
        W[3, ..., 4] = 3 * W[3, ..., 3]
        W[4] = W[4, ..., :1]
        tau = rng.standard_normal((5, 30, 2))
        path = backward(W, tau)
        assert path.dependent.tolist() == [0, 1, 1, 2, 4]
        assert path.removed[1, 1] == 3
        assert path.removed[2, 1] == 0
        assert path.removed[3, 1:3].tolist() == [4, 2]
        assert path.removed[4].tolist() == [-1, 4, 3, 2, 1, 0]
        same_as_brute_force(path, W, tau, np.ones(2))

    def test_fewer_rows_than_parameters(self):
        rng = np.random.default_rng(9)
        W, tau = rng.standard_normal((3, 2, 1, 5)), rng.standard_normal((3, 2, 1))
        path = backward(W, tau)
        assert path.removed[:, 1:4].tolist() == [[4, 3, 2]] * 3
        assert (path.torque_error[:, :4] < 1e-14).all()  # two columns fit two rows: rounding
        assert path.torque_error[:, 5] == pytest.approx(1.0, rel=1e-15)

    def test_nearly_dependent_columns_stay(self):
        # A part of 1e-9 stands far above rounding: the column carries the torque along it.
        rng = np.random.default_rng(10)
        W = rng.standard_normal((1, 40, 1, 3))
        other = rng.standard_normal((1, 40, 1))
        W[..., 2] = W[..., 0] + 1e-9 * other
        path = backward(W, other)
        assert path.dependent.tolist() == [0]
        # The column's own digits leave 1e-16/1e-9 of the direction.
        assert path.torque_error[0, 0] < 1e-6
        # … unless W itself is no better than 1e-8.
        assert backward(W, other, error=np.array([1e-8])).dependent.tolist() == [1]


class TestZeroTorque:
    def test_no_parameter_is_needed(self):
        rng = np.random.default_rng(1)
        W = rng.standard_normal((2, 10, 2, 3))
        tau = np.zeros((2, 10, 2))
        tau[1] = W[1, ..., 0]  # a neighbour with a torque, which must not notice
        path = backward(W, tau)
        assert path.torque_error[0].tolist() == [0.0] * 4
        assert path.removed[0].tolist() == [-1, 2, 1, 0]  # all tie: the last goes
        found = select(path, CRITERIA, 20, noise_known=True)
        assert (found.size[0] == 0).all()
        assert (found.error[0] == 0).all()
        assert (found.size[1, 0], found.error[1, 0]) == (1, pytest.approx(0, abs=1e-14))

    def test_rounding_of_cancelling_parts_is_zero(self):
        rng = np.random.default_rng(2)
        a = rng.standard_normal((1, 50, 1))
        W = np.stack([a * 0.3, a * 0.7, rng.standard_normal((1, 50, 1))], axis=-1)
        phi = np.array([[0.7, -0.3, 0.0]])
        torque = np.einsum("vscp,vp->vsc", W, phi)
        assert 0 < np.abs(torque).max() < 1e-15  # else this would test nothing
        path = own_path(W, phi, (0, 1, 2))
        assert path.torque_norm.tolist() == [0.0]
        assert path.torque_error.tolist() == [[0.0] * 4]

    @pytest.mark.parametrize("size", [1e-60, 1e-3, 1e60])
    def test_nothing_is_ever_nan(self, size):
        rng = np.random.default_rng(6)
        for width in range(6):
            W = rng.standard_normal((40, 4, 2, width)) * size
            # Zeros and copies of all kinds.
            W *= rng.choice([0.0, 1.0], (40, 1, 1, width))
            if width > 1:
                W[::3, ..., -1] = W[::3, ..., 0]
            tau = rng.standard_normal((40, 4, 2)) * rng.choice([0.0, 1.0], (40, 1, 1))
            for path in (backward(W, tau), forward(W, tau)):
                assert np.isfinite(path.torque_error).all()
                assert np.isfinite(path.values).all()
                assert ((path.removed >= 0).sum(axis=1) == width).all()
                for measured in (True, False):
                    found = select(path, CRITERIA, 8, noise_known=True, measured=measured)
                    assert np.isfinite(found.error).all()
                    assert not np.isnan(found.values).any()
