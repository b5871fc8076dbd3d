"""A store, opened once: what its attributes say, and its arrays."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from basepar_core.errors import StoreError

from . import chunk_files, records, seal
from .chunk_files import ZarrArray
from .location import folder, gone


class Store(Mapping[str, ZarrArray]):
    """A store as it was when it was opened; its arrays by name, each opened once.

    Attributes
    ----------
    path
        Where it lies.
    attrs
        Its attributes; those that are JSON have names of their own here.
    """

    def __init__(self, path: Path, group: zarr.Group):
        self.path, self._group = path, group
        self.attrs: Mapping[str, Any] = group.attrs.asdict()
        self._arrays: dict[str, ZarrArray] = {}

    @classmethod
    def open(cls, path: Path | str, mode: str = "r") -> "Store":
        """A store, for reading ("r") or for writing chunks ("r+").

        Raises
        ------
        StoreError
            There is none, or it cannot be read, or its attributes are not what they were made.
        """
        return cls(folder(path), _opened(path, mode))

    def plain(self, name: str, empty: str) -> Any:
        """An attribute that is JSON; `empty` is its text where the store has none."""
        return json.loads(str(self.attrs.get(name, empty)))

    @cached_property
    def spec(self) -> dict[str, Any]:
        """The specification that it was made from; empty where it is no sweep's."""
        return self.plain("spec", "{}")

    @property
    def provenance(self) -> dict[str, Any]:
        """When, where, and with which versions it was made."""
        return self.plain("provenance", "{}")

    @property
    def notes(self) -> list[str]:
        """What somebody should know of it."""
        return self.plain("notes", "[]")

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The runs that filled it, the last one last; one that was killed has no `ended`."""
        return self.plain("runs", "[]")

    @property
    def errors(self) -> dict[int, str]:
        """Texts of the first exceptions, by variant."""
        return {int(variant): text for variant, text in self.plain("errors", "{}").items()}

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

    def __getitem__(self, name: str) -> ZarrArray:
        """One array; StoreError with its name if it is missing or unreadable."""
        if name not in self._arrays:
            try:
                array = self._group[name]
            except Exception as cause:
                if not self.path.exists():
                    raise gone(self.path) from cause
                is_missing = isinstance(cause, KeyError)
                what = "is missing" if is_missing else f"is unreadable: {said(cause)}"
                raise StoreError(
                    f"{self.path} is damaged: array {name!r} {what}. Run the sweep again "
                    "with `repair=`; what is whole is kept.",
                    [f"{self.path}/{name}"],
                ) from cause
            assert isinstance(array, zarr.Array)
            self._arrays[name] = array
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._arrays or name in self._group)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(name for name, _ in self._group.arrays()))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def rows(self, name: str, start: int, stop: int) -> np.ndarray:
        """Rows start … stop − 1 of an array; StoreError if it is missing or unreadable."""
        return chunk_files.get(self[name], start, stop)

    def labels(self, name: str) -> list[Any]:
        """Labels of a dimension; none where the store has no such dimension."""
        return list(np.asarray(self[name][:])) if name in self else []

    def texts(self, name: str) -> dict[int, str]:
        """Templates of an array's reasons, by code."""
        found = json.loads(str(self[name].attrs.get("texts", "{}")))
        return {int(code): text for code, text in found.items()}


def raise_if_absent(path: Path | str, cause: Exception) -> None:
    """StoreError where nothing is at a path."""
    if not Path(path).exists():
        raise StoreError(
            f"There is no store at {path}: a sweep writes nothing before its workers are ready. "
            "Run the sweep, or name another store.",
            [str(path)],
        ) from cause


def _opened(path: Path | str, mode: str) -> zarr.Group:
    _raise_if_changed(folder(path))
    if mode == "r+" and not Path(path).exists():  # before zarr makes a folder there, as 3.1.1 does
        raise gone(path)
    try:
        return zarr.open_group(path, mode=mode, zarr_format=3, use_consolidated=False)  # type: ignore[arg-type]
    except (FileNotFoundError, NotADirectoryError) as cause:  # zarr's "no group here" among them
        raise_if_absent(path, cause)
        raise StoreError(
            f"{path} is not the store of a sweep. Name another store.",
            [str(path)],
        ) from cause
    except Exception as cause:
        raise StoreError(
            f"{path} cannot be read as a store: {said(cause)}. If it is a damaged store, remove "
            "it and run again.",
            [str(path)],
        ) from cause


def _raise_if_changed(path: Path) -> None:
    """Make sure that a store's attributes are its own; what is no store is not judged here."""
    try:
        seal.read_root(path)
    except seal.Wrong as wrong:
        if (path / records.GROUP).is_dir():
            raise StoreError(
                f"{path} is damaged: its zarr.json {wrong}. Run it again with `repair=`; what is "
                "whole is kept.",
                [f"{path}/{seal.ROOT}"],
            ) from wrong
    for file in path.glob("*/zarr.json"):
        if not file.is_file() and not file.is_dir():  # Zarr would wait for a pipe for ever
            raise StoreError(
                f"{path} cannot be read as a store: {file} is a pipe, a device or a broken link, "
                "not a file. Remove it, then run the sweep again with `repair=`.",
                [str(file)],
            )


def said(cause: BaseException) -> str:
    """What an exception says, in a line."""
    text = " ".join(str(cause).split()) or type(cause).__name__
    return text if len(text) <= 200 else f"{text[:197]}..."
