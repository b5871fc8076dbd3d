"""What W's digits prove: bounds of the singular values beside the ridge, and of β's entries.

Everything starts from integers, so the residuals are exact; only small norms and one inverse of
the pivots' Gram matrix are in balls. Columns interlace and Weyl's inequality carries the
integers' error over to the true W.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb, arb_mat, fmpz, fmpz_mat

from .arithmetic import BITS_PER_DIGIT, bits_of, log2_size, working
from .observation import IntegerMatrix, nearest

#: Bits that norms need; they are bounds, not numbers anyone reads far.
NORM_BITS = 128
#: Bits of the null space beyond those of W, so that its own rounding does not show.
NULL_GUARD = 32


@dataclass(frozen=True)
class Independence:
    """Columns whose independence is proved for every W that the error allows.

    Attributes
    ----------
    least
        Exact number not above the smallest singular value of these columns, nor therefore above
        the σ of W with the same index; not positive where nothing is proved.
    reach
        (column,) lengths of the rows of the columns' pseudo-inverse, per unit of the integers.
    grading
        Decades between the columns' largest and smallest singular value, at most.
    """

    least: arb
    reach: tuple[arb, ...]
    grading: float

    def kept_apart(self, most: arb, decades: float) -> bool:
        """Whether the smallest singular value is so many decades above `most`."""
        with working(NORM_BITS):
            return bool(self.least > most * arb(10) ** decades)


@dataclass(frozen=True)
class Dependence:
    """W[:, others] = W[:, kept] · entries · 2^−bits to the digits of W.

    Attributes
    ----------
    most
        Exact number not below σ_{r+1} of the true W, where r = len(kept).
    explained
        Whether W's error accounts for what is left over; else W has more rank than `kept`.
    left
        (other,) lengths of W[:, others] − W[:, kept] X, in units of the integers.
    """

    kept: tuple[int, ...]
    others: tuple[int, ...]
    entries: fmpz_mat
    bits: int
    most: arb
    explained: bool
    left: tuple[arb, ...]

    def floats(self) -> np.ndarray:
        """X as (kept, other) floats."""
        with working(64):
            unit = arb(2) ** -self.bits
            flat = [float(arb(x) * unit) for x in self.entries.entries()]
        return np.array(flat).reshape(len(self.kept), len(self.others))


def _length(entries: Sequence[fmpz]) -> arb:
    """Length of a vector of integers."""
    return arb(sum((x * x for x in entries), fmpz(0))).sqrt()


def _unit(W: IntegerMatrix) -> arb:
    return arb(2) ** W.scale


def error(W: IntegerMatrix) -> arb:
    """Bound of the norm of W's error, in units of the integers (working precision)."""
    return arb(W.radius) * arb(W.entries.nrows() * W.entries.ncols()).sqrt()


def independence(W: IntegerMatrix, kept: Sequence[int], grading: float) -> Independence:
    """Prove some columns independent.

    Parameters
    ----------
    grading
        Decades between the columns' singular values, as far as known; more are tried.

    Notes
    -----
    σ_min² of the integers' columns is at least 1/‖(W₁ᵀW₁)⁻¹‖_F; W₁ᵀW₁ is exact.
    """
    if not kept:
        return Independence(arb("inf"), (), 0.0)
    rows = W.gram.tolist()
    gram = fmpz_mat([[rows[i][j] for j in kept] for i in kept])
    bits, most = bits_of(2 * grading) + NORM_BITS, 2 * W.bits + 2 * NORM_BITS
    while True:
        with working(min(bits, most)):
            found = _proved(W, gram)
        if found.least > 0 or bits >= most:
            return found
        bits *= 2


def _proved(W: IntegerMatrix, gram: fmpz_mat) -> Independence:
    """What the precision in force proves from the Gram matrix of the columns."""
    try:
        inverse = arb_mat(gram).inv()
    except ZeroDivisionError:
        return Independence(arb(0), (), math.inf)
    smallest = 1 / _size(inverse.entries()).sqrt()
    least = ((smallest - error(W)) * _unit(W)).lower()
    reach = tuple(inverse[k, k].sqrt() for k in range(inverse.nrows()))
    diagonal = sum((gram[k, k] for k in range(gram.nrows())), fmpz(0))
    return Independence(least, reach, log2_size(arb(diagonal).sqrt() / smallest) / BITS_PER_DIGIT)


def _size(entries: Sequence[arb]) -> arb:
    """Length of a vector of balls."""
    return sum((x * x for x in entries), arb(0)).sqrt()


