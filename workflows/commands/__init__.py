"""The commands: each module adds its own to the grammar with `register`.

A command is a function of the parsed options that returns the exit status. It makes one
document of plain facts, which `emit` prints under --json and `terminal` shows otherwise.
"""

import argparse
import json
import sys
from collections.abc import Callable
from typing import Any, Protocol

Command = Callable[[argparse.Namespace], int]


class Add(Protocol):
    """Makes a subcommand with --json, --help and an example."""

    def __call__(
        self, name: str, command: Command, summary: str, example: str
    ) -> argparse.ArgumentParser: ...


def emit(document: Any) -> None:
    """Print a document as JSON, and nothing else, on stdout."""
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False, allow_nan=True)
    sys.stdout.write("\n")
