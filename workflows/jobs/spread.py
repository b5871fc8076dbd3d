"""Spread and best variants of every number a sweep made, in one pass over the store.

A column of 10⁸ numbers is never held: blocks give their extremes, a count, and a histogram of
the floats themselves, of which the median is read.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sweeps.store import WITH_RESULTS, Store
from sweeps.store import status as survey

#: Bits of a float64 that a bin keeps: sign, exponent and 9 of the mantissa (0.2 %).
BITS = 21
#: So many numbers are kept as they are; their median is exact.
EXACT = 1 << 20


def extremes(path: Path, most: int = 3) -> list[dict[str, Any]]:
    """Least, median and greatest value of every result, how many have one, and which have those.

    Only variants that carry a result count. The median of more than a million values is right
    to 0.2 %.
    """
    held = Store.open(path)
    status = held["status"]
    arrays = {
        name: array
        for name, array in held.items()
        if array.ndim == 1
        and array.shape == status.shape
        and array.dtype.kind == "f"
        and name not in held.swept
        and not name.endswith("reason_value")
    }
    found = {name: _Spread(most) for name in arrays}
    for start, block in survey.blocks(held, "status", status.chunks[0]):
        solved = np.isin(block, WITH_RESULTS)
        if solved.any():
            for name, array in arrays.items():
                values = survey.piece(array, name, start, start + len(block))
                found[name].add(start, values, solved & np.isfinite(values))
    return [
        {
            "name": name,
            "unit": str(arrays[name].attrs.get("units", "")),
            "min": float(spread.least[0][0]),
            "median": spread.median,
            "max": spread.most[0],
            "best": [variant for _, variant in spread.least],
            "worst": spread.most[1],
            "count": spread.count,
        }
        for name, spread in found.items()
        if spread.count
    ]


@dataclass
class _Spread:
    """What is known of one column so far."""

    kept: int
    count: int = 0
    most: tuple[float, int] = (-np.inf, -1)  # (value, variant), the first of equal ones
    least: list[tuple[float, int]] = field(default_factory=list)  # (value, variant), in order
    pieces: list[np.ndarray] | None = field(default_factory=list)  # None: too many
    bins: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, start: int, values: np.ndarray, good: np.ndarray) -> None:
        """Take in variants `start` … of the column; those that count are `good`."""
        rows = np.flatnonzero(good)
        if not rows.size:
            return
        chosen = values[rows]
        self.count += rows.size
        top = int(chosen.argmax())
        if chosen[top] > self.most[0]:
            self.most = float(chosen[top]), start + int(rows[top])
        first = rows
        if rows.size > self.kept:  # all that are no greater than the last of the least
            edge = np.partition(chosen, self.kept - 1)[self.kept - 1]
            first = rows[chosen <= edge]
        order = first[np.argsort(values[first], kind="stable")][: self.kept]
        here = [(float(values[row]), start + int(row)) for row in order]
        self.least = sorted([*self.least, *here])[: self.kept]
        self._bin(chosen)

    def _bin(self, chosen: np.ndarray) -> None:
        if self.pieces is not None:
            self.pieces.append(chosen)
            if self.count <= EXACT:
                return
            chosen, self.pieces = np.concatenate(self.pieces), None
            self.bins = np.zeros(1 << BITS, np.int64)
        keys = (_ordered(chosen) >> np.uint64(64 - BITS)).astype(np.int64)
        self.bins += np.bincount(keys, minlength=1 << BITS)

    @property
    def median(self) -> float:
        if self.pieces is not None:
            return float(np.median(np.concatenate(self.pieces)))
        place = int(np.searchsorted(np.cumsum(self.bins), (self.count + 1) // 2))
        middle = (np.uint64(place) << np.uint64(64 - BITS)) | np.uint64(1 << (63 - BITS))
        return float(_unordered(np.array([middle]))[0])


_SIGN = np.uint64(1 << 63)


def _ordered(values: np.ndarray) -> np.ndarray:
    """Bits of floats as whole numbers in the floats' order."""
    bits = np.ascontiguousarray(values, np.float64).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _unordered(keys: np.ndarray) -> np.ndarray:
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
