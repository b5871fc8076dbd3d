"""Steps of a path's fit: within the trust region, as if alone, with eigenvalues of LAPACK's."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from basepar_core.compiled import fit_steps, refine
from basepar_core.metrics import Target
from basepar_core.metrics.alignment import freedoms, residual
from basepar_core.metrics.sampled_curves import Feet

ALL = ("timing", "position", "rotation", "scale")


@pytest.fixture
def plain(monkeypatch):
    """The kernels in Python, as they are written; what is called from them likewise."""
    names = ("_eigen", "_within", "_changed")
    found = {name: getattr(fit_steps, name).py_func for name in names}
    for name, function in found.items():
        monkeypatch.setattr(fit_steps, name, function)
    with np.errstate(all="ignore"):  # as in a kernel
        yield found


def drawn(rng, count, samples=64):
    """Open and closed paths (variant, axis, sample), a target, and what `refine` takes."""
    t = np.linspace(0, 5.0, samples)
    curve = np.stack([np.cos(t), 0.6 * np.sin(2 * t)])
    track = np.ascontiguousarray(rng.normal(size=(count, 2, 1)) * curve)
    wanted = rng.normal(size=(9, 2))
    return track, Target("wanted", tuple(map(tuple, wanted.tolist())), fit=ALL)


def test_fits_do_not_depend_on_each_other():
    """Bit for bit; of a path's two fits from two turns, too."""
    rng = np.random.default_rng(6)
    track, target = drawn(rng, 3)
    owner, closed = np.array([0, 0, 1, 2]), np.array([True, False, True])
    turn, shift = np.tile(np.eye(2), (4, 1, 1)), rng.normal(size=(4, 2))
    turn[1] = -turn[1]

    def fitted(rows):
        found = turn[rows].copy(), shift[rows].copy(), np.empty(len(rows))
        refine(track, closed, owner[rows], target.table, freedoms(target, 2), 60, *found)
        return found

    together = fitted(np.arange(4))
    for k in range(4):
        for one, other in zip(fitted(np.array([k])), together, strict=True):
            np.testing.assert_array_equal(one[0], other[k])
    # The error is that of the turn and shift it comes with. The targets are brought back by
    # another formula: thousands of roundings, hardly seen in an error that is least at its feet.
    turn, shift, error = together
    inverse = [(target.table - s) @ np.linalg.inv(T).T for T, s in zip(turn, shift, strict=True)]
    feet = Feet.nearest(track[owner], closed[owner], np.array(inverse))
    left = residual(feet, target, turn, shift)
    np.testing.assert_allclose(error, np.sqrt((left**2).sum(-1).mean(-1)), rtol=1e-12)


def test_a_path_without_places_leaves_the_others_alone():
    rng = np.random.default_rng(8)
    track, target = drawn(rng, 2)

    def fitted(paths):
        found = np.tile(np.eye(2), (2, 1, 1)), np.zeros((2, 2)), np.empty(2)
        refine(
            paths, np.zeros(2, bool), np.arange(2), target.table, freedoms(target, 2), 60, *found
        )
        return found

    spoilt = track.copy()
    spoilt[0, 0, 3:9] = np.nan
    for one, other in zip(fitted(track), fitted(spoilt), strict=True):
        np.testing.assert_array_equal(one[1], other[1])


@pytest.mark.parametrize("size", range(1, 8))
@pytest.mark.parametrize("kind", ["any", "double", "singular", "unlike"])
def test_eigenvalues_and_vectors_are_lapacks(plain, size, kind):
    """To 30 roundings of the largest one, the axes to 50 of 1: so many an entry goes through."""
    rng = np.random.default_rng(size)
    values = rng.normal(size=size)
    if kind == "double":
        values[: (size + 1) // 2] = values[0]
    if kind == "singular":
        values[0] = 0.0
    if kind == "unlike":
        values *= 10.0 ** np.arange(0, -2 * size, -2)
    axes = np.linalg.qr(rng.normal(size=(size, size)))[0]
    A = axes * values @ axes.T
    A = (A + A.T) / 2
    D, found = A.copy(), np.empty_like(A)
    plain["_eigen"](D, found)
    close = 30 * np.finfo(float).eps * np.abs(values).max()
    np.testing.assert_allclose(np.sort(np.diag(D)), np.linalg.eigvalsh(A), rtol=0, atol=close)
    np.testing.assert_allclose(found @ found.T, np.eye(size), rtol=0, atol=1e-14)
    np.testing.assert_allclose(found * np.diag(D) @ found.T, A, rtol=0, atol=close)


@pytest.mark.parametrize("bends", [(2.0, 1.0, 0.5), (2.0, -1.0, 0.3), (1.0, 0.0, -0.2)])
@pytest.mark.parametrize("reach", [0.1, 1.0, 100.0])
def test_a_step_stays_within_its_reach_and_goes_down(plain, bends, reach):
    """Where all bends up it is the least within the reach, by SciPy; else longer steps against
    what bends down than Newton's, and none along what does not bend."""
    rng = np.random.default_rng(4)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    H, g = axes * np.array(bends) @ axes.T, axes @ np.array([0.4, 0.3, 0.2])
    step, room = np.empty(3), np.empty((3, 3))
    promised = plain["_within"](H.copy(), g, reach, room, np.empty(3), step)
    # Cut to its reach, and what the model says of it, but for dozens of roundings.
    assert np.linalg.norm(step) <= reach * (1 + 1e-12)
    assert promised == pytest.approx(-(g @ step + step @ H @ step / 2), rel=1e-12, abs=1e-15)
    if min(bends) > 0:
        ball = {"type": "ineq", "fun": lambda s: reach**2 - s @ s}
        least = minimize(lambda s: g @ s + s @ H @ s / 2, np.zeros(3), constraints=ball)
        # Four steps to the multiplier, which need not be exact: a thousandth of the fall.
        assert promised >= -least.fun * (1 - 1e-3)
    along = axes.T @ step
    signs = np.where(np.array(bends) == 0, 0, -1)
    np.testing.assert_array_equal(np.sign(np.where(np.abs(along) < 1e-12, 0, along)), signs)


@pytest.mark.parametrize("size", [1e-9, 0.9e-4, 1.1e-4, 1.0, 3.0])
def test_rotations_and_growth_are_scipys(plain, size):
    vector = size * np.array([0.6, -0.48, 0.64])
    change = np.empty((3, 3))
    plain["_changed"](np.append(vector, 0.2), 3, True, change)
    expected = np.exp(0.2) * Rotation.from_rotvec(vector).as_matrix()
    np.testing.assert_allclose(change, expected, rtol=0, atol=1e-15 * 5)  # five roundings
    flat = np.empty((2, 2))
    plain["_changed"](np.array([size, 9.0]), 1, True, flat)  # growth ends at e
    expected = np.e * Rotation.from_rotvec([0, 0, size]).as_matrix()[:2, :2]
    np.testing.assert_allclose(flat, expected, rtol=0, atol=1e-15 * 5)
