"""The command that prints JSON Schemas of our files."""

import argparse
import sys

from workflows.jobs import KINDS

from .command import Command, emit


def _schema(options: argparse.Namespace) -> int:
    import json

    from workflows.jobs import schema_file

    place = schema_file(options.kind)
    text = place.read_text(encoding="utf-8")
    if options.json:
        emit({"kind": options.kind, "file": str(place), "schema": json.loads(text)})
    else:
        sys.stdout.write(text)
    return 0


COMMANDS = (
    Command(
        "schema",
        _schema,
        "the JSON Schema of a kind of file, for editors and programs that write such files",
        "basepar schema mechanism > mechanism.json",
        {
            f"kind {'|'.join(KINDS)}": "",
        },
    ),
)
