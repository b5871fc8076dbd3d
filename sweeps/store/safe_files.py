"""Files of a store, replaced and removed by whoever repairs it; nothing outside is touched.

What stands in the way of a file or a folder is removed: a folder in a file's place, a file in a
folder's, and links, which may lead anywhere (the link goes, what it leads to stays).
"""

import os
import shutil
from pathlib import Path

from basepar_core.texts import naming


def is_plain(root: Path, file: Path) -> bool:
    """Whether no link leads away between a store and one of its files, itself included."""
    return not any((root / part).is_symlink() for part in _parts(root, file))


def replace(root: Path, file: Path, content: bytes) -> None:
    """Write a file at once: readers see the old one or the new one."""
    for part in _parts(root, file)[:-1]:
        folder = root / part
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
            folder.mkdir()
    if file.is_dir() and not file.is_symlink():
        shutil.rmtree(file)
    draft = file.with_name(f".{file.name}.draft")
    draft.unlink(missing_ok=True)  # a link would be followed
    with naming(file):
        draft.write_bytes(content)
    os.replace(draft, file)


def remove(root: Path, file: Path) -> None:
    """Remove whatever is in a file's place; of a link on the way there, the link."""
    for part in _parts(root, file):
        found = root / part
        if not found.is_symlink() and not found.exists():
            return
        if found.is_symlink() or not found.is_dir():  # a pipe, a socket among them
            found.unlink(missing_ok=True)
            return
    shutil.rmtree(file)


def _parts(root: Path, file: Path) -> list[Path]:
    """A file and the folders between it and the store, the outermost first, relative."""
    inner = file.relative_to(root)  # ValueError: not below it
    if ".." in inner.parts:
        raise ValueError(f"{file} is not below {root}")
    return [*reversed(inner.parents[:-1]), inner]
