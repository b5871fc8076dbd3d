"""The fields that a command's help names, held against the document it prints."""

import argparse
import re
from typing import Any

from workflows.cli.main import parser

_FIELD = re.compile(r"([a-z][a-z0-9_]*)(?:\s\[?\{((?:[^{}]|\{[^{}]*\})*)\}\]?)?")

Fields = dict[str, "Fields"]


def commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return dict(action.choices)


def fields(command: str) -> Fields:
    """What stands between `--json prints` and the end of the sentence, words in ( ) left out."""
    description = commands()[command].description or ""
    _, _, said = description.partition("--json prints ")
    return _read(re.split("[.;]", re.sub(r"\s\([^()]*\)", "", said))[0])


def _read(text: str) -> Fields:
    # {variant: text} is a mapping from what is not known beforehand.
    found = [(m[1], m[2] or "") for m in _FIELD.finditer(text)]
    return {name: {} if ":" in inner else _read(inner) for name, inner in found}


def assert_named(named: Fields, document: dict[str, Any], path: str = "") -> None:
    """The same names on every level that the help goes into; empty lists show none."""
    assert set(named) == set(document), path
    for name, inner in named.items():
        value = document[name]
        for one in value if isinstance(value, list) else [value]:
            if inner and one is not None:
                assert_named(inner, one, f"{path}.{name}")
