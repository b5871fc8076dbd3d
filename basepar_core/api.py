"""A mechanism from any file that can be read: ours, URDF, SDF or MJCF.

mechanism = load("four-bar")          # shipped
mechanism = load("my/linkage.yaml")   # yours
"""

import os
import warnings
from collections.abc import Mapping
from pathlib import Path

from basepar_core.files import library_names, mechanism_file, read_values, with_values

from .errors import BaseparWarning, UsageError
from .mechanism import Mechanism

#: Endings of files of other formats, which are imported.
OTHER_FORMATS = (".urdf", ".xml", ".mjcf", ".xacro", ".sdf")


def load(source: str | Path, xacro: bool | Mapping[str, str] = False) -> Mechanism:
    """Read a mechanism.

    Parameters
    ----------
    source
        A file, or the name of a shipped mechanism; a plain word is looked for there first. A
        file that ends in .urdf, .sdf, .xml or .mjcf is imported.
    xacro
        Whether xacro is run on a file of another format first, or its arguments by name.

    Raises
    ------
    FileError
        With all mistakes of the file.
    UsageError
        `xacro` for a mechanism file, or arguments that xacro cannot take.
    MissingDataError
        The extra that reads it is not installed.

    Warns
    -----
    UserWarning
        A bare angle above a full turn, most likely meant in degrees; what an import left out.
    """
    path = Path(source)
    shipped = str(source) in library_names()
    if xacro not in (False, None) and (shipped or path.suffix not in OTHER_FORMATS):
        raise UsageError(
            f"{source} is a mechanism file, and xacro is for files of other formats "
            f"({', '.join(OTHER_FORMATS)}); leave xacro out"
        )
    if shipped or path.suffix not in OTHER_FORMATS or not os.path.isfile(path):
        return mechanism_file.load(source)
    from basepar_core.imported import read_file

    if xacro is False:
        found = read_file(path)
    else:
        found = read_file(path, xacro={} if xacro is True else xacro)
    if found.failure is not None:
        raise found.failure
    if found.left_out:
        warnings.warn(f"{path}: {found.left_out}", BaseparWarning, stacklevel=2)
    return found.mechanism


def changed(mechanism: Mechanism, texts: Mapping[str, str]) -> Mechanism:
    """The mechanism with other values of symbols and constants, as files write them.

    Raises
    ------
    UsageError
        Names that there are not, or texts that are no numbers of their dimension.
    """
    return with_values(mechanism, read_values(mechanism, texts))
