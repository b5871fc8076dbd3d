"""A store as an xarray dataset, its columns read by our own chunk files.

`xarray.open_zarr` reads the same stores. It makes one task of Dask for each chunk of each array,
which for 10⁶ chunks takes gigabytes and minutes before a number is looked at; and each chunk
passes through Zarr's event loop, 0.4 ms of CPU. Here a task has `ROWS` variants or more, and its
chunks are read one after the other. What fits into memory many times needs no Dask, whose import
takes half a second.
"""

from math import prod
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.conventions import decode_cf_variables
from xarray.core import indexing

from .opened import Store
from .seal import Document

#: Variants that a task of Dask reads at least: half a megabyte of a column.
ROWS = 65_536
#: Bytes of the largest array from which on arrays are Dask's: 8·10⁶ variants of one number.
LARGE = 64 << 20


def of(held: Store) -> xr.Dataset:
    """Lazy, as `xarray.open_zarr` would give it; of Dask's arrays where one is `LARGE`.

    What is read is not remembered: a sweep may be at work.
    """
    largest = max(map(_bytes, held.metadata.values()), default=0)
    chunks: dict[str, int] | None = {} if largest >= LARGE else None
    given: Any = held
    return xr.open_dataset(given, engine=_Entry, chunks=chunks, cache=False)


def _bytes(document: Document) -> int:
    """Of an array; of labels that are texts none."""
    kind = document["data_type"]
    return 0 if kind == "string" else prod(document["shape"]) * np.dtype(kind).itemsize


class _Entry(BackendEntrypoint):
    """How xarray opens a store that is open already."""

    def open_dataset(self, filename_or_obj: Any, *, drop_variables: Any = None) -> xr.Dataset:
        held: Store = filename_or_obj
        plain = {name: _variable(held, name) for name in held.metadata}
        variables, attributes, coords = decode_cf_variables(plain, dict(held.attrs))
        found = xr.Dataset(variables, attrs=attributes)
        return found.set_coords(coords & variables.keys())


def _variable(held: Store, name: str) -> xr.Variable:
    document = held.metadata[name]
    dims, attributes = tuple(document["dimension_names"]), dict(document["attributes"])
    array = _Column(held, name)
    encoding: dict[str, Any] = {"dtype": array.dtype}
    if dims[:1] == ("variant",):
        shape = tuple(document["chunk_grid"]["configuration"]["chunk_shape"])
        together = (shape[0] * max(1, ROWS // shape[0]), *shape[1:])
        encoding |= {
            "chunks": shape,
            "preferred_chunks": dict(zip(dims, together, strict=True)),
        }
    return xr.Variable(dims, indexing.LazilyIndexedArray(array), attributes, encoding)


class _Column(BackendArray):
    """Rows of an array, or labels, read when they are indexed."""

    def __init__(self, held: Store, name: str):
        document = held.metadata[name]
        self.held, self.name = held, name
        self.shape, kind = tuple(document["shape"]), document["data_type"]
        self.dtype = held[name].dtype if kind == "string" else np.dtype(kind)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        kinds = indexing.IndexingSupport
        return indexing.explicit_indexing_adapter(key, self.shape, kinds.BASIC, self._read)

    def _read(self, key: tuple[int | slice, ...]) -> np.ndarray:
        first, *rest = key
        if isinstance(first, slice):
            start, stop, step = first.indices(self.shape[0])  # xarray reads forwards only
            return self.held.rows(self.name, start, stop)[(slice(None, None, step), *rest)]
        row = int(first) % self.shape[0]
        return self.held.rows(self.name, row, row + 1)[(0, *rest)]
