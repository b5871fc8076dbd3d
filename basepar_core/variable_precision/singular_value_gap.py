"""Rank and all singular values of an integer matrix, without a singular value decomposition.

Exact integer Gram matrix, pivoted LDLᵀ in fixed point, hence the triangle R of a QR with column
pivoting, graded: its rows fall by as many decades as the singular values do. LAPACK's `dgejsv`
gives the singular values of such a matrix to 13 digits each in double precision, because it
never mixes large with small. How many digits W has hardly matters: the ridge is looked for in its
first forty, then twice as many, and a residual of all digits tells whether that was enough.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import arb_mat, fmpz, fmpz_mat

from .arithmetic import bits_of, working
from .bounds import dependence
from .observation import IntegerMatrix

#: Bits of the fixed point below the Gram matrix's own; losses stay below 2^10 of them.
GUARD_BITS = 40
#: Doubles span 2^±1022; rows further apart than this cannot share one `dgejsv`.
SPAN_BITS = 900


#: Digits of W that the ridge is first looked for in; from this many on all are not used at once.
SHORT_DIGITS, LONG_DIGITS = 40, 100
#: Decades of a ridge that no accident makes: as many as this, or a third of the digits.
EVIDENT = 10.0


@dataclass(frozen=True)
class Rung:
    """What one precision shows.

    Attributes
    ----------
    rank
        Pivots above the noise.
    order
        All columns, in the order of the pivots.
    values
        (parameter,) all singular values as (mantissa, exponent of 2), descending. Up to the
        rank they are right to 13 digits, beyond it they are noise of the stated digits.
    ridge
        Decades between the last pivot and the noise.
    grading
        Decades between the first and the last pivot.
    """

    rank: int
    order: tuple[int, ...]
    values: tuple[tuple[float, int], ...]
    ridge: float
    grading: float

    @cached_property
    def log10_values(self) -> tuple[float, ...]:
        """Decimal logarithms of the singular values; −inf for zero."""
        return tuple(
            math.log10(x) + exponent * math.log10(2) if x > 0 else -math.inf
            for x, exponent in self.values
        )

    @property
    def gap(self) -> float:
        """Decades between the last singular value of the rank and the next; inf before zero."""
        if not 0 < self.rank < len(self.values):
            return math.inf
        return self.log10_values[self.rank - 1] - self.log10_values[self.rank]


@dataclass
class _Triangle:
    """Rows of R, scaled: row k is 2^exponent[k] · rows[k] in units of the integers, |rows| < 2."""

    order: list[int]
    exponents: list[int]
    rows: list[np.ndarray]
    logs: list[float]  # of the pivots, base 2


def rung(W: IntegerMatrix) -> Rung:
    """Rank and singular values at the precision W was made with.

    Notes
    -----
    The first digits that show a ridge are enough, if nothing below it is hidden in the others
    (`_hides`): 0.1 s against 0.4 for 280×70 at 500 digits.
    """
    digits = SHORT_DIGITS
    while W.bits > bits_of(LONG_DIGITS) and bits_of(2 * digits) < W.bits:
        short = W.shortened(bits_of(digits))
        found = _rung(short)
        if found.ridge >= EVIDENT and not _hides(W, found):
            return _lengthened(found, short, W)
        digits *= 2
    return _rung(W)


def _hides(W: IntegerMatrix, found: Rung) -> bool:
    """Whether columns beyond the rank are independent of the pivots after all, far below them.

    A random combination of theirs shows it, unless its factors happen to cancel what is hidden:
    one chance in 2^20 for each independent column.
    """
    kept, others = found.order[: found.rank], found.order[found.rank :]
    if not others:
        return False
    factors = np.random.default_rng(20261121).integers(-(2**19), 2**19, len(others))
    table = W.part(others) * fmpz_mat(len(others), 1, [int(x) for x in factors])
    joined = [*(W.columns[k] for k in kept), table.entries()]
    radius = W.radius * max(1, int(np.abs(factors).sum()))
    one = replace(W, entries=fmpz_mat(joined).transpose(), radius=radius)
    return not dependence(one, range(found.rank), [found.rank], found.grading).explained


def noise(W: IntegerMatrix) -> int:
    """log2 of what W's error may be as a matrix, in units of its integers, and four bits more."""
    n, m = W.entries.nrows(), W.entries.ncols()
    # ‖error of W‖ ≤ radius·√(n m); four bits keep the Gram's cross terms below as well.
    return math.ceil(math.log2(n * m) / 2 + math.log2(W.radius) + 4)


def _lengthened(found: Rung, short: IntegerMatrix, W: IntegerMatrix) -> Rung:
    """What few digits showed, held against the noise of all: beyond the rank that noise."""
    floor = noise(W) + W.scale
    higher = (noise(short) + short.scale - floor) * math.log10(2)
    tail = ((1.0, floor),) * (len(found.values) - found.rank)
    return replace(
        found,
        values=found.values[: found.rank] + tail,
        ridge=found.ridge + higher,
    )


