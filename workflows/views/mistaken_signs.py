"""A value of the assembly whose sign looks wrong, as plain facts and in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.files import line_of_symbol
from basepar_core.mechanism import Mechanism

from . import terminal


def found(it: Mechanism, signs: object) -> list[dict[str, Any]]:
    """Values with the line where the file has one, what to write, and the bodies that they count
    between; each alone would do."""
    return [
        {
            "name": one.name,
            "line": line_of_symbol(it.source, one.name, "assembly"),
            "write": one.write,
            "connects": list(it.value(one.name).joint.bodies),
        }
        for one in (signs if isinstance(signs, tuple) else ())
    ]


def show(signs: Sequence[Mapping[str, Any]]) -> None:
    """A line for people, where there is such a value."""
    if not signs:
        return
    lines = [f" (line {one['line']})" if one["line"] else "" for one in signs]
    named = [f"assembly.{one['name']}{line}" for one, line in zip(signs, lines, strict=True)]
    first, second = signs[0]["connects"]
    counts = f"; it counts from {first} to {second}: or write `connects: [{second}, {first}]` and "
    terminal.out.print(
        f"with the sign of {' or '.join(named)} turned round all loops close as stated: write "
        f"{', or '.join(one['write'] for one in signs)}"
        + (len(signs) == 1)
        * f"{counts}its points and axes in this order",
        style="yellow",
    )
