"""What every command uses: each module has its own in `COMMANDS`.

A command is a function of the parsed options that returns the exit status. It makes one
document of plain facts, which `emit` prints under --json and `terminal` shows otherwise.
"""

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from basepar_core.texts import json_text


@dataclass(frozen=True)
class Command:
    """A line of the grammar; --json, --help and the example are every command's.

    Attributes
    ----------
    run
        From parsed options to the exit status.
    options
        Helps by words, as `options.arguments` reads them.
    description
        What the help begins with; "": the summary.
    """

    name: str
    run: Callable[[argparse.Namespace], int]
    summary: str
    example: str
    options: Mapping[str, str] = field(default_factory=dict)
    description: str = ""


#: Exit status: somebody wanted it to end; the same command goes on.
STOPPED = 4

#: What the running command warned of; `main.main` keeps it.
warned: list[str] = []

#: The words of the running command, as they were given; `main.main` keeps them.
typed_words: list[str] = []


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
