"""Least squares of τ = W φ + noise, with the covariance that each variant of it has.

Rows belong to groups (coordinates) with a noise of their own.

ols        all rows alike; covariance with every group's own noise (the "sandwich"), which is
           taken from the weighted fit: a quiet group's residuals of the plain fit have the
           noisy ones' errors of φ in them.
weighted   rows divided by their group's σ, estimated from residuals until it settles.
irls       weighted, and rows far out (beyond 1.345 σ) count less: Huber, Annals of Mathematical
           Statistics 35, 1964; covariance as in his "Robust Statistics", 1981, §7.6.
iv         weighted, by instrumental variables: rows of W come twice, from every other sample of
           the positions and from those between; each is the other's instrument. What position
           noise puts into W is in both, independently, and no longer draws estimates towards
           zero (instruments in identification: Janot, Vandanjon & Gautier, IEEE Trans. Control
           Systems Technology 22(1), 2014).

Deviations of all four are of white noise, or by the block bootstrap (`blocks`).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import t as student

from basepar_core.arrays import Array
from basepar_core.errors import UsageError

from .blocks import Equations, block_length, block_spread

METHODS = ("ols", "weighted", "irls", "iv")
#: Huber's constant: 95 % efficiency where the noise is normal after all.
HUBER = 1.345
#: Passes over weights; they settle in 3 to 20.
PASSES = 100
#: Huber's weights have settled where values change by less than this share of their deviations:
#: each pass is a whole factorisation, and the minimum is as uncertain as the deviations.
SETTLED = 1e-4
#: σ of the groups have settled where they change by less than this share: passes are over small
#: triangles, and the change falls by parameters over rows in each.
STEADY = 1e-10
#: Share of a direction's square in W that must be motion, not noise, for instruments to work on.
HIDDEN = 0.2
#: Median of |normal noise| over its standard deviation.
MEDIAN = 0.6744897501960817


@dataclass(frozen=True)
class Estimate:
    """Parameters by least squares.

    Attributes
    ----------
    values
        (parameter,).
    covariance
        (parameter, parameter).
    sigma
        (group,): noise of the rows, N m or N.
    weights
        (row,): 1, or less where irls found a row far out.
    residual
        (row,): τ − W φ, N m or N.
    freedom
        Rows less parameters.
    condition
        Of the weighted W with unit columns.
    blocks
        Blocks that the covariance is made of; 0: it is that of white noise.
    block_length
        Their length, s.
    block_freedom
        (parameter,): Student's freedom of each; None: `freedom`.
    """

    values: Array
    covariance: Array
    sigma: Array
    weights: Array
    residual: Array
    freedom: int
    condition: float
    blocks: int = 0
    block_length: float = 0.0
    block_freedom: Array | None = None

    @property
    def deviations(self) -> Array:
        """(parameter,) standard deviations."""
        return np.sqrt(np.diag(self.covariance))

    def half_widths(self) -> Array:
        """(parameter,): half of each 95 % confidence interval, by Student's t."""
        freedom = self.freedom if self.block_freedom is None else self.block_freedom
        return np.asarray(student.ppf(0.975, freedom) * self.deviations)

    def some(self, count: int) -> "Estimate":
        """Of the first parameters alone."""
        freedom = None if self.block_freedom is None else self.block_freedom[:count]
        return replace(
            self,
            values=self.values[:count],
            covariance=self.covariance[:count, :count],
            block_freedom=freedom,
        )


#: Two times rows and right-hand sides, each other's instruments.
Halves = tuple[tuple[Array, Array], tuple[Array, Array]]


def estimate(
    W: Array,
    tau: Array,
    groups: Array,
    method: str = "weighted",
    start: Array | None = None,
    *,
    halves: Halves | None = None,
    times: Array | None = None,
) -> Estimate:
    """Parameters from rows.

    Parameters
    ----------
    W
        (row, parameter), of full rank, more rows than parameters.
    tau
        (row,), N m or N.
    groups
        (row,) int: which noise a row has, from 0.
    method
        Of `METHODS`.
    start
        (group,): noise to begin with (stated); None: that of unweighted residuals.
    halves
        For `iv`: W and tau twice.
    times
        (row,), s: deviations by the block bootstrap; None: of white noise.
    """
    found = _estimate(W, tau, groups, method, start, halves)
    if times is None:
        return found
    of = _equations(found, W, tau, groups, times, halves if method == "iv" else None, method)
    length = block_length(found.residual, groups, times)
    spread = block_spread(of, length)
    return replace(
        found,
        covariance=spread.covariance,
        blocks=spread.blocks,
        block_length=length,
        block_freedom=spread.freedom,
    )


