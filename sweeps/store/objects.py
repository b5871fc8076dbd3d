"""Bytes of a store by key, each whole or not there: what a folder and an object store share.

Nothing asks for more than this: no renaming, no appending, no lock of the kernel. So what is
built on it (chunks, records, claims) is the same on a disk and in a bucket.
"""

import contextlib
import os
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from basepar_core.texts import naming, opened

from . import safe_files
from .bucket import Bucket
from .location import Location, gone


class Objects(Protocol):
    """A store's bytes; `place` is what people call it."""

    @property
    def place(self) -> str: ...

    def get(self, key: str) -> bytes | None:
        """What lies there; None: nothing."""
        ...

    def put(self, key: str, content: bytes) -> None:
        """Replace at once: readers see the old bytes or the new ones."""
        ...

    def create(self, key: str, content: bytes) -> bool:
        """Put where nothing lies yet; False: something does. Of several at once one succeeds."""
        ...

    def get_all(self, keys: Sequence[str]) -> Iterator[bytes | None]:
        """What lies at each of the keys, in their order."""
        ...

    def put_all(self, contents: Mapping[str, bytes | None]) -> None:
        """Put all of them, or remove (None); the last one when the others are there."""
        ...

    def remove(self, key: str) -> None:
        """Nothing lies there afterwards."""
        ...

    def names(self, folder: str) -> Iterator[str]:
        """Names directly below a folder, of objects and of folders, in no order."""
        ...

    def names_all(self, folders: Sequence[str]) -> Iterator[Iterable[str]]:
        """Names directly below each of the folders, in their order."""
        ...

    def have(self, keys: Sequence[str]) -> Iterator[bool]:
        """Whether something lies at each of the keys, in their order; no link does."""
        ...

    def chunks(self, array: str, dimensions: int) -> set[int]:
        """Numbers of an array's chunks that are there, an array cut along its first axis."""
        ...

    def is_plain(self, key: str) -> bool:
        """Whether no link leads away on the way there."""
        ...

    def restore(self, key: str, content: bytes) -> None:
        """Put; what stands in the way, such as a link or a folder, is removed."""
        ...

    def clear(self, key: str) -> None:
        """Remove whatever is there: of a link, the link."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that all workers see."""

    place: str

    def get(self, key: str) -> bytes | None:
        try:
            with opened(self.file(key), "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put(self, key: str, content: bytes) -> None:
        with self._draft(key, content) as draft:
            os.replace(draft, self.file(key))

    def put_unread(self, key: str, content: bytes) -> None:
        """As `put`, where nobody reads yet: not at once."""
        file = self.file(key)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        _write(file, content, file)

    def create(self, key: str, content: bytes) -> bool:
        try:
            with self._draft(key, content) as draft:
                os.link(draft, self.file(key))
                os.unlink(draft)
        except FileExistsError:
            return False
        return True

    def get_all(self, keys: Sequence[str]) -> Iterator[bytes | None]:
        return map(self.get, keys)

    def put_all(self, contents: Mapping[str, bytes | None]) -> None:
        for key, content in contents.items():
            if content is None:
                self.remove(key)
            else:
                self.put(key, content)

    def remove(self, key: str) -> None:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(self.file(key))

    def names(self, folder: str) -> Iterator[str]:
        with (
            contextlib.suppress(FileNotFoundError, NotADirectoryError),
            os.scandir(self.file(folder)) as found,
        ):
            yield from (entry.name for entry in found)

    def names_all(self, folders: Sequence[str]) -> Iterator[Iterable[str]]:
        return map(self.names, folders)

    def have(self, keys: Sequence[str]) -> Iterator[bool]:
        return (_is_file(self.file(key)) for key in keys)

    def chunks(self, array: str, dimensions: int) -> set[int]:
        """Links and folders in the place of files are none."""
        top = f"{array}/c".lstrip("/")
        if not self.is_plain(top):
            return set()
        try:
            listed = [one for one in os.scandir(self.file(top)) if is_number(one.name)]
        except OSError:
            return set()
        if dimensions == 1:
            return {int(one.name) for one in listed if one.is_file(follow_symlinks=False)}
        folders = [one.name for one in listed if one.is_dir(follow_symlinks=False)]
        rest = "/0" * (dimensions - 1)
        return {int(one) for one in folders if _is_file(self.file(f"{top}/{one}{rest}"))}

    def is_plain(self, key: str) -> bool:
        return safe_files.is_plain(self._path, self._path / key)

    def restore(self, key: str, content: bytes) -> None:
        safe_files.replace(self._path, self._path / key, content)

    def clear(self, key: str) -> None:
        safe_files.remove(self._path, self._path / key)

    @property
    def _path(self) -> Path:
        return Path(self.place)

    def file(self, key: str) -> str:
        """Where a key's bytes lie."""
        return f"{self.place}/{key}"

    @contextlib.contextmanager
    def _draft(self, key: str, content: bytes) -> Iterator[str]:
        """Content under another name; removed where it does not get its own."""
        file = self.file(key)
        # Two writers of one key are rare, and none may see half of the other's.
        draft = f"{file}.{os.getpid()}-{threading.get_ident()}.partial"
        try:
            try:
                _write(draft, content, file)
            except FileNotFoundError:  # the first one there
                if not os.path.isdir(self.place):  # else half a store would stand where one was
                    raise gone(self.place) from None
                os.makedirs(os.path.dirname(file), exist_ok=True)
                _write(draft, content, file)
            yield draft
        except BaseException:
            with contextlib.suppress(OSError):  # half a chunk would take what little room there is
                os.unlink(draft)
            raise


def is_number(name: str) -> bool:
    """Whether a name may be a chunk's number: digits as we write them."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")


def _is_file(file: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(file).st_mode)
    except OSError:
        return False


def _write(draft: str, content: bytes, file: str) -> None:
    with naming(file), open(draft, "wb") as partial:
        partial.write(content)


def of(place: Location) -> Objects:
    """The bytes of the store at a place."""
    return place if isinstance(place, Bucket) else Folder(str(place))
