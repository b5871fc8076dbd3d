"""JSON Schemas of our files, and the line by which a YAML file names its own to an editor.

Written by `python -m tests.keys --write` from the readers' declarations (docs/decisions/0096).
"""

import os
import re
from importlib import resources
from pathlib import Path

_LINE = "# yaml-language-server: $schema="
_NAMED = re.compile(rf"^{re.escape(_LINE)}.*\n", re.MULTILINE)
KINDS = ("mechanism", "sweep", "study", "profile")


def schema_file(kind: str) -> Path:
    """The schema of a kind of file (`KINDS`)."""
    return Path(str(resources.files("workflows") / "schemas" / f"{kind}.json"))


def with_schema(text: str, kind: str, folder: Path) -> str:
    """A file's text with the schema of its kind in its first line.

    As the path from the file's folder to the installed schema: it names nobody's home, and it
    leads there wherever a project has its environment in the same place.
    """
    schema = os.path.relpath(schema_file(kind), folder)
    return f"{_LINE}{Path(schema).as_posix()}\n{_NAMED.sub('', text)}"
