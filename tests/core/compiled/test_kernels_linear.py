"""Compiled spectra and β checks against the plain route, lane by lane, and against 40 digits."""

from dataclasses import dataclass
from functools import cache

import mpmath
import numpy as np
import pytest
from numba import njit

from basepar_core.base import numeric_route
from basepar_core.base.symbolic_route import symbolic
from basepar_core.compiled import linear
from basepar_core.compiled.linear_lanes import bidiagonals, quotients
from basepar_core.compiled.linear_triangles import triangles_of
from basepar_core.compiled.simd.lane_types import LANES, OPTIONS
from basepar_core.dynamics import closure, motion, regressor
from basepar_core.files import mechanism_file
from basepar_core.symbolic.algebraic_roots import symbol_values
from tests.mechanisms import nearby

EPS = np.finfo(float).eps
#: Not whole blocks of lanes: the last one is filled up.
MECHANISMS = {
    "four-bar": LANES + 5,
    "slider-crank": 6,
    "five-bar": 6,
    "watt-ii": 6,
    "ur10": 3,
    "sla-suspension": 3,
}


@dataclass(frozen=True)
class Case:
    """Variants of a mechanism along its excitation; every third row of W is another's rubbish."""

    W: np.ndarray
    chosen: np.ndarray
    error: np.ndarray
    terms: np.ndarray
    base: object
    entries: np.ndarray

    @property
    def places(self):
        beta = self.base.beta
        return np.array([[x.base for x in beta], [x.eliminated for x in beta]])

    def fast(self, rows=slice(None)):
        return linear.check(
            self.W[:, :, None],
            self.error[rows],
            self.base.kept,
            self.base.eliminated,
            self.places,
            self.entries[:, rows],
            self.terms[rows],
            self.chosen[rows],
        )

    def plain(self):
        beta = self.base.beta_matrix(self.entries)
        base = self.base
        return numeric_route.check(
            self.W[self.chosen], self.error, base.kept, base.eliminated, beta, self.terms
        )


@cache
def case(name):
    model = closure.prepare(mechanism_file.load(name))
    base = symbolic(model)
    values = nearby(model.mechanism, MECHANISMS[name], 0.04, seed=3)
    moving = motion.excitation(model.mechanism, model.assembled.coordinates)
    seen = regressor.observe(model, values, moving)
    assert seen.closed.all()
    count = len(seen.W)
    known = symbol_values(model.mechanism, values)
    entries = np.array(np.broadcast_to(base.beta_entries(known), (len(base.beta), count)))
    # Variants that failed stand between the others, and are nan or rubbish.
    chosen = np.arange(count) * 3 // 2
    W = np.full((chosen[-1] + 1, *seen.stacked.shape[1:]), np.nan)
    W[chosen] = seen.stacked
    return Case(W, chosen, seen.error, seen.terms, base, entries)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_lane_as_by_the_plain_route(name):
    one = case(name)
    fast, plain = one.fast(), one.plain()
    for verdict in ("rank", "at_least", "clear", "short", "noise", "no_effect"):
        np.testing.assert_array_equal(
            getattr(fast.spectrum, verdict), getattr(plain.spectrum, verdict), verdict
        )
    # Two Householder routes: each errs by some √m eps of the largest singular value.
    allowed = linear.SLACK * EPS * np.sqrt(plain.spectrum.scaled.shape[1])
    for spectrum in ("singular_values", "scaled"):
        theirs = getattr(plain.spectrum, spectrum)
        away = np.abs(getattr(fast.spectrum, spectrum) - theirs)
        assert (away <= allowed * np.maximum(theirs[:, :1], 1e-300)).all(), spectrum
    # A ratio errs by what its smaller part does: absolute errors over the least of W_b's.
    np.testing.assert_allclose(
        fast.condition, plain.condition, rtol=allowed * 10 * plain.condition.max()
    )
    following = np.abs(1 / fast.spectrum.gap - 1 / plain.spectrum.gap)
    last = numeric_route.edge(plain.spectrum.scaled, plain.spectrum.noise, plain.spectrum.rank)[0]
    assert (following <= 2 * allowed * plain.spectrum.scaled[:, 0] / last).all()
    # Sums of some hundred products of columns, on either side.
    np.testing.assert_allclose(fast.null_error, plain.null_error, atol=1e-13)


