"""A user's own functions and classes by their entry, `file.py:name` or `package.module:name`.

Importing a file runs it, so a file is found and its digest taken as text first (`find`); running
it is a step of its own. A sweep or study file that somebody runs is his program, and what it
names is run with it. What a store names is not: it is fetched only where the digest is the one the
store was made with and the user says that he trusts it.
"""

import hashlib
import importlib
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from basepar_core.errors import BaseparError
from basepar_core.texts import opened


class OwnCodeError(BaseparError):
    """A user's function or class is unavailable."""

    kind = "own"


@dataclass(frozen=True, slots=True)
class Found:
    """Where an entry leads; nothing of it has run.

    Attributes
    ----------
    entry
        As a store keeps it: a file's path is absolute.
    module, title
        Name of the module ("" for a file) and of what is wanted of it.
    path, source
        Its file and that file's bytes; None and the entry where a module has none.
    """

    entry: str
    module: str
    title: str
    path: Path | None
    source: bytes

    @property
    def digest(self) -> str:
        """sha256 of the file."""
        return hashlib.sha256(self.source).hexdigest()

    def run(self) -> Any:
        """Import the module, and what is wanted of it."""
        if self.module:
            module = importlib.import_module(self.module)
        else:
            assert self.path is not None
            module = _of_file(self.path, self.source)
        found = getattr(module, self.title, None)
        if not callable(found):
            where = self.entry.rpartition(":")[0]
            raise OwnCodeError(f"{where} has no function or class {self.title!r}.", [self.entry])
        if not self.module or not _everywhere(module):
            cloudpickle.register_pickle_by_value(module)
        return found


def stated(plain: Mapping[str, Any], *keys: str) -> list[str]:
    """Texts of what a store describes; TypeError where one is something else."""
    found = [plain[key] for key in keys]
    for key, value in zip(keys, found, strict=True):
        if not isinstance(value, str):
            raise TypeError(f"{key} of an own function is {value!r}, not a text")
    return found


def find(entry: str, folder: Path | str = ".") -> Found:
    """Find an entry without importing anything.

    Raises
    ------
    OwnCodeError
        It is no entry, or there is no such file or module.
    """
    where, _, title = entry.rpartition(":")
    if not where or not title.isidentifier():
        message = f"{entry!r} names no function; it reads like 'wear.py:wear' or 'package:wear'."
        raise OwnCodeError(message, [entry])
    try:
        if where.endswith(".py"):
            path = (Path(folder) / where).absolute()
            with opened(path, "rb") as file:
                return Found(f"{path}:{title}", "", title, path, file.read())
        origin = _file_of_module(where)
        source = origin.read_bytes() if origin else entry.encode()
        return Found(entry, where, title, origin, source)
    except (OSError, ImportError, ValueError) as cause:
        message = f"{where} cannot be read: {type(cause).__name__}: {cause}."
        raise OwnCodeError(message, [entry]) from cause


def loaded(entry: str, folder: Path | str = ".") -> tuple[Found, Any]:
    """What a file that the user runs names: found, and imported.

    Raises
    ------
    OwnCodeError
        It is unavailable, or importing it failed.
    """
    found = find(entry, folder)
    return found, _run(found)


def fetched(what: str, entry: str, digest: str, trust: bool) -> Any:
    """What a store names, imported where `checked` lets it."""
    return _run(checked(what, entry, digest, trust))


def checked(what: str, entry: str, digest: str, trust: bool) -> Found:
    """What a store names, if it is what it was and the user trusts it.

    Parameters
    ----------
    what
        In words, for messages: `metric wear`.
    entry, digest
        As the store has them.
    trust
        Whether the user has said so.

    Raises
    ------
    OwnCodeError
        The file is another one now, is gone, or was not said to be trusted; nothing has run.
    """
    found = find(entry)
    here = found.path or entry
    said = (
        f"The {what} is a program, {entry}, which a store names (sha256 of {here}: "
        f"{found.digest}; when the store was made: {digest})"
    )
    if found.digest != digest:
        raise OwnCodeError(
            f"{said}. It is not the same any more, and was not run. Bring back the file as it "
            "was, or run a sweep or study file of your own.",
            [entry],
        )
    if not trust:
        raise OwnCodeError(
            f"{said}. What a store names is not run unasked. Read it; if you trust it and what "
            "it imports, run again with `trust_metrics=`.",
            [entry],
        )
    return found


def digest_of(function: Callable[..., Any]) -> str:
    """sha256 of the file that a function object is from.

    Of one of the program itself (a script, a notebook) it is that of the function's own text:
    nobody can import it again, and a script may change around it.
    """
    import inspect

    title = getattr(function, "__module__", None) or ""
    file = getattr(sys.modules.get(title), "__file__", None)
    if title != "__main__" and file and Path(file).is_file():
        return hashlib.sha256(Path(file).read_bytes()).hexdigest()
    try:
        source = inspect.getsource(function).encode()
    except (OSError, TypeError):  # typed at a prompt, or compiled
        code = getattr(function, "__code__", None)
        source = code.co_code + repr(code.co_consts).encode() if code else repr(function).encode()
    return hashlib.sha256(source).hexdigest()


def _run(found: Found) -> Any:
    try:
        return found.run()
    except OwnCodeError:
        raise
    except Exception as cause:
        where = found.entry.rpartition(":")[0]
        raise OwnCodeError(
            f"{where} cannot be imported: {type(cause).__name__}: {cause}.", [found.entry]
        ) from cause


def _file_of_module(name: str) -> Path | None:
    """A module's file; not even its packages are imported."""
    first, *rest = name.split(".")
    spec = importlib.util.find_spec(first)
    for place in range(len(rest)):
        if spec is None:
            break
        inner = ".".join([first, *rest[: place + 1]])
        locations = spec.submodule_search_locations or []
        spec = importlib.machinery.PathFinder.find_spec(inner, locations)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}")
    return Path(spec.origin) if spec.has_location and spec.origin else None


def _of_file(path: Path, source: bytes) -> ModuleType:
    """A file as a module, from the very bytes whose digest was taken.

    Python's own import would take a compiled file beside it for the same, without looking.
    """
    title = f"basepar_own_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    module = ModuleType(title)
    module.__file__ = str(path)
    sys.modules[title] = module  # where pickling and inspection look for it
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def _everywhere(module: ModuleType) -> bool:
    """Whether workers can import it too: Python's own, or installed."""
    own = module.__name__.partition(".")[0] in sys.stdlib_module_names
    return own or "site-packages" in (module.__file__ or "")
