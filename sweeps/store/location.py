"""Where a store lies: a folder that this machine sees, or a prefix of a bucket."""

import itertools
import re
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from basepar_core.errors import StoreError, UsageError
from basepar_core.texts import is_address, without_user

from .bucket import SCHEMES, Bucket, parsed

Location: TypeAlias = Path | Bucket
#: What objects are, by their ending.
_KINDS = {".html": "text/html", ".csv": "text/csv", ".json": "application/json"}
#: What messages name as supported.
SUPPORTED = f"{', '.join(f'{scheme}://' for scheme in SCHEMES)} and file://"


def locate(place: Location | str) -> Location:
    """Where a store lies, by a path or an address (`s3://bucket/x.zarr`, `file:///tmp/x.zarr`).

    Raises
    ------
    UsageError
        It is an address of another kind, or of nothing that a store can be.
    """
    if isinstance(place, Bucket):
        return place
    if not is_address(place):
        return Path(place)
    text = str(place)
    scheme = text.partition(":")[0]
    if scheme in SCHEMES:
        found = parsed(text)
        if isinstance(found, Bucket):
            return found
        shown = text if "@" not in text else f"{scheme}://…"
        raise UsageError(f"{shown} {found}.", [shown])
    if scheme == "file" and "::" not in text:
        return _of_file(text)
    text = without_user(text)
    raise UsageError(
        f"{text} is an address of a kind that is not supported: stores are folders that all "
        f"workers see, or lie in {SUPPORTED}. Name one, such as results/sweep.zarr.",
        [text],
    )


def bucket_of(place: Location | str) -> Bucket | None:
    """The prefix of a bucket that an address names; None: it names something else."""
    if isinstance(place, Bucket) or not is_address(place):
        return place if isinstance(place, Bucket) else None
    found = locate(place) if str(place).partition(":")[0] in SCHEMES else None
    return found if isinstance(found, Bucket) else None


def folder(place: Location | str) -> Path:
    """A store that must be a folder, as one whose lock is a file.

    Raises
    ------
    UsageError
        It is an address (`s3://…`, `gs://…`, `file://…`).
    """
    if isinstance(place, Bucket) or is_address(place):
        shown = without_user(str(place))
        raise UsageError(
            f"{shown} is an address, and here a folder that all workers see is needed. Name a "
            "folder, such as results/study.zarr.",
            [shown],
        )
    return Path(place)


def move(place: Location, to: Location) -> None:
    """Move a store that is held to another place of the same kind, where nothing is."""
    if isinstance(place, Bucket) != isinstance(to, Bucket):
        raise ValueError(f"not places of one kind: {place}, {to}")
    place.rename(to)  # type: ignore[arg-type]


def put_text(place: Location, text: str) -> None:
    """Write a file or an object whole; folders are made. OSError where it cannot be."""
    if isinstance(place, Bucket):
        place.parent.put(place.name, text.encode(), _KINDS.get(place.suffix, "text/plain"))
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def head_of(place: Bucket) -> bytes:
    """The object at a place; nothing where there is none."""
    return place.parent.get(place.name) or b""


def beside(place: Location, ending: str) -> Path:
    """A file that is named as a store is; of one in a bucket, in the current folder."""
    return Path(place.name if isinstance(place, Bucket) else place).with_suffix(ending)


def untaken(place: str) -> str:
    """A store's place with the next number behind its name, where neither store nor journal is.

    A date's day is no such number; and nobody looks into buckets for that.

    Examples
    --------
    >>> untaken("s3://designs/study-2.zarr")
    's3://designs/study-3.zarr'
    """
    found = re.fullmatch(r"(.*?)(?:(?<!\d)-(\d{1,2}))?(?:\.zarr)?/*", place, re.DOTALL)
    assert found is not None  # it fits anything
    for number in itertools.count(int(found[2] or 1) + 1):
        other = f"{found[1]}-{number}.zarr"
        taken = (Path(other), Path(other).with_suffix(".journal"))
        if is_address(place) or not any(one.exists() for one in taken):
            break
    return other


def gone(place: Location | str) -> StoreError:
    """What to raise where a store that was open is no longer there."""
    return StoreError(
        f"{place} is gone: its store was removed or moved while it was filled. Run again to fill "
        "a new one, or move it back to go on.",
        [str(place)],
    )


def _of_file(text: str) -> Path:
    found = urlsplit(text)
    path = Path(unquote(found.path))
    if found.netloc not in ("", "localhost") or not path.is_absolute() or found.query:
        raise UsageError(
            f"{text} names no file of this machine: write file:///folder/x.zarr, or its path.",
            [text],
        )
    return path
