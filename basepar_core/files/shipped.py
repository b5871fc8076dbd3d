"""The mechanisms that ship with the program, by name; nothing is read or computed here."""

import re
from importlib import resources
from pathlib import Path

from basepar_core.errors import FileError, Mistake
from basepar_core.texts import text_of


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


#: How files of ours end.
ENDINGS = (".yaml", ".yml")
#: So many files beside a missing one are looked into, and listed.
_MANY = 200


def not_found(name: str, folder: Path | None = None) -> FileError:
    """The error for a name that is neither a file nor shipped.

    `folder` is that of the file which names it; None: the current one.
    """
    from basepar_core.expressions import did_you_mean

    if name.endswith(ENDINGS):
        place = (folder or Path()) / Path(name).parent
        beside = "there" if folder is None else "beside this one"
        if said := _others(Path(name), mechanism_files(place), beside):
            return FileError(name, [Mistake("", said)])
    own = [one for one in (f"{name}.yaml", f"{name}.yml") if Path(one).is_file()]
    hint = did_you_mean(name, own or library_names())  # first: the list is long
    listed = ", ".join(library_names())
    said = f"no such file{hint} The" if hint else "no such file, and the"
    return FileError(name, [Mistake("", f"{said} library has {listed}")])


def _others(name: Path, files: dict[str, str], beside: str) -> str:
    """What is told of a file that is missing where others are; "" where there are none."""
    from basepar_core.expressions import did_you_mean

    if not files:
        return ""
    hint = did_you_mean(name.name, files)
    if called := [file for file, inner in files.items() if inner == name.stem]:
        hint = f"; {called[0]} is named {name.stem}"
    elif name.stem in library_names():
        hint = f"; the library has {name.stem}, which is written without {name.suffix}"
    return f"no such file; mechanism files {beside}: {', '.join(files)}{hint}"


def mechanism_files(folder: Path) -> dict[str, str]:
    """Mechanism files of a folder, by their text alone: which `name` each has, or ""."""
    found = {}
    try:
        paths = sorted(one for one in folder.iterdir() if one.suffix in ENDINGS)
    except (OSError, ValueError):  # no folder, or none can be called so
        return {}
    for path in paths[:_MANY]:
        try:
            text = text_of(path)
        except OSError:
            continue
        if re.search(r"^joints\s*:", text, re.MULTILINE):
            named = re.search(r"^name\s*:\s*([^#\n]*)", text, re.MULTILINE)
            found[path.name] = named[1].strip().strip("'\"") if named else ""
    return found
