"""The sampling plan `asked`: rows that someone chooses while the work proceeds, block by block.

How many there will be is known from the start, so the store is preallocated whole and every
block is written like any other part of a sweep; nothing is ever appended.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .plans import Rows, check_range


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
            "count": self.count,
            "by": dict(self.by),
        }

    @classmethod
    def from_description(cls, plain: Mapping[str, Any]) -> "Asked":
        """The plan that `describe` described; its rows are in the store."""
        return cls(plain["variables"], plain["count"], plain["by"])
