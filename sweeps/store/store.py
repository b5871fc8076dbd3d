"""One Zarr store per sweep: names, units, chunks; made, written, opened (read by `survey`).

Preallocated from the declared outputs, written by workers chunk by chunk, readable by
`xarray.open_zarr` from the first second on. Three rules, each paid for in measurements:

- A write covers whole chunks. Two unaligned writers of one chunk lose rows without a sound (30
  of 100 regions lost with four processes), so `write` rejects them, and nothing is ever appended.
- `status` is written after the results, its fill value is 0, pending, and the chunk's record
  (`records`) is last of all: a killed worker leaves a chunk that is done or a chunk that is
  redone, nothing between; and a chunk that is lost or changed later is known.
- A store is made under another name and renamed when complete, so that a half-made one is never
  taken for a store. (In a bucket nothing is renamed: what makes it a store is put last.)
"""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from basepar_core.errors import StoreError, UsageError

from . import chunk_files, facts, metadata, objects, seal
from .bucket import Bucket
from .location import Location, locate
from .lock import locked
from .opened import Store, said
from .outputs import Arrays, Output
from .records import Records
from .statuses import REASONS, PreciseStatus, Status, flags

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True, slots=True)
class Part:
    """Arrays that are written together, and their chunk along `variant`.

    `prefix` is "" for a sweep's own arrays and "precise_" for those of its precise tasks:
    what `status`, `reason` and `reason_value` are called there.
    """

    outputs: tuple[Output, ...]
    chunk: int
    prefix: str = ""

    @property
    def status(self) -> str:
        """Name of the array that is written last."""
        return f"{self.prefix}status"

    @property
    def retries(self) -> str:
        """Name of the array that only retries write."""
        return f"{self.prefix}retries"

    @property
    def arrays(self) -> tuple[Output, ...]:
        """Every array of the part, the status last."""
        ours = status_outputs(self.prefix)
        names = {output.name for output in ours}
        return (*(output for output in self.outputs if output.name not in names), *ours)


@dataclass(frozen=True, slots=True)
class Layout:
    """What a store holds: parts, labels of their dimensions, attributes.

    One that `grows` has whole chunks even where there are fewer variants so far.
    """

    count: int
    parts: tuple[Part, ...]
    coords: Mapping[str, Sequence[str] | Sequence[int]] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    grows: bool = False

    def chunk_of(self, part: Part) -> int:
        """Variants per chunk of a part's arrays."""
        return part.chunk if self.grows else min(part.chunk, self.count)

    @property
    def units(self) -> dict[str, tuple[str, ...]]:
        """Units by label, by the name of their coordinate."""
        arrays = (output for part in self.parts for output in part.arrays)
        return {unit_name(output): output.units for output in arrays if output.units}

    def __post_init__(self) -> None:
        names = [output.name for part in self.parts for output in part.arrays]
        names += [*self.coords, *self.units, "variant"]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise UsageError(
                f"Two arrays of the store would be named {', '.join(twice)}. Rename the swept "
                "symbol: the names of results are taken."
            )


def unit_name(output: Output) -> str:
    """The coordinate that has an array's units, one per label of its last dimension."""
    return f"{output.dims[-1]}_unit"


@cache
def status_outputs(prefix: str = "") -> tuple[Output, ...]:
    """`retries`, `reason`, `reason_value` and, last, `status`."""
    what = "precise evaluation" if prefix else "variant"
    return (
        Output(
            f"{prefix}retries",
            dtype="int16",
            long_name=f"how often the {what} was asked for again after it had failed",
            fill=0,
        ),
        Output(
            f"{prefix}reason", dtype="int16", long_name=f"reason of the {what}'s status", fill=0
        ),
        Output(f"{prefix}reason_value", long_name="number in the reason's text"),
        Output(f"{prefix}status", dtype="int8", long_name=f"status of the {what}", fill=0),
    )


def create(path: Location, layout: Layout) -> None:
    """Preallocate a store; whole or not there at all.

    A half-made one of an interrupted run, `.NAME.creating`, is removed first; what else may have
    that name is left alone. In a bucket a half-made one is written over: its `zarr.json`, without
    which it is none, is put last.

    Raises
    ------
    StoreError
        Where the directory cannot be written, or somebody else makes the same store, or something
        else stands where it is made.
    """
    path = locate(path)
    if isinstance(path, Bucket):
        _create_in(path, layout)
        return
    draft = path.with_name(f".{path.name}.creating")
    try:
        _remove_draft(draft)
        draft.mkdir(parents=True, exist_ok=True)
        there, contents = objects.Folder(str(draft)), _files(layout)
        there.put(seal.ROOT, contents.pop(seal.ROOT))  # by which a half-made one is known
        for key, content in contents.items():
            there.put_unread(key, content)
        draft.rename(path)
    except StoreError:
        raise
    except Exception as cause:
        raise StoreError(
            f"{path} cannot be made: {said(cause)}. Name a directory that can be written; if "
            "another run was making this store just now, run again.",
            [str(path)],
        ) from cause


