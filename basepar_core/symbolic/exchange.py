"""A shorter β by exchanging eliminated parameters for kept ones.

Whatever φ₂ the greedy choice ends at, one exchange (a parameter of φ₂ for one of φ₁ with an
entry in its column) is one more Gauss–Jordan step, so all of them can be tried: the one that
shortens β most is taken, until none does. On the suspension both starts, the greedy φ₂ and the
paper's, end at the same size of β, half that of the paper's. Denominators count three times:
each is a geometry at which β ends.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from basepar_core.arrays import Array

from .quotients import Quotient, Quotients

Column = dict[int, Quotient]

#: Dividing by an entry that is longer than this lengthens β; trying it costs seconds.
LONGEST_PIVOT = 12.0
#: A β that costs more than this stays unread, however it is exchanged.
LONGEST_BETA = 20_000.0


def never(entry: Quotient) -> bool:
    """No entry vanishes as long as no geometry is asked about."""
    return False


def cleared(
    ring: Quotients, columns: Mapping[int, Column], row: int, column: int
) -> dict[int, Column]:
    """The columns that change when `row` becomes 1 in `column` and 0 in all others."""
    head = columns[column][row]
    scaled = {r: ring.divide(value, head) for r, value in columns[column].items()}
    changed = {column: scaled}
    for k, other in columns.items():
        if k == column or row not in other:
            continue
        factor = other[row]
        left = {r: value for r, value in other.items() if r != row}
        for r, value in scaled.items():
            if r != row and (difference := ring.less(left.get(r), factor, value)):
                left[r] = difference
            elif r != row:
                left.pop(r, None)
        changed[k] = left
    return changed


def exchange(
    ring: Quotients,
    columns: dict[int, Column],
    pivot_of: Mapping[int, int],
    names: Sequence[str],
    vanishes: Callable[[Quotient], bool] = never,
) -> dict[int, int]:
    """Exchange parameters while that shortens β.

    Parameters
    ----------
    ring
        Arithmetic of the entries.
    columns
        Solved columns, each 1 at its own pivot and 0 at the others'; changed in place.
    pivot_of
        Column of each eliminated parameter.
    names
        All parameters; ties go by them.
    vanishes
        Whether an entry vanishes at the geometry at which β must have a value.

    Returns
    -------
    dict
        Column of each parameter that is eliminated now.
    """
    if sum(map(_cost, columns.values())) > LONGEST_BETA:
        return dict(pivot_of)
    row_of = {column: row for row, column in pivot_of.items()}
    table = Table(ring, columns, len(names))
    while (best := _best(table, row_of, names, vanishes)) is not None:
        row, column = best
        changed = cleared(ring, columns, row, column)
        stale = {r for k in changed for r in columns[k].keys() | changed[k].keys()}
        columns.update(changed)
        table.update(changed, sorted(stale))
        row_of[column] = row
    return {row: column for column, row in row_of.items()}


def _best(
    table: "Table",
    row_of: Mapping[int, int],
    names: Sequence[str],
    vanishes: Callable[[Quotient], bool],
) -> tuple[int, int] | None:
    """The exchange, by its place, that shortens β most; those of the greatest bounds first."""
    best: tuple[tuple[float, str, str], tuple[int, int]] | None = None
    for r, column in table.promising():
        if best is not None and table.bound[r, table.place[column]] < -best[0][0]:
            break  # no other gains as much
        row = row_of[column]
        if r != row and (gain := table.gain(r, column, vanishes)) > 0:
            key = (-gain, names[r], names[row])
            best = (key, (r, column)) if best is None else min(best, (key, (r, column)))
    return best and best[1]


class Table:
    """What entries cost, as arrays (parameter, column), for bounds of what exchanges gain.

    Most exchanges lengthen β. What they leave alone, what they remove, and products with ±1 are
    known without a product of polynomials, and enough to give most of them up: the bounds of all
    exchanges are three products of matrices. A bound stands while no column with an entry in its
    row has changed, nor one has come into it.

    Attributes
    ----------
    bound
        What an exchange gains at most; what it gains where that is known.
    """

    def __init__(self, ring: Quotients, columns: dict[int, Column], rows: int):
        self.ring, self.columns = ring, columns
        self.place = {k: i for i, k in enumerate(columns)}
        self.keys = list(columns)
        shape = rows, len(columns)
        # Numbers, for products of matrices; the columns' own, each with each, change with them.
        self.cost, self.there, self.unit = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self.inverse = np.zeros(shape)
        self.long, self.known = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self.bound = np.zeros(shape)
        self.there_cost, self.there_unit = (np.zeros((shape[1], shape[1])) for _ in range(2))
        self.update(columns, range(rows))

    def update(self, changed: Mapping[int, Column], stale: Sequence[int]) -> None:
        """Columns that are new, and all rows in which they have, or had, an entry."""
        for k, column in changed.items():
            i, rows = self.place[k], list(column)
            for array in (self.cost, self.inverse, self.there, self.unit, self.long):
                array[:, i] = 0
            self.cost[rows, i] = [value.cost for value in column.values()]
            if self.ring.plain:
                self.inverse[rows, i] = [4 * x.size - x.cost for x in column.values()]
            self.unit[rows, i] = [value.unit != 0 for value in column.values()]
            self.long[rows, i] = [value.size > LONGEST_PIVOT for value in column.values()]
            self.there[rows, i] = 1
        new, there = [self.place[k] for k in changed], self.there.T
        for own, of in ((self.there_cost, self.cost), (self.there_unit, self.unit)):
            own[new], own[:, new] = there[new] @ of, there @ of[:, new]
        self.bound[stale], self.known[stale] = self._bounds(stale), False

    def _bounds(self, rows: Sequence[int]) -> Array:
        """What exchanges with these rows gain at most.

        All that may go, less the scaled column and new entries in the place of none that are
        products with ±1: they cost what the other factor does. Where the pivot is not ±1, of the
        scaled column only what was ±1 is known: it becomes the pivot's inverse.
        """
        there, cost, unit = self.there[rows], self.cost[rows], self.unit[rows]
        removed = there @ self.there_cost.T
        units, by_unit = self.unit.sum(axis=0), 1 + unit.sum(axis=1)[:, None]
        added = by_unit * self.cost.sum(axis=0) - unit @ self.there_cost
        added += np.outer(cost.sum(axis=1), units) - cost @ self.there_unit
        inverted = self.inverse[rows] * (by_unit * units - unit @ self.there_unit)
        found = removed - np.where(unit > 0, added, inverted)
        return np.where((there > 0) & ~self.long[rows], found, 0.0)

    def promising(self) -> Iterator[tuple[int, int]]:
        """Exchanges that may shorten β, by place, those of the greatest bounds first."""
        flat = self.bound.ravel()
        places = np.flatnonzero(flat > 0)
        for place in places[np.argsort(-flat[places])].tolist():
            row, i = divmod(place, len(self.keys))
            yield row, self.keys[i]

    def gain(self, row: int, column: int, vanishes: Callable[[Quotient], bool]) -> float:
        """By how much β gets shorter, 0 where it does not or where the new pivot vanishes."""
        place = row, self.place[column]
        if not self.known[place]:
            gain = self._gain(row, column)
            if gain > 0 and vanishes(self.columns[column][row]):
                gain = 0.0
            self.bound[place], self.known[place] = gain, True
        return float(self.bound[place])

    def _gain(self, row: int, column: int) -> float:
        """What `cleared` would take off β's cost; 0 once that is clear to be none."""
        own, entries = self.place[column], self.columns[column]
        mine, touched = np.array([*entries]), np.flatnonzero(self.there[row])
        others, kept = touched[touched != own], mine != row
        scaled = [self.ring.divide(x, entries[row]) for x in entries.values()]
        costs = np.array([x.cost for x in scaled])
        units = np.array([x.unit != 0 for x in scaled])
        gain = self.cost[mine[:, None], touched].sum() - costs.sum()
        fresh = (self.there[mine[:, None], others] == 0) & kept[:, None]
        by_unit = self.unit[row, others][None] > 0
        known = fresh & (units[:, None] | by_unit)
        gain -= np.where(by_unit, costs[:, None], self.cost[row, others][None])[known].sum()
        # The others one by one, those first that are no zeros for sure.
        rest = ~known & kept[:, None]
        for i, j in (*np.argwhere(rest & fresh), *np.argwhere(rest & ~fresh)):
            if not gain > 0:
                return 0.0
            other = self.columns[self.keys[others[j]]]
            difference = self.ring.less(other.get(int(mine[i])), other[row], scaled[i])
            gain -= difference.cost if difference else 0.0
        return max(0.0, float(gain))


def _cost(column: Column) -> float:
    """Cost of a column of β; its 1 costs nothing."""
    return sum(value.cost for value in column.values())
