"""A number per variant by which a report ranks variants."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Metric:
    """A number per variant by which variants are ranked, the least first.

    Attributes
    ----------
    values
        (row,), nan where the variant has no result.
    sign
        −1 where the most is the best.
    may_win
        (row,) bool: who is ranked at all; None: everybody with a value.
    is_asked
        Whether a study is asked for it; None: a sweep's.
    ties
        (row,): of equals those with the least come first.
    """

    name: str
    unit: str
    meaning: str
    values: np.ndarray
    sign: float = 1.0
    may_win: np.ndarray | None = None
    is_asked: bool | None = None
    ties: np.ndarray | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """What minimum and maximum are: of a stroke neither is the better."""
        if self.is_asked is not None:
            return ("Best", "Worst") if self.is_asked else ("Minimum", "Maximum")
        return (
            ("Minimum", "Maximum")
            if self.name.startswith(("stroke", "point_m", "point_r"))
            else ("Best", "Worst")
        )

    @property
    def order(self) -> np.ndarray:
        """Rows from the best to the worst, those without a result left out."""
        there = np.isfinite(self.values)
        good = np.flatnonzero(there if self.may_win is None else there & self.may_win)
        ties = np.zeros(len(good)) if self.ties is None else self.ties[good]
        return good[np.lexsort((ties, self.sign * self.values[good]))]