def _create_in(bucket: Bucket, layout: Layout) -> None:
    if not bucket.is_empty:
        raise StoreError(
            f"{bucket} is no store, and something lies there. Name another store.", [str(bucket)]
        )
    contents = _files(layout)
    copy, root = contents.pop(seal.COPY), contents.pop(seal.ROOT)
    bucket.put(seal.COPY, copy)  # by which a half-made one is known
    bucket.put_folder(contents.items())
    if not bucket.create(seal.ROOT, root):
        raise StoreError(
            f"{bucket} cannot be made: another run was making it just now. Run again.",
            [str(bucket)],
        )


def _remove_draft(draft: Path) -> None:
    """Remove what an interrupted run left, and nothing else."""
    if not os.path.lexists(draft):
        return
    ours = draft.is_dir() and not draft.is_symlink()
    if ours and any(draft.iterdir()):
        try:
            root = seal.read_document(objects.of(draft), seal.ROOT)
            ours = "spec_hash" in root["attributes"]
        except (seal.Wrong, KeyError, TypeError):
            ours = False
    if not ours:
        raise StoreError(
            f"{draft} stands where a store is made before it gets its name, and is none that an "
            "interrupted run left. Move it away, or name another store.",
            [str(draft)],
        )
    shutil.rmtree(draft)


def _files(layout: Layout) -> dict[str, bytes]:
    """A new store's files by key; the one that makes it a store is last."""
    arrays: dict[str, seal.Document] = {}
    labels: dict[str, bytes | None] = {}
    for part in layout.parts:
        for output in part.arrays:
            arrays[output.name] = _array(layout, part, output)
    for name, values in layout.coords.items():
        arrays[name], labels[name] = _coordinate(name, name, values)
    for name, units in layout.units.items():
        arrays[name], labels[name] = _coordinate(name, name.removesuffix("_unit"), units)
    return seal.files(seal.of_new(_plain_attrs(layout.attrs), arrays, labels))


def _coordinate(
    name: str, dim: str, values: Sequence[str] | Sequence[int]
) -> tuple[seal.Document, bytes | None]:
    attributes: dict[str, Any] = {"long_name": name.replace("_", " ")}
    if not any(isinstance(value, str) for value in values):
        attributes["units"] = "1"
    return metadata.labels(values, dim, attributes)


def _array(layout: Layout, part: Part, output: Output) -> seal.Document:
    rest = tuple(len(layout.coords[dim]) for dim in output.dims[1:])
    attributes: dict[str, Any] = {"long_name": output.long_name or output.name}
    if output.name == part.status:
        attributes |= flags(PreciseStatus if part.prefix else Status)
    elif output.name == f"{part.prefix}reason":
        texts = {int(code): text for code, text in {**REASONS, **layout.texts}.items()}
        attributes["texts"] = json.dumps(texts)
    if output.unit:
        attributes["units"] = output.unit
    if output.units:
        attributes["coordinates"] = unit_name(output)  # CF: what xarray shows beside the array
    shape, chunk = (layout.count, *rest), layout.chunk_of(part)
    return metadata.columns(shape, chunk, output.dtype, output.empty, output.dims, attributes)


