"""Rigorous bounds beside the ridge, and the numbers of mpmath that users see."""

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import arb, fmpz_mat
from mpmath import mpf

from basepar_core.api import load
from basepar_core.base.precise_route import precise, precise_rank, settle
from basepar_core.dynamics.closure import prepare
from basepar_core.variable_precision import numbers
from basepar_core.variable_precision.arithmetic import bits_of, working
from basepar_core.variable_precision.bounds import (
    dependence,
    entry_errors,
    independence,
    may_vanish,
)
from basepar_core.variable_precision.observation import IntegerMatrix, variant
from basepar_core.variable_precision.singular_value_gap import rung
from tests.core.variable_precision.test_ridge import graded, noisy


@pytest.fixture(scope="module")
def models():
    cache = {}

    def get(name):
        if name not in cache:
            cache[name] = prepare(load(name))
        return cache[name]

    return get


def log10(x):
    return float(mpmath.log10(numbers.from_exact(x)))


# Bounds.


@pytest.mark.parametrize(("least", "digits"), [(-6, 40), (-20, 60), (-60, 150)])
def test_bounds_hold_and_are_near(least, digits):
    """Known singular values: the lower bound is below the last, by little; the upper falls."""
    W = graded([Fraction(least * k, 9) for k in range(10)], 30, 16, digits)
    found = rung(W)
    kept, others = found.order[:10], found.order[10:]
    low = log10(independence(W, kept, found.grading).least)
    # Interlacing of the chosen columns and a Frobenius norm: some √10·10 at most.
    assert least - 2 < low < least
    high = dependence(W, kept, others, found.grading)
    assert high.explained
    assert log10(high.most) < 3 - digits + math.log10(2.0 ** (W.scale + W.bits))


def test_bounds_allow_for_the_declared_error():
    """An error as large as σ_r proves nothing, and moves σ_{r+1}."""
    W = graded([Fraction(-k) for k in range(10)], 30, 16, 40)
    loose = replace(W, radius=1 << (W.bits - bits_of(8)))
    kept, others = range(10), range(10, 16)
    order = rung(W).order
    kept, others = order[:10], order[10:]
    assert independence(W, kept, 9).least > 0
    assert not independence(loose, kept, 9).least > 0
    assert log10(dependence(loose, kept, others, 9).most) > -9


def test_dependent_columns_are_not_proved_independent():
    W = graded([Fraction(-k) for k in range(5)], 20, 8, 40)
    assert not independence(W, range(6), 4).least > 0
    # Five pivots do not span six dimensions: what is left is more than the error explains.
    wide = graded([Fraction(-k) for k in range(6)], 20, 8, 40)
    order = rung(wide).order
    assert not dependence(wide, order[:5], order[5:], 5).explained


def combined(digits, seed=4):
    """Columns with known, exact combinations of them, and the combinations."""
    rng = np.random.default_rng(seed)
    free = [[int(x) for x in row] for row in rng.integers(-(10**9), 10**9, (20, 5))]
    beta = [[int(x) for x in row] for row in rng.integers(-9, 10, (5, 3))]
    scaled = fmpz_mat(free) * 10 ** (digits - 11)
    right = scaled * fmpz_mat(beta)
    shaken = [x + int(k) for x, k in zip(right.entries(), rng.integers(-1, 2, 60), strict=True)]
    entries = [[*row, *shaken[3 * k : 3 * k + 3]] for k, row in enumerate(scaled.tolist())]
    return IntegerMatrix(fmpz_mat(entries), -bits_of(digits), 1, bits_of(digits)), beta


def test_errors_of_entries_hold_the_truth():
    W, beta = combined(60)
    proved = independence(W, range(5), 1)
    found = dependence(W, range(5), range(5, 8), 1)
    errors = entry_errors(W, proved, found)
    with working(400):
        for i in range(5):
            for j in range(3):
                off = abs(arb(found.entries[i, j]) / arb(2) ** found.bits - beta[i][j])
                assert off <= errors[i][j]
                assert errors[i][j] < arb(10) ** -55


@pytest.mark.parametrize("name", ["four-bar", "rsur", "watt-ii", "sla-suspension"])
def test_mechanisms_are_proved_from_below(models, name):
    found = precise_rank(models(name))
    assert (found.evident, found.proved) == (True, True)
    last = found.log10_singular_values[found.rank - 1]
    assert last - 2.5 < found.log10_least <= last + 1e-11
    assert found.log10_most < found.log10_least - 20


# The other matrix.


@pytest.mark.parametrize(
    ("name", "rank"),
    [("four-bar", 8), ("parallelogram", 3), ("rsur", 12), ("ur10", 36), ("sla-suspension", 41)],
)
def test_energies_have_the_same_rank(models, name, rank):
    found = precise_rank(models(name), form="energy")
    assert (found.rank, found.evident, found.form) == (rank, True, "energy")


