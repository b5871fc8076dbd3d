"""Stores below one another: the group above those of a family."""

import json
import re

from basepar_core.errors import StoreError
from basepar_core.texts import opening

from . import metadata, objects
from .bucket import Bucket
from .location import Location, locate
from .names import ROOT

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def make_root(path: Location | str, members: list[str]) -> None:
    """The group above the members' stores, if it is not there."""
    path = locate(path)
    plain = metadata.group({"title": "family of sweeps", "members": members})
    document = json.dumps(plain).encode()
    if isinstance(path, Bucket):
        path.create(ROOT, document)  # if nothing is there
        return
    path.mkdir(parents=True, exist_ok=True)
    if not (path / ROOT).exists():
        objects.of(path).put(ROOT, document)


def members_of(path: Location | str) -> tuple[str, ...]:
    """Names of the stores below a family's; empty where it is none."""
    path = locate(path)
    try:
        plain = json.loads(_root_of(path))
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


def _root_of(path: Location) -> str:
    if isinstance(path, Bucket):
        return (path.get(ROOT) or b"").decode()
    return opening.text_of(path / ROOT)


def is_member_name(text: object) -> bool:
    """Whether a family may have a member of this name."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None
