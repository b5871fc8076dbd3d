"""A store's numbers as columns of a page: every variant, every number in full."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from basepar_core.errors import ExpressionError
from basepar_core.expressions import NUMBER, UNITS, parse_unit
from workflows.report import Facts, criterion_columns, metric_title, words

#: Variants of a page; of larger stores a sample.
MOST = 100_000
#: What seeds the sample: the same store, the same page.
SEED = 1
#: Variants that have a moving picture: the best by each metric, then the front.
FILMED = 12


@dataclass(frozen=True)
class Column:
    """A number per variant, in the unit that it is shown in.

    `sign`: 1 where less is better, −1 where more is, 0 where neither is; `word`: what it is
    called in conditions.
    """

    title: str
    unit: str
    values: np.ndarray
    kind: str
    sign: int = 0
    word: str = ""

    def document(self, rows: np.ndarray) -> dict[str, Any]:
        """Its numbers as float32 where that is exact, else as float64, in base64."""
        values = np.asarray(self.values, float)[rows]
        short = values.astype("<f4")
        exact = np.array_equal(short.astype(float), values, equal_nan=True)
        size, powers = _measure(self.unit)
        return {
            "title": self.title,
            "unit": self.unit,
            "kind": self.kind,
            "sign": self.sign,
            "word": self.word,
            "size": size,
            "powers": powers,
            "bits": 32 if exact else 64,
            "data": base64.b64encode(
                (short if exact else values.astype("<f8")).tobytes()
            ).decode(),
        }


def _measure(unit: str) -> tuple[float, list[float]]:
    """A unit's SI value and powers of kg, m, s and cycle; a plain number where it is none."""
    try:
        found = parse_unit(unit) if unit else None
    except ExpressionError:
        found = None
    dimension = NUMBER if found is None else found.dimension
    return (1.0 if found is None else found.size), [float(x) for x in dimension.powers]


def units() -> dict[str, tuple[float, list[float]]]:
    """The units that conditions may have."""
    return {name: _measure(name) for name in UNITS}


def columns(found: Facts) -> list[Column]:
    """Swept symbols, metrics (a study's objectives first), sizes and errors of reductions."""
    made = [Column(s.name, s.unit, s.values, "symbol") for s in found.symbols]
    for metric in found.metrics:
        better = 0 if metric.ends[0] == "Least" else int(metric.sign)
        title = metric_title(metric)
        kind = "objective" if metric.is_asked else "metric"
        made.append(Column(title, metric.unit, metric.values, kind, better))
    made += [Column(title, "", values, "reduction") for title, values in criterion_columns(found)]
    taken: set[str] = set()
    named = []
    for one in made:
        word = re.sub(r"\W+", "_", one.title, flags=re.ASCII).strip("_") or "column"
        while word in taken:
            word += "_"
        taken.add(word)
        named.append(Column(one.title, one.unit, one.values, one.kind, one.sign, word))
    return named


def states(found: Facts, rows: np.ndarray) -> list[dict[str, Any]]:
    """Columns of words: what there is, and which of it each variant has."""
    made = []
    for title, texts in words(found):
        said, places = np.unique(np.asarray(texts, dtype=str)[rows], return_inverse=True)
        data = base64.b64encode(places.astype("<u4").tobytes()).decode()
        made.append({"title": title, "texts": said.tolist(), "data": data})
    return made


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


def sample(found: Facts, needed: np.ndarray) -> np.ndarray:
    """Rows of the page, rising: all, or so many at random with those that are needed."""
    total = found.variants.size
    if total <= MOST:
        return np.arange(total)
    others = np.setdiff1d(np.arange(total), needed)
    picked = np.random.default_rng(SEED).choice(others, MOST - needed.size, replace=False)
    return np.sort(np.concatenate([needed, picked]))
