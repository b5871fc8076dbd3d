"""The parts that kernels share: sines, factors and solutions in lanes."""

import mpmath
import numpy as np
import pytest
from numba import njit

from basepar_core.compiled import qr
from basepar_core.compiled.elimination import order, parity
from basepar_core.compiled.simd import lane_types
from basepar_core.compiled.simd.lane_types import LANES, OPTIONS
from basepar_core.compiled.simd.vectors import (
    WIDTH,
    floor,
    greatest,
    larger,
    least,
    number,
    set_number,
    size_of,
    smaller,
    some,
    sqrt,
    total,
    where,
)
from basepar_core.compiled.simd.vectors import lanes as view


# Kernels have no entry for Python: these are it, with the options of all that ship.
@njit(**OPTIONS)
def sine_cosine(angles, row, sine, cosine):
    lane_types.sine_cosine(view(angles), row, view(sine), view(cosine))


@njit(**OPTIONS)
def solve(steps, lists, n, A, diagonal, beta, right, x):
    A, diagonal, beta = view(A), view(diagonal), view(beta)
    qr.factor(steps, lists, 0, n, A, 0, diagonal, beta)
    qr.solve(steps, lists, 0, n, A, 0, diagonal, beta, view(right), view(x))


@njit(**OPTIONS)
def inverse_square(steps, lists, place, n, A, diagonal, x, total):
    A, diagonal, x, total = view(A), view(diagonal), view(x), view(total)
    qr.inverse_square(steps, lists, place, 0, n, A, 0, diagonal, x, total, 0)


@pytest.mark.parametrize("size", [1.0, 10.0, 1e3, 1e5])
def test_sines_to_a_unit_and_a_half_in_the_last_place(size):
    angles = np.random.default_rng(2).uniform(-size, size, (4, LANES))
    sine, cosine = np.empty(LANES), np.empty(LANES)
    for row in range(4):
        sine_cosine(angles, row, sine, cosine)
        for x, s, c in zip(angles[row], sine, cosine, strict=True):
            with mpmath.workdps(40):
                for found, true in (
                    (s, mpmath.sin(mpmath.mpf(x))),
                    (c, mpmath.cos(mpmath.mpf(x))),
                ):
                    assert abs(found - true) <= 1.5 * np.spacing(abs(float(true)))


def test_sines_of_no_number():
    angles = np.full((1, LANES), np.nan)
    sine, cosine = np.empty(LANES), np.empty(LANES)
    sine_cosine(angles, 0, sine, cosine)
    assert np.isnan(sine).all()
    assert np.isnan(cosine).all()


def steps_of(pattern):
    found, lists, steps = order(pattern), [], []
    for t in range(len(pattern)):
        first = len(lists)
        lists += found.rows[t]
        middle = len(lists)
        lists += found.others[t]
        steps.append([found.column[t], found.row[t], first, middle, middle, len(lists)])
    return found, np.array(steps), np.array(lists)


@pytest.mark.parametrize(("n", "share"), [(1, 1), (2, 1), (3, 1), (6, 0.5), (15, 0.3), (15, 1)])
@pytest.mark.slow
def test_systems_of_every_pattern(n, share):
    rng = np.random.default_rng(n)
    pattern = rng.uniform(size=(n, n)) < share
    pattern[np.arange(n), rng.permutation(n)] = True
    found, steps, lists = steps_of(pattern)
    M = rng.standard_normal((LANES, n, n)) * pattern
    A = np.ascontiguousarray(M.reshape(LANES, n * n).T)
    diagonal, beta, x, right = np.empty((4, n, LANES))
    right[:] = rng.standard_normal((n, LANES))
    total = np.empty((1, LANES))
    expected = np.linalg.solve(M, right.T[..., None])[..., 0].T
    solve(steps, lists, n, A, diagonal, beta, right, x)
    # Backward stable on both sides: some roundings, magnified by the condition.
    allowed = 1e-14 * np.linalg.cond(M) * np.abs(expected).max(axis=0)
    assert (np.abs(x - expected).max(axis=0) < allowed).all()
    signs = found.sign * np.sign(diagonal).prod(axis=0)
    np.testing.assert_array_equal(signs, np.sign(np.linalg.det(M)))
    place = np.argsort(found.column)
    inverse_square(steps, lists, place, n, A, diagonal, x, total)
    norms = np.linalg.norm(np.linalg.inv(M), axis=(1, 2))
    np.testing.assert_allclose(np.sqrt(total[0]) / norms, 1, atol=1e-14 * np.linalg.cond(M).max())


