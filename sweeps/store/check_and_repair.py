"""What can be wrong with a store, found and named; and repaired, chunk by chunk.

What is fixed (attributes, metadata, labels) is held against its copies (`seal`), and the presence
of every chunk against the records that their writers left (`records`): quickly, before a store is
filled or read. The bytes of every chunk are held against the digests when somebody asks. A chunk
that is torn, gone, exchanged or changed is made pending again, and the next run does it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from basepar_core.errors import StoreError

from . import chunk_files, objects, presence, seal
from .bucket import Bucket
from .location import Location, locate
from .lock import holder
from .names import ROOT
from .objects import Objects
from .opened import beside, raise_if_absent
from .records import Damaged, Record, Records
from .seal import COPY, Document, Sealed, Wrong

REMEDY = "Run it again with `repair=`; what is whole is kept."
#: What is listed of a damaged store.
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Damage:
    """One array of a store, or variants start … stop − 1 of it; or one of its own two files.

    `prefix` is that of the part ("" or "precise_") whose chunk it is.
    """

    array: str
    what: str
    start: int | None = None
    stop: int | None = None
    prefix: str = ""

    def __str__(self) -> str:
        where = "" if self.start is None else f", variants {self.start} to {self.stop}"
        return f"{self.array}{where}: {self.what}"


def check(path: Location | str) -> None:
    """Make sure that a store is what it was made, and that every chunk is where it was written.

    Contents of chunks are not read (`find`).

    Raises
    ------
    StoreError
        Naming what is damaged.
    """
    path = locate(path)
    standing = stand(path)
    found = standing.found or list(_chunks(path, standing.sealed, contents=False))
    if found:
        more = f"\n  … and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        listed = "".join(f"\n  {damage}" for damage in found[:SHOWN])
        raise StoreError(
            f"{path} is damaged:{listed}{more}\n{REMEDY}",
            [f"{path}/{damage.array}" for damage in found[:SHOWN]],
        )


def find(path: Location) -> list[Damage]:
    """Everything that is wrong with a store; reads all of it.

    Raises
    ------
    StoreError
        If it is no store at all, or both copies of what is fixed are damaged.
    """
    path = locate(path)
    standing = stand(path)
    return standing.found + list(_chunks(path, standing.sealed, contents=True))


def repair(path: Location, found: list[Damage]) -> None:
    """Restore what is fixed from its copy; make damaged chunks pending.

    A chunk's status goes first: whatever happens then, the chunk is pending.
    """
    standing = stand(path)
    if standing.found:
        seal.write(objects.of(path), standing.sealed, standing.mutable)
    parts = list(_parts(path, standing.sealed))
    for damage in found:
        if damage.start is not None:
            for part in parts:
                if damage.prefix == part.records.prefix:
                    part.forget(damage.array, damage.start // part.records.chunk)
    for part in parts:
        part.forget_wrong_sums()


@dataclass(frozen=True)
class Standing:
    """What is fixed of a store by the copy that is whole, and what is wrong with the rest."""

    sealed: Sealed
    mutable: Mapping[str, Any] = field(default_factory=dict)
    found: list[Damage] = field(default_factory=list)


def stand(path: Location) -> Standing:
    """Hold the two copies of what is fixed against each other and against the arrays.

    Raises
    ------
    StoreError
        It is no store, or both copies are damaged.
    """
    there = objects.of(path)
    root, wrong_root = _tried(seal.read_root, there)
    copy, wrong_copy = _tried(seal.read_copy, there)
    if root is not None and "spec_hash" not in root["attributes"]:
        root, wrong_root = None, "is no sweep's"
    if root is None and copy is None:
        raise _lost(path, wrong_root, wrong_copy)
    if root is None:
        assert copy is not None
        mutable = _kept(there, copy)
        return Standing(copy, mutable, [Damage(ROOT, wrong_root), *_arrays(there, copy)])
    mutable = seal.mutable_of(root)
    if copy is None:
        return Standing(_again(there, root, wrong_copy), mutable, [Damage(COPY, wrong_copy)])
    if seal.is_extending(root, copy):  # or was, and is done again
        return Standing(copy, mutable, list(_arrays(there, copy, seal.shown(root))))
    if root == copy.root(mutable):
        return Standing(copy, mutable, list(_arrays(there, copy)))
    if _is_of(there, root) and not _is_of(there, {"attributes": copy.attributes}):
        strange = Damage(COPY, "is another store's")
        return Standing(_again(there, root, strange.what), mutable, [strange])
    strange = Damage(ROOT, "does not agree with its copy: it is another store's")
    return Standing(copy, {}, [strange, *_arrays(there, copy)])


def _tried(reader: Any, there: Objects) -> tuple[Any, str]:
    try:
        return reader(there), ""
    except Wrong as wrong:
        return None, str(wrong)


def _lost(path: Location, root: str, copy: str) -> StoreError:
    raise_if_absent(path, FileNotFoundError())
    if not _has_copy(path):
        return StoreError(
            f"{path} is not the store of a sweep (zarr.json {root}). {beside(path)}",
            [str(path)],
        )
    return StoreError(
        f"{path} is damaged: its zarr.json {root}, and the copy in {COPY} {copy}. What it holds "
        "cannot be known any more: remove it and run again.",
        [f"{path}/{ROOT}", f"{path}/{COPY}"],
    )


def _has_copy(path: Location) -> bool:
    if isinstance(path, Bucket):
        return path.get(COPY) is not None
    return (path / COPY).exists()


def _again(there: Objects, root: Document, wrong: str) -> Sealed:
    """The second copy once more, from the first and the arrays' own files."""
    path = there.place
    try:
        sealed = seal.take(there, seal.fixed_of(root), seal.shown(root))
        whole = sealed.digest == root["attributes"].get(seal.SEAL)
    except (Wrong, OSError):
        whole = False
    if not whole:
        raise StoreError(
            f"{path} is damaged: {COPY} {wrong}, and more than that: some array's metadata or "
            "labels are not what they were, and the copy to restore them from is gone. Remove the "
            "store and run again.",
            [f"{path}/{COPY}"],
        )
    return sealed


