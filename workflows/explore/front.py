"""Which variants a page must have: the best, and those that no other beats."""

from collections.abc import Sequence

import numpy as np

from workflows.report import Facts

from .columns import Column

#: Variants of a page; of larger stores a sample.
MOST = 100_000
#: What seeds the sample: the same store, the same page.
SEED = 1


def front(found: Facts, shown: Sequence[Column]) -> np.ndarray:
    """Rows that no other beats in all objectives (a sweep's: in its first two metrics)."""
    asked = [one for one in shown if one.kind == "objective"]
    goals = asked or [one for one in shown if one.kind == "metric" and one.sign][:2]
    if not goals:
        return np.zeros(0, int)
    values = np.stack([one.sign * one.values for one in goals], axis=1)
    may = np.isfinite(values).all(axis=1) & found.has_results
    if found.judged is not None:
        may &= found.judged.feasible
    left = np.flatnonzero(may)
    left = left[np.lexsort(values[left].T[::-1])]
    kept: list[int] = []
    while left.size:
        first, rest = left[0], left[1:]
        kept.append(int(first))
        left = rest[(values[rest] < values[first]).any(axis=1)]
    return np.array(kept, int)


def best(found: Facts) -> np.ndarray:
    """Rows of the best by each metric."""
    return np.array([one.order[0] for one in found.metrics if one.order.size], int)


def sample(total: int, needed: np.ndarray) -> np.ndarray:
    """Rows of the page, rising: all, or so many at random with those that are needed."""
    if total <= MOST:
        return np.arange(total)
    needed = needed[:MOST]
    others = np.setdiff1d(np.arange(total), needed)
    picked = np.random.default_rng(SEED).choice(others, MOST - needed.size, replace=False)
    return np.sort(np.concatenate([needed, picked]))
