"""The precise route: rank, singular values and β in variable precision.

The rank comes from `variable_precision.rank`, with W computed twice; β from the last of these, to
as many digits as are asked for, each entry with a proved bound of its error. python-flint
computes, users see mpmath.

Low-mobility paper, §3 (Gautier's algorithm in variable precision), without its SVD.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import mpmath
import numpy as np
from flint import arb, fmpz
from mpmath import mpf

from basepar_core.dynamics import Model
from basepar_core.errors import EliminationError, wrong_count
from basepar_core.variable_precision import (
    BITS_PER_DIGIT,
    FIRST_DIGITS,
    MOST_DIGITS,
    Dependence,
    Independence,
    IntegerMatrix,
    PreciseRank,
    Rung,
    Settled,
    Variant,
    climb,
    companion,
    dependence,
    entry_errors,
    independence,
    ladder,
    log2_size,
    numbers,
    precise_rank,
    rank_of,
    settle,
    variant,
)

from .numeric_route import pivot_rows
from .result import BaseParameters, BetaEntry, Certificate

__all__ = ["PreciseParameters", "PreciseRank", "precise", "precise_rank", "rank_of", "settle"]

#: Digits of β where none are asked for: what a float holds.
FLOAT_DIGITS = 17
#: Significant digits that singular values have.
SIGMA_DIGITS = 13


@dataclass(frozen=True)
class PreciseParameters(BaseParameters):
    """Base parameters with numbers of mpmath.

    Attributes
    ----------
    digits
        Digits that β was asked for.
    decimals
        Values of `beta`'s entries, right to `digits` digits.
    sigma
        (parameter,) singular values of W, descending, right to 13 digits up to the rank and
        noise of W's digits beyond it.
    least, most
        Rigorous: σ_r is at least `least` (0: nothing proved), σ_{r+1} at most `most`, for the
        enclosed samples that W uses.
    observed_digits
        Digits of the W that everything here is from; the ridge was evident with two thirds.
    picks
        Samples of the excitation that W uses.
    """

    digits: int = FLOAT_DIGITS
    decimals: tuple[mpf, ...] = field(default=(), repr=False)
    sigma: tuple[mpf, ...] = field(default=(), repr=False)
    least: mpf = field(default_factory=mpf)
    most: mpf = field(default_factory=mpf)
    observed_digits: int = 0
    picks: tuple[int, ...] = field(default=(), repr=False)

    @cached_property
    def precise_beta(self) -> mpmath.matrix:
        """Dense β (base, eliminated)."""
        table = mpmath.matrix(len(self.kept), len(self.eliminated))
        for entry, value in zip(self.beta, self.decimals, strict=True):
            table[entry.base, entry.eliminated] = value
        return table

    @cached_property
    def null_space(self) -> mpmath.matrix:
        """Basis of W's null space (parameter, eliminated): one of φ₂ each, and −β for φ₁."""
        table = mpmath.matrix(len(self.parameters), len(self.eliminated))
        for column, k in enumerate(self.eliminated):
            table[k, column] = mpf(1)
        for entry, value in zip(self.beta, self.decimals, strict=True):
            table[self.kept[entry.base], entry.eliminated] = numbers.negative(value)
        return table

    def document(self) -> dict[str, Any]:
        """As docs/json.md has it: strings where more digits than a float's are asked for."""
        found = super().document()
        found["digits"] = self.digits
        least = numbers.bound_text(self.least, SIGMA_DIGITS, -1)
        most = numbers.bound_text(self.most, SIGMA_DIGITS, 1)
        found["bounds"] = {"sigma": self.rank, "at_least": least, "next_at_most": most}
        if self.digits <= FLOAT_DIGITS:
            return found
        for entry, value in zip(self.beta, self.decimals, strict=True):
            values = found["base"][entry.base]["values"]
            values[self.eliminated_names[entry.eliminated]] = numbers.text(value, self.digits)
        found["singular_values"] = [numbers.text(x, SIGMA_DIGITS) for x in self.sigma]
        return found


