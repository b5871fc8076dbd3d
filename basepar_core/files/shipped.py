"""The mechanisms that ship with the program, by name; nothing is read or computed here."""

from importlib import resources
from pathlib import Path

from basepar_core.errors import FileError, Mistake


def library_names() -> tuple[str, ...]:
    """Names of the shipped mechanisms, in alphabetical order."""
    return tuple(sorted(path.stem for path in _library().glob("*.yaml")))


def library_path(name: str) -> Path:
    """File of a shipped mechanism.

    Raises
    ------
    FileError
        Where there is none of this name.
    """
    if name not in library_names():
        raise not_found(name)
    return _library() / f"{name}.yaml"


def _library() -> Path:
    return Path(str(resources.files("basepar_core"))) / "library"


def not_found(name: str) -> FileError:
    """The error for a name that is neither a file nor shipped."""
    from basepar_core.expressions import did_you_mean

    own = [one for one in (f"{name}.yaml", f"{name}.yml") if Path(one).is_file()]
    hint = did_you_mean(name, own or library_names())
    listed = ", ".join(library_names())
    return FileError(name, [Mistake("", f"no such file, and the library has {listed}{hint}")])
