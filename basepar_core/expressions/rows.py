"""Expressions as rows of an array; those that no swept symbol enters are evaluated once."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array

from .tree import Expression, Steps, evaluate, names


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

    def _moving(self, swept: frozenset[str]) -> tuple[list[int], Steps]:
        """Which entries any of these symbols enters, and what computes them; kept, since it is
        mostly asked for the same ones."""
        kept = self._kept.get(swept)
        if kept is None:
            moving = [k for k, own in enumerate(self._names) if not own.isdisjoint(swept)]
            kept = moving, Steps.of(self.entries[k] for k in moving)
            self._kept[swept] = kept
        return kept

    @cached_property
    def _kept(self) -> dict[frozenset[str], tuple[list[int], Steps]]:
        return {}

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
        moving, steps = self._moving(self.names.intersection(swept))
        found = steps.values(known)
        rows = np.empty((len(self.entries), max(map(np.size, found))))
        rows[:] = self.constant
        for k, x in zip(moving, found, strict=True):
            rows[k] = x
        return rows
