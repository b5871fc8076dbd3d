"""A shorter β by exchanging eliminated parameters for kept ones.

Whatever φ₂ the greedy choice ends at, one exchange (a parameter of φ₂ for one of φ₁ with an
entry in its column) is one more Gauss–Jordan step, so all of them can be tried: the one that
shortens β most is taken, until none does. On the suspension both starts, the greedy φ₂ and the
paper's, end at the same size of β, half that of the paper's. Denominators count three times:
each is a geometry at which β ends.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

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
    trials: dict[tuple[int, int], Trial] = {}  # by place
    while True:
        best: tuple[tuple[float, str, str], tuple[int, int]] | None = None
        for column, row in row_of.items():
            for r, entry in columns[column].items():
                if r == row or entry.size > LONGEST_PIVOT:
                    continue
                if (r, column) not in trials:
                    trials[r, column] = table.trial(r, column, vanishes)
                gain = trials[r, column].gain
                key = (-gain, names[r], names[row])
                if gain > 0 and (best is None or key < best[0]):
                    best = key, (r, column)
        if best is None:
            return {row: column for column, row in row_of.items()}
        r, column = best[1]
        changed = cleared(ring, columns, r, column)
        # A trial stands while no column that it reads has changed, nor one has come into its row.
        rows = {row for k in changed for row in changed[k].keys() - columns[k].keys()}
        columns.update(changed)
        table.update(changed)
        row_of[column] = r
        trials = {
            place: known
            for place, known in trials.items()
            if place[0] not in rows and not known.reads & changed.keys()
        }


@dataclass(frozen=True)
class Trial:
    """By how much β gets shorter by an exchange, 0 where it does not; the columns it reads."""

    gain: float
    reads: frozenset[int]


class Table:
    """What entries cost, as arrays (parameter, column), for bounds of what exchanges gain.

    Most exchanges lengthen β. What they leave alone, what they remove, and products with ±1 are
    known without a product of polynomials, and enough to give most of them up.
    """

    def __init__(self, ring: Quotients, columns: dict[int, Column], rows: int):
        self.ring, self.columns = ring, columns
        self.place = {k: i for i, k in enumerate(columns)}
        self.keys = list(columns)
        shape = rows, len(columns)
        self.cost = np.zeros(shape)
        self.there, self.unit = np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
        self.update(columns)

    def update(self, changed: Mapping[int, Column]) -> None:
        """Columns that are new."""
        for k, column in changed.items():
            i, rows = self.place[k], list(column)
            self.cost[:, i], self.there[:, i], self.unit[:, i] = 0.0, False, False
            self.cost[rows, i] = [value.cost for value in column.values()]
            self.unit[rows, i] = [value.unit != 0 for value in column.values()]
            self.there[rows, i] = True

    def trial(self, row: int, column: int, vanishes: Callable[[Quotient], bool]) -> Trial:
        """What `cleared` would make of β's cost; no gain where the new pivot vanishes."""
        own, entries = self.place[column], self.columns[column]
        head, mine = entries[row], np.array([*entries])
        touched = np.flatnonzero(self.there[row])
        others, kept = touched[touched != own], mine != row
        reads = frozenset(self.keys[i] for i in touched)
        scaled = [] if head.unit else [self.ring.divide(x, head) for x in entries.values()]
        if scaled:
            costs = np.array([x.cost for x in scaled])
            units = np.array([x.unit != 0 for x in scaled])
        else:
            costs, units = self.cost[mine, own], self.unit[mine, own]
        # All that may go: a gain is what the new entries leave of it.
        gain = self.cost[mine[:, None], touched].sum() - costs.sum()
        # New entries in the place of none; by ±1 they cost what the other factor does.
        fresh = ~self.there[mine[:, None], others] & kept[:, None]
        by_unit = self.unit[row, others][None]
        known = fresh & (units[:, None] | by_unit)
        gain -= np.where(by_unit, costs[:, None], self.cost[row, others][None])[known].sum()
        if not gain > 0:
            return Trial(0.0, reads)
        scaled = scaled or [self.ring.divide(x, head) for x in entries.values()]
        # The others one by one, those first that are no zeros for sure.
        rest = ~known & kept[:, None]
        for i, j in (*np.argwhere(rest & fresh), *np.argwhere(rest & ~fresh)):
            other = self.columns[self.keys[others[j]]]
            difference = self.ring.less(other.get(int(mine[i])), other[row], scaled[i])
            gain -= difference.cost if difference else 0.0
            if not gain > 0:
                return Trial(0.0, reads)
        return Trial(0.0 if vanishes(head) else float(gain), reads)


def _cost(column: Column) -> float:
    """Cost of a column of β; its 1 costs nothing."""
    return sum(value.cost for value in column.values())
