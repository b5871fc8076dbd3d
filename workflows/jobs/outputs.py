"""Files that commands write: what somebody else wrote, or edits, is not written over.

Drawings, pages, exported code, certificates and sweeps around a design say that basepar made them,
so a command that runs again replaces its own. Mechanism files are edited, and tables of numbers
look like measurements: neither can say whose it is.
"""

import re
from collections.abc import Iterable

from basepar_core.errors import UsageError
from basepar_core.texts import is_address
from sweeps.store import Bucket, Location, head_of

#: What files that basepar may replace have near their beginning (a PDF near its end): exported
#: code, pages, drawings (PNG, SVG, PDF), certificates, numbers of `reproduce`, what `around`
#: writes.
_OURS = re.compile(
    rb"[Ww]ritten by basepar|<meta name=\"generator\" content=\"basepar |Software\0basepar"
    rb"|<dc:title>basepar</dc:title>|\"format\": \"basepar certificate "
    rb"|\Atable,where,printed,ours,difference,verdict,reason\r?\n"
    rb"|\A(?:# yaml-language-server: [^\n]*\n)?# Around variant "
    rb"|\A%PDF-(?s:.*)/Creator \(basepar\)"
)
_HEAD = _TAIL = 4096


def check_outputs(paths: Iterable[Location], overwrite: bool = False) -> None:
    """Write no folder named `s3:`, and not over files that are not basepar's.

    Those that are missing or empty pass. Objects of buckets (`Bucket`) are judged like files.

    Pipes and devices pass too: nothing in them is lost. Who writes rejects a folder.

    Parameters
    ----------
    overwrite
        Whatever is there may go.

    Raises
    ------
    UsageError
        A file is somebody else's, or cannot be read; or it is an address.
    """
    for path in paths:
        if not isinstance(path, Bucket) and is_address(path):
            raise UsageError(
                f"{path} is an address, and what is written are files that this machine sees. "
                "Name a file or a folder.",
                [str(path)],
            )
        if not overwrite and not _replaceable(path):
            raise UsageError(
                f"{path} exists and may be yours, or have changes of yours: nothing was written. "
                "Name another file, or replace this one with `overwrite=`.",
                [str(path), "overwrite="],
            )


def _replaceable(path: Location) -> bool:
    if isinstance(path, Bucket):
        found = head_of(path)
        return not found or _OURS.search(found[:_HEAD]) is not None
    if not path.is_file():
        return True
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            if head.startswith(b"%PDF-"):  # what says who made it stands before the last table
                file.seek(max(_HEAD, path.stat().st_size - _TAIL))
                head += file.read(_TAIL)
    except OSError:
        return False
    return not head or _OURS.search(head) is not None
