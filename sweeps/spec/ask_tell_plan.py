"""The sampling plan `asked`: rows that someone chooses while the work proceeds, block by block.

The store is preallocated for a number of rows and every block is written like any other part of
a sweep; workers append nothing. That number is no part of what fixes the rows: more may be asked
for later, and then the driver makes the arrays longer while nobody writes (`store.extend`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .plans import Plan, Rows, check_range


@dataclass(frozen=True, eq=False)
class Asked:
    """A plan of which one block of rows is known.

    Attributes
    ----------
    variables
        Plain data by symbol: where its values may lie.
    count
        Rows there will be.
    by
        Who asks: plain data that fixes the rows, and counts in the specification's hash.
    start, values
        The known block: its first row, and (row, symbol) in SI.
    """

    variables: Mapping[str, Any]
    count: int
    by: Mapping[str, Any]
    start: int = 0
    values: np.ndarray = field(default_factory=lambda: np.empty((0, 0)), repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.variables)

    def __len__(self) -> int:
        return self.count

    def knowing(self, start: int, values: np.ndarray) -> "Asked":
        """The same plan with another block known."""
        known = replace(self, start=start, values=np.asarray(values, float))
        check_range(known, start, start + len(values))
        return known

    def rows(self, start: int, stop: int) -> Rows:
        """Rows of the known block; others raise IndexError."""
        first, last = start - self.start, stop - self.start
        if not 0 <= first <= last <= len(self.values):
            known = f"{self.start} to {self.start + len(self.values)}"
            raise IndexError(f"Rows {start} to {stop} are not asked for yet; known are {known}.")
        block = self.values[first:last]
        return {name: block[:, column].copy() for column, name in enumerate(self.names)}

    def describe(self) -> dict[str, Any]:
        return {
            "plan": "asked",
            "variables": dict(self.variables),
            "by": dict(self.by),
        }

    @classmethod
    def from_description(cls, plain: Mapping[str, Any], count: int) -> "Asked":
        """The plan that `describe` described, of so many rows; they are in the store."""
        return cls(plain["variables"], count, plain["by"])


def asked_plan(plan: Plan) -> Asked | None:
    """The rows that somebody chooses while the work proceeds; None where a plan has none."""
    inner: Plan | None = getattr(plan, "plan", None)  # of rows with formulas' columns added
    if inner is not None:
        return asked_plan(inner)
    return plan if isinstance(plan, Asked) else None


def is_asked(plan: Plan) -> bool:
    """Whether a plan is a study's."""
    return asked_plan(plan) is not None