@pytest.mark.parametrize("name", ["four-bar", "ur10"])
def test_neighbours_change_no_bit(name):
    one = case(name)
    whole = one.fast()
    order = np.arange(len(one.chosen))[::-1]
    turned, last = one.fast(order), one.fast(order[:1])
    for field in ("singular_values", "scaled", "gap"):
        together = getattr(whole.spectrum, field)
        np.testing.assert_array_equal(getattr(turned.spectrum, field)[order], together)
        np.testing.assert_array_equal(getattr(last.spectrum, field), together[-1:])
    np.testing.assert_array_equal(turned.null_error[order], whole.null_error)
    np.testing.assert_array_equal(last.condition, whole.condition[-1:])


def test_low_mobility_as_by_forty_digits():
    """watt-ii: singular values over 33 decades, of which float64 sees sixteen."""
    one = case("watt-ii")
    found = one.fast().spectrum.singular_values
    for lane in (0, 5):
        W = one.W[one.chosen[lane]]
        with mpmath.workdps(40):
            exact = mpmath.svd_r(mpmath.matrix(W.tolist()), compute_uv=False)
            theirs = sorted((float(x) for x in exact), reverse=True)
        # Twenty columns: Householder's error bound is a few √m eps of the largest.
        np.testing.assert_allclose(
            found[lane], theirs, rtol=0, atol=linear.SLACK * 4.5 * EPS * theirs[0]
        )


@pytest.mark.parametrize("name", ["four-bar", "five-bar"])
def test_singular_values_are_within_what_the_triangle_proves(name):
    """σ_b ≥ 1/‖R₁₁⁻¹‖_F and σ_(b+1) ≤ ‖R₂₂‖_F, by interlacing, from another QR."""
    one = case(name)
    found = one.fast().spectrum
    order, b = [*one.base.kept, *one.base.eliminated], one.base.rank
    for lane, variant in enumerate(one.chosen):
        unit = numeric_route.unit_columns(one.W[variant], one.terms[lane])[0]
        R = np.linalg.qr(unit[:, order], mode="r")
        rounding = 40 * EPS
        assert found.scaled[lane, b - 1] >= 1 / np.linalg.norm(np.linalg.inv(R[:b, :b])) - rounding
        assert found.scaled[lane, b] <= np.linalg.norm(R[b:, b:]) + rounding


@njit(**OPTIONS)
def singular_values(T, q, e, rows, work):
    bidiagonals(T, q, e, rows, work[:3])
    quotients(q, e, work)


def spectra(T):
    """Singular values (lane, value) of square matrices (lane, row, column) by the kernels."""
    full = np.zeros((LANES, *T.shape[1:]))
    full[: len(T)] = T
    columns = np.ascontiguousarray(full.transpose(2, 1, 0))
    q, e = np.zeros((2, columns.shape[0], LANES))
    rows, work = np.empty((2, columns.shape[0], LANES)), np.empty((9, LANES))
    singular_values(columns, q, e, rows, work)
    return q.T[: len(T)]


