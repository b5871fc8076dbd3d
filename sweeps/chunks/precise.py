"""The second stage of a sweep: variants whose rank float64 leaves in doubt, in variable precision.

A variant's task is seconds instead of microseconds, so these variants are tasks of their own,
with arrays in small chunks of their own (`worker.Stage`, prefix "precise_").
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from basepar_core.compiled import Engine
from basepar_core.dynamics import Model, Trace, excitation
from sweeps.store import Arrays, Columns, Output, PreciseStatus, Reason, blank

if TYPE_CHECKING:
    from basepar_core.base import PreciseRank

#: Grades of null vectors that bound a certified rank from above.
CERTAIN = ("theorem", "identity", "probability")
#: Decimal exponents between which powers are normal floats.
LEAST, MOST = -307.0, 308.0


@dataclass(frozen=True)
class PreciseEvaluator:
    """Ranks of variants in variable precision; picklable (see `outputs.Evaluator`).

    Attributes
    ----------
    model
        The mechanism, prepared.
    generic
        Rank of the symbolic result, with which each variant's is compared.
    bounded
        Whether the symbolic result's null vectors are graded well enough to say that no
        geometry has more rank (`CERTAIN`).
    """

    model: Model
    generic: int
    bounded: bool = False

    @property
    def outputs(self) -> tuple[Output, ...]:
        return (
            Output("precise_rank", dtype="int32", long_name="rank of W in variable precision"),
            Output(
                "precise_digits",
                dtype="int32",
                long_name="decimal digits at which the ridge was found",
            ),
            Output(
                "precise_ridge",
                long_name="decades between the rank's last pivot and the noise of the digits",
            ),
            Output(
                "precise_sigma_least",
                unit="",  # columns of W differ in theirs
                long_name="proved lower bound of the last singular value of the rank",
            ),
            Output(
                "precise_sigma_most",
                unit="",
                long_name="proved upper bound of the singular value after it",
            ),
            Output(
                "precise_singular_values",
                ("variant", "singular_value"),
                unit="",
                long_name="singular values of the rows of W that variable precision used",
            ),
        )

    @property
    def coords(self) -> dict[str, list[int]]:
        count = len(self.model.mechanism.parameter_names)
        return {"singular_value": list(range(1, count + 1))}

    @property
    def attrs(self) -> dict[str, Any]:
        return {}

    def __call__(self, columns: Columns, passed: np.ndarray) -> Arrays:
        """Evaluate the variants of one chunk that await it."""
        count = len(passed)
        arrays = blank(self, count)
        arrays["precise_status"] = np.zeros(count, np.int8)
        arrays["precise_reason"] = np.zeros(count, np.int16)
        arrays["precise_reason_value"] = np.full(count, np.nan)
        chosen = np.flatnonzero(passed)
        if not chosen.size:
            return arrays
        # Not before a variant is in doubt: most workers never load these.
        from basepar_core.base import rank_of
        from basepar_core.variable_precision import variants

        taken = {name: x[chosen] for name, x in columns.items()}
        followed = variants(self.model, taken, path=self._followed(taken))
        for row, one in zip(map(int, chosen), followed, strict=True):
            if one is None:  # float64 closed it a moment ago; careful mode may have cut otherwise
                fate = (PreciseStatus.STILL_DOUBTFUL, Reason.OTHER_ASSEMBLY, np.nan)
            else:
                found = rank_of(one).result
                self._keep(arrays, row, found)
                fate = self._judged(found)
            status, reason, value = fate
            arrays["precise_status"][row] = status
            arrays["precise_reason"][row] = reason
            arrays["precise_reason_value"][row] = value
        return arrays

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self.model)

    def _followed(self, columns: Columns) -> Trace:
        # Plainly this takes as long as all the rest of a variant; the kernels are loaded anyway.
        motion = excitation(self.model.mechanism, self.model.assembled.coordinates)
        return self._engine.observe(columns, motion).trace

    @staticmethod
    def _keep(arrays: Arrays, row: int, found: "PreciseRank") -> None:
        arrays["precise_rank"][row] = found.rank
        arrays["precise_digits"][row] = found.digits
        arrays["precise_ridge"][row] = found.ridge
        arrays["precise_sigma_least"][row] = lower_power(found.log10_least)
        arrays["precise_sigma_most"][row] = upper_power(found.log10_most)
        if found.log10_singular_values:
            arrays["precise_singular_values"][row] = found.singular_values

    def _judged(self, found: "PreciseRank") -> tuple[PreciseStatus, Reason, float]:
        """Evidence, proof, and how the rank compares with the symbolic one."""
        if not found.evident:
            return PreciseStatus.STILL_DOUBTFUL, Reason.NOT_EVIDENT, found.ridge
        if found.rank > self.generic:
            return PreciseStatus.STILL_DOUBTFUL, Reason.HIGH_RANK, float(found.rank)
        if found.rank < self.generic:
            return PreciseStatus.EVIDENT, Reason.LOW_RANK, float(found.rank)
        # Enclosures prove that the rank is no less, null vectors that it is no more.
        certain = found.proved and self.bounded
        status = PreciseStatus.CERTIFIED if certain else PreciseStatus.EVIDENT
        return status, Reason.NONE, np.nan


def lower_power(log10: float) -> float:
    """No more than 10^log10: a proved lower bound stays one; 0 below the range of floats."""
    log10 -= _hair(log10)
    return 10.0 ** min(log10, MOST) if log10 > LEAST else 0.0


def upper_power(log10: float) -> float:
    """No less than 10^log10: a proved upper bound stays one; −inf is a bound that is zero."""
    if log10 == -np.inf:
        return 0.0
    log10 += _hair(log10)
    if log10 > MOST:
        return float(np.inf)
    return max(10.0**log10, 10.0**LEAST)


def _hair(log10: float) -> float:
    """More than what rounding log10 and the power can be off by."""
    return 1e-14 * (1 + abs(log10)) if np.isfinite(log10) else 0.0
