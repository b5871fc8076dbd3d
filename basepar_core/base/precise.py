"""The precise route: rank, singular values and β of one variant in variable precision.

For mechanisms of such low mobility that float64 cannot tell the last singular values from
rounding. Digits rise (40, 80, …) until the ridge between singular values and noise is evident,
and then W is computed anew with half as many digits again: only if rank and every singular value
stay the same is the rank called evident. An error in W that was not declared, from loops closed
too loosely or a double among the constants, does not survive that (it does not fall with the
digits); a ridge at one precision alone would be no evidence.

Low-mobility paper, §3, with an exact Gram matrix in place of a variable-precision SVD.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import fmpz

from ..closure import Model
from ..errors import EliminationError
from ..precise.configurations import NotClosedError
from ..precise.observation import IntegerMatrix, Variant, variant
from ..precise.ridge import Rung, null_space, rung
from .numeric import pivot_rows
from .result import BaseParameters, BetaEntry, Certificate

#: Where the digits start, and the most that are tried.
FIRST_DIGITS, MOST_DIGITS = 40, 320
#: How many times the digits W is computed with anew.
AGAIN = 1.5
#: Decades of a ridge that no accident makes: as many as this, or a third of the digits.
EVIDENT = 10.0
#: Singular values must stay equal to this share when W is computed anew; `rung` has 13 digits.
STABLE = 1e-6


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

    @property
    def singular_values(self) -> tuple[float, ...]:
        """The same as floats; 0 where they are below the range of floats."""
        return tuple(10.0**x if x > -308 else 0.0 for x in self.log10_singular_values)


@dataclass(frozen=True)
class Settled:
    """A rank with what it was found from: the last rung, and its W."""

    result: PreciseRank
    rung: Rung | None = None
    matrix: IntegerMatrix | None = None


def precise_rank(
    model: Model,
    values: Mapping[str, float] | None = None,
    digits: int | None = None,
    cap: int = MOST_DIGITS,
    samples: int | None = None,
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

    Raises
    ------
    UsageError
        The excitation cannot be followed at this geometry.
    """
    return rank_of(variant(model, values or {}, samples), digits, cap).result


def rank_of(one: Variant, digits: int | None = None, cap: int = MOST_DIGITS) -> Settled:
    """Rank of a variant whose excitation has been followed, with the W it was found from."""
    ladder = _ladder(digits, cap)
    found = settle(one.observe, ladder)
    # Each sample adds at least one dimension to the rows until they span everything, so more
    # samples than the rank are enough; several coordinates can mislead a count of rows.
    while found.result.rank >= len(one.picks) and len(one.picks) < one.available:
        one = one.with_samples(found.result.rank + 2)
        found = settle(one.observe, ladder)
    result = replace(found.result, samples=len(one.picks))
    rows = len(one.picks) * len(one.model.mechanism.coordinates)
    if result.rank == rows < len(one.model.mechanism.parameter_names):
        why = f"W has only {rows} rows and all are independent; the excitation needs more samples"
        result = replace(result, evident=False, reason=why)
    return replace(found, result=result)


def _ladder(digits: int | None, cap: int) -> tuple[int, ...]:
    if digits is not None:
        return (digits,)
    steps = range(math.ceil(math.log2(max(1.0, cap / FIRST_DIGITS))) + 1)
    return tuple(sorted({min(cap, FIRST_DIGITS * 2**k) for k in steps}))


def settle(observe: Callable[[int], IntegerMatrix], ladder: Sequence[int]) -> Settled:
    """Raise the digits until the ridge is evident and stays.

    Parameters
    ----------
    observe
        W to so many decimal digits, computed from scratch.
    ladder
        Digits to try, rising.
    """
    last: Settled | None = None
    for digits in ladder:
        try:
            one = observe(digits)
            found = rung(one)
            if found.ridge < min(EVIDENT, digits / 3):
                why = f"the ridge is {found.ridge:.1f} decades high at {digits} digits"
                last = Settled(_result(found, digits, False, why), found, one)
                continue
            more = math.ceil(AGAIN * digits)
            two = observe(more)
        except NotClosedError as error:
            if last is not None:
                result = last.result
                why = f"{result.reason}; with {digits} {error.message}"
                return replace(last, result=replace(result, reason=why))
            return Settled(_nothing(digits, error.message))
        again = rung(two)
        why = _difference(one, two, found, again, more)
        last = Settled(_result(found, digits, True, why), again, two)
        if not why:
            return last
    assert last is not None
    return last


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


