"""What is fixed of a store (attributes, metadata, labels), written twice and under a digest.

`zarr.json` of the store has the attributes and a copy of its arrays' metadata, which is where
xarray reads them. `chunk-records/zarr.json` has them again, with the records' metadata and the
bytes of every label. Each copy has a digest of its own, so a damaged one is known, and repaired
from the other. A few attributes change while a store is filled (`MUTABLE`): they stand in the
first copy only.
"""

import base64
import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from basepar_core.texts import opened, text_of

from . import safe_files
from .records import GROUP, name_of

#: Attributes that runs and studies add to, as JSON texts.
MUTABLE = ("runs", "errors", "incumbents")
#: Attributes that are about the copies: of the other copy, of this file, of the copy before.
SEAL, DIGEST, BEFORE = "seal", "digest", "extended_from"
ROOT, COPY = "zarr.json", f"{GROUP}/zarr.json"
_NODE = re.compile(rf"(?:{GROUP}/)?[^./\\\0][^/\\\0]*|{GROUP}")

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

    @property
    def shown(self) -> dict[str, Document]:
        """Metadata of the arrays that xarray shows: not the records'."""
        return {name: one for name, one in self.metadata.items() if "/" not in name}

    def root(self, mutable: Mapping[str, Any]) -> Document:
        """The store's `zarr.json`: what xarray opens, the records left out."""
        document: Document = {
            "attributes": {**mutable, **self.attributes, SEAL: self.digest},
            "zarr_format": 3,
            "consolidated_metadata": {
                "kind": "inline",
                "must_understand": False,
                "metadata": self.shown,
            },
            "node_type": "group",
        }
        document["attributes"][DIGEST] = digest_of(document)
        return document

    def copy(self) -> Document:
        """`zarr.json` of the records' group."""
        fixed = [self.attributes, self.metadata, self.labels]
        attributes = {"sealed": fixed, DIGEST: self.digest}
        return {"attributes": attributes, "zarr_format": 3, "node_type": "group"}


def digest_of(plain: Any) -> str:
    """Of plain data, whatever the order of keys."""
    text = json.dumps(plain, sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def take(path: Path, attributes: Mapping[str, Any], names: Iterable[str]) -> Sealed:
    """What a store's files hold of these arrays and of the records; `Wrong` where one is amiss."""
    both = [one for one in map(name_of, ("", "precise_")) if (path / one).is_dir()]
    arrays = {name: read_document(path / name / "zarr.json") for name in [*names, *both]}
    labels = {name: label(path / name / "c/0") for name in arrays if is_label(arrays[name])}
    return Sealed(attributes, arrays, labels)


def is_label(metadata: Document) -> bool:
    """Whether an array is a coordinate's: of all variants, or of none."""
    names = metadata.get("dimension_names") or ()
    return not {"variant", "chunk", "precise_chunk"} & set(names)


def label(file: Path) -> str | None:
    """A label's one chunk, base64; None where it is not stored."""
    try:
        with opened(file, "rb") as content:
            return base64.b64encode(content.read()).decode()
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_document(file: Path) -> Document:
    """A JSON object of a file; `Wrong` says what is the matter."""
    try:
        found = json.loads(text_of(file))
    except FileNotFoundError:
        raise Wrong("is missing") from None
    except (OSError, ValueError, RecursionError) as cause:
        raise Wrong(f"cannot be read ({' '.join(str(cause).split())[:120]})") from None
    if not isinstance(found, dict):
        raise Wrong("is no JSON object")
    return found


def _own_document(path: Path, name: str) -> Document:
    if not safe_files.is_plain(path, path / name):
        raise Wrong("is a link")
    return read_document(path / name)


def read_root(path: Path) -> Document:
    """The store's `zarr.json`, as it was written; `Wrong` where it is not."""
    root = _own_document(path, ROOT)
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


def read_copy(path: Path) -> Sealed:
    """The second copy, as it was written; `Wrong` where it is not."""
    found = _own_document(path, COPY)
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
        elif first.endswith("chunk"):
            status = sealed.metadata[one["attributes"]["fields"][-1]]
            size = status["chunk_grid"]["configuration"]["chunk_shape"][0]
            metadata[name] = one | {"shape": [-(-count // size), *one["shape"][1:]]}
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


def write(path: Path, sealed: Sealed, mutable: Mapping[str, Any]) -> None:
    """Write what is fixed of a store: the copy first, the store's own `zarr.json` last."""
    _put(path, COPY, sealed.copy())
    for name, document in sealed.metadata.items():
        _put(path, f"{name}/zarr.json", document)
    for name, content in sealed.labels.items():
        _put_label(path, f"{name}/c/0", content)
    _put(path, ROOT, sealed.root(mutable))


def _put(path: Path, name: str, document: Document) -> None:
    """Replace a document where it differs."""
    with contextlib.suppress(Wrong):
        if safe_files.is_plain(path, path / name) and read_document(path / name) == document:
            return
    safe_files.replace(path, path / name, _text(document))


def _put_label(path: Path, name: str, content: str | None) -> None:
    with contextlib.suppress(OSError):
        if safe_files.is_plain(path, path / name) and label(path / name) == content:
            return
    if content is None:
        safe_files.remove(path, path / name)
    else:
        safe_files.replace(path, path / name, base64.b64decode(content))


def _text(document: Document) -> bytes:
    return json.dumps(document, indent=2).encode()


def set_attribute(path: Path, key: str, value: str) -> None:
    """Change one attribute that is not fixed, at once and keeping the copy of the metadata.

    Zarr's own way drops that copy from `zarr.json`, and readers are warned ever after.
    """
    root = read_document(path / ROOT)
    attributes = {name: one for name, one in root["attributes"].items() if name != DIGEST}
    document = root | {"attributes": attributes | {key: value}}
    document["attributes"][DIGEST] = digest_of(document)
    safe_files.replace(path, path / ROOT, _text(document))
