"""The commands: each module adds its own to the grammar with `register`.

A command is a function of the parsed options that returns the exit status. It makes one
document of plain facts, which `emit` prints under --json and `terminal` shows otherwise.
"""

import argparse
import math
import sys
from collections.abc import Callable
from typing import Any, Protocol

from basepar_core.texts import json_text

Command = Callable[[argparse.Namespace], int]


class Add(Protocol):
    """Makes a subcommand with --json, --help and an example."""

    def __call__(
        self, name: str, command: Command, summary: str, example: str
    ) -> argparse.ArgumentParser: ...


def add_place(command: argparse.ArgumentParser) -> None:
    """The options that say where the work is done; `jobs.place_of` reads them."""
    command.add_argument(
        "--cluster",
        metavar="C",
        default="laptop",
        help="laptop (default); the name or file of a profile (SLURM, SSH, Kubernetes, see "
        "docs/profiles.md); or the address of a Dask scheduler such as tls://host:8786",
    )
    command.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="worker processes (default: one per core, or the profile's)",
    )


#: What the running command warned of; `main.main` keeps it.
warned: list[str] = []


def emit(document: Any) -> None:
    """Print a document as JSON, and nothing else, on stdout; null for what is not finite.

    What the command warned of goes with it as `warnings`. JSON has no number for a pole of β or
    for the condition of a matrix without full rank.
    """
    if warned and isinstance(document, dict):
        document = {**document, "warnings": list(warned)}
    # Whole before anything is printed: half a document and an error are none.
    text = json_text(_finite(document))
    sys.stdout.write(text + "\n")


def _finite(document: Any) -> Any:
    match document:
        case dict():
            return {key: _finite(value) for key, value in document.items()}
        case list() | tuple():
            return [_finite(value) for value in document]
        case float():
            return document if math.isfinite(document) else None
    return document
