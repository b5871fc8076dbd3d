"""Files that somebody names, opened only where they are files.

A pipe that nobody writes to would wait for ever, a device such as /dev/zero has no end: both are
an `OSError`, as what is missing or unreadable is.
"""

import errno
import os
import re
import stat
from pathlib import Path
from typing import IO, Any

#: `s3://bucket/x`, also as `pathlib` leaves it (`s3:/bucket/x`); a single letter is a drive.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:{1,2}[A-Za-z0-9+.-]*:?/")


def is_address(place: str | Path) -> bool:
    """Whether a place is an address (`s3://…`, `file://…`) and no path of a file or folder."""
    return _ADDRESS.match(str(place)) is not None


def without_user(text: str) -> str:
    """A text whose addresses are without a user and a password (`s3://…@bucket/x`)."""
    return re.sub(r"(:/+)[^/\s]*@", r"\1…@", text)


def opened(path: str | Path, mode: str = "r", **how: Any) -> IO[Any]:
    """Open a regular file for reading; `how` is what `open` takes.

    Raises
    ------
    OSError
        There is none of this name, or it cannot be read; `strerror` says why.
    """
    try:
        found = os.stat(path).st_mode
    except ValueError:  # a name with a NUL character, or half a surrogate pair
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from None
    if stat.S_ISDIR(found):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))
    return open(path, mode, **how)


def text_of(path: str | Path) -> str:
    """All text of a file, which must be UTF-8.

    Raises
    ------
    OSError
        As of `opened`; also where it is not UTF-8.
    """
    try:
        with opened(path, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError:
        raise OSError(errno.EILSEQ, "it is not UTF-8 text", str(path)) from None
