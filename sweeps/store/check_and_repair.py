"""What can be wrong with a store, found and named; and repaired, chunk by chunk.

What is fixed (attributes, metadata, labels) is held against its copies (`seal`), and the presence
of every chunk against the records that their writers left (`records`): quickly, before a store is
filled or read. The bytes of every chunk are held against the digests when somebody asks. A chunk
that is torn, gone, exchanged or changed is made pending again, and the next run does it.
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import StoreError

from . import chunk_files, records, safe_files, seal
from .location import folder
from .lock import holder
from .opened import raise_if_absent
from .records import HEAD, Records
from .seal import COPY, ROOT, Document, Sealed, Wrong

REMEDY = "Run it again with `repair=`; what is whole is kept."
#: What is listed of a damaged store.
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Damage:
    """One array of a store, or variants start … stop − 1 of it; or one of its own two files."""

    array: str
    what: str
    start: int | None = None
    stop: int | None = None

    def __str__(self) -> str:
        where = "" if self.start is None else f", variants {self.start} to {self.stop}"
        return f"{self.array}{where}: {self.what}"


def check(path: Path | str) -> None:
    """Make sure that a store is what it was made, and that every chunk is where it was written.

    Contents of chunks are not read (`find`).

    Raises
    ------
    StoreError
        Naming what is damaged.
    """
    path = folder(path)
    standing = stand(path)
    found = standing.found or list(_chunks(path, standing.sealed, contents=False))
    if found:
        more = f"\n  … and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        listed = "".join(f"\n  {damage}" for damage in found[:SHOWN])
        raise StoreError(
            f"{path} is damaged:{listed}{more}\n{REMEDY}",
            [f"{path}/{damage.array}" for damage in found[:SHOWN]],
        )


def find(path: Path) -> list[Damage]:
    """Everything that is wrong with a store; reads all of it.

    Raises
    ------
    StoreError
        If it is no store at all, or both copies of what is fixed are damaged.
    """
    path = folder(path)
    standing = stand(path)
    return standing.found + list(_chunks(path, standing.sealed, contents=True))


def repair(path: Path, found: list[Damage]) -> None:
    """Restore what is fixed from its copy; make damaged chunks pending.

    A chunk's status goes first: whatever happens then, the chunk is pending.
    """
    standing = stand(path)
    if standing.found:
        seal.write(path, standing.sealed, standing.mutable)
    parts = list(_parts(path, standing.sealed))
    for damage in found:
        if damage.start is None:
            continue
        for part in parts:
            if damage.array in (*part.records.arrays, part.records.name):
                part.forget(damage.array, damage.start // part.chunk)


@dataclass(frozen=True)
class Standing:
    """What is fixed of a store by the copy that is whole, and what is wrong with the rest."""

    sealed: Sealed
    mutable: Mapping[str, Any] = field(default_factory=dict)
    found: list[Damage] = field(default_factory=list)


def stand(path: Path) -> Standing:
    """Hold the two copies of what is fixed against each other and against the arrays.

    Raises
    ------
    StoreError
        It is no store, or both copies are damaged.
    """
    root, wrong_root = _tried(seal.read_root, path)
    copy, wrong_copy = _tried(seal.read_copy, path)
    if root is not None and "spec_hash" not in root["attributes"]:
        root, wrong_root = None, "is no sweep's"
    if root is None and copy is None:
        raise _lost(path, wrong_root, wrong_copy)
    if root is None:
        assert copy is not None
        mutable = _kept(path, copy)
        return Standing(copy, mutable, [Damage(ROOT, wrong_root), *_arrays(path, copy)])
    mutable = seal.mutable_of(root)
    if copy is None:
        return Standing(_again(path, root, wrong_copy), mutable, [Damage(COPY, wrong_copy)])
    if seal.is_extending(root, copy):  # or was, and is done again
        return Standing(copy, mutable, list(_arrays(path, copy, seal.shown(root))))
    if root == copy.root(mutable):
        return Standing(copy, mutable, list(_arrays(path, copy)))
    if _hash_of_records(path) == root["attributes"]["spec_hash"] != copy.attributes["spec_hash"]:
        strange = Damage(COPY, "is another store's")
        return Standing(_again(path, root, strange.what), mutable, [strange])
    strange = Damage(ROOT, "does not agree with its copy: it is another store's")
    return Standing(copy, {}, [strange, *_arrays(path, copy)])


def _tried(reader: Any, path: Path) -> tuple[Any, str]:
    try:
        return reader(path), ""
    except Wrong as wrong:
        return None, str(wrong)


def _lost(path: Path, root: str, copy: str) -> StoreError:
    raise_if_absent(path, FileNotFoundError())
    if not (path / COPY).exists():
        return StoreError(
            f"{path} is not the store of a sweep (zarr.json {root}). Name another store.",
            [str(path)],
        )
    return StoreError(
        f"{path} is damaged: its zarr.json {root}, and the copy in {COPY} {copy}. What it holds "
        "cannot be known any more: remove it and run again.",
        [f"{path}/{ROOT}", f"{path}/{COPY}"],
    )


def _again(path: Path, root: Document, wrong: str) -> Sealed:
    """The second copy once more, from the first and the arrays' own files."""
    try:
        sealed = seal.take(path, seal.fixed_of(root), seal.shown(root))
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


