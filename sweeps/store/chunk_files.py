"""Whole chunks of a store's arrays as files, written and read without Zarr's event loop.

Zarr 3 takes 1.6 ms for each array of a chunk, however small: coroutines, and a thread for every
step; and a quarter of a second to be loaded. A four-bar's chunk has twenty arrays, and its
arithmetic is soon done. A whole chunk of an array is simple (the format's "c/NUMBER", compressed
bytes and their checksum), so it is written and read here, from the array's metadata; whatever is
less simple is left to Zarr (`of` says None).
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import google_crc32c
import numpy as np
from numcodecs import Blosc

from .objects import Objects

_SHUFFLES = {"noshuffle": Blosc.NOSHUFFLE, "shuffle": Blosc.SHUFFLE}


@dataclass(frozen=True, slots=True)
class ChunkFiles:
    """Files of an array that is cut along its first axis only; `shape` is a chunk's.

    They lie below `folder`, a key of the `objects`.
    """

    objects: Objects
    folder: str
    shape: tuple[int, ...]
    fill: np.ndarray  # 0-d, of the array's type
    codec: Blosc

    def write(self, number: int, values: np.ndarray) -> None:
        """Replace a chunk, (rows, …), at once: readers see the old one or the new one."""
        self.store(number, self.encode(values))

    def encode(self, values: np.ndarray) -> bytes | None:
        """A chunk's file, (rows, …); fewer rows than a chunk has where the array ends there.

        None: nothing but the fill value, and such a chunk is not stored.
        """
        whole = np.asarray(values, self.fill.dtype, order="C")
        if self._is_empty(whole):
            return None
        if len(whole) < self.shape[0]:
            padded = np.full(self.shape, self.fill)
            padded[: len(whole)] = whole
            whole = padded
        content = self.codec.encode(whole)
        return content + google_crc32c.value(content).to_bytes(4, "little")

    def store(self, number: int, content: bytes | None) -> None:
        """Replace a chunk's file, or remove it (None)."""
        if content is None:
            self.objects.remove(self.key(number))
        else:
            self.objects.put(self.key(number), content)

    def read(self, number: int) -> np.ndarray:
        """A chunk, (rows of a chunk, …); ValueError or RuntimeError where it is not whole."""
        return self._decoded(number, self.objects.get(self.key(number)))

    def read_all(self, numbers: Sequence[int]) -> Iterator[np.ndarray]:
        """Some chunks, in their order; as `read`."""
        contents = self.objects.get_all([self.key(number) for number in numbers])
        return map(self._decoded, numbers, contents)

    def _decoded(self, number: int, content: bytes | None) -> np.ndarray:
        if content is None:
            return np.full(self.shape, self.fill)
        body, checksum = content[:-4], content[-4:]
        if google_crc32c.value(body).to_bytes(4, "little") != checksum:
            raise ValueError(f"chunk {number} of {self.folder} does not match its checksum")
        return np.frombuffer(self.codec.decode(body), self.fill.dtype).reshape(self.shape)

    def key(self, number: int) -> str:
        """Where a chunk lies."""
        return f"{self.folder}/{chunk_key(number, len(self.shape))}".lstrip("/")

    def _is_empty(self, values: np.ndarray) -> bool:
        """Bit for bit the fill value, as Zarr has it: such a chunk is not stored."""
        bits = f"u{self.fill.dtype.itemsize}"
        fill = self.fill.view(bits)
        flat = values.reshape(-1).view(bits)
        return bool(flat[0] == fill and (flat == fill).all())


def chunk_key(number: int, dimensions: int) -> str:
    """Name of a chunk's file below its array; the first axis alone is cut."""
    return f"c/{number}{'/0' * (dimensions - 1)}"


def of(there: Objects, name: str, metadata: Mapping[str, Any]) -> ChunkFiles | None:
    """An array's files by its metadata (`zarr.json`); None where only Zarr knows them."""
    try:
        shape, chunk = metadata["shape"], metadata["chunk_grid"]["configuration"]["chunk_shape"]
        encoding = metadata["chunk_key_encoding"]
        raw, blosc, check = metadata["codecs"]
        plain = blosc["configuration"]
        known = (
            (metadata["zarr_format"], encoding["name"]) == (3, "default")
            and encoding.get("configuration", {"separator": "/"})["separator"] == "/"
            and (raw["name"], blosc["name"], check["name"]) == ("bytes", "blosc", "crc32c")
            and raw.get("configuration", {"endian": "little"})["endian"] == sys.byteorder
            and chunk[1:] == shape[1:]
            and all(shape)
        )
        shuffle, size = _SHUFFLES[plain["shuffle"]], plain["typesize"]
        fill = np.array(metadata["fill_value"], metadata["data_type"])  # "NaN" too
        codec = Blosc(plain["cname"], plain["clevel"], shuffle, plain["blocksize"], typesize=size)
    except (KeyError, TypeError, ValueError):
        return None
    return ChunkFiles(there, name, tuple(chunk), fill, codec) if known else None
