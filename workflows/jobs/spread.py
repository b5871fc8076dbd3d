"""Spread and best variants of every number a sweep made.

Least and greatest values stand in the records of chunks. Medians are read: a column of 10⁸ numbers
is never held, blocks give a histogram of the floats themselves, and of very many variants those of
whole chunks evenly over the store are read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sweeps.store import WITH_RESULTS, Location, Store
from sweeps.store import status as survey

#: Bits of a float64 that a bin keeps: sign, exponent and 9 of the mantissa (0.2 %).
BITS = 21
#: So many numbers are kept as they are; their median is exact.
EXACT = 1 << 20
#: Variants, and chunks, whose numbers are read for medians; of more, evenly chosen chunks.
MOST, CHUNKS = 1 << 22, 1 << 13


def extremes(path: Location) -> list[dict[str, Any]]:
    """Least, median and greatest value of every result, how many have one, and which have those.

    Only variants that carry a result count. The median is of `median_of` variants, and right to
    0.2 % where these are more than a million.
    """
    held = Store.open(path)
    found = survey.take(held)
    ends = found.facts.ends | survey.take_precise(held).ends
    medians = {name: _Median() for name in ends}
    for start, stop in _chosen(held.chunk, found):
        good = np.isin(held.rows("status", start, stop), WITH_RESULTS)
        for name, median in medians.items():
            values = held.rows(name, start, stop)
            median.add(values[good & np.isfinite(values)])
    return [
        {
            "name": name,
            "unit": str(held.metadata[name]["attributes"].get("units", "")),
            "min": ends[name].least,
            "median": medians[name].value,
            "median_of": medians[name].count,
            "max": ends[name].most,
            "best": ends[name].least_at,
            "worst": ends[name].most_at,
            "count": ends[name].variants,
        }
        for name in held
        if name in ends
    ]


def _chosen(chunk: int, found: survey.Survey) -> Iterator[tuple[int, int]]:
    """Chunks that are done, as ranges of variants; evenly chosen ones where there are many."""
    edges = [0, *(edge for pending in found.pending for edge in pending), found.total]
    ranges = list(zip(edges[::2], edges[1::2], strict=True))
    variants = sum(stop - start for start, stop in ranges)
    step = max(1, -(-variants // MOST), -(-variants // (chunk * CHUNKS)))
    starts = (at for start, stop in ranges for at in range(start, stop, chunk))
    for place, start in enumerate(starts):
        if place % step == 0:
            yield start, min(start + chunk, found.total)


@dataclass
class _Median:
    """What is known of one column so far."""

    count: int = 0
    held: int = 0
    pieces: list[np.ndarray] = field(default_factory=list)
    bins: np.ndarray | None = None  # of what was too much to be held

    def add(self, chosen: np.ndarray) -> None:
        """Take in finite values: (variant,)."""
        self.count += chosen.size
        self.held += chosen.size
        self.pieces.append(chosen)
        if self.held > EXACT:
            self._bin()

    @property
    def value(self) -> float:
        """nan where no value was read."""
        if self.bins is None:
            every = np.concatenate([*self.pieces, np.zeros(0)])
            return float(np.median(every)) if every.size else np.nan
        place = int(np.searchsorted(np.cumsum(self._bin()), (self.count + 1) // 2))
        middle = (np.uint64(place) << np.uint64(64 - BITS)) | np.uint64(1 << (63 - BITS))
        return float(_unordered(np.array([middle]))[0])

    def _bin(self) -> np.ndarray:
        """Everything in bins, (bin,)."""
        keys = _ordered(np.concatenate(self.pieces)) >> np.uint64(64 - BITS)
        found = np.bincount(keys.astype(np.int64), minlength=1 << BITS)
        self.bins = found if self.bins is None else self.bins + found
        self.pieces, self.held = [np.zeros(0)], 0
        return self.bins


_SIGN = np.uint64(1 << 63)


def _ordered(values: np.ndarray) -> np.ndarray:
    """Bits of floats as whole numbers in the floats' order."""
    bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _unordered(keys: np.ndarray) -> np.ndarray:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
