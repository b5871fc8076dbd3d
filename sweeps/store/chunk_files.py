"""Whole chunks of a store's arrays as files, written and read without Zarr's event loop.

Zarr 3 takes 1.6 ms for each array of a chunk, however small: coroutines, and a thread for every
step. A four-bar's chunk has twenty arrays, and its arithmetic is soon done. A whole chunk of an
array in a directory is simple (the format's "c/NUMBER", compressed bytes and their checksum,
renamed when complete), so it is written here, and read where it was written just now (a study
looks at every batch); whatever is less simple is left to Zarr (`of` says None).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import google_crc32c
import numpy as np
import zarr
from numcodecs import Blosc
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec
from zarr.core.chunk_key_encodings import DefaultChunkKeyEncoding
from zarr.storage import LocalStore

from . import objects
from .objects import Objects

#: An array of a store; Zarr made the class generic after the lowest version that is allowed.
if TYPE_CHECKING:
    ZarrArray: TypeAlias = zarr.Array[Any]
else:
    ZarrArray = zarr.Array

_SHUFFLES = {"noshuffle": Blosc.NOSHUFFLE, "shuffle": Blosc.SHUFFLE}


def compressors(dtype: Any) -> tuple[BloscCodec, Crc32cCodec]:
    """What our arrays are compressed with: quick, and variants without results cost nothing.

    The checksum finds chunks that are torn or changed; LZ4 alone takes most of them for whole.
    """
    size = np.dtype(dtype).itemsize
    return BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=size), Crc32cCodec()


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
        content = self.objects.get(self.key(number))
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


def of(array: ZarrArray) -> ChunkFiles | None:
    """An array's files; None where only Zarr knows how to write it."""
    meta, place = array.metadata, array.store_path
    if not isinstance(place.store, LocalStore) or meta.zarr_format != 3 or not array.size:
        return None
    if meta.chunk_key_encoding != DefaultChunkKeyEncoding(separator="/"):
        return None
    match meta.codecs:
        case (BytesCodec(), BloscCodec() as blosc, Crc32cCodec()):
            # As metadata has it: attributes are members of enumerations or, from 3.4 on, texts.
            plain: dict[str, Any] = blosc.to_dict()["configuration"]  # type: ignore[assignment]
        case _:
            return None
    if plain["shuffle"] not in _SHUFFLES:
        return None
    shuffle = _SHUFFLES[plain["shuffle"]]
    size, block = plain["typesize"], plain["blocksize"]
    codec = Blosc(plain["cname"], plain["clevel"], shuffle, block, typesize=size)
    if array.chunks[1:] != array.shape[1:] or not array.dtype.isnative:
        return None
    fill = np.array(array.fill_value, array.dtype)
    return ChunkFiles(objects.of(place.store.root), place.path, array.chunks, fill, codec)


def get(array: ZarrArray, start: int, stop: int) -> np.ndarray:
    """Rows start … stop − 1, a copy; what is not whole is Zarr's to complain of."""
    files, chunk = of(array), array.chunks[0]
    stop = min(stop, array.shape[0])
    if files is None or stop <= start:
        return np.asarray(array[start:stop])
    first = start // chunk
    try:
        found = np.concatenate([files.read(number) for number in range(first, -(-stop // chunk))])
    except (ValueError, RuntimeError):
        return np.asarray(array[start:stop])
    return found[start - first * chunk : stop - first * chunk]
