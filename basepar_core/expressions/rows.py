"""Expressions as rows of an array; those that no swept symbol enters are evaluated once."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array

from .tree import Expression, evaluate, names


@dataclass(frozen=True)
class Rows:
    """Expressions, and the nominal values of their symbols."""

    entries: tuple[Expression, ...]
    nominal: Mapping[str, float]

    @cached_property
    def names(self) -> frozenset[str]:
        """All symbols that the entries name."""
        return frozenset().union(*self._names)

    @cached_property
    def _names(self) -> list[frozenset[str]]:
        return [names(entry) for entry in self.entries]

    @cached_property
    def constant(self) -> Array:
        """(entry, 1) nominal values, which nobody may change."""
        return np.array(evaluate(self.entries, self.nominal), float).reshape(-1, 1)

    def at_values(self, known: Mapping[str, Array | float], swept: AbstractSet[str]) -> Array:
        """(entry, variant), or (entry, 1) of no swept symbol.

        Parameters
        ----------
        known
            Values of all symbols, (variant,) arrays or numbers, SI.
        swept
            Symbols whose values are not the nominal ones.
        """
        if self.names.isdisjoint(swept):
            return self.constant
        moving = [k for k, own in enumerate(self._names) if not own.isdisjoint(swept)]
        found = evaluate([self.entries[k] for k in moving], known)
        rows = np.empty((len(self.entries), max(map(np.size, found))))
        rows[:] = self.constant
        for k, x in zip(moving, found, strict=True):
            rows[k] = x
        return rows