def _kept(there: Objects, copy: Sealed) -> dict[str, Any]:
    """Changing attributes of a root that is damaged elsewhere; none where one may be what is."""
    try:
        root = seal.read_document(there, ROOT)
        elsewhere = seal.fixed_of(root) != copy.attributes or seal.shown(root) != copy.metadata
        mutable = seal.mutable_of(root)
        for text in mutable.values():
            json.loads(text)
    except (Wrong, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return {}
    return mutable if elsewhere else {}


def _is_of(there: Objects, root: Document) -> bool:
    """Whether the first record that is found was written for a store of these attributes."""
    known = Records(there, str(root["attributes"]["spec_hash"]), 1, 1)
    for group in there.names(known.folder):
        for name in there.names(f"{known.folder}/{group}"):
            if name.isdigit():
                try:
                    return known.read(int(name)) is not None
                except Damaged:
                    return False
    return False


def _arrays(
    there: Objects, sealed: Sealed, before: Mapping[str, Document] | None = None
) -> Iterator[Damage]:
    """What is wrong with metadata and labels; `before`: what metadata may still be."""
    for name, expected in sealed.metadata.items():
        key = f"{name}/{ROOT}"
        if not there.is_plain(key):
            yield Damage(name, "is a link, or its metadata (zarr.json) are")
            continue
        try:
            plain = seal.read_document(there, key)
        except Wrong as wrong:
            yield Damage(name, f"its metadata (zarr.json): {wrong}")
            continue
        extended = before is not None and plain == before.get(name, seal.shorter(plain, expected))
        if plain != expected and not extended:
            for key in sorted({*plain, *expected}):
                if plain.get(key) != expected.get(key):
                    have, want = (json.dumps(x.get(key))[:80] for x in (plain, expected))
                    yield Damage(name, f"its {key} is {have}, not {want}")
    for name, content in sealed.labels.items():
        try:
            found = seal.label(there, name) if there.is_plain(f"{name}/c/0") else "a link"
        except OSError as cause:
            yield Damage(name, f"its labels cannot be read ({cause.strerror})")
        else:
            if found != content:
                gone = found is None
                yield Damage(name, f"its labels {'are missing' if gone else 'were changed'}")


def _chunks(path: Location, sealed: Sealed, contents: bool) -> Iterator[Damage]:
    found = (one for part in _parts(path, sealed) for one in part.damaged(contents))
    if (first := next(found, None)) is None:
        return
    busy = holder(path) is not None  # a chunk's record may be on its way
    for damage in (first, *found):
        if not (busy and damage.what == UNFINISHED):
            yield damage


UNFINISHED = "its record is missing: lost, or its writer was killed before it; pending"


@dataclass(frozen=True)
class _Part:
    """A part's chunks, looked at without Zarr: its metadata may be what is damaged.

    `arrays` has the dimensions of all arrays of the store, the other part's too.
    """

    there: Objects
    records: Records
    arrays: Mapping[str, int]
    listed: dict[str, set[int]] = field(default_factory=dict)

    def damaged(self, contents: bool) -> Iterator[Damage]:
        """What is wrong with chunks that are done, in the order of their numbers."""
        chosen = self._chosen(contents)
        # Records before all else: what has one has the rest, also while somebody writes.
        done = [n for first, stop in chosen for n in self.records.numbers(first, stop)]
        written = self._stored(f"{self.records.prefix}status") if contents else set()
        numbers, recorded = sorted({*done, *written}), set(done)
        numbers = [number for number in numbers if number < self.records.count]
        if not contents and presence.is_large(self.records.count):
            keys = {name: [self._key(name, n) for n in numbers] for name in self.arrays}
            self.listed.update(presence.look(self.there, numbers, keys))
        reads = self._reads([number for number in numbers if number in recorded])
        for number in numbers:
            if number not in recorded:
                found = [(self.records.folder, UNFINISHED)]
            else:
                found = list(self._of_one(number, contents, next(reads)))
            if found and (number not in recorded or self._has_record(number)):
                start = number * self.records.chunk
                stop = min(start + self.records.chunk, self.records.total)
                prefix = self.records.prefix
                yield from (Damage(name, what, start, stop, prefix) for name, what in found)
        if contents:
            wrong = (self.records.sum_name(first, stop) for first, stop in self._wrong())
            yield from (Damage(name, "it is not the sum of its records") for name in wrong)

    def _reads(self, numbers: list[int]) -> Iterator[Callable[[], Record | None]]:
        """How to read each record; those of a bucket are on their way, many at once."""
        if isinstance(self.there, Bucket):
            for number, content in zip(numbers, self.records.contents(numbers), strict=True):
                yield partial(self.records.decode, number, content)
        else:
            for number in numbers:
                yield partial(self.records.read, number)

    def forget(self, name: str, number: int) -> None:
        """Make a chunk pending, and remove what is damaged of it."""
        for first, stop in self.records.ranges():
            if first <= number < stop:
                self.there.clear(self.records.sum_name(first, stop))
        self.there.clear(self.records.name(number))
        for one in {f"{self.records.prefix}status", name} & self.arrays.keys():
            self.there.clear(self._key(one, number))

    def forget_wrong_sums(self) -> None:
        """Remove sums that are not those of their records: they are derived."""
        for first, stop in self._wrong():
            self.there.clear(self.records.sum_name(first, stop))

    def _chosen(self, contents: bool) -> list[tuple[int, int]]:
        """Ranges of chunks that are looked at."""
        count = self.records.count
        if contents or not presence.is_large(count):
            return [(0, count)]
        return presence.ranges(count, self.there)

    def _wrong(self) -> list[tuple[int, int]]:
        found = []
        for first, stop in self.records.ranges():
            right = self.there.is_plain(self.records.sum_name(first, stop))
            try:
                right = right and self.records.is_right(first, stop)
            except Damaged:
                right = False
            if not right:
                found.append((first, stop))
        return found

    def _of_one(
        self, number: int, contents: bool, read: Callable[[], Record | None]
    ) -> Iterator[tuple[str, str]]:
        if contents and not self.there.is_plain(self.records.name(number)):
            yield self.records.folder, "the record of its chunk is a link"
            return
        try:
            record = read()
        except Damaged as cause:
            yield self.records.folder, f"the record of its chunk cannot be read ({_said(cause)})"
            return
        if record is None:
            return
        for name, told in record.arrays.items():
            here = number in self._stored(name)
            if here and not told:
                yield name, "has a chunk where none was written"
            elif told and not here:
                yield name, "its chunk is missing"
            elif told and contents and (what := self._changed(name, number, told)):
                yield name, what

    def _changed(self, name: str, number: int, told: str) -> str:
        try:
            content = self.there.get(self._key(name, number))
        except OSError as cause:
            return f"its chunk cannot be read ({cause.strerror})"
        same = self.records.digest(name, number, content or b"") == told
        return "" if same else "its chunk is not what was written there"

    def _has_record(self, number: int) -> bool:
        """Whether no writer has taken the record away since: then the chunk is pending."""
        return str(number) in self.there.names(self.records.name(number).rpartition("/")[0])

    def _stored(self, name: str) -> set[int]:
        """Numbers of an array's chunks that are there; listed once."""
        if name not in self.listed:
            known = name in self.arrays
            self.listed[name] = self.there.chunks(name, self.arrays[name]) if known else set()
        return self.listed[name]

    def _key(self, name: str, number: int) -> str:
        return f"{name}/{chunk_files.chunk_key(number, self.arrays[name])}"


def _parts(path: Location, sealed: Sealed) -> Iterator[_Part]:
    there, key = objects.of(path), str(sealed.attributes["spec_hash"])
    arrays = {name: len(one["shape"]) for name, one in sealed.metadata.items()}
    for prefix in ("", "precise_"):
        if (status := sealed.metadata.get(f"{prefix}status")) is not None:
            chunk = status["chunk_grid"]["configuration"]["chunk_shape"][0]
            known = Records(there, key, chunk, status["shape"][0], prefix)
            yield _Part(there, known, arrays)


def _said(cause: Exception) -> str:
    return " ".join(str(cause).split())[:80] or type(cause).__name__
