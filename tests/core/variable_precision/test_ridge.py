"""Singular values far below doubles, and ridges that must not be believed."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, arb_mat, fmpz_mat
from mpmath import mpf

from basepar_core.api import load
from basepar_core.base.precise_route import settle
from basepar_core.dynamics.closure import prepare
from basepar_core.variable_precision.arithmetic import bits_of, exact, working
from basepar_core.variable_precision.bounds import dependence
from basepar_core.variable_precision.observation import (
    IntegerMatrix,
    Midpoints,
    rounded,
    variant,
)
from basepar_core.variable_precision.singular_value_gap import rung


@pytest.fixture(scope="module")
def models():
    cache = {}

    def get(name):
        if name not in cache:
            cache[name] = prepare(load(name))
        return cache[name]

    return get


def as_floats(W):
    return np.array([[math.ldexp(int(x), W.scale) for x in row] for row in W.entries.tolist()])


# Singular values.


def test_singular_values_against_mpmath(models):
    W = variant(models("four-bar"), {}).observe(60)
    with mpmath.workdps(60):
        table = mpmath.matrix([[mpf(int(x)) for x in row] for row in W.entries.tolist()])
        values = mpmath.svd_r(table * mpf(2) ** W.scale, compute_uv=False)
        expected = [float(mpmath.log10(values[k])) for k in range(8)]
    # 13 digits of each value are 1e-13/ln 10 of its logarithm.
    np.testing.assert_allclose(rung(W).log10_values[:8], expected, rtol=0, atol=2e-13)


def graded(decades, rows, columns, digits, seed=0):
    """A matrix with singular values 10^decades and the rest zero, as integers."""
    rng = np.random.default_rng(seed)
    with working(bits_of(digits + 30)):
        left, right = (_orthonormal(rng, size, len(decades)) for size in (rows, columns))
        sizes = [arb(10) ** exact(Fraction(x)) for x in decades]
        scaled = arb_mat(
            [[x * s for x, s in zip(row, sizes, strict=True)] for row in left.tolist()]
        )
        return rounded(Midpoints.of((scaled * right.transpose()).tolist()), digits)


def _orthonormal(rng, size, count):
    """Columns by Gram–Schmidt, twice."""
    found = []
    for _ in range(count):
        v = [arb(int(x)) for x in rng.integers(-9, 10, size)]
        for _ in range(2):
            for u in found:
                part = sum((a * b for a, b in zip(u, v, strict=True)), arb(0))
                v = [(a - part * b).mid() for a, b in zip(v, u, strict=True)]
            length = sum((a * a for a in v), arb(0)).sqrt()
            v = [(a / length).mid() for a in v]
        found.append(v)
    return arb_mat([list(row) for row in zip(*found, strict=True)])


@pytest.mark.parametrize(
    ("least", "digits"),
    [(-20, 40), (-45, 80), (-200, 320), (-310, 640)],
)
def test_graded_values_far_below_doubles(least, digits):
    decades = [Fraction(least * k, 11) for k in range(12)]
    found = settle(lambda d: graded(decades, 30, 16, d), (40, 80, 160, 320, 640)).result
    assert (found.rank, found.evident, found.digits) == (12, True, digits)
    # The data's own rounding, 10^(least + digits), is far below this.
    np.testing.assert_allclose(
        found.log10_singular_values[:12], [float(x) for x in decades], rtol=0, atol=1e-11
    )


def test_more_rows_or_columns():
    wide = graded([0, -1, -2], 4, 9, 40)
    assert rung(wide).rank == 3
    nothing = IntegerMatrix(fmpz_mat(3, 2, [0] * 6), 0, 1, 10)
    assert (rung(nothing).rank, rung(nothing).log10_values) == (0, (-math.inf, -math.inf))


def test_null_space_keeps_its_digits():
    """Columns that are sums of others, with lengths twenty decades apart."""
    W = graded([Fraction(-2 * k) for k in range(10)], 24, 14, 60)
    found = rung(W)
    X = dependence(W, found.order[:10], found.order[10:], found.grading).floats()
    entries = as_floats(W)
    error = entries[:, found.order[10:]] - entries[:, found.order[:10]] @ X
    assert np.abs(error).max() < 1e-14


# What must not be believed.


def noisy(W, size, rng):
    """W with errors of this size relative to its largest entry, not declared."""
    unit = 1 << max(0, W.bits - bits_of(-math.log10(size)))
    shape = W.entries.nrows(), W.entries.ncols()
    errors = rng.integers(-4, 5, shape[0] * shape[1])
    entries = [x + int(k) * unit for x, k in zip(W.entries.entries(), errors, strict=True)]
    return IntegerMatrix(fmpz_mat(*shape, entries), W.scale, W.radius, W.bits)


def test_undeclared_newton_errors_are_not_evidence():
    """1e-30 of error in 60-digit data: the null space vanishes, and a ridge stands below it."""
    rng = np.random.default_rng(3)
    decades = [Fraction(-k) for k in range(12)]

    def sloppy(digits):
        return noisy(graded(decades, 30, 16, digits), 1e-30, rng)

    assert rung(sloppy(60)).rank == 16  # what one precision alone makes of it
    for ladder in ((60,), (40, 80, 160)):
        found = settle(sloppy, ladder).result
        assert not found.evident
        assert found.reevaluated
        assert "singular value" in found.reason or "rank" in found.reason


def test_errors_that_keep_the_rank_are_caught_by_the_radius():
    """A wrong W of the right rank: its singular values hardly move, its entries do."""
    decades = [Fraction(0)] * 12

    def scaled(digits):
        W = graded(decades, 30, 12, digits)
        return noisy(W, 1e-15, np.random.default_rng(digits))

    found = settle(scaled, (40,)).result
    assert (found.rank, found.evident) == (12, False)
    assert "promised" in found.reason


def test_declared_errors_leave_no_ridge():
    W = graded([Fraction(-2 * k) for k in range(12)], 30, 16, 60)
    honest = IntegerMatrix(W.entries, W.scale, 1 << (W.bits - bits_of(20)), W.bits)
    assert rung(honest).rank < 12
    assert rung(honest).ridge < 10
