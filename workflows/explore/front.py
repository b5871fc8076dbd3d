"""Which variants a page must have: the best, and those that no other beats."""

from collections.abc import Sequence

import numpy as np

from workflows.report import Facts
from workflows.studies import dominated

from .columns import Column

#: Variants of a page; of larger stores a sample.
MOST = 100_000
#: What seeds the sample: the same store, the same page.
SEED = 1


def front(found: Facts, shown: Sequence[Column]) -> tuple[np.ndarray, list[Column]]:
    """Rows that no other beats in all objectives (a sweep's: in its first two metrics); in which.

    Of a study only feasible variants are compared.
    """
    asked = [one for one in shown if one.kind == "objective"]
    goals = asked or [one for one in shown if one.kind == "metric" and one.sign][:2]
    if not goals:
        return np.zeros(0, int), []
    values = np.stack([one.sign * one.values for one in goals], axis=1)
    may = np.isfinite(values).all(axis=1) & found.has_results
    if found.judged is not None:
        may &= found.judged.feasible
    rows = np.flatnonzero(may)
    return rows[~dominated(values[rows])], list(goals)


def best(found: Facts) -> np.ndarray:
    """Rows of the best by each metric."""
    return np.array([one.order[0] for one in found.metrics if one.order.size], int)


def sample(total: int, needed: np.ndarray) -> np.ndarray:
    """Rows of the page, rising: all, or so many at random with those that are needed.

    `needed` is in the order of need: of more than fit the first ones are there.
    """
    if total <= MOST:
        return np.arange(total)
    needed = needed[np.sort(np.unique(needed, return_index=True)[1])][:MOST]
    others = np.setdiff1d(np.arange(total), needed)
    picked = np.random.default_rng(SEED).choice(others, MOST - needed.size, replace=False)
    return np.sort(np.concatenate([needed, picked]))
