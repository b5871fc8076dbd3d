"""What users see: mpmath's numbers, made without touching mpmath's global precision.

An `mpf` keeps all its digits whatever `mp.dps` is; only arithmetic and printing by the user
round to that, so compute with these inside `mpmath.workdps(digits)`.
"""

import math
from collections.abc import Sequence

import mpmath
from flint import arb, fmpz
from mpmath import libmp, mpf

from .arithmetic import bits_of
from .observation import IntegerMatrix


def power_of_two_times(mantissa: int | fmpz, exponent: int, digits: float | None = None) -> mpf:
    """mantissa · 2^exponent, exactly or rounded to so many decimal digits."""
    if digits is None:
        return mpmath.mp.make_mpf(libmp.from_man_exp(int(mantissa), exponent))
    return mpmath.mp.make_mpf(libmp.from_man_exp(int(mantissa), exponent, bits_of(digits), "n"))


def from_float(mantissa: float, exponent: int) -> mpf:
    """mantissa · 2^exponent where that may be below the range of floats."""
    return mpmath.mp.make_mpf(libmp.mpf_shift(libmp.from_float(mantissa), exponent))


def from_exact(x: arb) -> mpf:
    """An `arb` without radius."""
    if not x.is_finite():
        return mpmath.mp.make_mpf(libmp.finf)
    mantissa, exponent = x.man_exp()
    return power_of_two_times(mantissa, int(exponent))


def negative(x: mpf) -> mpf:
    """−x with all its digits: mpmath's own minus rounds to the global precision."""
    return mpmath.mp.make_mpf(libmp.mpf_neg(x._mpf_))


def text(x: mpf, digits: int) -> str:
    """In decimal, with so many significant digits."""
    return str(libmp.to_str(x._mpf_, digits))


def bound_text(x: mpf, digits: int, direction: int) -> str:
    """A positive bound in decimal, off downwards (−1) or upwards (+1), never to the nearest."""
    share = 10 ** (digits - 1) + 2 * direction
    exact = libmp.mpf_mul(x._mpf_, libmp.from_int(share))
    off = libmp.mpf_div(exact, libmp.from_int(10 ** (digits - 1)), bits_of(2 * digits), "n")
    return str(libmp.to_str(off, digits))


def matrix(W: IntegerMatrix) -> mpmath.matrix:
    """W as a matrix of mpmath, exactly."""
    table = W.entries.tolist()
    found = mpmath.matrix(len(table), W.entries.ncols())
    for i, row in enumerate(table):
        for j, x in enumerate(row):
            found[i, j] = power_of_two_times(x, W.scale)
    return found


def svd(
    W: IntegerMatrix | mpmath.matrix | Sequence[Sequence[mpf]], digits: int | None = None
) -> tuple[mpmath.matrix, mpmath.matrix, mpmath.matrix]:
    """The customary singular value decomposition, for whoever asks: W = U diag(S) Vᵀ.

    Nothing in the precise route needs it. It is mpmath's `svd_r` and takes its time: half a
    minute for 280×70 at 500 digits, where rank, singular values, bounds and null space take
    half a second.

    Parameters
    ----------
    W
        An observation (`Variant.observe`), or real numbers of mpmath, (row, parameter).
    digits
        Decimal digits to compute with; None: those of an observation, or of the numbers.

    Returns
    -------
    U, S, V
        (row, k), (k, 1) descending, and (parameter, k) matrices of `mpf`, k the smaller of
        rows and parameters.
    """
    table = matrix(W) if isinstance(W, IntegerMatrix) else mpmath.matrix(W)
    if digits is None:
        bits = W.bits if isinstance(W, IntegerMatrix) else max(x._mpf_[3] for x in table)
        digits = max(15, math.ceil(bits / math.log2(10)))
    # A context of its own: nobody else's precision is touched.
    own = mpmath.MPContext()
    own.dps = digits + 5
    own_table = own.matrix(table.rows, table.cols)
    for i in range(table.rows):
        for j in range(table.cols):
            own_table[i, j] = own.make_mpf(table[i, j]._mpf_)
    U, S, V_transposed = own.svd_r(own_table)
    return _shared(U), _shared(S), _shared(V_transposed.T)


def _shared(own: mpmath.matrix) -> mpmath.matrix:
    """Numbers of another context as those everyone uses."""
    found = mpmath.matrix(own.rows, own.cols)
    for i in range(own.rows):
        for j in range(own.cols):
            found[i, j] = mpmath.mp.make_mpf(own[i, j]._mpf_)
    return found