def _plain_attrs(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as text, numbers and lists of them; the rest as JSON, which netCDF keeps too."""

    def is_plain(value: Any) -> bool:
        return isinstance(value, str | int | float) and not isinstance(value, bool)

    return {
        key: value
        if is_plain(value) or (isinstance(value, list) and value and all(map(is_plain, value)))
        else json.dumps(value)
        for key, value in attrs.items()
    }


def check(path: Location, layout: Layout) -> Store:
    """Open a store and make sure that every array is there as laid out.

    Raises
    ------
    StoreError
        Naming the array that is missing, unreadable or of another shape.
    """
    found = Store.open(path, "r+")
    for part in layout.parts:
        for output in part.arrays:
            rest = tuple(len(layout.coords[dim]) for dim in output.dims[1:])
            shape, chunk = (layout.count, *rest), layout.chunk_of(part)
            _check_array(found, output, shape, chunk)
    return found


def _check_array(store: Store, output: Output, shape: tuple[int, ...], chunk: int) -> None:
    expected = (shape, chunk, np.dtype(output.dtype))
    found = store.shape_of(output.name)
    for what, want, have in zip(("shape", "chunk", "dtype"), expected, found, strict=True):
        if want != have:
            raise StoreError(
                f"{store.path} is damaged: array {output.name!r} has {what} {have}, not {want}. "
                "Remove the store and run again.",
                [f"{store.path}/{output.name}"],
            )


def write(
    store: Store,
    part: Part,
    start: int,
    stop: int,
    arrays: Arrays,
    errors: Mapping[int, str] | None = None,
) -> None:
    """Write variants start … stop − 1 of a part, their chunks' records last.

    Parameters
    ----------
    arrays
        Every array of the part by name, each (stop − start, …); without `retries` nothing was
        asked for again.
    errors
        Texts of exceptions, by variant.

    Raises
    ------
    ValueError
        If the range does not begin and end at chunk boundaries: nothing is written then.
    """
    known, chunk = store.records(part.prefix), part.chunk
    if start % chunk or (stop % chunk and stop != known.total) or not start < stop <= known.total:
        raise ValueError(
            f"Variants {start} to {stop} do not fill whole chunks of {part.chunk}; two writers "
            "of one chunk would lose rows."
        )
    if part.retries not in arrays:
        arrays = {**arrays, part.retries: np.zeros(stop - start, np.int16)}
    named = {one.name: store.files(one.name) for one in part.arrays}
    files = {name: one for name, one in named.items() if one is not None}  # else it has no size
    for first in range(start, stop, chunk):
        last = min(first + chunk, stop)
        rows = {name: values[first - start : last - start] for name, values in arrays.items()}
        contents = {name: one.encode(rows[name]) for name, one in files.items()}
        texts = {row: text for row, text in (errors or {}).items() if first <= row < last}
        told = facts.of(first, rows, part.prefix, store.swept, texts)
        number = first // chunk
        record = known.encode(number, last - first, contents, told)
        _replace(known, files, number, record, contents)


def _replace(
    known: Records,
    files: Mapping[str, chunk_files.ChunkFiles],
    number: int,
    record: bytes,
    contents: Mapping[str, bytes | None],
) -> None:
    """Write a chunk's files, then its record; one that is another now is pending first."""
    place = known.name(number)
    before = known.objects.get(place)
    if before is not None and before != record:
        known.forget(number)
    known.objects.put_all({one.key(number): contents[name] for name, one in files.items()})
    known.objects.put(place, record)


def extend(path: Location, count: int, document: str) -> None:
    """Make a study's arrays longer; the new variants are pending.

    Only the sizes that the arrays' metadata state are changed, and the specification. The second
    copy of both goes first, the store's own `zarr.json` last: whoever finds them apart does an
    interrupted extension to its end. Nobody may write meanwhile.
    """
    there = objects.of(path)
    root, copy = seal.read_root(there), seal.read_copy(there)
    seal.write(there, seal.extended(copy, count, document), seal.mutable_of(root))


def settle(path: Location) -> None:
    """Do an interrupted extension to its end, holding the store; nothing where there is none."""
    there = objects.of(path)
    try:
        root, copy = seal.read_root(there), seal.read_copy(there)
    except seal.Wrong:
        return  # what is damaged is another's to say
    if seal.is_extending(root, copy):
        with locked(path):
            seal.write(there, copy, seal.mutable_of(root))


def set_attribute(path: Location, key: str, value: str) -> None:
    """Change one attribute of a store that may change (`seal.MUTABLE`)."""
    seal.set_attribute(objects.of(path), key, value)


def read(path: Location | str) -> "xr.Dataset":
    """The store as a dataset, at any time, also while a sweep runs.

    Raises
    ------
    StoreError
        There is none, or it cannot be read.
    """
    place = locate(path)
    if not isinstance(place, Bucket):
        place = place.absolute()  # Dask's workers may work in other folders
    held = Store.open(place)  # says what is wrong
    if held.metadata:
        from . import dataset  # with pandas a quarter of the start of workers, who only write

        return dataset.of(held)
    import xarray as xr

    where = held.path  # a group that is none of ours
    there: Any = where.zarr(read_only=True) if isinstance(where, Bucket) else where
    return xr.open_zarr(there)
