"""From approximate solutions to proved ones: Krawczyk's operator and linear systems in balls.

Both rest on an approximate inverse C of the Jacobian in plain floats: as long as
‖I − C J‖ < 1 for every J that the balls allow, a full-precision inverse would prove no more
(measured on a suspension's 42 equations: 0.1 ms instead of 6 at 450 bits). Norms are of the
largest row sum.

Krawczyk, Computing 4, 1969; Rump, Acta Numerica 19, 2010.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat

from basepar_core.errors import BaseparError

from .arithmetic import ZERO, ball, log2_size

#: A unit roundoff with room for the few roundings of a sum of bounds.
EPS = 2.0**-52
#: Sums of up to some hundred nonnegative floats are below their true value by far less.
ABOVE = 1 + 1e-9
#: Larger than what floats lose below their range.
TINY = 1e-300
#: Krawczyk's operator must shrink the box at least to half of it.
CONTRACTION = 0.5


class NotClosedError(BaseparError):
    """A configuration that Newton's method does not reach, or that cannot be proved to exist."""

    kind = "not closed"


def worst(numbers: Iterable[arb]) -> float:
    """log2 of the largest absolute value that the balls allow; inf where one is unbounded."""
    bounds = [x.abs_upper() for x in numbers]
    if not all(x.is_finite() for x in bounds):
        return math.inf
    return log2_size(max(bounds, default=ZERO))  # exact numbers, so their order is known


@dataclass(frozen=True)
class FloatMatrix:
    """Every matrix with entries within `radius` of `middle`."""

    middle: np.ndarray
    radius: np.ndarray

    @classmethod
    def around(cls, J: arb_mat) -> "FloatMatrix":
        """Floats that hold a matrix of balls."""
        entries = J.entries()
        there = [k for k, x in enumerate(entries) if not x.is_zero()]
        middle, radius = np.zeros((2, J.nrows(), J.ncols()))
        middle.flat[there] = [float(entries[k]) for k in there]
        radius.flat[there] = [float(entries[k].rad()) for k in there]
        return cls(middle, ABOVE * (radius + EPS * np.abs(middle) + TINY))

    @property
    def norm(self) -> float:
        """Bound of the norm."""
        return _norm(np.abs(self.middle) + self.radius)


def _norm(sizes: np.ndarray) -> float:
    return float(sizes.sum(axis=1).max(initial=0.0) * ABOVE)


@dataclass(frozen=True)
class Inverse:
    """An approximate inverse, the bound of its norm, and how far from one C J can be.

    Attributes
    ----------
    norm
        Of C.
    defect
        Bound of ‖I − C J‖ over the matrices it was held against.
    """

    norm: float
    defect: float

    @classmethod
    def of(cls, J: FloatMatrix) -> "Inverse":
        """Of all matrices within J.

        Raises
        ------
        NotClosedError
            Singular in floats.
        """
        try:
            C = np.linalg.inv(J.middle)
        except np.linalg.LinAlgError:
            raise NotClosedError("the mechanism is singular at a sample") from None
        sizes = np.abs(C)
        missing = np.abs(np.eye(len(C)) - C @ J.middle)
        # Rounding of the product and the difference: n + 3 operations each, in any order.
        rounding = (len(C) + 3) * EPS * (sizes @ np.abs(J.middle) + 1)
        return cls(_norm(sizes), _norm(missing + rounding + sizes @ J.radius))

    def closes(self, J: FloatMatrix, residual: float, box: float) -> bool:
        """Whether one zero, and no other, lies within 2^box of the middle in every unknown.

        Parameters
        ----------
        J
            Jacobian by the bodies' twists over the whole box.
        residual
            log2 of the equations' bound in the middle.
        """
        width = max(2.0 ** min(box, 0.0), TINY)
        # Unknowns are Cayley vectors t, not twists: ω = (dt + t/2 × dt)/(1 + t²/4), which
        # differs from dt by less than 2|t| dt in the largest component.
        defect = self.defect + self.norm * J.norm * 2 * width
        return box < -2 and math.log2(self.norm) + residual < box - 1 and defect < CONTRACTION

    def solve(self, J: arb_mat, right: arb_mat) -> arb_mat:
        """J⁻¹ right in balls, for every J and right that the balls allow.

        Notes
        -----
        x − x̃ = (C J)⁻¹ C (right − J x̃), hence |x − x̃| ≤ ‖C‖ ‖right − J x̃‖ / (1 − ‖I − C J‖);
        J must be within the matrices that the defect was bounded for.
        """
        try:
            near = J.solve(right, algorithm="approx").mid()
        except ZeroDivisionError:
            raise NotClosedError("the mechanism is singular at a sample") from None
        left = (right - J * near).tolist()
        factor = math.log2(self.norm / (1 - min(self.defect, CONTRACTION)))
        radii = [ball(worst(column) + factor) for column in zip(*left, strict=True)]
        return arb_mat([[x + r for x, r in zip(row, radii, strict=True)] for row in near.tolist()])