def precise(
    model: Model,
    wanted: Sequence[int] | None = None,
    digits: int | None = None,
    shared: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> PreciseParameters:
    """Base parameters by variable precision, at nominal geometry.

    Parameters
    ----------
    model
        The mechanism, prepared.
    wanted
        φ₂ by index, what has no effect named or not; None: chosen by the rule of the numeric
        route.
    digits
        Decimal digits of β, all of them right; W is computed to as many and then to half as many
        again, or more where the ridge needs it. None: those of a float.
    shared
        Whether another process may close half of the samples, where there is a core for it and
        this process has no other threads.
    say
        Called with a text as the long step begins.

    Raises
    ------
    EliminationError
        `wanted` is not admissible.
    """
    one = variant(model, {})
    with companion(one.closed) if shared else nullcontext() as other:
        say(f"closing {len(one.picks)} samples in variable precision")
        return _found(model, replace(one, companion=other), wanted, digits)


def _found(
    model: Model, one: Variant, wanted: Sequence[int] | None, digits: int | None
) -> PreciseParameters:
    names = model.mechanism.parameter_names
    first = max(FIRST_DIGITS, digits or 0)
    settled = climb(one, ladder(first, max(first, MOST_DIGITS)))
    result, found, W = settled.result, settled.rung, settled.matrix
    if found is None or W is None:
        raise EliminationError(
            f"Variable precision finds no rank of {model.mechanism.name!r}: {result.reason}.",
            ["excitation"],
        )
    norms = _norms(W)
    safe = np.where(norms > 0, norms, 1.0)
    silent = tuple(k for k in range(len(names)) if norms[k] == 0)
    asked = None if wanted is None else tuple(sorted({*wanted, *silent}))
    eliminated = _chosen(settled, W, found, safe, names) if asked is None else asked
    kept = tuple(k for k in range(len(names)) if k not in eliminated)
    grouping = _Grouping(settled, kept, eliminated, wanted is not None, names, silent)
    places, decimals, lacking = _beta(grouping, W, digits or FLOAT_DIGITS)
    here = "this geometry and branch"
    grade = "proved" if result.proved else "numerical"
    return PreciseParameters(
        mechanism=model.mechanism.name,
        parameters=names,
        route="precise",
        kept=kept,
        eliminated=eliminated,
        no_effect=silent,
        beta=tuple(BetaEntry(b, e, float(x)) for (b, e), x in zip(places, decimals, strict=True)),
        gap=10.0 ** min(result.gap, 308.0),
        singular_values=result.singular_values,
        certificate=Certificate(found.rank, grade, here, found.rank, "numerical", here),
        doubt="; ".join(filter(None, ("" if result.evident else result.reason, lacking))),
        digits=digits or FLOAT_DIGITS,
        decimals=decimals,
        sigma=tuple(numbers.from_float(x, exponent) for x, exponent in found.values),
        observed_digits=_digits_of(W),
        picks=settled.variant.picks if settled.variant is not None else (),
        **_bounds(settled),
    )


def _bounds(settled: Settled) -> dict[str, mpf]:
    least = settled.independent.least if settled.independent is not None else arb(0)
    most = settled.dependent.most if settled.dependent is not None else arb("inf")
    return {
        "least": numbers.from_exact(least) if least > 0 else mpf(0),
        "most": numbers.from_exact(most),
    }


def _norms(W: IntegerMatrix) -> np.ndarray:
    """Lengths of W's columns (relative to its largest entry); 0 where all is error."""
    found = []
    for column in W.columns:
        if max(abs(x) for x in column) <= W.radius:
            found.append(0.0)
            continue
        square = sum((x * x for x in column), fmpz(0))
        found.append(2.0 ** (math.log2(int(square)) / 2 - W.bits))
    return np.array(found)


def _chosen(
    settled: Settled, W: IntegerMatrix, found: Rung, norms: np.ndarray, names: Sequence[str]
) -> tuple[int, ...]:
    """φ₂ by the rule of the numeric route: from the null space of W with unit columns."""
    kept, others = found.order[: found.rank], found.order[found.rank :]
    # Where W was computed anew, the proof of the rank has solved for it.
    known = settled.dependent or dependence(W, kept, others, found.grading)
    null = np.zeros((len(names), len(others)))
    null[list(kept)] = -known.floats()
    null[list(others)] = np.eye(len(others))
    return pivot_rows(np.linalg.qr(null * norms[:, None])[0], names)


def _beta(
    grouping: "_Grouping", W: IntegerMatrix, digits: int
) -> tuple[list[tuple[int, int]], tuple[mpf, ...], str]:
    """Nonzero entries of β: where they are, their values to so many digits; what is not proved."""
    variant_ = grouping.settled.variant
    for attempt in range(2):
        proved, found = grouping.of(W)
        errors = entry_errors(W, proved, found)
        places, missing = _nonzero(found, errors, digits)
        enough = missing <= 0 or not math.isfinite(missing)
        if enough or variant_ is None or attempt:
            break
        W = variant_.observe(math.ceil(_digits_of(W) + missing + 1))
    lacking = ""
    if missing == math.inf:
        lacking = "no digit of β is proved"
    elif missing > 0:
        lacking = f"β is proved to {max(0, math.floor(digits - missing))} of {digits} digits only"
    entries = found.entries
    values = [numbers.power_of_two_times(entries[i, j], -found.bits, digits) for i, j in places]
    return places, tuple(values), lacking


def _digits_of(W: IntegerMatrix) -> int:
    return math.floor(W.bits / BITS_PER_DIGIT)


def _nonzero(
    found: Dependence, errors: list[list[arb]], digits: int
) -> tuple[list[tuple[int, int]], float]:
    """Entries of X that are not zero within their errors, and the digits that the worst lacks."""
    places, missing = [], -math.inf
    for i, row in enumerate(errors):
        for j, error in enumerate(row):
            size = math.log2(abs(int(found.entries[i, j])) or 0.5) - found.bits
            off = log2_size(error)
            # Where nothing is proved, half of the digits are taken for noise.
            limit = off if math.isfinite(off) else -found.bits / 2
            if size > limit:
                places.append((i, j))
                missing = max(missing, (off - size) / BITS_PER_DIGIT + digits)
    return places, missing


@dataclass(frozen=True)
class _Grouping:
    """φ₁ and φ₂ of a settled rank; `asked` if the user chose them, `silent` without effect."""

    settled: Settled
    kept: tuple[int, ...]
    eliminated: tuple[int, ...]
    asked: bool
    names: Sequence[str]
    silent: tuple[int, ...] = ()

    def of(self, W: IntegerMatrix) -> tuple[Independence, Dependence]:
        """The kept columns proved independent and the others as their combinations.

        A choice of ours that digits do not prove is left unproved; `_beta` says so.

        Raises
        ------
        EliminationError
            Columns that were asked to be kept do not span W, or W has no null space to solve for.
        """
        rank, found = self.settled.result.rank, self.settled.rung
        gone = [self.names[k] for k in self.eliminated]
        if len(self.kept) != rank:
            raise wrong_count(self.names, self.eliminated, self.silent, rank)
        proved = independence(W, self.kept, found.grading if found is not None else 0.0)
        if self.asked and not proved.least > 0:
            raise EliminationError(
                "These parameters are not an admissible choice of φ₂: their columns of W do not "
                "depend on the others.",
                gone,
            )
        grading = proved.grading if proved.least > 0 else found.grading if found else 0.0
        try:
            return proved, dependence(W, self.kept, self.eliminated, grading)
        except ZeroDivisionError as error:
            raise EliminationError(
                f"Variable precision finds no null space to rank {rank}: "
                f"{self.settled.result.reason}.",
                ["excitation"],
            ) from error
