"""What is counted of variants, and added up: a chunk's, a range's, a store's.

The writer of a chunk counts once, so that nobody reads columns of 10⁸ numbers to say how many
variants are solved, why others are not, and which are the best. `Facts` of neighbours add up to
those of both, in any order, and are plain data in `document`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .outputs import Arrays
from .statuses import WITH_RESULTS, PreciseStatus, Reason, Status

#: Error texts that are kept, of the first variants.
ERRORS_KEPT = 100
#: By status code; a small table is ten times as quick as `np.isin`.
_HAS_RESULTS = np.isin(np.arange(max(Status) + 1), WITH_RESULTS)


class Why(NamedTuple):
    """How many variants have a reason, and the first: its status, the number in its text."""

    variants: int
    first: int
    status: int
    value: float


class Ends(NamedTuple):
    """How many variants have a value, the least and the greatest, and the first that has it."""

    variants: int
    least: float
    least_at: int
    most: float
    most_at: int


@dataclass(slots=True)
class Facts:
    """Of some variants of one part (`prefix`) of a store.

    Attributes
    ----------
    statuses, retries, ranks
        Variants by status code; by how often they were asked for again; by the rank that
        variable precision found.
    reasons
        By code, and by number of the condition where a condition filtered.
    ends
        By name of each result that is one number, of variants that have results.
    errors
        Texts of the first exceptions, by variant.
    doubts
        Chunks with a variant that awaits variable precision.
    """

    statuses: Counter[int] = field(default_factory=Counter)
    reasons: dict[tuple[int, int], Why] = field(default_factory=dict)
    retries: Counter[int] = field(default_factory=Counter)
    ranks: Counter[int] = field(default_factory=Counter)
    ends: dict[str, Ends] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    doubts: int = 0

    def add(self, other: "Facts") -> None:
        """Take in those of other variants."""
        self.statuses.update(other.statuses)
        self.retries.update(other.retries)
        self.ranks.update(other.ranks)
        self.doubts += other.doubts
        for key, why in other.reasons.items():
            self.reasons[key] = _both(self.reasons.get(key), why)
        for name, ends in other.ends.items():
            self.ends[name] = _wider(self.ends.get(name), ends)
        if other.errors:
            self.errors = dict(sorted({**self.errors, **other.errors}.items())[:ERRORS_KEPT])

    def document(self) -> dict[str, Any]:
        """Plain data, the same for the same facts."""
        return {
            "statuses": _plain(self.statuses),
            "reasons": [[*key, *_finite(why)] for key, why in sorted(self.reasons.items())],
            "retries": _plain(self.retries),
            "ranks": _plain(self.ranks),
            "ends": {name: list(self.ends[name]) for name in sorted(self.ends)},
            "errors": {str(variant): text for variant, text in sorted(self.errors.items())},
            "doubts": self.doubts,
        }


def read(plain: Mapping[str, Any]) -> Facts:
    """What `document` told."""
    return Facts(
        _counter(plain["statuses"]),
        {
            (code, condition): Why(n, first, status, math.nan if value is None else value)
            for code, condition, n, first, status, value in plain["reasons"]
        },
        _counter(plain["retries"]),
        _counter(plain["ranks"]),
        {str(name): Ends(*ends) for name, ends in plain["ends"].items()},
        {int(variant): str(text) for variant, text in plain["errors"].items()},
        int(plain["doubts"]),
    )


def of(
    start: int,
    arrays: Arrays,
    prefix: str = "",
    inputs: Iterable[str] = (),
    errors: Mapping[int, str] | None = None,
) -> Facts:
    """Of variants start … by their arrays, each (variant, …), those of a part (its `prefix`).

    Ends are of all arrays of one float a variant, but for the `inputs`.
    """
    status = arrays[f"{prefix}status"]
    found = Facts(_counted(status), errors=dict(sorted((errors or {}).items())[:ERRORS_KEPT]))
    found.doubts = int(not prefix and found.statuses[Status.AWAITING_PRECISE] > 0)
    found.reasons = _reasons(start, status, *(arrays[f"{prefix}{n}"] for n in _REASON))
    if (retries := arrays.get(f"{prefix}retries")) is not None:
        found.retries = _counted(retries[retries > 0])
    if prefix and "precise_rank" in arrays:
        ranks = arrays["precise_rank"]
        found.ranks = _counted(ranks[(status != PreciseStatus.NONE) & (ranks >= 0)])
    told = status != PreciseStatus.NONE if prefix else _HAS_RESULTS[status]
    if told.any():
        skipped = {*inputs, f"{prefix}reason_value"}
        for name, values in arrays.items():
            if values.ndim == 1 and values.dtype.kind == "f" and name not in skipped:
                _add_ends(found, name, start, values, told)
    return found


_REASON = ("reason", "reason_value")


def _reasons(
    start: int, status: np.ndarray, codes: np.ndarray, values: np.ndarray
) -> dict[tuple[int, int], Why]:
    rows = np.flatnonzero(codes)
    if not rows.size:
        return {}
    codes, values = codes[rows].astype(np.int64), values[rows]
    conditions = np.where(codes == Reason.FILTER, np.nan_to_num(values), 0).astype(np.int64)
    keys, first, count = np.unique(codes << 32 | conditions, return_index=True, return_counts=True)
    return {
        (int(key >> 32), int(key & 0xFFFFFFFF)): Why(
            int(n), start + int(rows[at]), int(status[rows[at]]), float(values[at])
        )
        for key, at, n in zip(keys, first, count, strict=True)
    }


def _add_ends(found: Facts, name: str, start: int, values: np.ndarray, told: np.ndarray) -> None:
    rows = np.flatnonzero(told & np.isfinite(values))
    if rows.size:
        chosen = values[rows]
        least, most = int(chosen.argmin()), int(chosen.argmax())
        found.ends[name] = Ends(
            rows.size,
            float(chosen[least]),
            start + int(rows[least]),
            float(chosen[most]),
            start + int(rows[most]),
        )


def _both(ours: Why | None, theirs: Why) -> Why:
    if ours is None:
        return theirs
    return min(ours, theirs, key=lambda why: why.first)._replace(
        variants=ours.variants + theirs.variants
    )


def _wider(ours: Ends | None, theirs: Ends) -> Ends:
    if ours is None:
        return theirs
    least = min(ours, theirs, key=lambda ends: (ends.least, ends.least_at))
    most = min(ours, theirs, key=lambda ends: (-ends.most, ends.most_at))
    variants = ours.variants + theirs.variants
    return Ends(variants, least.least, least.least_at, most.most, most.most_at)


def _counted(codes: np.ndarray) -> Counter[int]:
    """How often each code (0 and up) occurs; much faster than a Counter of them."""
    often = np.bincount(codes.astype(np.int64, copy=False)) if codes.size else codes
    return Counter({int(code): int(often[code]) for code in np.flatnonzero(often)})


def _plain(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(key): n for key, n in sorted(counts.items()) if n}


def _counter(plain: Mapping[str, int]) -> Counter[int]:
    return Counter({int(key): int(n) for key, n in plain.items()})


def _finite(why: Why) -> tuple[Any, ...]:
    return why._replace(value=None) if math.isnan(why.value) else why  # type: ignore[arg-type]
