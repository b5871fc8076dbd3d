"""Other people's packages under the names of ours (docs/decisions/0095)."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

#: The packages that are installed beside this one. Each names basepar in its `__init__.py`.
BESIDE = ("basepar_core", "sweeps", "workflows", "cluster")
_HOME = Path(__file__).parents[1]
_APART = "install basepar in an environment of its own, as pipx and `uv tool` do"


@cache
def check_names() -> None:
    """Look whether Python finds our packages under their names; nothing of them is loaded.

    Raises
    ------
    ImportError
        It finds another package, or another was installed over ours.
    """
    for name in BESIDE:
        ours, found = _HOME / name / "__init__.py", _found(name)
        if not ours.is_file():
            said = f"{ours} is missing. Install basepar again."
        elif found is None or not ours.samefile(found):
            said = (
                f"Python finds {found or 'a module without a file'} in the place of {ours}. "
                f"Rename it if it is yours; if it is installed, {_APART}."
            )
        elif b"basepar" not in ours.read_bytes():
            other = _other(name)
            said = (
                f"{other} was installed over it: {ours} is not ours any more. Uninstall {other} "
                f"and install basepar again; where both are needed, {_APART}."
            )
        else:
            continue
        raise ImportError(f"basepar needs its own package {name!r}: {said}", name=name)


def _found(name: str) -> Path | None:
    """The file that `import` would run."""
    try:
        spec = find_spec(name)
    except ValueError:  # a module that was made by hand
        return None
    return Path(spec.origin) if spec and spec.has_location and spec.origin else None


def _other(name: str) -> str:
    """The distribution that shares a name with ours."""
    from importlib.metadata import (
        packages_distributions,
    )  # half of what the library's import takes

    others = sorted({*packages_distributions().get(name, ())} - {"basepar"})
    return repr(others[0]) if others else "another package"
