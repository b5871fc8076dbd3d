"""A store, opened once: what its attributes say, and its arrays."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from basepar_core.errors import BaseparError, StoreError

from . import chunk_files, objects, seal
from .bucket import Bucket
from .bucket_requests import in_words
from .chunk_files import ChunkFiles
from .location import Location, gone, locate
from .names import HIDDEN
from .objects import Objects
from .records import Records
from .seal import Document

if TYPE_CHECKING:
    import zarr

    #: Zarr made the class generic after the lowest version that is allowed.
    ZarrArray: TypeAlias = zarr.Array[Any]


class Store(Mapping[str, "ZarrArray"]):
    """A store as it was when it was opened; its arrays by name, each opened once.

    Attributes
    ----------
    path
        Where it lies.
    attrs
        Its attributes; those that are JSON have names of their own here.
    metadata
        Of its arrays by name, as Zarr has it.
    """

    def __init__(self, path: Location, root: Document, mode: str):
        self.path, self._mode = path, mode
        self.attrs: Mapping[str, Any] = root["attributes"]
        self.metadata: Mapping[str, Document] = seal.shown(root)
        self._arrays: dict[str, ZarrArray] = {}
        self._files: dict[str, ChunkFiles | None] = {}

    @classmethod
    def open(cls, path: Location | str, mode: str = "r") -> "Store":
        """A store, for reading ("r") or for writing chunks ("r+").

        Raises
        ------
        StoreError
            There is none, or it cannot be read, or its attributes are not what they were made.
        """
        place = locate(path)
        return cls(place, _root(place, mode), mode)

    @cached_property
    def objects(self) -> Objects:
        """Its bytes."""
        return objects.of(self.path)

    @property
    def chunk(self) -> int:
        """Variants of a chunk."""
        return self.records().chunk

    def records(self, prefix: str = "") -> Records:
        """The records of its chunks, by prefix of the part; StoreError where it has no status."""
        try:
            plain = self.metadata["status"]
            (chunk,) = plain["chunk_grid"]["configuration"]["chunk_shape"]
            (total,) = plain["shape"]
            return Records(self.objects, str(self.attrs["spec_hash"]), chunk, total, prefix)
        except (KeyError, TypeError, ValueError) as cause:
            raise StoreError(
                f"{self.path} is not the store of a sweep. Name one that `basepar sweep` made.",
                [str(self.path)],
            ) from cause

    def plain(self, name: str, empty: str) -> Any:
        """An attribute that is JSON; `empty` is its text where the store has none."""
        return json.loads(str(self.attrs.get(name, empty)))

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The specification that it was made from; empty where it is no sweep's."""
        return self.plain("spec", "{}")

    @property
    def seal(self) -> str:
        """Digest of what it is: stores made in one second at one path have others."""
        return str(self.attrs.get("seal", ""))

    @property
    def provenance(self) -> dict[str, Any]:
        """When, where, and with which versions it was made."""
        return self.plain("provenance", "{}")

    @property
    def notes(self) -> list[str]:
        """What somebody should know of it."""
        return self.plain("notes", "[]")

    @property
    def swept(self) -> list[str]:
        """Symbols that it has; StoreError where it says something else."""
        names = self.attrs.get("swept", [])
        if not isinstance(names, list):
            raise StoreError(
                f"{self.path} is damaged: its attribute 'swept' is {names!r}, not a list of "
                "symbols. Remove the store and run again.",
                [f"{self.path}/zarr.json"],
            )
        return list(map(str, names))

    def __getitem__(self, name: str) -> "ZarrArray":
        """One array, as Zarr has it; StoreError with its name if it is missing or unreadable."""
        if name not in self._arrays:
            group = self._group
            try:
                array = group[name]
            except Exception as cause:
                if isinstance(self.path, Bucket) and not isinstance(cause, KeyError):
                    raise in_words(self.path.url, name, cause) from None
                if not self.path.exists():
                    raise gone(self.path) from cause
                is_missing = isinstance(cause, KeyError)
                what = "is missing" if is_missing else f"is unreadable: {said(cause)}"
                raise StoreError(
                    f"{self.path} is damaged: array {name!r} {what}. Run the sweep again "
                    "with `repair=`; what is whole is kept.",
                    [f"{self.path}/{name}"],
                ) from cause
            self._arrays[name] = array  # type: ignore[assignment]
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self.metadata

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.metadata))

    def __len__(self) -> int:
        return len(self.metadata)

    @cached_property
    def _group(self) -> "zarr.Group":
        import zarr  # a quarter of a second

        # Measured: with Zarr's own threads two processes write no faster than one.
        if self._mode == "r+":
            zarr.config.set({"threading.max_workers": 1, "async.concurrency": 1})
        if isinstance(self.path, Bucket):
            return zarr.open_group(
                self.path.zarr(read_only=self._mode == "r"),
                mode=self._mode,  # type: ignore[arg-type]
                zarr_format=3,
                use_consolidated=False,
            )
        for file in self.path.glob("*/zarr.json"):
            if not file.is_file() and not file.is_dir():  # Zarr would wait for a pipe for ever
                raise StoreError(
                    f"{self.path} cannot be read as a store: {file} is a pipe, a device or a "
                    "broken link, not a file. Remove it, then run the sweep again with `repair=`.",
                    [str(file)],
                )
        if not self.path.exists():  # before zarr makes a folder there, as 3.1.1 does
            raise gone(self.path)
        return zarr.open_group(
            self.path,
            mode=self._mode,  # type: ignore[arg-type]
            zarr_format=3,
            use_consolidated=False,
        )

    def shape_of(self, name: str) -> tuple[tuple[int, ...], int, np.dtype[Any]]:
        """Shape, chunk and type of an array; StoreError if its metadata are missing or changed."""
        try:
            plain = seal.read_document(self.objects, f"{name}/zarr.json")
            chunk = plain["chunk_grid"]["configuration"]["chunk_shape"][0]
            return tuple(plain["shape"]), chunk, np.dtype(plain["data_type"])
        except (seal.Wrong, LookupError, TypeError) as cause:
            _ = self[name]  # says what is the matter
            raise StoreError(
                f"{self.path} is damaged: array {name!r} is unreadable: {said(cause)}. Run the "
                "sweep again with `repair=`; what is whole is kept.",
                [f"{self.path}/{name}"],
            ) from cause

    def files(self, name: str) -> ChunkFiles | None:
        """An array's chunks as files; None where only Zarr can write and read them.

        Raises
        ------
        StoreError
            There is no such array.
        """
        if name not in self._files:
            if name not in self.metadata:
                _ = self[name]  # says what is the matter
            self._files[name] = chunk_files.of(self.objects, name, self.metadata[name])
        return self._files[name]

    def rows(self, name: str, start: int, stop: int) -> np.ndarray:
        """Rows start … stop − 1 of an array, a copy; StoreError if it cannot be read."""
        files = self.files(name)
        stop = min(stop, self.metadata[name]["shape"][0])
        if files is None or stop <= start:
            return np.asarray(self[name][start:stop])
        chunk, first = files.shape[0], start // files.shape[0]
        try:
            pieces = list(files.read_all(range(first, -(-stop // chunk))))
        except (ValueError, RuntimeError, OSError) as cause:
            raise StoreError(
                f"{self.path} is damaged: array {name!r} cannot be read at variants {start} to "
                f"{stop}: {said(cause)}. Run the sweep again with `repair=`; what is whole is "
                "kept.",
                [f"{self.path}/{name}"],
            ) from cause
        return np.concatenate(pieces)[start - first * chunk : stop - first * chunk]

    def labels(self, name: str) -> list[Any]:
        """Labels of a dimension; none where the store has no such dimension."""
        return list(np.asarray(self[name][:])) if name in self else []

    def texts(self, name: str) -> dict[int, str]:
        """Templates of an array's reasons, by code."""
        found = json.loads(str(self.metadata[name]["attributes"].get("texts", "{}")))
        return {int(code): text for code, text in found.items()}


def raise_if_absent(path: Location, cause: Exception) -> None:
    """StoreError where nothing is at a path."""
    if not path.exists():
        raise StoreError(
            f"There is no store at {path}: a sweep writes nothing before its workers are ready. "
            "Run the sweep, or name another store.",
            [str(path)],
        ) from cause


def _root(path: Location, mode: str) -> Document:
    """A store's `zarr.json`; StoreError where it is not what it was made."""
    there = objects.of(path)
    try:
        return seal.read_root(there)
    except seal.Wrong as wrong:
        if _has_records(path):
            raise StoreError(
                f"{path} is damaged: its zarr.json {wrong}. Run it again with `repair=`; what is "
                "whole is kept.",
                [f"{path}/{seal.ROOT}"],
            ) from wrong
        if mode == "r+" and not path.exists():
            raise gone(path) from wrong
        raise_if_absent(path, wrong)
        return _foreign(path, there)


def _has_records(path: Location) -> bool:
    if isinstance(path, Bucket):
        begun = path.get(seal.COPY) is not None or any(path.names(f"{HIDDEN}/chunks"))
        return begun and path.exists()  # without a `zarr.json` or a record it was half made
    return (path / HIDDEN).is_dir()


#: What a sweep's or study's file says of its store, and that it is one.
_NAMED = re.compile(r"^store:\s*(?:\{\s*)?(?:path:\s*)?['\"]?([^\s,'\"{}]+)", re.MULTILINE)
_OF_MECHANISMS = re.compile(r"^mechanisms?:", re.MULTILINE)


def beside(path: Location) -> str:
    """What to name in the place of a path that is no store: of a file its store, or how to make
    it, or the stores beside it."""
    if isinstance(path, Bucket) or not path.is_file():
        return "Name another store."
    text = _opening(path)
    named = _NAMED.search(text)
    if named and (path.parent / named[1] / seal.ROOT).is_file():
        return f"It is a file; its store is {path.parent / named[1]}."
    stores = sorted(one for one in path.parent.glob("*.zarr") if (one / seal.ROOT).is_file())
    # Those that begin as the file does first: x.zarr and x-study.zarr of x.yaml.
    stores.sort(key=lambda one: not one.stem.startswith(path.stem.split("-")[0]))
    if _OF_MECHANISMS.search(text) and (named or not stores):
        kind = "study" if re.search("^objectives:", text, re.MULTILINE) else "sweep"
        makes = f"basepar {kind} {shlex.quote(str(path))}"
        return f"It is the file of a {kind}, whose store is not made yet: {makes}"
    if stores:
        return f"It is a file; stores beside it: {', '.join(map(str, stores[:3]))}."
    return "Name another store."


def _opening(path: Path) -> str:
    """What a file begins with, as text."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(100_000)
    except OSError:
        return ""


def _foreign(path: Location, there: Objects) -> Document:
    """The `zarr.json` of a group that is none of ours, which whoever asked for it judges."""
    try:
        root = seal.read_document(there, seal.ROOT)
    except seal.Wrong as wrong:
        if str(wrong) == "is missing":
            said = f"{path} is not the store of a sweep. {beside(path)}"
            raise StoreError(said, [str(path)]) from wrong
        raise StoreError(
            f"{path} cannot be read as a store: its zarr.json {wrong}. If it is a damaged store, "
            "remove it and run again.",
            [str(path)],
        ) from wrong
    attributes = root.get("attributes")
    if root.get("node_type") != "group" or not isinstance(attributes, dict):
        attributes = {}
    return {"attributes": attributes, "consolidated_metadata": {"metadata": {}}}


def said(cause: BaseException) -> str:
    """What an exception says, in a line."""
    text = " ".join(str(cause).split()) or type(cause).__name__
    return text if len(text) <= 200 else f"{text[:197]}..."


@contextmanager
def as_damage(what: str) -> Iterator[None]:
    """What goes wrong with the parts of a store that it cannot do without, as StoreError."""
    try:
        yield
    except (BaseparError, MemoryError, OSError):  # no fault of what is read
        raise
    except Exception as cause:
        raise StoreError(
            f"The {what} that the store keeps is damaged ({type(cause).__name__}: "
            f"{str(cause)[:200]}). Its results cannot be interpreted; run its file into a new "
            "store.",
            ["spec"],
        ) from cause
