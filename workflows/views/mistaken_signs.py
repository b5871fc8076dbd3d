"""A value of the assembly whose sign looks wrong, as plain facts and in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.dynamics import Model, signs_look_mistaken
from basepar_core.files import line_of_symbol

from . import terminal


def found(model: Model) -> list[dict[str, Any]]:
    """Values with the line where the file has one, and what to write; each alone would do."""
    text = model.mechanism.source
    return [
        {
            "name": one.name,
            "line": line_of_symbol(text, one.name, "assembly"),
            "write": one.write,
        }
        for one in signs_look_mistaken(model)
    ]


def show(signs: Sequence[Mapping[str, Any]]) -> None:
    """A line for people, where there is such a value."""
    if not signs:
        return
    lines = [f" (line {one['line']})" if one["line"] else "" for one in signs]
    named = [f"assembly.{one['name']}{line}" for one, line in zip(signs, lines, strict=True)]
    terminal.out.print(
        f"with the sign of {' or '.join(named)} turned round all loops close as stated: write "
        f"{', or '.join(one['write'] for one in signs)}",
        style="yellow",
    )
