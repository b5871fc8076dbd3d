"""Compiled torques and reduction paths: lane by lane against the plain path and brute force."""

import numpy as np
import pytest

from basepar_core.compiled import paths
from basepar_core.compiled.simd.lane_types import LANES
from basepar_core.reduction import reduce
from basepar_core.reduction.path import TIE
from tests.core.cycles import MECHANISMS, Case, case, rows
from tests.oracles import elimination


def scattered(one: Case, copies: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """W with nan between the variants, which are `chosen`, and what they are copies of."""
    source = np.tile(np.arange(len(one.W)), copies)
    chosen = np.arange(len(source)) * 3 // 2
    W = np.full((chosen[-1] + 1, *one.W.shape[1:]), np.nan)
    W[chosen] = one.W[source]
    return W, chosen, source


def run(one: Case, phi, noise, method="backward"):
    W, chosen, _ = scattered(one)
    return paths.own_path(W, phi, one.base.kept, noise, one.error, chosen, method)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("method", ["backward", pytest.param("forward", marks=pytest.mark.slow)])
def test_every_lane_as_by_the_plain_path(name, method):
    one = case(name)
    for phi in (one.phi, one.random_phi(5)):
        path, _ = run(one, phi, one.noise, method)
        plain = reduce.own_path(one.W, phi, one.base.kept, one.noise, one.error, method)
        np.testing.assert_array_equal(path.removed, plain.removed)
        np.testing.assert_array_equal(path.dependent, plain.dependent)
        # Rounding times the condition of W_b, up to 3e4, on either side; errors are of ‖τ‖ = 1.
        np.testing.assert_allclose(path.torque_error, plain.torque_error, rtol=1e-9, atol=TIE)
        np.testing.assert_allclose(path.torque_norm, plain.torque_norm, rtol=1e-13)
        largest = np.abs(plain.values).max(axis=(1, 2), keepdims=True)
        np.testing.assert_allclose(path.values / largest, plain.values / largest, atol=1e-9)


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "five-bar"])
def test_as_by_brute_force(name):
    one = case(name)
    path, _ = run(one, one.random_phi(5), one.noise)
    tau = one.torque(one.random_phi(5))
    for lane in range(len(one.W)):
        columns, torque = rows(one.W_b[lane], tau[lane], 1 / one.noise)
        removed, errors = elimination.backward(columns, torque)
        assert path.removed[lane].tolist() == [-1, *removed], lane
        np.testing.assert_allclose(path.torque_error[lane], errors, rtol=1e-9, atol=TIE)