def _equations(
    found: Estimate,
    W: Array,
    tau: Array,
    groups: Array,
    times: Array,
    halves: Halves | None,
    method: str,
) -> Equations:
    """What an estimate solves, in orthonormal columns."""
    root = np.ones(tau.size) if method == "ols" else np.sqrt(found.weights) / found.sigma[groups]
    U = _Fit.of(W * root[:, None], tau * root).U
    pairs = [(W, tau)] if halves is None else list(halves)
    X = [(rows * root[:, None]) @ U for rows, _ in pairs]
    rest = [(y - rows @ found.values) * root for rows, y in pairs]
    return Equations(U, tuple(X[::-1]), tuple(X), tuple(rest), times, groups)


def _estimate(
    W: Array,
    tau: Array,
    groups: Array,
    method: str,
    start: Array | None,
    halves: Halves | None,
) -> Estimate:
    small = _Compressed.of(W, tau, groups)
    if method == "ols":
        noise = small.settle(small.spread(np.ones(small.counts.size)))
        return _sandwich(_Fit.of(W, tau), groups, noise)
    sigma = small.spread(np.ones(small.counts.size)) if start is None else start
    if method == "irls":
        sigma, weights = _settle_far(W, tau, groups, sigma)
    else:
        sigma, weights = small.settle(sigma), np.ones(tau.size)
    root = np.sqrt(weights) / sigma[groups]
    found = _weighted(_Fit.of(W * root[:, None], tau * root), W, tau, groups, sigma, weights)
    if method != "iv":
        return found
    assert halves is not None
    return _instrumental(found, W, tau, groups, halves)


def _instrumental(
    plain: Estimate, W: Array, tau: Array, groups: Array, halves: Halves
) -> Estimate:
    """Each half's rows as the other's instruments, weighted as least squares were."""
    of = _equations(plain, W, tau, groups, np.zeros(tau.size), halves, "iv")
    A = np.mean([Z.T @ X for Z, X in zip(of.Z, of.X, strict=True)], axis=0)
    left = np.linalg.eigvalsh((A + A.T) / 2).min()
    if left < HIDDEN:
        raise UsageError(
            f"Noise of the positions makes up {1 - left:.0%} of what some parameters do to W "
            f"(allowed {1 - HIDDEN:.0%}): instruments cannot take it out. Smooth positions more, "
            f"with a lower `cutoff=`, or move faster.",
            ["method=", "cutoff="],
        )
    c = np.mean([Z.T @ rest for Z, rest in zip(of.Z, of.rest, strict=True)], axis=0)
    values = plain.values + of.factor @ np.linalg.solve(A, c)
    residual = tau - W @ values
    there = replace(plain, values=values, residual=residual)
    of = _equations(there, W, tau, groups, np.zeros(tau.size), halves, "iv")
    scores = np.mean([Z * rest[:, None] for Z, rest in zip(of.Z, of.rest, strict=True)], axis=0)
    spread = of.factor @ np.linalg.solve(A, scores.T)
    free = tau.size / plain.freedom
    return replace(there, covariance=free * spread @ spread.T)


def _settle_far(W: Array, tau: Array, groups: Array, sigma: Array) -> tuple[Array, Array]:
    """σ of each group and Huber's weight of each row, alternating until the values settle."""
    weights, before = np.ones(tau.size), np.zeros(W.shape[1])
    for _ in range(PASSES):
        root = np.sqrt(weights) / sigma[groups]
        fit = _Fit.of(W * root[:, None], tau * root)
        plain = tau - W @ fit.values
        sigma = _median_spread(plain, groups, sigma.size, W.shape[1])
        far = np.abs(plain) / sigma[groups]
        weights = np.minimum(1.0, HUBER / np.maximum(far, np.finfo(float).tiny))
        change, before = np.abs(fit.values - before), fit.values
        if (change <= SETTLED * fit.lengths).all():
            break
    return sigma, weights


