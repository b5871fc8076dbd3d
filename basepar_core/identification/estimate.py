"""Least squares of τ = W φ + noise, with the covariance that each variant of it has.

Rows belong to groups (coordinates) with a noise of their own.

ols        all rows alike; covariance with every group's own noise (the "sandwich"), which is
           taken from the weighted fit: a quiet group's residuals of the plain fit have the
           noisy ones' errors of φ in them.
weighted   rows divided by their group's σ, estimated from residuals until it settles.
irls       weighted, and rows far out (beyond 1.345 σ) count less: Huber, Annals of Mathematical
           Statistics 35, 1964; covariance as in his "Robust Statistics", 1981, §7.6.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import t as student

from basepar_core.arrays import Array

METHODS = ("ols", "weighted", "irls")
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
    """

    values: Array
    covariance: Array
    sigma: Array
    weights: Array
    residual: Array
    freedom: int
    condition: float

    @property
    def deviations(self) -> Array:
        """(parameter,) standard deviations."""
        return np.sqrt(np.diag(self.covariance))

    def half_widths(self) -> Array:
        """(parameter,): half of each 95 % confidence interval, by Student's t."""
        return np.asarray(student.ppf(0.975, self.freedom) * self.deviations)


def estimate(
    W: Array, tau: Array, groups: Array, method: str = "weighted", start: Array | None = None
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
    """
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
    return _weighted(_Fit.of(W * root[:, None], tau * root), W, tau, groups, sigma, weights)


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
