"""A record of every chunk: what it holds, and a digest of each of its files. Who has it, is done.

A chunk that is all fill value is not stored, so a file that is gone looks like a chunk without
results, and one that was exchanged for another looks like any. The record says of every array of
the part what its file was: a digest of its bytes together with the array's name, the chunk's
number and the specification's hash; none where there was no file. Beside the digests stand the
chunk's `Facts`. It is written last of all: a chunk without a record is pending, whatever else is
there. Two writers of one chunk write equal bytes.

Records lie in folders of `GROUP` neighbours. Sums add them up: `sums/FIRST-STOP` holds the facts
of chunks FIRST … STOP − 1, all done, so that a survey of 10⁶ chunks reads a thousand objects.
Who fills a store adds up once a minute and at his end, ranges of `SOME` chunks too.
They are derived, anyone who finds neighbours done may write them, and who replaces a chunk
removes those that count it first.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

import numpy as np

from . import facts
from .facts import Facts
from .names import HIDDEN
from .objects import Objects, is_number

#: Records in a folder, and at most the chunks of a sum of theirs; and the fewest.
GROUP, SOME = 1024, 32
#: Of more folders than these those that are there are looked up first.
FOLDERS = 4


class Damaged(ValueError):
    """A record or a sum is not what was written there."""


def digest(key: str, name: str, number: int, content: bytes) -> str:
    """Of a chunk in its place."""
    told = blake2b(f"{key}\0{name}\0{number}\0".encode(), digest_size=8)
    told.update(content)
    return told.hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """Of one chunk: its rows, digests of its arrays' files ("": not stored), and its facts."""

    rows: int
    arrays: Mapping[str, str]
    facts: Facts


@dataclass(frozen=True, slots=True)
class Sum:
    """The facts of chunks first … stop − 1, all of them done."""

    first: int
    stop: int
    rows: int
    facts: Facts