def test_neighbours_change_no_bit():
    one = case("four-bar")
    W, chosen, source = scattered(one, LANES // len(one.W) + 2)
    assert len(chosen) > LANES
    phi, error = one.phi[source], one.error[source]
    together, torques = paths.own_path(W, phi, one.base.kept, one.noise, error, chosen)
    for lane in (0, 3, LANES - 1, len(chosen) - 1):
        pick = slice(lane, lane + 1)
        alone, torque = paths.own_path(
            W, phi[pick], one.base.kept, one.noise, error[pick], chosen[pick]
        )
        for field in ("removed", "torque_error", "torque_norm", "values", "dependent"):
            np.testing.assert_array_equal(
                getattr(alone, field)[0], getattr(together, field)[lane], field
            )
        np.testing.assert_array_equal(torque.rms[0], torques.rms[lane])


@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_metrics_of_torques(name):
    one = case(name)
    tau = one.torque(one.phi)
    W, chosen, _ = scattered(one)
    _, beside = run(one, one.phi, one.noise)
    for found in (paths.torques(W, one.phi, chosen), beside):
        # Sums of twelve to sixteen products, in another order.
        rms = np.sqrt((tau**2).mean(axis=1))
        np.testing.assert_allclose(found.rms, rms, rtol=1e-13)
        np.testing.assert_allclose(found.peak, np.abs(tau).max(axis=1), rtol=1e-12)


def test_without_torque_everything_goes_at_no_cost():
    one = case("five-bar")
    phi = one.random_phi(5)
    phi[1::2] = 0.0
    path, _ = run(one, phi, one.noise)
    plain = reduce.own_path(one.W, phi, one.base.kept, one.noise, one.error)
    np.testing.assert_array_equal(path.removed, plain.removed)
    assert (path.torque_error[1::2] == 0).all()
    assert (path.torque_norm[1::2] == 0).all()
    assert (path.torque_error[::2, -1] > 0.9).all()


def test_columns_without_effect_leave_first():
    one = case("five-bar")
    W = one.W.copy()
    W[..., one.base.kept[4]] = 0.0
    phi = one.random_phi(5)
    chosen = np.arange(len(W))
    path, _ = paths.own_path(W, phi, one.base.kept, one.noise, one.error, chosen)
    plain = reduce.own_path(W, phi, one.base.kept, one.noise, one.error)
    assert (path.removed[:, 1] == 4).all()
    np.testing.assert_array_equal(path.removed, plain.removed)
    np.testing.assert_array_equal(path.dependent, plain.dependent)


def test_few_calls_are_close_where_columns_nearly_depend(monkeypatch):
    """A crank that moves by 6 degrees: torque errors of 1e-13 to 1e-10 are many, ties few."""
    monkeypatch.setitem(MECHANISMS, "watt-ii", 63)
    one = case("watt-ii")
    asked, original = [], reduce.own_path
    monkeypatch.setattr(
        reduce, "own_path", lambda W, *rest: asked.append(len(W)) or original(W, *rest)
    )
    path, _ = run(one, one.phi, one.noise)
    assert sum(asked) < len(one.W) / 4
    plain = original(one.W, one.phi, one.base.kept, one.noise, one.error)
    np.testing.assert_array_equal(path.removed, plain.removed)


@pytest.mark.parametrize("apart", [0.0, 0.9, 0.999, 1.001, 1.1, 30.0])
def test_ties_are_judged_as_by_the_plain_path(apart, monkeypatch):
    """Two columns that cost the same but for `apart` of what counts as equal."""
    one = case("four-bar")
    b, rng = one.base.rank, np.random.default_rng(2)
    Q = np.linalg.qr(rng.standard_normal((40, b)))[0]
    # Orthonormal columns: losing one costs its share of the torque, whatever else is gone.
    shares = np.linspace(1.0, 2.0, b)
    shares[2] = shares[1] = 0.5
    norm = np.sqrt((shares**2).sum())
    shares[1] -= apart * TIE * norm
    W = np.zeros((3, 40, 1, len(one.base.parameters)))
    W[:, :, 0, list(one.base.kept)] = Q
    phi = np.zeros((3, W.shape[-1]))
    phi[:, list(one.base.kept)] = shares
    args = (one.base.kept, None, np.full(3, 1e-15))
    plain = reduce.own_path(W, phi, *args)
    asked, original = [], reduce.own_path
    monkeypatch.setattr(
        reduce, "own_path", lambda W, *rest: asked.append(len(W)) or original(W, *rest)
    )
    path, _ = paths.own_path(W, phi, *args, np.arange(3))
    np.testing.assert_array_equal(path.removed, plain.removed)
    assert asked == ([3] if apart in (0.999, 1.001) else [])  # close calls only
    assert (path.removed[:, 1] == (2 if apart < 1 else 1)).all()  # the last among equals


def test_few_samples_are_the_plain_path_s():
    one = case("four-bar")
    W = np.ascontiguousarray(one.W[:, : one.base.rank])
    args = (one.phi, one.base.kept, one.noise, one.error)
    path, _ = paths.own_path(W, *args, np.arange(len(W)))
    plain = reduce.own_path(W, *args)
    np.testing.assert_array_equal(path.removed, plain.removed)
    np.testing.assert_array_equal(path.torque_error, plain.torque_error)


def test_frozen_parameters_compile_nothing_more():
    from basepar_core.compiled.paths_torques import reduce as kernel

    one = case("four-bar")
    run(one, one.phi.copy(), one.noise)
    before = set(kernel.signatures)
    frozen = one.phi.copy()
    frozen.flags.writeable = False
    run(one, frozen, one.noise)
    assert set(kernel.signatures) == before