@pytest.mark.parametrize(("name", "rank"), [("four-bar", 8), ("ur10", 36), ("delta", 34)])
def test_rows_by_modes_have_the_same_rank_and_null_space(models, name, rank):
    """Null vectors of W, to all digits; a digit that is changed shows."""
    model = models(name)
    base = precise(model, digits=30)
    W = variant(model, {}, rank + 4).observe(30, "modes")
    assert base.rank == rung(W).rank == rank
    assert independence(W, base.kept, 0.0).least > 0
    with working(bits_of(40)):
        values = [arb(mpmath.nstr(x, 30), 1e-29) for x in base.decimals]
    beta = {(e.base, e.eliminated): x for e, x in zip(base.beta, values, strict=True)}
    assert may_vanish(W, base.kept, base.eliminated, beta)
    with working(bits_of(40)):
        for place in list(beta)[:: max(1, len(beta) // 5)]:
            wrong = beta | {place: beta[place] + arb("1e-20")}
            assert not may_vanish(W, base.kept, base.eliminated, wrong)
        unknown = beta | {next(iter(beta)): arb("nan")}
    assert not may_vanish(W, base.kept, base.eliminated, unknown)


def test_energies_have_the_same_null_space(models):
    one = variant(models("watt-ii"), {})
    W, E = one.observe(60), one.observe(60, "energy")
    found = rung(W)
    kept, others = found.order[:13], found.order[13:]
    ours, theirs = (dependence(M, kept, others, 20).floats() for M in (W, E))
    np.testing.assert_allclose(theirs, ours, rtol=1e-14, atol=1e-14)  # floats of both


# Errors that nobody declared, where only some digits were factored.


@pytest.mark.parametrize("size", [1e-30, 1e-60, 1e-120])
def test_undeclared_errors_in_long_numbers(size):
    """The first forty digits look right; all of them do not."""
    rng = np.random.default_rng(3)

    def sloppy(digits):
        return noisy(graded([Fraction(-k) for k in range(12)], 30, 16, digits), size, rng)

    found = settle(sloppy, (200,)).result
    assert (found.evident, found.reevaluated) == (False, True)


def test_first_digits_do_not_hide_what_is_below_them():
    """Ranks that show at 90 digits only, though the ridge above them is evident at forty."""
    W = graded([Fraction(0), Fraction(-1), Fraction(-90)], 20, 8, 200)
    assert rung(W).rank == 3
    assert rung(W).log10_values[2] == pytest.approx(-90, abs=1e-12)
    assert rung(W.shortened(bits_of(40))).rank == 2


# Numbers of mpmath.


@pytest.mark.slow
def test_digits_are_right_and_mpmaths_precision_untouched(models):
    before = mpmath.mp.dps
    few, many = (precise(models("sla-suspension"), digits=d) for d in (30, 80))
    assert mpmath.mp.dps == before
    assert [(e.base, e.eliminated) for e in few.beta] == [
        (e.base, e.eliminated) for e in many.beta
    ]
    for a, b in zip(few.decimals, many.decimals, strict=True):
        assert isinstance(a, mpf)
        assert numbers.text(a, 29) == numbers.text(b, 29)
    with mpmath.workdps(90):
        assert 0 < many.least <= many.sigma[40] * (1 + mpf(10) ** -12)
        assert many.most < mpf(10) ** -100
    document = many.document()
    assert all(isinstance(x, str) for row in document["base"] for x in row["values"].values())
    assert isinstance(document["singular_values"][0], str)
    assert document["bounds"]["sigma"] == 41


def test_all_digits_of_a_known_number(models):
    names = models("four-bar").mechanism.parameter_names
    wanted = [names.index(x) for x in ("crank.m", "crank.J", "coupler.J", "rocker.J")]
    found = precise(models("four-bar"), wanted, digits=120)
    with mpmath.workdps(130):  # crank.mx − crank.J/lx1
        assert abs(found.precise_beta[0, 1] + mpf(10) / 3) < mpf(10) ** -119


def test_null_space_is_one(models):
    found = precise(models("rsur"), digits=60)
    W = numbers.matrix(variant(models("rsur"), {}).observe(90))
    with mpmath.workdps(100):
        left = W * found.null_space
        assert found.null_space.cols == len(found.parameters) - found.rank
        assert max(abs(x) for x in left) < mpf(10) ** -58 * max(abs(x) for x in W)
        assert found.precise_beta.rows == found.rank


def test_the_customary_decomposition(models):
    """U, S, V of mpmath; its singular values are ours."""
    one = variant(models("four-bar"), {}, 14).observe(40)
    before = mpmath.mp.dps
    U, S, V = numbers.svd(one)
    assert mpmath.mp.dps == before
    assert all(type(x) is mpf for x in (U[0, 0], S[0], V[0, 0]))
    with mpmath.workdps(50):
        W = numbers.matrix(one)
        assert max(abs(x) for x in U * mpmath.diag(list(S)) * V.T - W) < mpf(10) ** -38
        assert max(abs(x) for x in V.T * V - mpmath.eye(12)) < mpf(10) ** -38
        ours = [numbers.from_float(*x) for x in rung(one).values[:8]]
        # Thirteen digits.
        assert all(abs(a / b - 1) < 1e-13 for a, b in zip(ours, S, strict=False))
    _, again, _ = numbers.svd(W)
    assert abs(again[0] - S[0]) < 1e-14


def test_numbers_keep_what_mpmath_would_round():
    third = numbers.power_of_two_times((1 << 300) // 3, -300)
    assert numbers.text(numbers.negative(third), 60) == "-0." + 60 * "3"
    tiny = numbers.from_float(0.5, -4000)
    assert numbers.text(tiny, 5).endswith("e-1205")
    assert numbers.text(numbers.from_exact(arb("inf")), 5) == "+inf"


@pytest.mark.parametrize("value", [1, 3, 10**9 - 1])
def test_printed_bounds_are_bounds(value):
    """Thirteen digits of a third: below it for a lower bound, above it for an upper one."""
    x = numbers.power_of_two_times((value << 200) // 3, -200)
    low, high = (Fraction(numbers.bound_text(x, 13, d)) for d in (-1, 1))
    assert low < Fraction(value, 3) < high
    assert high - low < Fraction(value, 10**11)
