"""Where a store lies: a folder that this machine sees, and nothing else yet."""

from pathlib import Path

from basepar_core.errors import StoreError, UsageError
from basepar_core.texts import is_address


def folder(place: Path | str) -> Path:
    """A store's path as it was given.

    Raises
    ------
    UsageError
        It is an address (`s3://…`, `gs://…`, `file://…`), of which a folder named `s3:` would be
        made.
    """
    if is_address(place):
        raise UsageError(
            f"{place} is an address, and stores are folders that all workers see: object stores "
            "and other schemes are not supported yet. Name a folder, such as results/sweep.zarr.",
            [str(place)],
        )
    return Path(place)


def gone(place: Path | str) -> StoreError:
    """What to raise where a store that was open is no longer there."""
    return StoreError(
        f"{place} is gone: its store was removed or moved while it was filled. Run again to fill "
        "a new one, or move it back to go on.",
        [str(place)],
    )
