"""Stores below one another: the group above those of a family."""

import json
import re
from pathlib import Path

from basepar_core.errors import StoreError
from basepar_core.texts import opening

from .location import folder

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def make_root(path: Path, members: list[str]) -> None:
    """The group above the members' stores, if it is not there."""
    folder(path)
    path.mkdir(parents=True, exist_ok=True)
    if not (path / "zarr.json").exists():
        import zarr

        attributes = {"title": "family of sweeps", "members": members}
        zarr.create_group(path, zarr_format=3, attributes=attributes)


def members_of(path: Path) -> tuple[str, ...]:
    """Names of the stores below a family's; empty where it is none."""
    try:
        plain = json.loads(opening.text_of(path / "zarr.json"))
        members = plain["attributes"]["members"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ()
    if not isinstance(members, list) or not all(map(is_member_name, members)):
        raise StoreError(
            f"{path} is damaged: its zarr.json names members {members!r}, and a name has letters, "
            "digits, - and _. Remove that file and run the family's sweep again, which writes it "
            "anew; what is stored is kept.",
            [f"{path}/zarr.json"],
        )
    return tuple(members)


def is_member_name(text: object) -> bool:
    """Whether a family may have a member of this name."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None
