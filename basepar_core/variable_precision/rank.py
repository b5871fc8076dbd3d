"""The rank of one variant's W in variable precision, and when it is believed.

For mechanisms of such low mobility that float64 cannot tell the last singular values from
rounding. Digits rise (40, 80, …) until the ridge between singular values and noise is evident,
and then W is computed anew with half as many digits again: only if rank and every singular value
stay the same is the rank called evident. An error in W that was not declared, from loops closed
too loosely or a double among the constants, does not survive that (it does not fall with the
digits); a ridge at one precision alone would be no evidence. Beside that stand rigorous bounds:
the last singular value of the rank is at least so large, the next at most so small.

Low-mobility paper, §3, with an exact Gram matrix in place of a variable-precision SVD.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from flint import arb, fmpz

from basepar_core.dynamics import Model

from .arithmetic import BITS_PER_DIGIT, log2_size
from .bounds import Dependence, Independence, dependence, independence
from .krawczyk import NotClosedError
from .observation import IntegerMatrix, Variant, variant
from .singular_value_gap import EVIDENT, Rung, rung

#: Where the digits start, and the most that are tried.
FIRST_DIGITS, MOST_DIGITS = 40, 320
#: How many times the digits W is computed with anew.
AGAIN = 1.5
#: Singular values must stay equal to this share when W is computed anew; `rung` has 13 digits.
STABLE = 1e-6
#: Decades between the proved bounds of σ_r and σ_{r+1} that make a rank evident.
APART = 6.0


@dataclass(frozen=True)
class PreciseRank:
    """What variable precision says of a variant's rank.

    Attributes
    ----------
    rank
        Of W on the samples used.
    digits
        Decimal digits of W at which the ridge was found (or of the last attempt).
    log10_singular_values
        (parameter,) decimal logarithms of W's singular values on the samples used, descending;
        −inf for zero. Beyond the rank they are noise of the digits.
    ridge
        Decades between the last pivot of the rank and the noise at these digits.
    gap
        Decades between the last singular value of the rank and the next.
    evident
        Whether the ridge is clear and stayed when W was computed anew with more digits.
    reevaluated
        Whether W was computed anew.
    samples
        Samples of the excitation that were used.
    reason
        Why the rank is not evident; empty where it is.
    log10_least
        Rigorous: the last singular value of the rank is no smaller; −inf where nothing is known.
    log10_most
        Rigorous: the next singular value is no larger; −inf where there is none.
    proved
        Whether rank ≥ `rank` is proved: every configuration was enclosed, and the last singular
        value stays positive for whatever the enclosures allow.
    form
        "W" or "energy": the matrix whose rank this is.
    """

    rank: int
    digits: int
    log10_singular_values: tuple[float, ...]
    ridge: float
    gap: float
    evident: bool
    reevaluated: bool
    samples: int = 0
    reason: str = ""
    log10_least: float = -math.inf
    log10_most: float = math.inf
    proved: bool = False
    form: str = "W"

    @property
    def singular_values(self) -> tuple[float, ...]:
        """The same as floats; 0 where they are below the range of floats."""
        return tuple(10.0**x if x > -308 else 0.0 for x in self.log10_singular_values)


@dataclass(frozen=True)
class Settled:
    """A rank with what it was found from: the last W, its rung, and what its digits prove."""

    result: PreciseRank
    rung: Rung | None = None
    matrix: IntegerMatrix | None = None
    independent: Independence | None = None
    dependent: Dependence | None = None
    variant: Variant | None = None


def precise_rank(
    model: Model,
    values: Mapping[str, float] | None = None,
    digits: int | None = None,
    cap: int = MOST_DIGITS,
    samples: int | None = None,
    form: str = "W",
) -> PreciseRank:
    """Rank and singular values of one variant's W in variable precision.

    Parameters
    ----------
    model
        The mechanism, prepared.
    values
        Swept symbols, SI; each float is taken as the exact number that it is. Others: nominal.
    digits
        Decimal digits of W; None: as many as it takes, up to `cap`.
    cap
        Most digits to try; to confirm, W is computed once with half as many again.
    samples
        Samples of the excitation to use, evenly chosen; None: enough for the rank.
    form
        "W": inverse dynamics. "energy": the energies' matrix, which has the same null space on
        enough samples; a second opinion.

    Raises
    ------
    MotionError
        The excitation cannot be followed at this geometry.
    """
    return rank_of(variant(model, values or {}, samples), digits, cap, form).result


def rank_of(
    one: Variant, digits: int | None = None, cap: int = MOST_DIGITS, form: str = "W"
) -> Settled:
    """Rank of a variant whose excitation has been followed, with the W it was found from."""
    return climb(one, (digits,) if digits is not None else ladder(FIRST_DIGITS, cap), form)


def ladder(first: int, cap: int = MOST_DIGITS) -> tuple[int, ...]:
    """Digits to try, rising by doubling up to the cap."""
    steps = range(math.ceil(math.log2(max(1.0, cap / first))) + 1)
    return tuple(sorted({max(first, min(cap, first * 2**k)) for k in steps}))


def climb(one: Variant, digits: Sequence[int], form: str = "W") -> Settled:
    """The same over given digits."""

    def settled(used: Variant) -> Settled:
        return settle(
            lambda d: used.observe(d, form), digits, _limit(used), lambda d: used.ahead(d, form)
        )

    found = settled(one)
    # Each sample adds at least one dimension to the rows until they span everything, so more
    # samples than the rank are enough; several coordinates can mislead a count of rows.
    while found.result.rank >= len(one.picks) and len(one.picks) < one.available:
        one = one.with_samples(found.result.rank + 2)
        found = settled(one)
    result = replace(found.result, samples=len(one.picks), form=form)
    rows = found.matrix.entries.nrows() if found.matrix is not None else 0
    if 0 < result.rank == rows < len(one.model.mechanism.parameter_names):
        why = f"W has only {rows} rows and all are independent; the excitation needs more samples"
        result = replace(result, evident=False, reason=why)
    return replace(found, result=result, variant=one)


def _limit(one: Variant) -> int | None:
    """The rank from which on more samples must be used; None where there are no more."""
    return len(one.picks) if len(one.picks) < one.available else None


def settle(
    observe: Callable[[int], IntegerMatrix],
    digits: Sequence[int],
    limit: int | None = None,
    ahead: Callable[[int], None] = lambda _: None,
) -> Settled:
    """Raise the digits until the ridge is evident and stays.

    Parameters
    ----------
    observe
        W to so many decimal digits, computed from scratch.
    digits
        To try, rising.
    limit
        A rank this high is not confirmed, because W must have more rows first.
    ahead
        Called with the digits that `observe` will be asked next, if the rank can be confirmed.
    """
    last: Settled | None = None
    for few in digits:
        try:
            one, more = observe(few), math.ceil(AGAIN * few)
            ahead(more)
            found = rung(one)
            if found.ridge < min(EVIDENT, few / 3):
                why = f"the ridge is {found.ridge:.1f} decades high at {few} digits"
                last = Settled(_result(found, few, False, why), found, one)
                continue
            if limit is not None and found.rank >= limit:
                why = f"{limit} samples are too few for rank {found.rank}"
                return Settled(_result(found, few, False, why), found, one)
            last = _compared(one, observe(more), found, few, more)
        except NotClosedError as error:
            if last is None:
                return Settled(_nothing(few, error.message))
            why = f"{last.result.reason}; with {few} {error.message}"
            return replace(last, result=replace(last.result, reason=why))
        if last.result.evident:
            break
    assert last is not None
    return last


def _compared(one: IntegerMatrix, two: IntegerMatrix, found: Rung, few: int, more: int) -> Settled:
    """A rank held against W computed anew, and what the digits of that prove.

    Where the two ranks differ, only the second is reported, and nothing is proved.
    """
    again = rung(two)
    independent, dependent = _proof(two, again)
    why = _difference(one, two, found, again, more) or _indistinct(independent, dependent, more)
    same = found.rank == again.rank
    result = replace(
        _result(found, few, True, why) if same else _result(again, more, True, why),
        log10_least=_log10(independent.least, -1),
        log10_most=_log10(dependent.most, 1) if dependent is not None else math.inf,
        proved=same and two.proved and bool(independent.least > 0),
    )
    return Settled(result, again, two, independent, dependent)


def _proof(W: IntegerMatrix, found: Rung) -> tuple[Independence, Dependence | None]:
    kept, others = found.order[: found.rank], found.order[found.rank :]
    independent = independence(W, kept, found.grading)
    try:
        return independent, dependence(W, kept, others, found.grading)
    except ZeroDivisionError:
        return independent, None


def _log10(x: arb, sign: int) -> float:
    """log10 of an exact positive number, off in the safe direction; −inf for the others."""
    if not x > 0:
        return -math.inf
    if not x.is_finite():
        return math.inf
    # Logarithms in floats are right to a few units of their last place.
    log = log2_size(x) / BITS_PER_DIGIT
    return log + sign * 1e-12 * (1 + abs(log))


def _indistinct(independent: Independence, dependent: Dependence | None, more: int) -> str:
    """Why the bounds do not tell σ_r from σ_{r+1}; empty where they do."""
    if dependent is None:
        return f"the null space cannot be solved for with {more} digits"
    if not dependent.explained:
        off = _log10(dependent.most, 1)
        return f"columns depend on others to 10^{off:.1f} only, which W's error does not explain"
    if not independent.kept_apart(dependent.most, APART):
        low, high = _log10(independent.least, -1), _log10(dependent.most, 1)
        return f"σ_r is proved to exceed 10^{low:.1f} only, σ_(r+1) to lie below 10^{high:.1f}"
    return ""


def _result(found: Rung, digits: int, reevaluated: bool, reason: str) -> PreciseRank:
    return PreciseRank(
        found.rank,
        digits,
        found.log10_values,
        found.ridge,
        found.gap,
        not reason,
        reevaluated,
        reason=reason,
    )


def _nothing(digits: int, reason: str) -> PreciseRank:
    return PreciseRank(0, digits, (), 0.0, 0.0, False, False, reason=reason)


def _difference(
    one: IntegerMatrix, two: IntegerMatrix, found: Rung, again: Rung, more: int
) -> str:
    """How W computed anew contradicts the first; empty where it does not."""
    if again.rank != found.rank:
        return f"the rank is {found.rank}, but {again.rank} with {more} digits"
    if again.ridge < EVIDENT:
        return f"the ridge is {again.ridge:.1f} decades high at {more} digits"
    pairs = zip(found.log10_values[: found.rank], again.log10_values, strict=False)
    for k, (a, b) in enumerate(pairs, start=1):
        if abs(a - b) > STABLE / math.log(10):
            return f"singular value {k} is 10^{a:.6f}, but 10^{b:.6f} with {more} digits"
    apart = _distance(one, two)
    if apart > one.radius + two.radius:
        return (
            f"W is uncertain by {apart} units of its last place with {more} digits, where "
            f"{one.radius} were promised"
        )
    return ""


def _distance(one: IntegerMatrix, two: IntegerMatrix) -> int:
    """Largest difference of two observations, in units of the first, rounded up."""
    finer = min(one.scale, two.scale)
    a = one.entries * (fmpz(1) << (one.scale - finer))
    b = two.entries * (fmpz(1) << (two.scale - finer))
    worst = max((abs(x) for x in (a - b).entries()), default=fmpz(0))
    return int(-((-worst) >> (one.scale - finer)))
