"""Options in messages: the packages name them as arguments, the command line as flags."""

import re

_ARGUMENT = re.compile(r"`([a-z_]+)=([^`]*)`")
_KEY = re.compile(r"([a-z_]+)=")


def flagged(text: str) -> str:
    """A message with `route=symbolic` as --route symbolic, `known=` as --known."""
    return _ARGUMENT.sub(lambda found: f"{_flag(found[1])} {found[2]}".rstrip(), text)


def place(word: str) -> str:
    """An entry of an error's `where`: `known=` as --known, others as they are."""
    found = _KEY.fullmatch(word)
    return _flag(found[1]) if found else word


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
