"""Tables of couplings: entries of rows that are linear in joint values, offsets first."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Topology

#: Columns: row, position, speed, item and number of the coefficient. The position of an offset.
COUPLED_ROW, COUPLED_POSITION, COUPLED_SPEED, COUPLED_ITEM, COUPLED_NUMBER = range(5)
OFFSET = -1
#: Numbers per item of a mechanism's constants.
ITEM = 12


def coupled_items(graph: Topology) -> int:
    """How many items the couplings' coefficients and offsets fill."""
    numbers = sum(len(values.speeds) + 1 for values in graph.couplings)
    return -(-numbers // ITEM)


def coupled_entries(graph: Topology, row: int, end: int) -> Array:
    """Entries (entry, 5) from a row on; their constants end before an item, each offset last."""
    first, number = end - coupled_items(graph), 0
    entries: list[tuple[int, ...]] = []
    for k, values in enumerate(graph.couplings):
        places = [*zip(values.positions, values.speeds, strict=True), (OFFSET, 0)]
        found = [
            (row + k, position, speed, first + (number + i) // ITEM, (number + i) % ITEM)
            for i, (position, speed) in enumerate(places)
        ]
        entries += [found[-1], *found[:-1]]
        number += len(places)
    return np.array(entries, dtype=np.int64).reshape(-1, 5)
