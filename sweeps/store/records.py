"""What a chunk was when its writer had done with it: a record of digests, one row per chunk.

A chunk that is all fill value is not stored, so a file that is gone looks like a chunk without
results, and one that was exchanged for another looks like any. The record says for every array of
the part what its file was: a digest of the file's bytes together with the array's name, the
chunk's number and the specification's hash, or 0 where there was none. It is a Zarr array in a
group of its own, `chunk-records`, that readers of the results never open; its writer is the
chunk's, after the results and before the status. Beside the digests it counts the statuses, which
is what a survey of very many chunks adds up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from . import chunk_files
from .chunk_files import ChunkFiles, ZarrArray

#: The group of the records (no symbol and no result has such a name), and their arrays by prefix.
GROUP = "chunk-records"
#: Status codes that are counted.
CODES = 16
#: What a record begins with: its own digest, then variants by status code.
HEAD = 1 + CODES


def name_of(prefix: str) -> str:
    """A part's records, by its prefix ("" or "precise_")."""
    return f"{GROUP}/{prefix}record"


def fields(arrays: Sequence[str]) -> list[str]:
    """What the columns of a record are."""
    return ["record", *(f"status {code}" for code in range(CODES)), *arrays]


def digest(key: str, name: str, number: int, content: bytes) -> int:
    """Of a chunk in its place; never 0, which is "not stored"."""
    told = blake2b(f"{key}\0{name}\0{number}\0".encode(), digest_size=8)
    told.update(content)
    return int.from_bytes(told.digest(), "little") or 1


@dataclass(frozen=True, slots=True)
class Records:
    """The records of a part; `arrays` are the names in their order, the status last."""

    name: str
    key: str
    arrays: tuple[str, ...]
    files: ChunkFiles

    def made(
        self, number: int, status: np.ndarray, contents: Mapping[str, bytes | None]
    ) -> np.ndarray:
        """A chunk's record, (1, field), from its statuses and its files' contents by array."""
        row = np.zeros((1, HEAD + len(self.arrays)), np.uint64)
        row[0, 1:HEAD] = np.bincount(status, minlength=CODES)
        for place, name in enumerate(self.arrays, HEAD):
            if (content := contents.get(name)) is not None:
                row[0, place] = digest(self.key, name, number, content)
        row[0, 0] = self._own(number, row[0])
        return row

    def read(self, number: int) -> np.ndarray:
        """A chunk's record, (field,); zeros where there is none.

        Raises
        ------
        ValueError, RuntimeError, OSError
            It is not whole, or another's.
        """
        row = self.files.read(number)[0]
        if row.any() and row[0] != self._own(number, row):
            raise ValueError("it is not the record of this chunk")
        return row

    def _own(self, number: int, row: np.ndarray) -> int:
        return digest(self.key, self.name, number, row[1:].tobytes())


def of(array: ZarrArray) -> Records:
    """The records that an array of the group holds; ValueError where it holds none."""
    attributes: Mapping[str, Any] = array.attrs.asdict()
    files = chunk_files.of(array)
    columns: Any = attributes.get("fields")
    key: Any = attributes.get("spec_hash")
    is_ours = isinstance(columns, list) and columns[:HEAD] == fields(()) and isinstance(key, str)
    if files is None or not is_ours or array.shape[1:] != (len(columns),):
        raise ValueError(f"{array.store_path} does not hold records of chunks")
    return Records(array.name.lstrip("/"), key, tuple(columns[HEAD:]), files)
