"""Running the command line in this process, as a program would."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from workflows.cli.main import main


def _no_number(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


@dataclass
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout; anything else there is a failure."""
        return json.loads(self.out, parse_constant=_no_number)


@pytest.fixture
def run(capsys):
    """`run("base", "four-bar", "--json")` → exit status and what was printed."""

    def call(*arguments: str) -> Ran:
        status = main(arguments)
        printed = capsys.readouterr()
        return Ran(status, printed.out, printed.err)

    return call
