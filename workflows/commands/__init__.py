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


def add_place(command: argparse.ArgumentParser) -> None:
    """The options that say where the work is done; `sweep_job.place_of` reads them."""
    command.add_argument(
        "--cluster",
        metavar="C",
        default="laptop",
        help="laptop (default); the name or file of a profile (SLURM, SSH, Kubernetes, see "
        "docs/clusters.md); or the address of a Dask scheduler such as tls://host:8786",
    )
    command.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="worker processes (default: one per core, or the profile's)",
    )


def emit(document: Any) -> None:
    """Print a document as JSON, and nothing else, on stdout."""
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False, allow_nan=True)
    sys.stdout.write("\n")
