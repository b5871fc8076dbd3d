"""What a store holds and what is missing there, read a million statuses at a time.

A column of 10⁸ numbers is never in memory, and chunks that nobody wrote are not looked for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from basepar_core.errors import StoreError

from . import chunk_files
from .chunk_files import ZarrArray
from .opened import Store, said
from .statuses import FAILED, PreciseStatus, Status
from .store import Part

#: Rows of `status` looked at in one go (1 MB).
SURVEY_ROWS = 1 << 20


@dataclass(slots=True)
class Survey:
    """What a store holds: variants by status, and the ranges that are not done.

    `pending` are ranges of whole chunks, neighbours merged, so that an untouched store of 10⁸
    variants is a single range.
    """

    counts: dict[Status, int] = field(default_factory=dict)
    pending: list[tuple[int, int]] = field(default_factory=list)


def take(store: Store, part: Part) -> Survey:
    """Look at every status once, a megabyte at a time."""
    found = Survey()
    tally = np.zeros(256, np.int64)
    for start, block in blocks(store, part.status, part.chunk):
        tally += np.bincount(block.view(np.uint8), minlength=256)
        firsts = np.arange(0, len(block), part.chunk)
        for first in firsts[np.minimum.reduceat(block, firsts) == Status.PENDING]:
            begin = start + int(first)
            end = start + min(int(first) + part.chunk, len(block))
            if found.pending and found.pending[-1][1] == begin:
                begin = found.pending.pop()[0]
            found.pending.append((begin, end))
    found.counts = named(dict(enumerate(tally.tolist())), Status)
    return found


def precise_counts(store: Store) -> dict[PreciseStatus, int]:
    """Variants by `precise_status`, those without one left out."""
    if "precise_status" not in store:
        return {}
    tally = np.zeros(256, np.int64)
    for _, block in blocks(store, "precise_status", 1):
        tally += np.bincount(block.view(np.uint8), minlength=256)
    tally[PreciseStatus.NONE] = 0
    return named(dict(enumerate(tally.tolist())), PreciseStatus)


def awaiting(store: Store, part: Part) -> Iterator[tuple[int, int]]:
    """Ranges (one chunk of the precise part each) with a variant that still awaits its task."""
    precise = store[part.status]
    for start, block in blocks(store, "status", part.chunk):
        waits = block == Status.AWAITING_PRECISE
        if not waits.any():
            continue
        settled = piece(precise, part.status, start, start + len(block)) != PreciseStatus.NONE
        waits &= ~settled
        firsts = np.arange(0, len(block), part.chunk)
        for first in firsts[np.logical_or.reduceat(waits, firsts)]:
            yield start + int(first), start + min(int(first) + part.chunk, len(block))


def failed(store: Store, part: Part) -> Iterator[tuple[int, int]]:
    """Chunks of a part with a variant that crashed or timed out."""
    for start, block in blocks(store, part.status, part.chunk):
        firsts = np.arange(0, len(block), part.chunk)
        for first in firsts[np.logical_or.reduceat(np.isin(block, FAILED), firsts)]:
            yield start + int(first), start + min(int(first) + part.chunk, len(block))


def named(counts: Mapping[int, int], statuses: type[IntEnum]) -> dict[Any, int]:
    """Counts by status, zeros left out, in the order of the codes."""
    return {member: counts[member] for member in statuses if counts.get(member)}


def blocks(store: Store, name: str, chunk: int) -> Iterator[tuple[int, np.ndarray]]:
    """An array in pieces of whole chunks, about a million variants each: (start, values)."""
    array = store[name]
    numbers = chunk_files.stored(array)
    step = max(1, SURVEY_ROWS // chunk) * chunk
    for start in range(0, array.shape[0], step):
        stop = min(start + step, array.shape[0])
        block = np.full(stop - start, array.fill_value, array.dtype)
        for begin, end in chunk_files.runs(numbers, array.chunks[0], start, stop):
            block[begin - start : end - start] = piece(array, name, begin, end)
        yield start, block


def piece(array: ZarrArray, name: str, start: int, stop: int) -> np.ndarray:
    """Variants start … stop − 1 of an array; StoreError where a chunk cannot be read."""
    try:
        return np.asarray(array[start:stop])
    except Exception as cause:
        raise StoreError(
            f"{array.store_path} is damaged: array {name!r} cannot be read at variants {start} to "
            f"{stop}: {said(cause)}. Run the sweep again with `repair=`; what is whole is kept.",
            [str(array.store_path)],
        ) from cause
