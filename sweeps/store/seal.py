"""What is fixed of a store (attributes, metadata, labels), written twice and under a digest.

`zarr.json` of the store has the attributes and a copy of its arrays' metadata, which is where
xarray reads them. `chunk-records/zarr.json` has them again, with the bytes of every label. Each
copy has a digest of its own, so a damaged one is known, and repaired from the other. Attributes
that change while a store is used (`MUTABLE`) stand in the first copy only.
"""

import base64
import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from .names import HIDDEN
from .names import ROOT as ROOT
from .objects import Objects

#: Attributes that studies add to, as JSON texts.
MUTABLE = ("incumbents",)
#: Attributes that are about the copies: of the other copy, of this file, of the copy before.
SEAL, DIGEST, BEFORE = "seal", "digest", "extended_from"
COPY = f"{HIDDEN}/{ROOT}"
_NODE = re.compile(r"[^./\\\0][^/\\\0]*")

Document = dict[str, Any]


class Wrong(Exception):
    """A document is missing, unreadable or changed; the text says which."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """The fixed part of a store.

    Attributes
    ----------
    metadata
        `zarr.json` of every array by its path below the store.
    labels
        Bytes of every label's one chunk by array, base64; None where it is not stored.
    """

    attributes: Mapping[str, Any]
    metadata: Mapping[str, Document]
    labels: Mapping[str, str | None]

    @property
    def digest(self) -> str:
        """Of all of it."""
        return digest_of([self.attributes, self.metadata, self.labels])

    def root(self, mutable: Mapping[str, Any]) -> Document:
        """The store's `zarr.json`: what xarray opens."""
        document: Document = {
            "attributes": {**mutable, **self.attributes, SEAL: self.digest},
            "zarr_format": 3,
            "consolidated_metadata": {
                "kind": "inline",
                "must_understand": False,
                "metadata": dict(self.metadata),
            },
            "node_type": "group",
        }
        document["attributes"][DIGEST] = digest_of(document)
        return document

    def copy(self) -> Document:
        """`zarr.json` of the hidden group."""
        fixed = [self.attributes, self.metadata, self.labels]
        attributes = {"sealed": fixed, DIGEST: self.digest}
        return {"attributes": attributes, "zarr_format": 3, "node_type": "group"}


