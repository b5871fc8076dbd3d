"""What Zarr would write for new arrays: their `zarr.json`, and the bytes of labels.

Zarr takes 3 ms of CPU for each new array, and a quarter of a second to be loaded; a store has
ten to thirty arrays, and is made anew for every small sweep. The documents are those of the
format's version 3 (zarr-specs.readthedocs.io, core and the extensions `string` and `vlen-utf8`),
key by key as Zarr itself writes them.
"""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numcodecs import Zstd
from numcodecs.vlen import VLenUTF8

from .seal import Document

_ZSTD = {"name": "zstd", "configuration": {"level": 0, "checksum": False}}


def columns(
    shape: Sequence[int],
    chunk: int,
    dtype: str,
    fill: float | int | bool,
    dims: Sequence[str],
    attributes: Mapping[str, Any],
) -> Document:
    """Of an array that is cut along its first axis, `chunk` rows each.

    Compressed quickly, so that variants without results cost nothing, and with a checksum, which
    finds chunks that are torn or changed: LZ4 alone takes most of them for whole.
    """
    kind = np.dtype(dtype)
    blosc = {
        "typesize": kind.itemsize,
        "cname": "lz4",
        "clevel": 5,
        "shuffle": "shuffle",
        "blocksize": 0,
    }
    codecs = [_raw(kind), {"name": "blosc", "configuration": blosc}, {"name": "crc32c"}]
    chunks = [chunk, *(max(1, length) for length in shape[1:])]
    return _document(shape, chunks, kind.name, _plain(fill, kind), codecs, dims, attributes)


def labels(
    names: Sequence[str] | Sequence[int], dim: str, attributes: Mapping[str, Any]
) -> tuple[Document, bytes | None]:
    """Of the labels of a dimension, texts or whole numbers, in one chunk; and that chunk.

    None: all of them are the fill value, and such a chunk is not stored.
    """
    values = list(names)
    fill: str | int
    if any(isinstance(name, str) for name in values):
        kind, fill, codec = "string", "", {"name": "vlen-utf8", "configuration": {}}
        raw = VLenUTF8().encode(np.array([str(name) for name in values], object))
    else:
        whole = np.dtype(np.int64)
        kind, fill, codec = whole.name, 0, _raw(whole)
        raw = np.array(values, whole).tobytes()
    size, chunks = [len(values)], [max(1, len(values))]
    document = _document(size, chunks, kind, fill, [codec, _ZSTD], [dim], attributes)
    empty = all(name == fill for name in values)
    return document, None if empty else bytes(Zstd(level=0).encode(raw))


def group(attributes: Mapping[str, Any]) -> Document:
    """Of a group."""
    return {"attributes": dict(attributes), "zarr_format": 3, "node_type": "group"}


def _document(
    shape: Sequence[int],
    chunks: Sequence[int],
    kind: str,
    fill: Any,
    codecs: Sequence[Document],
    dims: Sequence[str],
    attributes: Mapping[str, Any],
) -> Document:
    return {
        "shape": list(shape),
        "data_type": kind,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunks)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill,
        "codecs": list(codecs),
        "attributes": dict(attributes),
        "dimension_names": list(dims),
        "zarr_format": 3,
        "node_type": "array",
        "storage_transformers": [],
    }


def _raw(kind: np.dtype[Any]) -> Document:
    """Bytes as they lie in memory; a single one has no order."""
    if kind.itemsize == 1:
        return {"name": "bytes"}
    return {"name": "bytes", "configuration": {"endian": sys.byteorder}}


def _plain(fill: float | int | bool, kind: np.dtype[Any]) -> Any:
    """A fill value as the format writes it."""
    value = np.array(fill, kind).item()
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value
