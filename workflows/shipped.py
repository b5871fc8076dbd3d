"""Sweeps and studies that ship with the program, by name."""

from importlib import resources
from pathlib import Path

from basepar_core.errors import UsageError
from basepar_core.grammar import did_you_mean


def sweep_names() -> tuple[str, ...]:
    """Names of the shipped sweeps, in alphabetical order."""
    return _names("examples")


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
    return _file(name_or_path, "examples", "sweep")


def study_file(name_or_path: str) -> Path:
    """The file of a study: a path, or the name of a shipped one.

    Raises
    ------
    UsageError
        Where it is neither.
    """
    return _file(name_or_path, "studies", "study")


def _folder(name: str) -> Path:
    return Path(str(resources.files("workflows") / name))


def _names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _folder(folder).glob("*.yaml")))


def _file(name_or_path: str, folder: str, what: str) -> Path:
    names = _names(folder)
    if name_or_path in names:
        return _folder(folder) / f"{name_or_path}.yaml"
    path = Path(name_or_path)
    if path.is_file():
        return path
    hint = did_you_mean(name_or_path, names) or f"; shipped: {', '.join(names)}"
    raise UsageError(
        f"There is no {what} file {name_or_path!r}, and no shipped {what} of this name{hint}",
        [name_or_path],
    )
