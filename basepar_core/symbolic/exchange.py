"""A shorter β by exchanging eliminated parameters for kept ones.

Whatever φ₂ the greedy choice ends at, one exchange (a parameter of φ₂ for one of φ₁ with an
entry in its column) is one more Gauss–Jordan step, so all of them can be tried: the one that
shortens β most is taken, until none does. On the suspension both starts, the greedy φ₂ and the
paper's, end at the same size of β, half that of the paper's. Denominators count three times:
each is a geometry at which β ends.
"""

from collections.abc import Callable, Mapping, Sequence

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
    # By place: what changes, and by how much β gets shorter.
    trials: dict[tuple[int, int], tuple[dict[int, Column], float]] = {}
    while True:
        best: tuple[tuple[float, str, str], tuple[int, int]] | None = None
        for column, row in row_of.items():
            for r, entry in columns[column].items():
                if r == row or entry.size > LONGEST_PIVOT:
                    continue
                if (r, column) not in trials:
                    if vanishes(entry):
                        continue
                    changed = cleared(ring, columns, r, column)
                    gain = sum(_cost(columns[k]) - _cost(changed[k]) for k in changed)
                    trials[r, column] = changed, gain
                gain = trials[r, column][1]
                key = (-gain, names[r], names[row])
                if gain > 0 and (best is None or key < best[0]):
                    best = key, (r, column)
        if best is None:
            return {row: column for column, row in row_of.items()}
        r, column = best[1]
        changed, _ = trials[r, column]
        # A trial stands while no column that it reads has changed, nor one has come into its row.
        rows = {row for k in changed for row in changed[k].keys() - columns[k].keys()}
        columns.update(changed)
        row_of[column] = r
        trials = {
            place: known
            for place, known in trials.items()
            if place[0] not in rows and not known[0].keys() & changed.keys()
        }


def _cost(column: Column) -> float:
    """Cost of a column of β; its 1 costs nothing."""
    return sum(value.cost for value in column.values())