def precise(model: Model, wanted: Sequence[int] | None = None) -> BaseParameters:
    """Base parameters by variable precision, at nominal geometry.

    Parameters
    ----------
    model
        The mechanism, prepared.
    wanted
        φ₂ by index; None: chosen by the rule of the numeric route.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    """
    names = model.mechanism.parameter_names
    settled = rank_of(variant(model, {}))
    result, found, W = settled.result, settled.rung, settled.matrix
    if found is None or W is None:
        raise EliminationError(
            f"Variable precision finds no rank of {model.mechanism.name!r}: {result.reason}.",
            ["excitation"],
        )
    norms = _norms(W)
    dead = tuple(k for k in range(len(names)) if norms[k] == 0)
    safe = np.where(norms > 0, norms, 1.0)
    eliminated = _chosen(W, found, safe, names) if wanted is None else tuple(sorted(wanted))
    kept = tuple(k for k in range(len(names)) if k not in eliminated)
    grading = _admissible(W, found.rank, kept, eliminated, names)
    beta = null_space(W, kept, eliminated, grading)
    scaled = beta * safe[list(kept)][:, None] / safe[list(eliminated)]
    # Zeros of β come out as noise, as far down as the ridge is high; halfway is far from both.
    zero = 10.0 ** (-found.ridge / 2) * max(1.0, np.abs(scaled).max(initial=0.0))
    beta = np.where(np.abs(scaled) < zero, 0.0, beta)
    here = "this geometry and branch"
    return BaseParameters(
        mechanism=model.mechanism.name,
        parameters=names,
        route="precise",
        kept=kept,
        eliminated=eliminated,
        no_effect=dead,
        beta=tuple(
            BetaEntry(int(b), int(e), float(beta[b, e])) for b, e in np.argwhere(beta != 0)
        ),
        gap=10.0 ** min(result.gap, 308.0),
        singular_values=result.singular_values,
        certificate=Certificate(found.rank, "numerical", here, found.rank, "numerical", here),
        doubt="" if result.evident else result.reason,
    )


def _norms(W: IntegerMatrix) -> np.ndarray:
    """Lengths of W's columns (relative to its largest entry); 0 where all is error."""
    columns = W.entries.transpose().tolist()
    found = []
    for column in columns:
        if max(abs(x) for x in column) <= W.radius:
            found.append(0.0)
            continue
        square = sum((x * x for x in column), fmpz(0))
        found.append(2.0 ** (math.log2(int(square)) / 2 - W.bits))
    return np.array(found)


def _chosen(
    W: IntegerMatrix, found: Rung, norms: np.ndarray, names: Sequence[str]
) -> tuple[int, ...]:
    """φ₂ by the rule of the numeric route: from the null space of W with unit columns."""
    kept, others = found.order[: found.rank], found.order[found.rank :]
    X = null_space(W, kept, others, found.grading)
    null = np.zeros((len(names), len(others)))
    null[list(kept)] = -X
    null[list(others)] = np.eye(len(others))
    return pivot_rows(np.linalg.qr(null * norms[:, None])[0], names)


def _admissible(
    W: IntegerMatrix,
    rank: int,
    kept: tuple[int, ...],
    eliminated: tuple[int, ...],
    names: Sequence[str],
) -> float:
    """Grading of the kept columns in decades; raises where they do not span W."""
    if len(kept) != rank:
        raise EliminationError(
            f"{len(eliminated)} parameters are asked to be eliminated, but the rank is {rank} of "
            f"{len(names)}: exactly {len(names) - rank} must be.",
            [names[k] for k in eliminated],
        )
    if not kept:
        return 0.0
    found = rung(W.columns(kept))
    if found.rank < rank:
        raise EliminationError(
            "These parameters are not an admissible choice of φ₂: their columns of W do not "
            "depend on the others.",
            [names[k] for k in eliminated],
        )
    return found.grading