def digest_of(plain: Any) -> str:
    """Of plain data, whatever the order of keys."""
    text = json.dumps(plain, sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def take(objects: Objects, attributes: Mapping[str, Any], names: Iterable[str]) -> Sealed:
    """What a store's files hold of these arrays; `Wrong` where one is amiss."""
    arrays = {name: read_document(objects, f"{name}/zarr.json") for name in names}
    labels = {name: label(objects, name) for name in arrays if is_label(arrays[name])}
    return Sealed(attributes, arrays, labels)


def is_label(metadata: Document) -> bool:
    """Whether an array is a coordinate's: of all variants, or of none."""
    return "variant" not in (metadata.get("dimension_names") or ())


def label(objects: Objects, name: str) -> str | None:
    """A label's one chunk, base64; None where it is not stored."""
    return _base64(objects.get(f"{name}/c/0"))


def _base64(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def read_document(objects: Objects, key: str) -> Document:
    """A JSON object; `Wrong` says what is the matter."""
    try:
        content = objects.get(key)
        found = None if content is None else json.loads(content.decode())
    except (OSError, ValueError, RecursionError) as cause:
        raise Wrong(f"cannot be read ({' '.join(str(cause).split())[:120]})") from None
    if content is None:
        raise Wrong("is missing")
    if not isinstance(found, dict):
        raise Wrong("is no JSON object")
    return found


def _own_document(objects: Objects, key: str) -> Document:
    if not objects.is_plain(key):
        raise Wrong("is a link")
    return read_document(objects, key)


def read_root(objects: Objects) -> Document:
    """The store's `zarr.json`, as it was written; `Wrong` where it is not."""
    root = _own_document(objects, ROOT)
    attributes = root.get("attributes")
    if not isinstance(attributes, dict):
        raise Wrong("has no attributes")
    plain = {key: value for key, value in attributes.items() if key != DIGEST}
    try:
        whole = attributes.get(DIGEST) == digest_of(root | {"attributes": plain})
        whole = whole and isinstance(shown(root), dict)
    except (KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise Wrong("does not match its digest: something in it was changed")
    return root


def read_copy(objects: Objects) -> Sealed:
    """The second copy, as it was written; `Wrong` where it is not."""
    found = _own_document(objects, COPY)
    try:
        sealed = Sealed(*found["attributes"]["sealed"])
        whole = found == sealed.copy()
    except (KeyError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise Wrong("does not match its digest: something in it was changed")
    if odd := [name for name in sealed.metadata if not _NODE.fullmatch(name)]:
        raise Wrong(f"names arrays that no store has: {', '.join(map(repr, odd[:3]))}")
    return sealed


def shown(root: Document) -> Mapping[str, Document]:
    """A root's copy of the arrays' metadata."""
    found: Mapping[str, Document] = root["consolidated_metadata"]["metadata"]
    return found


def extended(sealed: Sealed, count: int, spec: str) -> Sealed:
    """A store's fixed part with another number of variants and another specification."""
    metadata = {}
    for name, one in sealed.metadata.items():
        first = (one.get("dimension_names") or [""])[0]
        if first == "variant":
            metadata[name] = one | {"shape": [count, *one["shape"][1:]]}
        else:
            metadata[name] = one
    attributes = {**sealed.attributes, "spec": spec, BEFORE: sealed.digest}
    return Sealed(attributes, metadata, sealed.labels)


def is_extending(root: Document, copy: Sealed) -> bool:
    """Whether a store was being made longer: the copy knows it already, the root does not."""
    return copy.attributes.get(BEFORE) == root["attributes"].get(SEAL) != copy.digest


def shorter(found: Document, expected: Document) -> Document | None:
    """An array's metadata with the length that is found; None where that is no length."""
    shape = found.get("shape")
    if not isinstance(shape, list) or not shape:
        return None
    return expected | {"shape": [shape[0], *expected["shape"][1:]]}


def fixed_of(root: Document) -> dict[str, Any]:
    """The attributes of a root that do not change."""
    ours = (*MUTABLE, SEAL, DIGEST)
    return {key: value for key, value in root["attributes"].items() if key not in ours}


def mutable_of(root: Document) -> dict[str, Any]:
    """The attributes of a root that runs and studies add to."""
    return {key: value for key, value in root["attributes"].items() if key in MUTABLE}


def of_new(
    attributes: Mapping[str, Any],
    metadata: Mapping[str, Document],
    labels: Mapping[str, bytes | None],
) -> Sealed:
    """The fixed part of a store that is made, from the bytes of its labels."""
    return Sealed(attributes, metadata, {name: _base64(one) for name, one in labels.items()})


def files(sealed: Sealed) -> dict[str, bytes]:
    """A new store's files by key, as `write` writes them and in its order."""
    found = {COPY: _text(sealed.copy())}
    found |= {f"{name}/{ROOT}": _text(one) for name, one in sealed.metadata.items()}
    for name, content in sealed.labels.items():
        if content is not None:
            found[f"{name}/c/0"] = base64.b64decode(content)
    return found | {ROOT: _text(sealed.root({}))}


def write(objects: Objects, sealed: Sealed, mutable: Mapping[str, Any]) -> None:
    """Write what is fixed of a store: the copy first, the store's own `zarr.json` last."""
    _put(objects, COPY, sealed.copy())
    for name, document in sealed.metadata.items():
        _put(objects, f"{name}/zarr.json", document)
    for name, content in sealed.labels.items():
        _put_label(objects, name, content)
    _put(objects, ROOT, sealed.root(mutable))


def _put(objects: Objects, key: str, document: Document) -> None:
    """Replace a document where it differs."""
    with contextlib.suppress(Wrong):
        if objects.is_plain(key) and read_document(objects, key) == document:
            return
    objects.restore(key, _text(document))


def _put_label(objects: Objects, name: str, content: str | None) -> None:
    key = f"{name}/c/0"
    with contextlib.suppress(OSError):
        if objects.is_plain(key) and label(objects, name) == content:
            return
    if content is None:
        objects.clear(key)
    else:
        objects.restore(key, base64.b64decode(content))


def _text(document: Document) -> bytes:
    return json.dumps(document).encode()


def set_attribute(objects: Objects, key: str, value: str) -> None:
    """Change one attribute that is not fixed, at once and keeping the copy of the metadata.

    Zarr's own way drops that copy from `zarr.json`, and readers are warned ever after.
    """
    root = read_document(objects, ROOT)
    attributes = {name: one for name, one in root["attributes"].items() if name != DIGEST}
    document = root | {"attributes": attributes | {key: value}}
    document["attributes"][DIGEST] = digest_of(document)
    objects.restore(ROOT, _text(document))
