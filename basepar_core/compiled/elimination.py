"""In which order the columns of a square block are eliminated, from its pattern of zeros alone.

Legs of a platform share few unknowns: eliminating a leg's own first keeps reflections short
(15×15 equations of a Stewart platform: 3 rows at a time instead of 15). Chosen once per
mechanism; the kernels follow the lists for all lanes alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Order:
    """Elimination of an n×n block by Householder reflections of row subsets.

    Attributes
    ----------
    column, row
        Per step the column eliminated and the row that becomes the factor's row.
    rows
        Per step the rows reflected, the chosen one first.
    others
        Per step the columns left in these rows.
    sign
        Sign of the determinant over that of the product of the factor's diagonal.
    """

    column: tuple[int, ...]
    row: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    others: tuple[tuple[int, ...], ...]
    sign: int


def order(pattern: np.ndarray) -> Order:
    """Order of least work, greedily: at every step the column whose reflection is cheapest."""
    live = [{int(c) for c in np.flatnonzero(line)} for line in pattern]
    left, free = set(range(len(live))), set(range(len(live)))
    column: list[int] = []
    row: list[int] = []
    rows: list[tuple[int, ...]] = []
    others: list[tuple[int, ...]] = []
    while left:

        def touched(c: int) -> tuple[list[int], set[int]]:
            mine = [r for r in sorted(free) if c in live[r]]
            return mine, set[int]().union(*(live[r] for r in mine)) & left - {c}

        def work(c: int) -> tuple[int, int]:
            mine, beside = touched(c)
            return len(mine) * (len(beside) + 1) if mine else len(free) ** 3, c

        c = min(left, key=work)
        mine, beside = touched(c)
        mine = mine or [min(free)]  # structurally singular: the lane divides by zero
        for r in mine:
            live[r] = set(beside)
        column.append(c)
        row.append(mine[0])
        rows.append(tuple(mine))
        others.append(tuple(sorted(beside)))
        left.discard(c)
        free.discard(mine[0])
    reflections = sum(len(r) > 1 for r in rows)
    sign = (-1) ** reflections * parity(column) * parity(row)
    return Order(tuple(column), tuple(row), tuple(rows), tuple(others), sign)


def parity(permutation: Sequence[int]) -> int:
    """+1 or −1: the sign of a permutation."""
    swaps = 0
    for k, x in enumerate(permutation):
        swaps += sum(x > y for y in permutation[k + 1 :])
    return (-1) ** swaps