def hard_matrices():
    """Matrices that split, repeat, grade, vanish: what shifts and divisions stumble over."""
    rng = np.random.default_rng(8)
    n = 10
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    blocks = np.zeros((n, n))
    blocks[:4, :4] = 1e-5 * rng.standard_normal((4, 4))
    blocks[4:, 4:] = rng.standard_normal((6, 6))
    return {
        "identity": np.eye(n),
        "nothing": np.zeros((n, n)),
        "one": np.outer(Q[0], Q[1]),
        "equal": Q * 3.0,
        "pairs": (Q * np.repeat([5.0, 1.0, 1e-3, 1e-9, 0.0], 2)) @ Q.T,
        "close": (Q * (1 + 1e-9 * np.arange(n))) @ Q.T,
        "steep": (Q * 10.0 ** -np.arange(0.0, 40.0, 4.0)) @ Q.T,
        "blocks": blocks,
        "swapped": blocks[::-1, ::-1].copy(),
        "diagonal": np.diag(np.r_[1e-8, 1.0, 0.0, 1e3, 1e-3, 1.0, 2.0, 0.0, 1e-160, 5.0]),
        "empty columns": np.where(np.arange(n) % 3 == 0, 0.0, rng.standard_normal((n, n))),
        "large": 1e120 * rng.standard_normal((n, n)),
        "small": 1e-120 * rng.standard_normal((n, n)),
    }


@pytest.mark.parametrize("name", hard_matrices())
@pytest.mark.slow
def test_hard_matrices(name):
    """As LAPACK has them, to rounding of the largest."""
    T = hard_matrices()[name]
    theirs = np.linalg.svd(T, compute_uv=False)
    found = spectra(np.stack([T, np.eye(len(T))]))
    np.testing.assert_allclose(found[1], 1.0, rtol=1e-14)  # the neighbour is not harmed
    np.testing.assert_allclose(found[0], theirs, rtol=0, atol=20 * EPS * theirs[0])


def unit_matrix(values, rng):
    """(40, value) with these singular values and columns of length one; mean square 1.

    Rotations of pairs of columns bring their lengths to one, column by column.
    """
    n = len(values)
    U = np.linalg.qr(rng.standard_normal((40, n)))[0]
    W = (U * values) @ np.linalg.qr(rng.standard_normal((n, n)))[0]
    for k in range(n - 1):
        lengths = (W**2).sum(axis=0)
        low, high = k + np.argmin(lengths[k:]), k + np.argmax(lengths[k:])
        W[:, [k, low]] = W[:, [low, k]]
        high = low if high == k else high
        a, b, c = W[:, k] @ W[:, k] - 1, W[:, k] @ W[:, high], W[:, high] @ W[:, high] - 1
        t = (-b - np.sqrt(b * b - a * c)) / c
        cosine, pair = 1 / np.sqrt(1 + t * t), W[:, [k, high]]
        W[:, k] = cosine * (pair[:, 0] + t * pair[:, 1])
        W[:, high] = cosine * (pair[:, 1] - t * pair[:, 0])
    return W


