"""A store below a prefix of a bucket: where it lies, and its bytes.

Every object is put whole, by one request (no multipart upload, half of which could be left over),
so readers see the old bytes or the new ones. What only one of several may do, they do by
conditional requests: creating where nothing is yet, replacing what has not changed.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from basepar_core.errors import StoreError

from . import bucket_requests as requests
from .bucket_requests import Request, Tag
from .names import HIDDEN, LOCK, ROOT

if TYPE_CHECKING:
    from zarr.storage import ObjectStore

#: Objects asked for at once.
AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Bucket:
    """A prefix of a bucket (`url`: s3://bucket/folder/x.zarr): named as paths are, and its bytes.

    Every verb raises `Unreachable` where the bucket does not answer, or does not let us.
    """

    url: str

    # Where it lies

    @property
    def name(self) -> str:
        """The last word of it."""
        return posixpath.basename(self.url)

    @property
    def parent(self) -> "Bucket":
        """What it lies in."""
        return Bucket(posixpath.dirname(self.url))

    @property
    def stem(self) -> str:
        """Its name without the ending."""
        return posixpath.splitext(self.name)[0]

    @property
    def suffix(self) -> str:
        """The ending of its name."""
        return posixpath.splitext(self.name)[1]

    def with_name(self, name: str) -> "Bucket":
        """What lies beside it under a name."""
        return self.parent / name

    def with_suffix(self, ending: str) -> "Bucket":
        """What lies beside it under its name with another ending."""
        return self.with_name(f"{self.stem}{ending}")

    @property
    def place(self) -> str:
        """What people call it."""
        return self.url

    def absolute(self) -> "Bucket":
        """Itself: addresses are absolute."""
        return self

    def expanduser(self) -> "Bucket":
        """Itself: nobody's home is in a bucket."""
        return self

    def __truediv__(self, name: str) -> "Bucket":
        return Bucket(f"{self.url}/{name}") if name else self

    def __str__(self) -> str:
        return self.url

    def exists(self) -> bool:
        """Whether a store, or a family of stores, is there.

        One that was being made when its maker died is none: its `zarr.json` is put last. One
        that has lost it is there still, by its records.
        """
        # HEAD is never asked: its answers have no room for what is the matter.
        root, records = self._ask(Request("get", ROOT), Request("any", f"{HIDDEN}/chunks/"))
        return root is not None or bool(records)

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all lies there but what a store's maker left, killed at it."""
        anything, copy, locked = self._ask(
            Request("names", ""), Request("get", f"{HIDDEN}/{ROOT}"), Request("names", HIDDEN)
        )
        return copy is not None or (set(anything) <= {HIDDEN} and set(locked) <= {LOCK})

    def refuse_foreign(self) -> None:
        """StoreError where something lies there, and no store."""
        if not self.is_empty and not self.exists():
            raise StoreError(
                f"{self} is no store, and something lies there. Name another store.", [self.url]
            )

    # Its bytes (`objects.Objects`)

    def get(self, key: str) -> bytes | None:
        return self._ask(Request("get", key))[0]

    def get_all(self, keys: Sequence[str]) -> Iterator[bytes | None]:
        """What lies at each of the keys, in their order; many are asked for at once."""
        return self._ask_all("get", keys)

    def put(self, key: str, content: bytes, kind: str = "") -> None:
        """Put; `kind` is the type that whoever gets it is told, such as text/html."""
        self._ask(Request("put", key, content, kind=kind))

    def put_all(self, contents: Mapping[str, bytes | None]) -> None:
        """Put all of them, or remove (None); the last one when the others are there."""
        *first, last = (
            Request("remove", key) if content is None else Request("put", key, content)
            for key, content in contents.items()
        )
        if first:
            self._ask(*first)
        self._ask(last)

    def create(self, key: str, content: bytes) -> bool:
        return self.try_put(key, content, None) is not None

    def remove(self, key: str) -> None:
        self._ask(Request("remove", key))

    def names(self, folder: str) -> Iterator[str]:
        return iter(self._ask(Request("names", folder))[0])

    def names_all(self, folders: Sequence[str]) -> Iterator[Iterable[str]]:
        return self._ask_all("names", folders)

    def have(self, keys: Sequence[str]) -> Iterator[bool]:
        return self._ask_all("have", keys)

    def chunks(self, array: str, dimensions: int) -> set[int]:
        rest = "/0" * (dimensions - 1)
        return self._ask(Request("numbers", f"{array}/c".lstrip("/"), rest.encode()))[0]

    def is_plain(self, key: str) -> bool:
        """Buckets have no links."""
        return True

    restore, clear = put, remove

    def rename(self, to: "Bucket") -> None:
        """Move all that lies there, of a store that is small and held.

        Records are put last and removed first: what is half there is no store for `exists`.

        Buckets know no renaming: whoever is killed at it leaves the whole store at one of the
        two places at least.
        """
        keys = sorted(self._ask(Request("keys", ""))[0])
        keys = [key for key in keys if key not in (ROOT, f"{HIDDEN}/{LOCK}")]
        keys.sort(key=lambda key: key.startswith(f"{HIDDEN}/chunks/"))
        for key, content in zip(keys, self.get_all(keys), strict=True):
            if content is not None:
                to.put(key, content)
        root = self.get(ROOT)
        if root is not None:
            to.put(ROOT, root)
        # Without its records it is an empty store still, and no damaged one.
        for key in reversed(keys):
            self.remove(key)
        self.remove(ROOT)

    # What locks need

    def get_tagged(self, key: str) -> tuple[bytes, Tag, float] | None:
        """What lies there, what tells it from all else, and when it was put (s since 1970)."""
        return self._ask(Request("get_tagged", key))[0]

    def try_put(self, key: str, content: bytes, before: Tag | None) -> Tag | None:
        """Put where nothing is yet (None), or where still lies what was; None: not done."""
        return self._ask(Request("try_put", key, content, before, os.urandom(8).hex()))[0]

    def put_folder(self, contents: Iterable[tuple[str, bytes]]) -> None:
        """Put many, in any order."""
        self._ask(*(Request("put", key, content) for key, content in contents))

    def zarr(self, read_only: bool) -> "ObjectStore[Any]":
        """As Zarr reads and writes it."""
        from zarr.storage import ObjectStore

        return ObjectStore(requests.opened(self.url), read_only=read_only)

    def _ask_all(self, verb: str, keys: Sequence[str]) -> Iterator[Any]:
        for start in range(0, len(keys), AT_ONCE):
            yield from self._ask(*(Request(verb, key) for key in keys[start : start + AT_ONCE]))

    def _ask(self, *asked: Request) -> list[Any]:
        return requests.answers(self.url, asked)


#: Schemes whose stores are buckets, and what their prefixes are called by.
SCHEMES = ("s3", "gs", "az")
_URL = re.compile(rf"({'|'.join(SCHEMES)}):/+([^/]+)/+(.+?)/*", re.DOTALL)
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_WORD = re.compile(r"[A-Za-z0-9_.=+,:()!@-]+")


def parsed(url: str) -> Bucket | str:
    """The prefix of an address; a text says what is wrong with it.

    `pathlib` makes s3:/bucket/x of s3://bucket/x: that is read too.
    """
    if "@" in url.partition("/")[2].lstrip("/").partition("/")[0]:  # and is not repeated
        return "has a user or a password in it: credentials are taken from the environment only"
    match = _URL.fullmatch(url)
    if match is None:
        return "names no store in a bucket: write, for example, s3://bucket/folder/x.zarr"
    scheme, name, key = match.groups()
    words = key.split("/")
    plain = all(_WORD.fullmatch(word) and word not in (".", "..") for word in words)
    if not _BUCKET.fullmatch(name) or not plain:
        return (
            "has characters that not every bucket takes: use letters, digits and any of "
            "- _ . = + , : ( ) ! @, and no empty word, . or .. between slashes"
        )
    return Bucket(f"{scheme}://{name}/{key}")
