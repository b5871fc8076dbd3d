"""Which files an MJCF file makes MuJoCo read: only ordinary ones in its own folder.

MuJoCo opens whatever `include`, meshes, textures, height fields and attached models name, a
device or a file of somebody else too. So every name is looked at before MuJoCo sees it. No MJCF
file loads a library: plugins must be registered by the program, and this one registers none.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from basepar_core.errors import Mistake

from .xml_text import parse

#: Attributes of `compiler` that are put before names of files.
_FOLDERS = ("meshdir", "texturedir", "assetdir")
#: Includes in includes; MuJoCo itself allows a file once.
DEEPEST = 100


def strays(path: Path, folder: Path | None = None) -> list[Mistake]:
    """What a file names outside a folder, or that is no ordinary file; or that it is no XML.

    Parameters
    ----------
    path
        An MJCF file.
    folder
        Where it may read; its own without.
    """
    home = (folder or path.parent).resolve()
    texts, mistakes = _documents(path, home)
    if mistakes:
        return mistakes
    folders = {""} | {
        value
        for _, root in texts
        for node in root.iter("compiler")
        for key in _FOLDERS
        if (value := node.get(key))
    }
    for source, root in texts:
        for node, name in _names(root):
            for given in sorted(folders):
                mistakes += _astray(source, node, name, [path.parent / given], home)
    return list(dict.fromkeys(mistakes))


def _documents(path: Path, home: Path) -> tuple[list[tuple[Path, Any]], list[Mistake]]:
    """A file and what it includes, with their roots."""
    found: list[tuple[Path, Any]] = []
    waiting, seen = [path], {path.resolve()}
    while waiting:
        source = waiting.pop()
        root = parse(source.read_bytes())
        if isinstance(root, Mistake):
            return [], [root if source == path else Mistake(source.name, root.message)]
        found.append((source, root))
        for node in root.iter("include"):
            name = node.get("file", "")
            places = [path.parent, source.parent]
            if astray := _astray(source, node, name, places, home):
                return [], astray
            for place in places:
                inner = place / name
                if inner.is_file() and inner.resolve() not in seen:
                    seen.add(inner.resolve())
                    waiting.append(inner)
        if len(seen) > DEEPEST:
            return [], [Mistake("include", f"more than {DEEPEST} files are included")]
    return found, []


def _names(root: Any) -> Iterator[tuple[Any, str]]:
    """Elements that name files; a mesh's `file`, a cube texture's `fileup`, …"""
    for node in root.iter():
        for key, value in node.attrib.items():
            if key.startswith("file") and value:
                yield node, value
                yield node, os.path.basename(value)  # with compiler strippath


def _astray(source: Path, node: Any, name: str, places: list[Path], home: Path) -> list[Mistake]:
    """What is wrong with a name that is looked for in some folders."""
    where = f"{node.tag} {name!r}"
    line = node.sourceline
    if not name:
        return []
    for place in places:
        at = place / name
        if not at.exists():
            continue
        if not at.resolve().is_relative_to(home):
            said = f"it lies outside the folder {home}; move it there, or give `within=FOLDER`"
            return [Mistake(where, said, line)]
        if not (at.is_file() or at.is_dir()):
            return [Mistake(where, "it is no ordinary file", line)]
    return []
