"""What a store holds and what is missing there, from the records of its chunks.

No column of variants is read for it, and what is held grows with the ranges that are missing.
"""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from basepar_core.errors import StoreError

from . import pieces
from .facts import Facts
from .opened import Store
from .records import GROUP, Damaged, Records, Surveyed
from .statuses import FAILED, PreciseStatus, Status
from .store import Part


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


def take(store: Store) -> Survey:
    """What is known of every variant, and which are pending."""
    known = store.records()
    found = _surveyed(known)
    chunk, total = known.chunk, known.total
    pending = [(first * chunk, min(stop * chunk, total)) for first, stop in found.pending]
    return Survey(found.facts, total, pending)


def take_precise(store: Store, part: Part | None = None) -> Facts:
    """What variable precision said of doubtful variants, those of unfinished chunks too."""
    if "precise_status" not in store:
        return Facts()
    known = store.records("precise_")
    told = _surveyed(known).facts
    told.add(pieces.told(store, part or Part((), known.chunk, "precise_")))
    del told.statuses[PreciseStatus.NONE]
    return told


def precise_counts(told: Facts) -> dict[PreciseStatus, int]:
    """Variants by `precise_status`, those without one left out."""
    return named(told.statuses, PreciseStatus)


def awaiting(store: Store, piece: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most `piece` variants with one that still awaits its task."""
    known, precise = store.records(), store.records("precise_")
    with _as_damage(store):
        if known.survey().facts.doubts == precise.survey().chunks:
            return
        for number, _ in known.each(lambda told: told.doubts > 0):
            if precise.read(number) is not None:
                continue
            first, stop = number * known.chunk, min((number + 1) * known.chunk, known.total)
            left = pieces.left(store, number)
            if not left.size:  # its last piece came, and its writer was killed before the chunk
                yield first, min(first + piece, stop)
            for place in np.unique((left - first) // piece).tolist():
                begin = first + place * piece
                yield begin, min(begin + piece, stop)


def failed(store: Store, prefix: str = "") -> Iterator[tuple[int, int]]:
    """Chunks of a part with a variant that crashed or timed out."""
    known = store.records(prefix)
    with _as_damage(store):
        for number, _ in known.each(lambda told: any(told.statuses[code] for code in FAILED)):
            yield number * known.chunk, min((number + 1) * known.chunk, known.total)


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


def sum_up(store: Store) -> None:
    """Keep the sums of all folders of records that are complete, for whoever surveys next."""
    known = store.records()
    with _as_damage(store):
        for first, stop in known.gaps():
            for begin in range(first // GROUP * GROUP, stop, GROUP):
                end = min(begin + GROUP, known.count)
                if len(known.numbers(begin, end)) == end - begin:
                    found = known.records(begin, end)
                    if found.rows == known.rows(begin, end):
                        known.add_up(begin, end, found.facts)
                    if known.numbers(begin, end) != list(range(begin, end)):
                        known.forget_sum(begin, end)  # one of them is replaced just now


def named(counts: Mapping[int, int], statuses: type[IntEnum]) -> dict[Any, int]:
    """Counts by status, zeros left out, in the order of the codes."""
    return {member: counts[member] for member in statuses if counts.get(member)}


def _surveyed(known: Records) -> Surveyed:
    with _as_damage(known):
        return known.survey()


@contextlib.contextmanager
def _as_damage(where: Store | Records) -> Iterator[None]:
    path = where.path if isinstance(where, Store) else where.objects.place
    try:
        yield
    except Damaged as cause:
        raise StoreError(
            f"{path} is damaged: the record of a chunk cannot be read ({cause}). Run the sweep "
            "again with `repair=`; what is whole is kept.",
            [str(path)],
        ) from cause