def test_close_calls_are_the_plain_route_s(monkeypatch):
    """Singular values set onto the limits: the verdict must be the plain one's, whatever it is."""
    one = case("four-bar")
    count, rng = 12, np.random.default_rng(1)
    terms, error = np.zeros((count, 12)), np.full(count, 1e-9)
    noise = numeric_route.OPERATIONS * np.sqrt(12) * error[0]
    W = np.empty((count, 40, 12))
    large = np.linspace(2.0, 1.0, 11)
    large *= np.sqrt(12 / (large**2).sum())  # twelve columns of length one
    for k, factor in enumerate(np.repeat([1.0, numeric_route.CLEAR], count // 2)):
        W[k] = unit_matrix(np.r_[large, factor * noise * (1 + 1e-16 * k)], rng)
    entries = one.entries[:, :count]
    asked = []
    plain = numeric_route.check
    monkeypatch.setattr(
        numeric_route, "check", lambda W, *rest: asked.append(len(W)) or plain(W, *rest)
    )
    args = (error, one.base.kept, one.base.eliminated)
    found = linear.check(W[:, :, None], *args, one.places, entries, terms)
    assert asked == [count]
    theirs = plain(W, *args, one.base.beta_matrix(entries), terms)
    np.testing.assert_array_equal(found.spectrum.rank, theirs.spectrum.rank)
    np.testing.assert_array_equal(found.spectrum.scaled, theirs.spectrum.scaled)


def test_columns_without_effect_and_wrong_beta():
    """Zero columns stay zero; a β that is wrong in some lanes is found out in those."""
    one = case("four-bar")
    dead = [one.base.kept[2], one.base.eliminated[0]]
    W = one.W.copy()
    W[..., dead] = 0.0
    wrong = one.entries.copy()
    wrong[:, ::2] *= 1 + 1e-6
    args = (one.error, one.base.kept, one.base.eliminated)
    found = linear.check(W[:, :, None], *args, one.places, wrong, one.terms, one.chosen)
    theirs = numeric_route.check(W[one.chosen], *args, one.base.beta_matrix(wrong), one.terms)
    np.testing.assert_array_equal(found.spectrum.no_effect, theirs.spectrum.no_effect)
    np.testing.assert_array_equal(found.spectrum.rank, theirs.spectrum.rank)
    np.testing.assert_allclose(found.null_error, theirs.null_error, rtol=1e-6, atol=1e-13)
    assert (found.condition > 1e15).all()  # W_b has a zero column


def test_finite_is_of_every_number():
    W = np.ones((6, 5, 2, 3))
    W[1, 4, 1, 2], W[3, 0, 0, 0], W[4, 2, 1, 1] = np.nan, np.inf, -np.inf
    W[5, 0] = 1e308  # sums and squares overflow; the numbers are finite
    np.testing.assert_array_equal(linear.finite(W), [True, False, True, False, False, True])


def test_fewer_rows_than_columns_are_the_plain_route_s():
    one = case("four-bar")
    args = (one.error, one.base.kept, one.base.eliminated)
    W = np.ascontiguousarray(one.W[:, :9])
    found = linear.check(W[:, :, None], *args, one.places, one.entries, one.terms, one.chosen)
    theirs = numeric_route.check(
        W[one.chosen], *args, one.base.beta_matrix(one.entries), one.terms
    )
    np.testing.assert_array_equal(found.spectrum.scaled, theirs.spectrum.scaled)


@pytest.mark.parametrize(("rows", "width"), [(9, 9), (37, 5), (64, 12), (300, 60)])
def test_triangles_one_by_one(rows, width):
    rng = np.random.default_rng(rows)
    W = rng.standard_normal((4, width + 3, rows))
    W[2, 1] = 0.0  # a column without effect
    W[1, 2] = 3 * W[1, 0]
    # An arm's: rows of the first joints alone, then of more; or of the last alone.
    for column, last in enumerate(np.linspace(1, rows, width + 3).astype(int)):
        W[2, column, last:], W[3, column, : rows - last] = 0.0, 0.0
    chosen, order = np.array([2, 0, 1, 3]), rng.permutation(width + 3)[:width]
    if width < 10:
        order.sort()
    found = triangles_of(W, chosen, order)
    for variant, transposed in zip(chosen, found, strict=True):
        A = W[variant, order].T
        np.testing.assert_array_equal(np.triu(transposed, 1), 0)
        # Backward stable: some roundings per row of unit-sized numbers, squared over the rows.
        np.testing.assert_allclose(transposed @ transposed.T, A.T @ A, atol=1e-14 * rows)
        values = np.linalg.svd(A, compute_uv=False)
        np.testing.assert_allclose(
            np.linalg.svd(transposed, compute_uv=False), values, atol=1e-14 * values[0]
        )
    alone = triangles_of(W, chosen[1:2], order)
    np.testing.assert_array_equal(alone[0], found[1])


def test_a_triangle_that_is_no_number_spoils_no_other():
    W = np.random.default_rng(1).standard_normal((2, 5, 37))
    W[0, 2, 3] = np.nan
    order = np.arange(5)
    both = triangles_of(W, np.arange(2), order)
    assert np.isnan(both[0]).any()
    np.testing.assert_array_equal(both[1], triangles_of(W, np.array([1]), order)[0])
