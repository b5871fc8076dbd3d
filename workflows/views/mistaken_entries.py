"""An entry of a joint, or a length, that looks wrong: plain facts, and a line."""

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
    partner = mistaken.partner
    return _one(it, mistaken) | {
        "why": mistaken.why,
        "partner": _one(it, partner) if partner else None,
    }


def _one(it: Mechanism, mistaken: MistakenEntry) -> dict[str, Any]:
    section, *inner, key = mistaken.place.split("[")[0].split(".")
    if section == "assembly":  # a value's name may have a dot
        inner, key = [], mistaken.place.partition(".")[2]
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
    places = [mistaken, mistaken["partner"]] if mistaken["partner"] else [mistaken]
    wheres = [one["place"] + (f" (line {one['line']})" if one["line"] else "") for one in places]
    why = f"; {mistaken['why']}" if mistaken["why"] else ""
    if mistaken["partner"]:
        values = ", ".join(f"{one['place'].partition('.')[2]} = {one['meant']}" for one in places)
        remedy = f"with their values exchanged ({values}) all loops close as stated{why}"
    else:
        remedy = (
            f"{mistaken['written']}; with {mistaken['meant']} in its place all loops close as "
            f"stated: write {mistaken['meant']}{why}"
        )
    terminal.out.print(f"{' and '.join(wheres)}: {remedy}", style="yellow")
