"""Functions of q through samples: Fourier sums where the motion closes, splines where it ends.

All functions of one mechanism are one stack and are evaluated together: powers of one exponential
and one product of matrices. What the representation is off is measured, not assumed: samples that
it was not made from are compared with it (`survey`).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from basepar_core.arrays import Array

if TYPE_CHECKING:
    from scipy.interpolate import BSpline

#: Degree of splines: errors go with the eighth power of the spacing.
DEGREE = 7
#: Harmonics below this share of the largest coefficient are rounding, and are left out.
ROUNDING = 1e-15


@dataclass(frozen=True)
class Curves:
    """A stack of functions of q.

    Attributes
    ----------
    low, length
        Where the samples lie; the period of a closed motion.
    slopes
        (curve,) secular growth, of joint values that turn with a closed motion; 0 else.
    harmonics
        (curve, harmonic) complex coefficients of a closed motion; None of a range.
    spline
        Of a range; None of a closed motion.
    """

    low: float
    length: float
    slopes: Array
    harmonics: Array | None = None
    spline: "BSpline | None" = None

    @property
    def closed(self) -> bool:
        return self.harmonics is not None

    def __call__(self, q: Array | float, order: int = 0) -> Array:
        """Values, or derivatives by q of an order, (curve, …) at places q (…)."""
        places = np.asarray(q, float)
        if self.harmonics is None:
            assert self.spline is not None
            return np.moveaxis(self.spline(places, nu=order), -1, 0)
        rate = 2j * np.pi / self.length * np.arange(self.harmonics.shape[1])
        waves = np.exp(np.multiply.outer(places - self.low, rate))
        found: Array = np.tensordot(self.harmonics * rate**order, waves, (1, -1)).real
        if order < 2 and self.slopes.any():
            grown = (places - self.low) if order == 0 else np.ones_like(places)
            found = found + np.multiply.outer(self.slopes, grown)
        return found

    def take(self, rows: slice | list[int]) -> "Curves":
        """Some of the functions."""
        harmonics = None if self.harmonics is None else self.harmonics[rows]
        spline = self.spline
        if spline is not None:
            spline = type(spline)(spline.t, spline.c[:, rows], spline.k)
        return Curves(self.low, self.length, self.slopes[rows], harmonics, spline)


def through(q: Array, samples: Array, period: float = 0.0, slopes: Array | None = None) -> Curves:
    """Functions through samples.

    Parameters
    ----------
    q
        (sample,) even places; of a closed motion without the last, which is the first again.
    samples
        (curve, sample).
    period
        Of a closed motion; 0: a range.
    slopes
        (curve,) growth per q of what does not come back to its first value.
    """
    slopes = np.zeros(len(samples)) if slopes is None else slopes
    if not period:
        from scipy.interpolate import make_interp_spline  # as in `splines`

        spline = make_interp_spline(q, samples.T, k=min(DEGREE, (q.size - 2) | 1))
        return Curves(float(q[0]), float(q[-1] - q[0]), np.zeros(len(samples)), None, spline)
    periodic = samples - np.multiply.outer(slopes, q - q[0])
    harmonics = np.fft.rfft(periodic, axis=1) / q.size
    harmonics[:, 1:] *= 2
    if q.size % 2 == 0:
        harmonics[:, -1] /= 2
    size = np.abs(harmonics).max(axis=1, keepdims=True)
    heard = np.flatnonzero((np.abs(harmonics) > ROUNDING * size).any(axis=0))
    last = int(heard[-1]) + 1 if heard.size else 1
    return Curves(float(q[0]), period, slopes, harmonics[:, :last])