def dependence(
    W: IntegerMatrix, kept: Sequence[int], others: Sequence[int], grading: float
) -> Dependence:
    """How the other columns follow from the kept ones, and how well.

    Parameters
    ----------
    kept, others
        All columns of W; the kept ones are independent.
    grading
        Decades between the kept columns' singular values: guard digits of the solution.

    Raises
    ------
    ZeroDivisionError
        The kept columns are not independent.

    Notes
    -----
    A sketch of the rows, small random integers from a fixed seed, makes the system square; its
    singular values are not those of W, so it serves the solution only. What is left over is
    measured on all rows, exactly.
    """
    kept, others = tuple(kept), tuple(others)
    bits = W.bits + NULL_GUARD
    if not others:
        return Dependence(kept, (), fmpz_mat(len(kept), 0), bits, arb(0), True, ())
    dependent = W.part(others)
    if kept:
        independent = W.part(kept)
        X = _solved(independent, dependent, bits, grading)
        remainder = independent * X - dependent * (fmpz(1) << bits)
    else:
        X, remainder = fmpz_mat(0, len(others)), dependent * (fmpz(1) << bits)
    with working(NORM_BITS):
        shrink = arb(2) ** -bits
        left = tuple(_length(column) * shrink for column in remainder.transpose().tolist())
        total = _size(left)
        # N = [−X; 1] has no singular value below one, hence ‖W N‖ bounds σ_{r+1}.
        most = ((total + error(W)) * _unit(W)).upper()
        sizes = arb(1) + _length(X.entries()) * shrink
        # The sketch's oblique projector enlarges W's error by some thousands at most.
        explained = bool(total < arb(2) ** 20 * error(W) * sizes)
    return Dependence(kept, others, X, bits, most, explained, left)


def may_vanish(
    W: IntegerMatrix,
    kept: Sequence[int],
    others: Sequence[int],
    beta: Mapping[tuple[int, int], arb],
) -> bool:
    """Whether W[:, others] = W[:, kept] β for what W's error and β's balls allow.

    Parameters
    ----------
    beta
        Nonzero entries by (kept, other) place; False where one is not bounded.
    """
    with working(W.bits + NORM_BITS):
        entries = arb_mat(len(kept), len(others))
        sums = [arb(1) for _ in others]
        for (i, j), x in beta.items():
            entries[i, j] = x
            sums[j] += abs(x)
        left = arb_mat(W.part(kept)) * entries - arb_mat(W.part(others))
        allowed = [W.radius * x for x in sums]
        return all(
            x.is_finite() and not abs(x) > most
            for row in left.tolist()
            for x, most in zip(row, allowed, strict=True)
        )


def _solved(left: fmpz_mat, right: fmpz_mat, bits: int, grading: float) -> fmpz_mat:
    """Integers X · 2^bits that solve left · X = right on a sketch of the rows."""
    rng = np.random.default_rng(20261120)
    rows = rng.integers(-8, 9, (left.ncols(), left.nrows()))
    sketch = fmpz_mat([[int(x) for x in row] for row in rows])
    with working(bits + 100 + bits_of(grading)):
        exact = arb_mat(sketch * left).solve(arb_mat(sketch * right), algorithm="approx")
        if not all(x.is_finite() for x in exact.entries()):
            raise ZeroDivisionError("the kept columns are not independent")
        parts = [x.mid().man_exp() for x in exact.entries()]
    numbers = [nearest(man, int(exp) + bits) for man, exp in parts]
    return fmpz_mat(left.ncols(), right.ncols(), numbers)


def entry_errors(W: IntegerMatrix, proved: Independence, found: Dependence) -> list[list[arb]]:
    """Bounds (kept, other) of |X − β|, for the true β of any W of this rank.

    Returns
    -------
    list of list of arb
        Infinite where nothing is proved.

    Notes
    -----
    With W̃ the integers and W₁β = W₂ of the true W, X − β = W̃₁⁺(W̃₁X − W̃₂ + δ), where no entry
    of δ exceeds the error of an entry times 1 + Σ|β|.
    """
    with working(NORM_BITS):
        infinite = [[arb("inf")] * len(found.others) for _ in found.kept]
        if not proved.least > 0:
            return infinite
        spread = arb(W.radius) * arb(W.entries.nrows()).sqrt()
        total = sum(proved.reach, arb(0))
        share = spread * total
        if not share < arb(1) / 2:
            return infinite
        shrink = arb(2) ** -found.bits
        sums = (
            [
                sum((abs(x) for x in column), fmpz(0)) * shrink
                for column in found.entries.transpose().tolist()
            ]
            if found.kept
            else [arb(0)] * len(found.others)
        )
        lengths = []
        for left, size in zip(found.left, sums, strict=True):
            beta = (size + total * left + share) / (1 - share)
            lengths.append(left + spread * (1 + beta))
        return [[(row * length).upper() for length in lengths] for row in proved.reach]