@dataclass(frozen=True)
class Records:
    """The records of a part of a store.

    Attributes
    ----------
    key
        The specification's hash.
    chunk, total
        Variants of a chunk, and of the store.
    prefix
        "" or "precise_".
    """

    objects: Objects
    key: str
    chunk: int
    total: int
    prefix: str = ""

    @property
    def count(self) -> int:
        """Chunks of the store."""
        return -(-self.total // self.chunk)

    def rows(self, first: int, stop: int) -> int:
        """Variants of chunks first … stop − 1."""
        return min(stop * self.chunk, self.total) - first * self.chunk

    @property
    def folder(self) -> str:
        return f"{HIDDEN}/{self.prefix}chunks"

    @property
    def sums(self) -> str:
        return f"{HIDDEN}/{self.prefix}sums"

    def name(self, number: int) -> str:
        """Key of a chunk's record."""
        return f"{self.folder}/{number // GROUP}/{number}"

    def encode(
        self, number: int, rows: int, contents: Mapping[str, bytes | None], told: Facts
    ) -> bytes:
        """A chunk's record, from its files' bytes by array (None: not stored)."""
        arrays = {
            name: "" if content is None else self.digest(name, number, content)
            for name, content in contents.items()
        }
        return self._sealed(number, {"rows": rows, "arrays": arrays, "facts": told.document()})

    def digest(self, name: str, number: int, content: bytes) -> str:
        """Of a chunk's file."""
        return digest(self.key, name, number, content)

    def read(self, number: int) -> Record | None:
        """A chunk's record; None where there is none.

        Raises
        ------
        Damaged
            It is not whole, or another's, or cannot be read.
        """
        with _as_damage():
            return self.decode(number, self.objects.get(self.name(number)))

    def read_all(self, numbers: Sequence[int]) -> Iterator[tuple[int, Record | None]]:
        """Records of some chunks, by number; as `read`."""
        with _as_damage():
            for number, content in zip(numbers, self.contents(numbers), strict=True):
                yield number, self.decode(number, content)

    def contents(self, numbers: Sequence[int]) -> Iterator[bytes | None]:
        """The records' bytes, in the order of the numbers."""
        return self.objects.get_all([self.name(number) for number in numbers])

    def decode(self, number: int, content: bytes | None) -> Record | None:
        """A record from its bytes; as `read`."""
        with _as_damage():
            if content is None:
                return None
            plain = self._opened(number, content)
            told = facts.read(plain["facts"])
            return Record(int(plain["rows"]), dict(plain["arrays"]), told)

    def numbers(self, first: int, stop: int) -> list[int]:
        """Chunks of first … stop − 1 that have a record, ascending."""
        return self.numbers_of([(first, stop)])[0]

    def numbers_of(self, ranges: Sequence[tuple[int, int]]) -> list[list[int]]:
        """As `numbers`, of each of some ranges; a folder is looked at once, many at a time."""
        spans = [range(first // GROUP, -(-stop // GROUP)) for first, stop in ranges]
        groups = sorted({group for span in spans for group in span})
        if len(groups) > FOLDERS:  # most are not there while a sweep begins
            there = set(self.objects.names(self.folder))
            groups = [group for group in groups if str(group) in there]
        folders = self.objects.names_all([f"{self.folder}/{group}" for group in groups])
        known: dict[int, list[int]] = {}
        for group, listed in zip(groups, folders, strict=True):
            here = (int(name) for name in listed if is_number(name))
            known[group] = sorted(n for n in here if n // GROUP == group)
        return [
            [n for group in span for n in known.get(group, ()) if first <= n < stop]
            for span, (first, stop) in zip(spans, ranges, strict=True)
        ]

    def neighbours(self, first: int, stop: int) -> Iterator[tuple[int, int]]:
        """Ranges of chunks that all have a record, long enough for a sum of theirs.

        Of chunks first … stop − 1, within groups: `SOME` of them, or all that a group has there.
        """
        for group in range(first // GROUP, -(-stop // GROUP)):
            low, high = max(first, group * GROUP), min(stop, (group + 1) * GROUP)
            there = np.array(self.numbers(low, high), np.int64)
            for run in np.split(there, np.flatnonzero(np.diff(there) > 1) + 1):
                if run.size >= SOME or run.size == high - low > 0:
                    yield int(run[0]), int(run[-1]) + 1

    # Sums

    def sum_name(self, first: int, stop: int) -> str:
        """Key of a sum."""
        return f"{self.sums}/{first}-{stop}"

    def is_right(self, first: int, stop: int) -> bool:
        """Whether a sum is that of the records, which are all there."""
        with _as_damage():
            told = self._sum(first, stop, self.objects.get(self.sum_name(first, stop)))
        found = self.records(first, stop)
        if told is None:
            return True
        return (
            told.rows == found.rows == self.rows(first, stop)
            and told.facts.document() == found.facts.document()
        )

    def added(self) -> list[Sum]:
        """Sums that do not overlap, ascending."""
        found: list[Sum] = []
        ordered = sorted(self.ranges(), key=lambda one: (one[0], -one[1]))
        known = [one for one in ordered if one[1] <= self.count]
        names = [self.sum_name(*one) for one in known]
        with _as_damage():
            for (first, stop), content in zip(known, self.objects.get_all(names), strict=True):
                if not found or first >= found[-1].stop:
                    told = self._sum(first, stop, content)
                    if told is not None and told.rows == self.rows(first, stop):
                        found.append(told)
        return found

    def _sum(self, first: int, stop: int, content: bytes | None) -> Sum | None:
        with _as_damage():
            if content is None:  # somebody replaces a chunk
                return None
            plain = self._opened(first, content)
            if plain["stop"] != stop:
                raise Damaged("it is another sum")
            return Sum(first, stop, int(plain["rows"]), facts.read(plain["facts"]))

    def add_up(self, first: int, stop: int, told: Facts) -> None:
        """Keep the facts of chunks that are all done; shorter sums within them go."""
        plain = {"stop": stop, "rows": self.rows(first, stop), "facts": told.document()}
        within = [one for one in self.ranges() if first <= one[0] and one[1] <= stop]
        self.objects.put(self.sum_name(first, stop), self._sealed(first, plain))
        for one in within:
            if one != (first, stop):
                self.objects.remove(self.sum_name(*one))

    def forget(self, number: int) -> None:
        """Make a chunk pending: sums that count it go first, then its record."""
        for first, stop in self.ranges():
            if first <= number < stop:
                self.forget_sum(first, stop)
        self.objects.remove(self.name(number))

    def forget_sum(self, first: int, stop: int) -> None:
        """Have chunks looked at one by one again."""
        self.objects.remove(self.sum_name(first, stop))

    def ranges(self) -> list[tuple[int, int]]:
        """What sums there are, as they are named: (first, stop)."""
        return list(filter(None, map(range_of, self.objects.names(self.sums))))

    # All of them

    def each(
        self, wanted: Callable[[Facts], bool] = lambda told: True
    ) -> Iterator[tuple[int, Record]]:
        """Records whose facts are wanted, by number of the chunk.

        `wanted` is also asked of sums: it must hold of the sum where it holds of one of them.
        """
        for first, stop, told in self._pieces():
            if told is None or wanted(told.facts):
                for number, record in self.read_all(self.numbers(first, stop)):
                    if record is not None and wanted(record.facts):
                        yield number, record

    def survey(self) -> "Surveyed":
        """What the store holds, and which chunks are not done."""
        found, pieces = Surveyed(Facts(), []), list(self._pieces())
        listed = self.numbers_of([(first, stop) for first, stop, told in pieces if told is None])
        records = self.read_all([number for numbers in listed for number in numbers])
        gaps = iter(listed)
        for first, stop, told in pieces:
            if told is not None:
                found.take(told.facts, told.rows, stop - first)
            else:
                self._join(found, first, stop, islice(records, len(next(gaps))))
        return found

    def records(self, first: int, stop: int) -> "Surveyed":
        """What the records of chunks first … stop − 1 say."""
        found = Surveyed(Facts(), [])
        self._join(found, first, stop, self.read_all(self.numbers(first, stop)))
        return found

    def _join(
        self,
        found: "Surveyed",
        first: int,
        stop: int,
        records: Iterable[tuple[int, Record | None]],
    ) -> None:
        """Take in chunks first … stop − 1, by the records that they have."""
        left = first
        for number, record in records:
            if record is not None and record.rows == self.rows(number, number + 1):
                found.take(record.facts, record.rows, 1)
                found.missing(left, number)
                left = number + 1
        found.missing(left, stop)

    def gaps(self) -> list[tuple[int, int]]:
        """Ranges of chunks that no sum counts."""
        return [(first, stop) for first, stop, told in self._pieces() if told is None]

    def _pieces(self) -> Iterator[tuple[int, int, Sum | None]]:
        """The sums and what lies between them, without gaps."""
        left = 0
        for told in self.added():
            if told.first > left:
                yield left, told.first, None
            yield told.first, told.stop, told
            left = told.stop
        if left < self.count:
            yield left, self.count, None

    # Bytes

    def _sealed(self, number: int, plain: Mapping[str, Any]) -> bytes:
        body = json.dumps(plain, sort_keys=True, separators=(",", ":")).encode()
        return digest(self.key, self.folder, number, body).encode() + b"\n" + body + b"\n"

    def _opened(self, number: int, content: bytes) -> dict[str, Any]:
        told, _, body = content.removesuffix(b"\n").partition(b"\n")
        if digest(self.key, self.folder, number, body).encode() != told:
            raise Damaged("it is not the record of this chunk")
        return json.loads(body)


@dataclass
class Surveyed:
    """Facts of all chunks that are done, and ranges of chunks that are not.

    Attributes
    ----------
    rows, chunks
        Variants and chunks that are done.
    """

    facts: Facts
    pending: list[tuple[int, int]]
    rows: int = 0
    chunks: int = 0

    def take(self, told: Facts, rows: int, chunks: int) -> None:
        """Chunks that are done."""
        self.facts.add(told)
        self.rows += rows
        self.chunks += chunks

    def missing(self, first: int, stop: int) -> None:
        """Chunks that are not."""
        if first >= stop:
            return
        if self.pending and self.pending[-1][1] == first:
            first = self.pending.pop()[0]
        self.pending.append((first, stop))


@contextlib.contextmanager
def _as_damage() -> Iterator[None]:
    try:
        yield
    except Damaged:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as cause:
        raise Damaged("it is no record") from cause
    except OSError as cause:
        raise Damaged(cause.strerror or str(cause)) from cause


def range_of(name: str) -> tuple[int, int] | None:
    """What a name like `128-256` says; None where it is another."""
    first, _, stop = name.partition("-")
    if is_number(first) and is_number(stop) and int(first) < int(stop):
        return int(first), int(stop)
    return None
