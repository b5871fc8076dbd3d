"""Sweeps that ship with the program, by name."""

from importlib import resources
from pathlib import Path

from basepar_core.errors import UsageError
from basepar_core.grammar import did_you_mean


def _examples() -> Path:
    return Path(str(resources.files("workflows") / "examples"))


def sweep_names() -> tuple[str, ...]:
    """Names of the shipped sweeps, in alphabetical order."""
    return tuple(sorted(path.stem for path in _examples().glob("*.yaml")))


def sweep_file(name_or_path: str) -> Path:
    """The file of a sweep: a path, or the name of a shipped one.

    Raises
    ------
    UsageError
        Where it is neither.
    """
    if name_or_path in sweep_names():
        return _examples() / f"{name_or_path}.yaml"
    path = Path(name_or_path)
    if path.is_file():
        return path
    hint = did_you_mean(name_or_path, sweep_names()) or f"; shipped: {', '.join(sweep_names())}"
    raise UsageError(
        f"There is no sweep file {name_or_path!r}, and no shipped sweep of this name{hint}",
        [name_or_path],
    )