def test_a_singular_lane_is_alone():
    M = np.random.default_rng(1).standard_normal((LANES, 3, 3))
    _, steps, lists = steps_of(np.ones((3, 3), dtype=bool))

    def solved(matrices):
        A = np.ascontiguousarray(matrices.reshape(LANES, 9).T)
        diagonal, beta, x = np.empty((3, 3, LANES))
        right = np.ones((3, LANES))
        solve(steps, lists, 3, A, diagonal, beta, right, x)
        return x

    whole = solved(M)
    M[5] = 0
    M[6] = np.nan
    broken = solved(M)
    assert not np.isfinite(broken[:, [5, 6]]).any()
    others = np.setdiff1d(np.arange(LANES), [5, 6])
    np.testing.assert_array_equal(broken[:, others], whole[:, others])


def test_legs_are_eliminated_before_what_they_share():
    """Five legs with two unknowns each under a platform with five: no reflection is long."""
    pattern = np.zeros((15, 15), dtype=bool)
    for leg in range(5):
        pattern[3 * leg : 3 * leg + 3, 2 * leg : 2 * leg + 2] = True
        pattern[3 * leg : 3 * leg + 3, 10:] = True
    found = order(pattern)
    assert set(found.column[:10]) == set(range(10))
    assert max(map(len, found.rows)) == 5


@pytest.mark.parametrize(
    ("permutation", "sign"), [((0, 1, 2), 1), ((1, 0, 2), -1), ((1, 2, 0), 1)]
)
def test_parity(permutation, sign):
    assert parity(permutation) == sign


@njit
def vector_functions(a, b, out):
    a, b, out = view(a), view(b), view(out)
    for l in range(0, LANES, WIDTH):
        x, y = a[0, l], b[0, l]
        out[0, l] = where((x < y) & (y != 0), x, 2 - y)
        out[1, l] = larger(x, y) + smaller(x, 1)
        out[2, l] = sqrt(size_of(x)) / 3 - floor(-y)
        out[3, l] = total(x)
        out[4, l] = 1.0 if some((x > 1) | (y <= -1)) else 0.0
        out[4, l] *= 7
        set_number(out, 5, l, number(a, 0, l + 1))
        out[6, l], out[7, l] = least(x), greatest(x)


def test_vectors_do_what_numpy_does():
    a, b = np.random.default_rng(1).standard_normal((2, 1, LANES))
    b[0, 3], a[0, 5] = 0.0, 0.0
    out = np.zeros((8, LANES))
    vector_functions(a, b, out)
    x, y = a[0], b[0]
    np.testing.assert_array_equal(out[0], np.where((x < y) & (y != 0), x, 2 - y))
    np.testing.assert_array_equal(out[1], np.maximum(x, y) + np.minimum(x, 1))
    # A division by a constant may be a product with its reciprocal.
    np.testing.assert_allclose(
        out[2], np.sqrt(np.abs(x)) / 3 - np.floor(-y), rtol=1e-15, atol=1e-15
    )
    for first in range(0, LANES, WIDTH):
        part = slice(first, first + WIDTH)
        # Eight numbers in another order.
        np.testing.assert_allclose(out[3, part], x[part].sum(), atol=1e-14)
        assert (out[4, part] == 7 * (np.any(x[part] > 1) | np.any(y[part] <= -1))).all()
        assert out[5, first] == x[first + 1]
        assert (out[6, part] == x[part].min()).all()
        assert (out[7, part] == x[part].max()).all()


def test_comparisons_with_no_number():
    a, out = np.full((1, LANES), np.nan), np.zeros((8, LANES))
    vector_functions(a, np.ones((1, LANES)), out)
    assert (out[0] == 1).all()  # not less, so 2 − 1
    assert (out[4] == 0).all()
    assert (out[1] == 2).all()  # the second where the first is no number