@dataclass(frozen=True)
class _Fit:
    """A least-squares fit; `U` U Uᵀ = (XᵀX)⁻¹, `lengths` its diagonal's root, `Q` orthonormal."""

    values: Array
    residual: Array
    Q: Array
    U: Array
    condition: float

    @classmethod
    def of(cls, X: Array, y: Array) -> "_Fit":
        norms = np.sqrt((X**2).sum(axis=0))
        Q, R = np.linalg.qr(X / norms)
        U = solve_triangular(R, np.eye(len(R))) / norms[:, None]
        values = U @ (Q.T @ y)
        return cls(values, y - X @ values, Q, U, float(np.linalg.cond(R)))

    @property
    def lengths(self) -> Array:
        return np.sqrt((self.U**2).sum(axis=1))


@dataclass(frozen=True)
class _Compressed:
    """Rows of each group as a triangle with the same least squares, and what it leaves out.

    `rest` (group,): squared residual outside the columns; `counts` (group,): rows. Passes over
    weights then cost next to nothing.
    """

    W: Array
    tau: Array
    groups: Array
    rest: Array
    counts: Array

    @classmethod
    def of(cls, W: Array, tau: Array, groups: Array) -> "_Compressed":
        parts, count = [], int(groups.max()) + 1
        rest = np.zeros(count)
        for g in range(count):
            X, y = W[groups == g], tau[groups == g]
            if len(X) > X.shape[1]:
                Q, R = np.linalg.qr(X)
                along = Q.T @ y
                rest[g], (X, y) = ((y - Q @ along) ** 2).sum(), (R, along)
            parts.append((X, y, np.full(len(X), g)))
        rows, right, numbers = (np.concatenate(part) for part in zip(*parts, strict=True))
        return cls(rows, right, numbers, rest, np.bincount(groups, minlength=count))

    def spread(self, sigma: Array) -> Array:
        """σ of each group after a fit weighted by `sigma`: RSS over rows that are free."""
        root = 1 / sigma[self.groups]
        fit = _Fit.of(self.W * root[:, None], self.tau * root)
        count = self.counts.size
        rss = np.bincount(self.groups, (fit.residual / root) ** 2, count) + self.rest
        share = np.bincount(self.groups, (fit.Q**2).sum(axis=1), count)
        # A group that is fitted exactly still needs a weight that is a number.
        tiny = np.finfo(float).eps * np.sqrt(rss.sum()) + np.finfo(float).tiny
        found = np.sqrt(rss / np.maximum(self.counts - share, 1e-9))
        return np.asarray(np.maximum(found, tiny))

    def settle(self, sigma: Array) -> Array:
        """σ of each group until it no longer changes."""
        for _ in range(PASSES):
            before, sigma = sigma, self.spread(sigma)
            if (np.abs(sigma - before) <= STEADY * before).all():
                break
        return sigma


def _median_spread(residual: Array, groups: Array, count: int, parameters: int) -> Array:
    """σ of each group from the median of |residual|, which outliers hardly move."""
    share = np.sqrt(residual.size / (residual.size - parameters))
    found = [np.median(np.abs(residual[groups == g])) * share / MEDIAN for g in range(count)]
    return np.maximum(np.array(found), np.finfo(float).eps * np.abs(residual).max() + 1e-300)


def _sandwich(fit: _Fit, groups: Array, sigma: Array) -> Estimate:
    A = fit.U @ (fit.Q * sigma[groups, None]).T
    rows, columns = fit.Q.shape
    return Estimate(
        fit.values,
        A @ A.T,
        sigma,
        np.ones(rows),
        fit.residual,
        rows - columns,
        fit.condition,
    )


def _weighted(
    fit: _Fit, W: Array, tau: Array, groups: Array, sigma: Array, weights: Array
) -> Estimate:
    """Covariance of weighted rows; Huber's where some are far out."""
    rows, columns = W.shape
    plain = tau - W @ fit.values
    scaled = plain / sigma[groups]
    if (weights < 1).any():
        inside = float((np.abs(scaled) <= HUBER).mean())
        psi = np.clip(scaled, -HUBER, HUBER)
        correction = 1 + columns / rows * (1 - inside) / inside
        size = correction**2 * (psi**2).sum() / (rows - columns) / inside**2
        whole = _Fit.of(W / sigma[groups, None], tau)
        covariance = size * whole.U @ whole.U.T
    else:
        size = float((scaled**2).sum() / (rows - columns))
        covariance = size * fit.U @ fit.U.T
    return Estimate(fit.values, covariance, sigma, weights, plain, rows - columns, fit.condition)
