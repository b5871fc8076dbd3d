"""Zero-phase smoothing and differentiation of sampled positions.

A smoothing spline: min Σ (y − z)² + λ∫(d⁴z/dt⁴)². In the middle of a record it *is* the field's
zero-phase Butterworth filter (order 4 forwards and backwards, |H|² = 1/(1 + (f/f_c)⁸), with
λ Δt = (2π f_c)⁻⁸); at the ends it needs no made-up samples, where `filtfilt`'s reflected ones
bend the acceleration; it is differentiated exactly; and samples may be missing or uneven.

The cut-off is given, or chosen by generalised cross-validation (Craven & Wahba, Numerische
Mathematik 31, 1979; for derivatives of measured motion: Woltring, Advances in Engineering
Software 8, 1986), which assumes noise that is white beside a smooth signal.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import BSpline
from scipy.linalg import cho_solve_banded, cholesky_banded, solveh_banded

from basepar_core.arrays import Array

ORDER = 4
DEGREE = 2 * ORDER - 1
#: Knots per period of the cut-off: what they cannot follow is damped to (1/4)⁸ anyway.
KNOTS = 8
#: Highest cut-off in shares of the sampling rate: half of the Nyquist frequency.
HIGHEST = 0.25
#: Cut-offs tried, evenly in their logarithm.
TRIED = 40
#: Fewest samples that can be smoothed: twice the spline's own freedom.
FEWEST = 2 * (DEGREE + 1)
#: Ends (and rims of gaps), in periods of the cut-off, where the acceleration has more than twice
#: the noise of the middle.
RIM = 0.4


@dataclass(frozen=True)
class Smoothed:
    """A smoothed signal and its derivatives at the samples.

    Attributes
    ----------
    value, rate, acceleration
        (sample,).
    cutoff
        Hz.
    noise
        Standard deviation of what was removed, in the signal's unit.
    """

    value: Array
    rate: Array
    acceleration: Array
    cutoff: float
    noise: float


def smooth(
    t: Array, y: Array, cutoff: float | None = None, known: Array | None = None
) -> Smoothed:
    """Smooth a signal and differentiate it twice.

    Parameters
    ----------
    t
        (sample,), s, increasing.
    y
        (sample,); whatever stands where `known` is false.
    cutoff
        Hz; None: chosen from the data.
    known
        (sample,) bool: samples that were measured.
    """
    seen = np.ones(t.size, dtype=bool) if known is None else known
    if cutoff is None:
        cutoff = choose_cutoff(t[seen], y[seen])
    spline, noise, _ = _fit(t[seen], y[seen], cutoff, (t[0], t[-1]))
    return Smoothed(
        spline(t), spline.derivative(1)(t), spline.derivative(2)(t), float(cutoff), noise
    )


def choose_cutoff(t: Array, y: Array) -> float:
    """The cut-off (Hz) of least generalised cross-validation, RSS/(n − p)²."""
    step = float(np.median(np.diff(t)))
    lowest = 1 / (t[-1] - t[0])
    tried = np.geomspace(lowest, max(HIGHEST / step, 2 * lowest), TRIED)
    scores = [_fit(t, y, float(f), (t[0], t[-1]))[2] for f in tried]
    return float(tried[int(np.argmin(scores))])


class LowPass:
    """Takes out of signals what is faster than a cut-off, without delay.

    The field's zero-phase Butterworth filter of order 4, for uneven samples too: each counts by
    the time it stands for, so that the cut-off does not depend on how dense they are.

    Parameters
    ----------
    t
        (sample,), s, increasing, without gaps longer than a period of the cut-off.
    cutoff
        Hz: half of a signal's amplitude is left there.
    """

    def __init__(self, t: Array, cutoff: float):
        step = np.gradient(t)
        shortest = max(1 / (KNOTS * cutoff), float(np.median(step)))
        pieces = int(np.ceil((t[-1] - t[0]) / shortest))
        inner = np.linspace(t[0], t[-1], max(pieces, 1) + 1)
        self.knots = np.concatenate([[t[0]] * DEGREE, inner, [t[-1]] * DEGREE])
        self.basis = BSpline.design_matrix(t, self.knots, DEGREE)
        self.weighted = self.basis.multiply(step[:, None]).tocsr().T
        stiffness = _penalty(self.knots, inner) / (2 * np.pi * cutoff) ** (2 * ORDER)
        system = _bands(self.weighted @ self.basis) + stiffness
        self.factor = cholesky_banded(system, lower=True)

    def of(self, y: Array, at: Array | None = None) -> Array:
        """Signals (sample, column) after the filter, at the samples or at other times."""
        basis = self.basis
        if at is not None:
            inside = np.clip(at, self.knots[0], self.knots[-1])
            basis = BSpline.design_matrix(inside, self.knots, DEGREE)
        return np.asarray(basis @ cho_solve_banded((self.factor, True), self.weighted @ y))


def rim(t: Array, cutoff: float, known: Array | None = None) -> Array:
    """(sample,) bool: samples at the ends and beside gaps, where accelerations are poor."""
    seen = t if known is None else t[known]
    reach = RIM / cutoff
    jumps = np.flatnonzero(np.diff(seen) > reach)
    ends = np.concatenate([seen[[0, -1]], seen[jumps], seen[jumps + 1]])
    return np.asarray(np.abs(t[:, None] - ends).min(axis=1) < reach)


def freedom(duration: float, cutoff: float) -> float:
    """Parameters that a smoothed signal is worth: ∫ of the gain over frequency and time.

    2T ∫₀^∞ df/(1 + (f/f_c)⁸), and the polynomials that the penalty does not see.
    """
    width = np.pi / (2 * ORDER) / np.sin(np.pi / (2 * ORDER))
    return ORDER + 2 * duration * cutoff * float(width)


def _fit(
    t: Array, y: Array, cutoff: float, span: tuple[float, float]
) -> tuple[BSpline, float, float]:
    """Spline, standard deviation of the rest, and cross-validation score."""
    step = float(np.median(np.diff(t)))
    start, end = span
    pieces = int(np.ceil((end - start) / max(1 / (KNOTS * cutoff), step)))
    inner = np.linspace(start, end, max(pieces, 1) + 1)
    knots = np.concatenate([[start] * DEGREE, inner, [end] * DEGREE])
    weight = 1 / (step * (2 * np.pi * cutoff) ** (2 * ORDER))
    B = BSpline.design_matrix(t, knots, DEGREE)
    system = _bands(B.T @ B) + weight * _penalty(knots, inner)
    spline = BSpline(knots, solveh_banded(system, B.T @ y, lower=True), DEGREE)
    rss = float(((y - B @ spline.c) ** 2).sum())
    left = max(t.size - freedom(end - start, cutoff), 1.0)
    return spline, float(np.sqrt(rss / left)), rss / left**2


def _penalty(knots: Array, inner: Array) -> Array:
    """Bands of ∫ of products of the basis' fourth derivatives, by exact quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss(ORDER)
    half = np.diff(inner)[:, None] / 2
    places = (inner[:-1, None] + half * (1 + nodes)).ravel()
    strength = (half * weights).ravel()
    D = _derivatives(knots, places)
    return _bands(D.T @ D.multiply(strength[:, None]))


def _derivatives(knots: Array, places: Array) -> Any:
    """Sparse fourth derivatives of the basis: differences of B-splines of a lower degree."""
    from scipy import sparse

    degree, size = DEGREE, knots.size - DEGREE - 1
    change = sparse.identity(size, format="csr")
    for _ in range(ORDER):
        gaps = knots[degree + 1 : -1] - knots[1 : -degree - 1]
        count = gaps.size
        scale = degree / gaps
        step = sparse.diags([-scale, scale], [0, 1], shape=(count, count + 1), format="csr")
        change = step @ change
        knots, degree = knots[1:-1], degree - 1
    return BSpline.design_matrix(places, knots, degree) @ change


def _bands(matrix: Any) -> Array:
    """Lower bands (band, column) of a sparse symmetric matrix."""
    size = matrix.shape[0]
    bands = np.zeros((DEGREE + 1, size))
    for k in range(min(DEGREE + 1, size)):
        bands[k, : size - k] = matrix.diagonal(-k)
    return bands
