"""A symbol in a point of a joint, or an axis, that looks wrong: plain facts, and a line."""

from collections.abc import Mapping
from typing import Any

from basepar_core.dynamics import MistakenEntry
from basepar_core.files import line_of_symbol
from basepar_core.mechanism import Mechanism

from . import terminal


def found(it: Mechanism, mistaken: object) -> dict[str, Any] | None:
    """The entry, the line of its joint's key where the file has one, what it is and is to be."""
    if not isinstance(mistaken, MistakenEntry):
        return None
    section, *inner, key = mistaken.place.split("[")[0].split(".")
    return {
        "place": mistaken.place,
        "line": line_of_symbol(it.source, key, section, *inner),
        "written": mistaken.written,
        "meant": mistaken.meant,
    }


def show(mistaken: Mapping[str, Any] | None) -> None:
    """A line for people, where there is such an entry."""
    if mistaken is None:
        return
    line = f" (line {mistaken['line']})" if mistaken["line"] else ""
    terminal.out.print(
        f"{mistaken['place']}{line}: {mistaken['written']}; with {mistaken['meant']} in its "
        f"place all loops close as stated: write {mistaken['meant']}",
        style="yellow",
    )
