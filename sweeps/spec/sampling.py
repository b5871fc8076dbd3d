"""Rows that pass conditions, and a sample of them for a pilot; no mechanism is loaded for it."""

from typing import Protocol

import numpy as np

from sweeps.store import Columns

from .plans import Plan

#: A chunk that is still to be chosen, by a pilot.
FROM_PILOT = 0
#: Rows of a space that are looked at, evenly over it.
SAMPLE = 2048
PIECES = 16


class Conditions(Protocol):
    """Which rows of a space are evaluated."""

    def first_failed(self, columns: Columns) -> np.ndarray:
        """Number of the first condition each row fails, from 1; 0 if it meets all: (variant,)."""
        ...


def sample(plan: Plan, keeps: Conditions) -> Columns:
    """Up to `SAMPLE` rows of a space that pass its filter, the same ones every time."""
    count = len(plan)
    if count <= SAMPLE:
        pieces = [plan.rows(0, count)]
    else:
        each = SAMPLE // PIECES
        starts = [(count - each) * piece // (PIECES - 1) for piece in range(PIECES)]
        pieces = [plan.rows(start, start + each) for start in starts]
    columns = {name: np.concatenate([one[name] for one in pieces]) for name in plan.names}
    passed = keeps.first_failed(columns) == 0
    return {name: values[passed] for name, values in columns.items()}
