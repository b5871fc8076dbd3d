"""What can be wrong with a store, found and named; and mended, chunk by chunk.

Metadata are held against the copy that the store's own `zarr.json` keeps of them, quickly and
before every run. Chunks are read, all of them, when somebody asks: one that is torn, or gone
although its status says that it was written, is made pending again, and the next run of the
sweep does it.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from basepar_core.errors import StoreError

from . import store

#: What of an array's metadata must agree with the store's copy.
FIXED = ("shape", "data_type", "chunk_grid", "chunk_key_encoding", "fill_value", "codecs")
REMEDY = "Run the sweep again with --repair; what is whole is kept."


@dataclass(frozen=True, slots=True)
class Damage:
    """One array of a store, or variants start … stop − 1 of it."""

    array: str
    what: str
    start: int | None = None
    stop: int | None = None

    def __str__(self) -> str:
        where = "" if self.start is None else f", variants {self.start} to {self.stop}"
        return f"{self.array}{where}: {self.what}"


def check_metadata(path: Path) -> None:
    """Make sure that the arrays' metadata are what they were made.

    Raises
    ------
    StoreError
        Naming every array whose metadata are missing, unreadable or changed.
    """
    found = list(_metadata_damage(path))
    if found:
        listed = "".join(f"\n  {damage}" for damage in found[:10])
        raise StoreError(
            f"{path} is damaged:{listed}\n{REMEDY}", [f"{path}/{damage.array}" for damage in found]
        )


def find(path: Path) -> list[Damage]:
    """Everything that is wrong with a store; reads all of it.

    Raises
    ------
    StoreError
        If it is no store at all.
    """
    found = list(_metadata_damage(path))
    broken = {damage.array for damage in found}
    group = store.open_group(path)
    swept = _swept(group)
    for name in sorted(_consolidated(path)):
        if name in broken:
            continue
        array = store.array_of(group, name, path)
        if array.ndim and array.metadata.dimension_names[0] == "variant":  # type: ignore[union-attr,index]
            found += _torn(array, name)
            if name in swept and "status" not in broken:
                found += _gone(path, array, name, group)
    return found


def repair(path: Path, found: list[Damage]) -> None:
    """Restore metadata from the store's copy; make damaged chunks pending.

    A chunk's status goes first: whatever happens then, the chunk is pending.
    """
    known = _consolidated(path)
    for damage in found:
        if damage.start is None:
            folder = path / damage.array
            folder.mkdir(exist_ok=True)
            (folder / "zarr.json").write_text(json.dumps(known[damage.array], indent=2))
    group = store.open_group(path, "r+")
    for damage in found:
        if damage.start is None or damage.stop is None:
            continue
        prefix = "precise_" if damage.array.startswith("precise_") else ""
        for name in (f"{prefix}status", damage.array):
            array = store.array_of(group, name, path)
            first, last = (edge // array.chunks[0] for edge in (damage.start, damage.stop - 1))
            for number in range(first, last + 1):
                rest = "/0" * (array.ndim - 1)  # only `variant` is cut into chunks
                (path / name / f"c/{number}{rest}").unlink(missing_ok=True)


def _metadata_damage(path: Path) -> Iterator[Damage]:
    for name, expected in _consolidated(path).items():
        file = path / name / "zarr.json"
        try:
            plain = json.loads(file.read_text())
        except FileNotFoundError:
            yield Damage(name, "its metadata (zarr.json) are missing")
        except (OSError, ValueError) as cause:
            yield Damage(name, f"its metadata (zarr.json) are unreadable: {cause}")
        else:
            changed = [key for key in FIXED if plain.get(key) != expected.get(key)]
            for key in changed:
                have, want = (json.dumps(x.get(key)) for x in (plain, expected))
                yield Damage(name, f"its {key} is {have}, not {want}")


def _consolidated(path: Path) -> Mapping[str, Any]:
    """Metadata of every array as the store was made."""
    try:
        plain = json.loads((path / "zarr.json").read_text())
        if "spec_hash" not in plain.get("attributes", {}):
            raise StoreError(
                f"{path} is not the store of a sweep. Name another store.", [str(path)]
            )
        return plain["consolidated_metadata"]["metadata"]
    except FileNotFoundError as cause:
        store.refuse_nothing(path, cause)
        gone = (path / "status").is_dir()
        said = "is damaged: its zarr.json is missing" if gone else "is not the store of a sweep"
        raise StoreError(f"{path} {said}. Name another store.", [str(path)]) from cause
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise StoreError(
            f"{path} is damaged, or no sweep made it: its zarr.json cannot be read ({cause!r}). "
            "Name another store, or remove this one.",
            [str(path)],
        ) from cause


def _swept(group: zarr.Group) -> tuple[str, ...]:
    """Symbols whose arrays have a number for every variant that is done."""
    names: Any = group.attrs.get("swept", [])
    return tuple(name for name in names if name in group)


def _torn(array: zarr.Array, name: str) -> Iterator[Damage]:
    for start in range(0, array.shape[0], array.chunks[0]):
        stop = min(start + array.chunks[0], array.shape[0])
        try:
            array[start:stop]
        except Exception as cause:
            said = " ".join(str(cause).split()) or type(cause).__name__
            yield Damage(name, f"cannot be read ({said[:120]})", start, stop)


def _gone(path: Path, array: zarr.Array, name: str, group: zarr.Group) -> Iterator[Damage]:
    """Chunks whose file is gone although their status was written after it."""
    rest = "/0" * (array.ndim - 1)
    statuses = store.array_of(group, "status", path)
    for number in range(-(-array.shape[0] // array.chunks[0])):
        start = number * array.chunks[0]
        stop = min(start + array.chunks[0], array.shape[0])
        if (path / name / f"c/{number}{rest}").exists():
            continue
        try:
            written = np.asarray(statuses[start:stop]).any()
        except Exception:
            continue  # the status itself is torn, and said to be
        if written:
            yield Damage(name, "its chunk is missing", start, stop)
