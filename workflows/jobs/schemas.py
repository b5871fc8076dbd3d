"""JSON Schemas of our files, and the line by which a YAML file names its own to an editor.

Written by `python -m tests.keys --write` from the readers' declarations (docs/decisions/0096).
"""

import re
from importlib import resources
from pathlib import Path

_LINE = "# yaml-language-server: $schema="
_NAMED = re.compile(rf"^{re.escape(_LINE)}.*\n", re.MULTILINE)
KINDS = ("mechanism", "sweep", "study", "profile")


def schema_file(kind: str) -> Path:
    """The schema of a kind of file (`KINDS`)."""
    return Path(str(resources.files("workflows") / "schemas" / f"{kind}.json"))


def with_schema(text: str, kind: str) -> str:
    """A file's text with the schema of its kind in its first line.

    As a file: address of the installed schema: wherever the file is written, editors of this
    machine find it.
    """
    return f"{_LINE}{schema_file(kind).as_uri()}\n{_NAMED.sub('', text)}"
