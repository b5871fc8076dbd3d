"""What a store holds and what is missing there, from the records of its chunks.

No column of variants is read for it, and what is held grows with the ranges that are missing.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from basepar_core.errors import StoreError

from . import pieces
from .facts import Facts
from .opened import Store
from .records import GROUP, SOME, Damaged, Records
from .statuses import FAILED, PreciseStatus, Status


@dataclass(slots=True)
class Survey:
    """What a store holds of a part: its variants' facts, and the ranges that are not done.

    `pending` are ranges of variants, whole chunks, neighbours merged, so that an untouched store
    of 10⁸ variants is a single range.
    """

    facts: Facts
    total: int
    pending: list[tuple[int, int]] = field(default_factory=list)

    @property
    def counts(self) -> dict[Status, int]:
        """Variants by status."""
        left = sum(stop - start for start, stop in self.pending)
        return named({**self.facts.statuses, Status.PENDING: left}, Status)


#: Variants start … stop − 1, whole chunks; None: all.
Rows = tuple[int, int] | None


def take(store: Store, rows: Rows = None) -> Survey:
    """What is known of every variant, or of some, and which are pending."""
    known = store.records()
    low, high = rows or (0, known.total)
    with _as_damage(store):
        if rows is None:
            found = known.survey()
        else:
            found = known.records(low // known.chunk, -(-high // known.chunk))
    chunk, total = known.chunk, known.total
    pending = [(first * chunk, min(stop * chunk, total)) for first, stop in found.pending]
    return Survey(found.facts, high - low, pending)


def take_precise(store: Store, rows: Rows = None) -> Facts:
    """What variable precision said of doubtful variants, those of unfinished chunks too."""
    if "precise_status" not in store:
        return Facts()
    known = store.records("precise_")
    low, high = rows or (0, known.total)
    first, stop = low // known.chunk, -(-high // known.chunk)
    with _as_damage(store):
        told = known.records(first, stop).facts
    told.add(pieces.told(store, first, stop))
    del told.statuses[PreciseStatus.NONE]
    return told


def precise_counts(told: Facts) -> dict[PreciseStatus, int]:
    """Variants by `precise_status`, those without one left out."""
    return named(told.statuses, PreciseStatus)


def awaiting(store: Store, piece: int, rows: Rows = None) -> Iterator[tuple[int, int]]:
    """Ranges of at most `piece` variants with one that still awaits its task."""
    known, precise = store.records(), store.records("precise_")
    with _as_damage(store):
        if rows is None and known.survey().facts.doubts == precise.survey().chunks:
            return
        for number in _numbers(known, rows, lambda told: told.doubts > 0):
            if precise.read(number) is not None:
                continue
            first, stop = number * known.chunk, min((number + 1) * known.chunk, known.total)
            left = pieces.left(store, number)
            if not left.size:  # its last piece came, and its writer was killed before the chunk
                yield first, min(first + piece, stop)
            for place in np.unique((left - first) // piece).tolist():
                begin = first + place * piece
                yield begin, min(begin + piece, stop)


def failed(store: Store, prefix: str = "", rows: Rows = None) -> Iterator[tuple[int, int]]:
    """Chunks of a part with a variant that crashed or timed out."""
    known = store.records(prefix)
    with _as_damage(store):
        for number in _numbers(known, rows, lambda told: any(told.statuses[c] for c in FAILED)):
            yield number * known.chunk, min((number + 1) * known.chunk, known.total)


def _numbers(known: Records, rows: Rows, wanted: Callable[[Facts], bool]) -> Iterator[int]:
    """Chunks whose facts are wanted."""
    if rows is None:
        yield from (number for number, _ in known.each(wanted))
        return
    for number in known.numbers(rows[0] // known.chunk, -(-rows[1] // known.chunk)):
        record = known.read(number)
        if record is not None and wanted(record.facts):
            yield number


def done(store: Store, start: int, stop: int) -> np.ndarray:
    """Which of variants start … stop − 1 lie in chunks that are done: (variant,) bool."""
    known = store.records()
    found = np.zeros(stop - start, bool)
    with _as_damage(store):
        for number in known.numbers(start // known.chunk, -(-stop // known.chunk)):
            record, first = known.read(number), number * known.chunk
            if record is not None:
                found[max(0, first - start) : max(0, first + record.rows - start)] = True
    return found


def sum_up(store: Store, rows: Rows = None) -> None:
    """Keep sums of neighbouring records that no sum counts yet, for whoever surveys next.

    Of all of them, or of those that have some of the `rows`; of fewer than `SOME` in all none,
    which are read as soon.
    """
    known = store.records()
    if known.count < SOME:
        return
    low, high = rows or (0, known.total)
    with _as_damage(store):
        before = {one.stop: one for one in known.added()}
        for first, stop in known.gaps():
            first, stop = max(first, low // known.chunk), min(stop, -(-high // known.chunk))
            for begin, end in known.neighbours(first, stop):
                found = known.records(begin, end)
                if found.rows != known.rows(begin, end):
                    continue
                told = before.get(begin)
                if told is not None and told.first // GROUP == begin // GROUP:  # one sum of both
                    found.facts.add(told.facts)
                    begin = told.first
                known.add_up(begin, end, found.facts)
                if known.numbers(begin, end) != list(range(begin, end)):
                    known.forget_sum(begin, end)  # one of them is replaced just now


def named(counts: Mapping[int, int], statuses: type[IntEnum]) -> dict[Any, int]:
    """Counts by status, zeros left out, in the order of the codes."""
    return {member: counts[member] for member in statuses if counts.get(member)}


@contextlib.contextmanager
def _as_damage(store: Store) -> Iterator[None]:
    path = store.path
    try:
        yield
    except Damaged as cause:
        raise StoreError(
            f"{path} is damaged: the record of a chunk cannot be read ({cause}). Run the sweep "
            "again with `repair=`; what is whole is kept.",
            [str(path)],
        ) from cause
