"""The sampling plan `table`: rows someone else chose, from a list, a CSV file or a dataset."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from basepar_core.texts import plural

from .plans import Rows, check_range

#: Numbers a specification's document repeats; a longer table is named by file and hash.
LONGEST_INLINE = 50_000


@dataclass(frozen=True, eq=False)
class Table:
    """Rows as given.

    `values` is (variant, symbol) float64, SI. `file` is where they came from, "" if nowhere;
    it does not count when two tables are compared, their numbers do.
    """

    names: tuple[str, ...]
    values: np.ndarray
    file: str = ""

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.names):
            raise ValueError(
                f"A table of {plural(len(self.names), 'symbol')} needs values of shape "
                f"(variant, {len(self.names)}), not {values.shape}."
            )
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """sha256 of the numbers."""
        return hashlib.sha256(self.values.astype("<f8").tobytes()).hexdigest()

    def rows(self, start: int, stop: int) -> Rows:
        """Rows start … stop − 1 by symbol."""
        check_range(self, start, stop)
        block = self.values[start:stop]
        return {name: block[:, column].copy() for column, name in enumerate(self.names)}

    def describe(self) -> dict[str, Any]:
        """What fixes the rows: names, count, and the hash of the numbers."""
        return {
            "plan": "table",
            "names": list(self.names),
            "count": len(self),
            "sha256": self.digest,
        }

    def document(self) -> dict[str, Any]:
        """`describe`, and what is needed to have the rows again."""
        inline = self.values.size <= LONGEST_INLINE
        rest = {"rows": self.values.tolist()} if inline else {"file": self.file}
        return self.describe() | rest

    @classmethod
    def from_document(cls, plain: Mapping[str, Any]) -> "Table | None":
        """The table again, or None where the document holds only the name of a file."""
        if "rows" not in plain:
            return None
        shape = (plain["count"], len(plain["names"]))
        return cls(tuple(plain["names"]), np.reshape(np.array(plain["rows"], float), shape))