def _kept(path: Path, copy: Sealed) -> dict[str, Any]:
    """Changing attributes of a root that is damaged elsewhere; none where one may be what is."""
    try:
        root = seal.read_document(path / ROOT)
        elsewhere = seal.fixed_of(root) != copy.attributes or seal.shown(root) != copy.shown
        mutable = seal.mutable_of(root)
        for text in mutable.values():
            json.loads(text)
    except (Wrong, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return {}
    return mutable if elsewhere else {}


def _hash_of_records(path: Path) -> Any:
    try:
        return seal.read_document(path / records.name_of("") / ROOT)["attributes"]["spec_hash"]
    except (Wrong, KeyError, TypeError):
        return None


def _arrays(
    path: Path, sealed: Sealed, before: Mapping[str, Document] | None = None
) -> Iterator[Damage]:
    """What is wrong with metadata and labels; `before`: what metadata may still be."""
    for name, expected in sealed.metadata.items():
        file = path / name / ROOT
        if not safe_files.is_plain(path, file):
            yield Damage(name, "is a link, or its metadata (zarr.json) are")
            continue
        try:
            plain = seal.read_document(file)
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
        file = path / name / "c/0"
        try:
            found = seal.label(file) if safe_files.is_plain(path, file) else "a link"
        except OSError as cause:
            yield Damage(name, f"its labels cannot be read ({cause.strerror})")
        else:
            if found != content:
                gone = found is None
                yield Damage(name, f"its labels {'are missing' if gone else 'were changed'}")


def _chunks(path: Path, sealed: Sealed, contents: bool) -> Iterator[Damage]:
    found = (one for part in _parts(path, sealed) for one in part.damaged(contents))
    if (first := next(found, None)) is None:
        return
    busy = holder(path) is not None  # a chunk may be between its record and its status
    for damage in (first, *found):
        if not (busy and damage.what == UNFINISHED):
            yield damage


UNFINISHED = "its chunk is missing: lost, or its writer was killed before it; pending"


@dataclass(frozen=True)
class _Part:
    """Files of a part's chunks, looked at without Zarr: its metadata may be what is damaged."""

    path: Path
    records: Records
    dimensions: Mapping[str, int]
    chunk: int
    count: int

    def damaged(self, contents: bool) -> Iterator[Damage]:
        """What is wrong with chunks that have a status, in the order of their numbers."""
        *_, status = self.records.arrays
        # The status before all else: what has one has the rest, also while somebody writes.
        done = self._stored(status)
        recorded = self._stored(self.records.name)
        stored = {name: self._stored(name) for name in self.records.arrays[:-1]} | {status: done}
        for number in sorted(done | recorded if contents else done):
            if number * self.chunk >= self.count:
                continue
            here = [name for name, numbers in stored.items() if number in numbers]
            found = list(self._of_one(number, number in recorded, here, contents))
            if found and not self._is_rewritten(number, number in done):
                start = number * self.chunk
                stop = min(start + self.chunk, self.count)
                yield from (Damage(name, what, start, stop) for name, what in found)

    def forget(self, name: str, number: int) -> None:
        """Make a chunk pending, and remove what is damaged of it."""
        for one in (self.records.arrays[-1], self.records.name, name):
            safe_files.remove(self.path, self._file(one, number))

    def _of_one(
        self, number: int, recorded: bool, here: list[str], contents: bool
    ) -> Iterator[tuple[str, str]]:
        *_, status = self.records.arrays
        if not recorded:
            yield self.records.name, "the record of its chunk is missing"
            return
        try:
            row = self.records.read(number)
        except (ValueError, RuntimeError, OSError) as cause:
            yield self.records.name, f"the record of its chunk cannot be read ({_said(cause)})"
            return
        digests = dict(zip(self.records.arrays, row[HEAD:].tolist(), strict=True))
        if status not in here and digests[status]:
            yield status, UNFINISHED
            return
        for name, told in digests.items():
            if not told:
                if name in here:
                    yield name, "has a chunk where none was written"
            elif name not in here:
                yield name, "its chunk is missing"
            elif contents and (what := self._changed(name, number, told)):
                yield name, what

    def _changed(self, name: str, number: int, told: int) -> str:
        try:
            content = self._file(name, number).read_bytes()
        except OSError as cause:
            return f"its chunk cannot be read ({cause.strerror})"
        same = records.digest(self.records.key, name, number, content) == told
        return "" if same else "its chunk is not what was written there"

    def _is_rewritten(self, number: int, had_status: bool) -> bool:
        """Whether a writer has taken the status away since: then the chunk is pending."""
        return had_status and not os.path.lexists(self._file(self.records.arrays[-1], number))

    def _stored(self, name: str) -> set[int]:
        """Numbers of an array's chunks whose file is there; links and folders are none."""
        top = self.path / name / "c"
        if not safe_files.is_plain(self.path, top):
            return set()
        try:
            listed = [entry for entry in os.scandir(top) if chunk_files.is_number(entry.name)]
        except OSError:
            return set()
        if self.dimensions[name] == 1:
            return {int(entry.name) for entry in listed if entry.is_file(follow_symlinks=False)}
        folders = [int(entry.name) for entry in listed if entry.is_dir(follow_symlinks=False)]
        return {number for number in folders if _is_file(str(self._file(name, number)))}

    def _file(self, name: str, number: int) -> Path:
        return self.path / name / chunk_files.chunk_key(number, self.dimensions[name])


def _parts(path: Path, sealed: Sealed) -> Iterator[_Part]:
    for prefix in ("", "precise_"):
        if (name := records.name_of(prefix)) not in sealed.metadata:
            continue
        metadata = sealed.metadata[name]
        attributes = metadata["attributes"]
        names = tuple(attributes["fields"][HEAD:])
        ours = {one: len(sealed.metadata[one]["shape"]) for one in names} | {name: 2}
        status = sealed.metadata[names[-1]]
        files = chunk_files.plain(path / name, (1, metadata["shape"][1]), np.uint64(0))
        yield _Part(
            path,
            Records(name, attributes["spec_hash"], names, files),
            ours,
            status["chunk_grid"]["configuration"]["chunk_shape"][0],
            status["shape"][0],
        )


def _is_file(file: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(file).st_mode)
    except OSError:
        return False


def _said(cause: Exception) -> str:
    return " ".join(str(cause).split())[:80] or type(cause).__name__
