"""What several workers did of one chunk, kept until the chunk is whole.

Variable precision takes seconds for a variant, and a chunk may have hundreds for it. So each
task leaves its rows as one object, `pieces/CHUNK/START-STOP`, and whoever brings the last row
that was missing writes the chunk and its record; then the pieces go. Two who think that they are
last write equal bytes.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numcodecs import Blosc

from . import facts, store
from .facts import Facts
from .names import HIDDEN
from .objects import is_number
from .opened import Store
from .outputs import Arrays
from .records import digest, range_of
from .statuses import PreciseStatus, Status
from .store import Part

#: Of the part whose chunks they are of.
_PREFIX = "precise_"
_CODEC = Blosc("lz4", 5, Blosc.SHUFFLE, typesize=8)


@dataclass(frozen=True)
class Piece:
    """Rows of a chunk (numbers of variants), their arrays, and texts of exceptions."""

    rows: np.ndarray
    arrays: Arrays
    errors: Mapping[int, str] = field(default_factory=dict)


def put(held: Store, part: Part, start: int, stop: int, piece: Piece) -> None:
    """Leave what was done of variants start … stop − 1, which lie in one chunk."""
    number = start // part.chunk
    body = _packed(piece)
    told = digest(str(held.attrs["spec_hash"]), _name(number, start, stop), number, body)
    held.objects.put(_name(number, start, stop), told.encode() + b"\n" + body)


def left(held: Store, number: int) -> np.ndarray:
    """Variants of a chunk that await variable precision and are in no piece: (row,).

    Told from names alone: a piece of START … STOP − 1 has all that waited there and was in no
    other piece.
    """
    rows = awaiting(held, number)
    for start, stop in _ranges(held, number):
        rows = rows[(rows < start) | (rows >= stop)]
    return rows


def chunks(held: Store) -> list[int]:
    """Chunks that have pieces, ascending."""
    return sorted(int(name) for name in held.objects.names(f"{HIDDEN}/pieces") if is_number(name))


def told(held: Store, first: int, stop: int) -> Facts:
    """Facts of all pieces of chunks first … stop − 1 that are not whole."""
    found, known = Facts(), held.records(_PREFIX)
    for number in chunks(held):
        if first <= number < stop and known.read(number) is None:
            done = np.zeros(0, np.int64)
            for piece in _stored(held, number):
                fresh = ~np.isin(piece.rows, done)
                done = np.concatenate([done, piece.rows[fresh]])
                found.add(_facts(piece, fresh))
    return found


def gather(held: Store, part: Part, number: int, empty: Arrays) -> bool:
    """Write a chunk if its pieces hold every variant that waits; whether it is whole now.

    Parameters
    ----------
    empty
        Arrays of the chunk without results.
    """
    if left(held, number).size:
        return held.records(part.prefix).read(number) is not None
    first, found = number * part.chunk, list(_stored(held, number))
    done = [piece.rows for piece in found]
    wanted = awaiting(held, number)
    if not np.isin(wanted, np.concatenate([wanted[:0], *done])).all():
        # Another writer has just removed them, or one was damaged.
        return held.records(part.prefix).read(number) is not None
    errors: dict[int, str] = {}
    for piece in found:
        for name, values in piece.arrays.items():
            if name not in empty:  # of retries, where there were any
                empty[name] = np.zeros(len(empty[part.status]), values.dtype)
            empty[name][piece.rows - first] = values
        errors |= piece.errors
    stop = first + len(empty[part.status])
    store.write(held, part, first, stop, empty, errors)
    forget(held, number)
    return True


def reopen(held: Store, part: Part, number: int) -> None:
    """Make a chunk unfinished, what it holds a piece: more of its variants will wait."""
    if held.records(part.prefix).read(number) is None:
        return
    start = number * part.chunk
    arrays = {one.name: held.rows(one.name, start, start + part.chunk) for one in part.arrays}
    rows = np.flatnonzero(arrays[part.status] != PreciseStatus.NONE)
    breaks = np.flatnonzero(np.diff(rows) > 1) + 1
    for run in np.split(rows, breaks) if rows.size else ():  # between them others may wait
        here = {name: values[run] for name, values in arrays.items()}
        begin, end = start + int(run[0]), start + int(run[-1]) + 1
        put(held, part, begin, end, Piece(start + run, here))
    held.records(part.prefix).forget(number)


def awaiting(held: Store, number: int) -> np.ndarray:
    """Variants of a chunk whose status is *awaiting precise*: (row,)."""
    chunk = held.records().chunk
    status = held.rows("status", number * chunk, (number + 1) * chunk)
    return number * chunk + np.flatnonzero(status == Status.AWAITING_PRECISE)


def forget(held: Store, number: int) -> None:
    """Remove the pieces of a chunk."""
    folder = f"{HIDDEN}/pieces/{number}"
    for name in list(held.objects.names(folder)):
        held.objects.remove(f"{folder}/{name}")
    with contextlib.suppress(OSError):
        held.objects.clear(folder)


def _ranges(held: Store, number: int) -> list[tuple[int, int]]:
    found = (range_of(name) for name in held.objects.names(f"{HIDDEN}/pieces/{number}"))
    return sorted(filter(None, found))


def _stored(held: Store, number: int) -> Iterator[Piece]:
    key, there = str(held.attrs["spec_hash"]), held.objects
    for start, stop in _ranges(held, number):
        name = _name(number, start, stop)
        content = there.get(name)
        if content is None:  # gathered meanwhile
            continue
        told, _, body = content.partition(b"\n")
        if digest(key, name, number, body).encode() == told:
            yield _unpacked(body)
        else:  # not what was written there: its variants wait again
            there.remove(name)


def _name(number: int, start: int, stop: int) -> str:
    return f"{HIDDEN}/pieces/{number}/{start}-{stop}"


def _packed(piece: Piece) -> bytes:
    named = {"rows": piece.rows, **piece.arrays}
    head = {
        "arrays": [[name, one.dtype.str, list(one.shape)] for name, one in named.items()],
        "errors": {str(row): text for row, text in piece.errors.items()},
    }
    raw = b"".join(np.ascontiguousarray(one).tobytes() for one in named.values())
    return json.dumps(head).encode() + b"\n" + bytes(_CODEC.encode(raw))


def _unpacked(body: bytes) -> Piece:
    head, _, packed = body.partition(b"\n")
    plain, raw = json.loads(head), _CODEC.decode(packed)
    found: Arrays = {}
    place = 0
    for name, dtype, shape in plain["arrays"]:
        kind = np.dtype(dtype)
        count = int(np.prod(shape, dtype=np.int64))
        found[name] = np.frombuffer(raw, kind, count, place).reshape(shape)
        place += count * kind.itemsize
    rows = found.pop("rows")
    return Piece(rows, found, {int(row): text for row, text in plain["errors"].items()})


def _facts(piece: Piece, wanted: np.ndarray) -> Facts:
    """Facts of some rows of a piece, which need not follow on each other."""
    chosen = {name: values[wanted] for name, values in piece.arrays.items()}
    told = facts.of(0, chosen, _PREFIX, errors=piece.errors)
    rows = piece.rows[wanted]
    told.reasons = {
        key: why._replace(first=int(rows[why.first])) for key, why in told.reasons.items()
    }
    told.ends = {
        name: ends._replace(least_at=int(rows[ends.least_at]), most_at=int(rows[ends.most_at]))
        for name, ends in told.ends.items()
    }
    return told