def _rung(W: IntegerMatrix) -> Rung:
    level = noise(W)
    R = _factor(W.gram)
    rank = sum(log > level for log in R.logs)
    ridge = (R.logs[rank - 1] - level) * math.log10(2) if rank else 0.0
    grading = (R.logs[0] - R.logs[rank - 1]) * math.log10(2) if rank else 0.0
    values = [(x, exponent + W.scale) for x, exponent in _values(W.gram, R, rank)]
    values += [(0.0, 0)] * (W.entries.ncols() - len(values))
    return Rung(rank, tuple(R.order), tuple(values), ridge, grading)


def _factor(gram: fmpz_mat) -> _Triangle:
    """Pivoted LDLᵀ until nothing above the fixed point's noise is left."""
    m = gram.ncols()
    C = [[x << GUARD_BITS for x in row] for row in gram.tolist()]
    found = _Triangle(list(range(m)), [], [], [])
    for k in range(m):
        q = max(range(k, m), key=lambda i: (C[i][i], -i))
        if C[q][q].bit_length() <= 10:
            break
        if q > k:
            _swap(C, k, q)
        found.order[k], found.order[q] = found.order[q], found.order[k]
        for row in found.rows:
            row[[k, q]] = row[[q, k]]
        _eliminate(C, k)
        _keep(found, C[k], k)
    return found


def _swap(C: list[list[fmpz]], k: int, q: int) -> None:
    """Rows and columns k < q of what is left of a symmetric matrix, its upper triangle kept."""
    C[k][k], C[q][q] = C[q][q], C[k][k]
    for j in range(k + 1, q):
        C[k][j], C[j][q] = C[j][q], C[k][j]
    for j in range(q + 1, len(C)):
        C[k][j], C[q][j] = C[q][j], C[k][j]


def _eliminate(C: list[list[fmpz]], k: int) -> None:
    """Subtract pivot k's part from what follows."""
    c = C[k]
    # Multipliers need as many bits as the pivot has: less and less down the ridge.
    bits = max(64, c[k].bit_length() + 8)
    for i in range(k + 1, len(C)):
        if c[i] == 0:
            continue
        f, row = (c[i] << bits) // c[k], C[i]
        for j in range(i, len(C)):
            row[j] -= (f * c[j]) >> bits


def _keep(found: _Triangle, c: Sequence[fmpz], k: int) -> None:
    """Store row k of R = D^(1/2) Lᵀ: entries c/√d, as doubles with an exponent apart."""
    d = c[k]
    # 120 bits of the root, an even number of bits off so that the exponent halves.
    off = (d.bit_length() - 240) & ~1
    whole = d << -off if off < 0 else d >> off
    root = float(int(whole.isqrt()) / 2**120)
    row = np.zeros(len(c))
    for j in range(k, len(c)):
        row[j] = int((c[j] << 62) // d) / 2**62 * root
    found.rows.append(row)
    found.exponents.append(off // 2 + 120 - GUARD_BITS // 2)
    found.logs.append(math.log2(root) + found.exponents[-1])


def _values(gram: fmpz_mat, R: _Triangle, rank: int) -> list[tuple[float, int]]:
    """Singular values of R, descending; those far below the rank by magnitude only."""
    if not R.rows:
        return []
    top = R.exponents[0]
    near = sum(top - e <= SPAN_BITS for e in R.exponents)
    if near < rank:
        return _by_eigenvalues(gram, R, rank)
    table = np.array([np.ldexp(R.rows[k], R.exponents[k] - top) for k in range(near)])
    found = _graded_values(np.ascontiguousarray(table.T))
    return [(float(x), top) for x in found] + [_power(log) for log in R.logs[near:]]


def _power(log2: float) -> tuple[float, int]:
    return 2.0 ** (log2 % 1), math.floor(log2)


def _graded_values(columns: np.ndarray) -> np.ndarray:
    """Singular values of a matrix with graded columns, each to high relative accuracy."""
    from scipy.linalg.lapack import dgejsv  # a third of the start of commands that need none

    # joba 'C', jobu and jobv 'N', jobr 'N', jobt 'N', jobp 'N'.
    values, _, _, work, _, info = dgejsv(columns, 0, 3, 3, 0, 0, 0)
    if info != 0:
        raise ArithmeticError(f"dgejsv did not converge (info {info})")
    return np.sort(values * (work[0] / work[1]))[::-1]


def _by_eigenvalues(gram: fmpz_mat, R: _Triangle, rank: int) -> list[tuple[float, int]]:
    """The same from the Gram matrix's eigenvalues in variable precision, for a span that no
    double holds; seconds instead of milliseconds, and rare."""
    span = 2 * (R.logs[0] - R.logs[rank - 1])
    with working(math.ceil(span) + 128):
        found = [abs(x.real.mid()) for x in arb_mat(gram).eig(algorithm="approx")]
        roots = [x.sqrt().mid().man_exp() for x in sorted(found, reverse=True)[:rank]]
    values = []
    for man, exponent in roots:
        off = max(0, int(man).bit_length() - 64)
        values.append((float(int(man) >> off), int(exponent) + off))
    return values + [_power(log) for log in R.logs[rank:]]
