"""Sweeps and studies that ship with the program, by name."""

import json
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import UsageError
from basepar_core.expressions import did_you_mean
from basepar_core.files import Fields, library_names, read
from basepar_core.texts import text_of


def sweep_names() -> tuple[str, ...]:
    """Names of the shipped sweeps, in alphabetical order."""
    return _names("sweeps")


def study_names() -> tuple[str, ...]:
    """Names of the shipped studies, in alphabetical order."""
    return _names("studies")


def sweep_file(name_or_path: str) -> Path:
    """The file of a sweep: a path, or the name of a shipped one.

    Raises
    ------
    UsageError
        Where it is neither.
    """
    return _file(name_or_path, "sweeps", "sweep")


def study_file(name_or_path: str) -> Path:
    """The file of a study: a path, or the name of a shipped one.

    Raises
    ------
    UsageError
        Where it is neither.
    """
    return _file(name_or_path, "studies", "study")


def as_file(keys: Mapping[str, Any]) -> str:
    """A file's text from a mapping of its keys: JSON is YAML, whose numbers are read as text."""

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray | np.generic):
            return value.tolist()
        return str(value)

    return json.dumps(keys, default=plain, ensure_ascii=False, indent=1)


def _folder(name: str) -> Path:
    return Path(str(resources.files("workflows") / "examples" / name))


def _names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _folder(folder).glob("*.yaml")))


def _file(name_or_path: str, folder: str, what: str) -> Path:
    names = _names(folder)
    if name_or_path in names:
        return _folder(folder) / f"{name_or_path}.yaml"
    path = Path(name_or_path)
    if os.path.isfile(path):
        _refuse_other(path, what)
        return path
    if os.path.isfile(path / "zarr.json"):
        raise UsageError(
            f"{name_or_path} is a store, not a {what} file: `basepar status {name_or_path}` says "
            f"what it holds. It goes on by the {what} file that made it.",
            [name_or_path],
        )
    hint = _elsewhere(name_or_path, what) or did_you_mean(name_or_path, names)
    hint = hint or f"; shipped: {', '.join(names)}"
    raise UsageError(
        f"There is no {what} file {name_or_path!r}, and no shipped {what} of this name{hint}",
        [name_or_path],
    )


def _elsewhere(name: str, what: str) -> str:
    """What else ships under this name, and the command that takes it."""
    found = [f"a sweep (`basepar sweep {name}`)"] * (name in sweep_names())
    found += [f"a study (`basepar study {name}`)"] * (name in study_names())
    found += [f"a mechanism (`basepar show {name}`)"] * (name in library_names())
    said = f"; {name} is {' and '.join(found)}" if found else ""
    if name not in library_names():
        return said
    return f"{said}. A {what} file of yours begins with `mechanism: {name}` (docs/{what}-files.md)"


def kind_of(path: Path) -> str:
    """What a YAML file is by its sections: sweep, study or mechanism; "" where none is evident."""
    try:
        node, _ = read(text_of(path))
    except OSError:
        return ""
    keys = set(node.entries) if isinstance(node, Fields) else set()
    if keys & {"bodies", "joints"}:
        return "mechanism"
    if keys & {"objectives", "trials"}:
        return "study"
    return "sweep" if keys & {"mechanism", "mechanisms"} and "space" in keys else ""


def _refuse_other(path: Path, what: str) -> None:
    """A file of another kind is one mistake, not one for each of its sections."""
    kind = kind_of(path)
    if kind in ("", what):
        return
    if kind == "mechanism":
        remedy = (
            f"`basepar show {path}` draws it. A {what} file names it in a line `mechanism: "
            f"{path.name}` (docs/{what}-files.md)."
        )
    else:
        remedy = f"Run `basepar {kind} {path}`."
    raise UsageError(
        f"{path} is a {kind} file, and a {what} file is needed. {remedy}", [str(path)]
    )
