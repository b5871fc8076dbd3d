"""A value whose sign looks wrong, as plain facts and in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.dynamics import MistakenSign
from basepar_core.files import entry_turned, line_of_symbol
from basepar_core.mechanism import Mechanism

from . import terminal


def found(it: Mechanism, signs: object) -> list[dict[str, Any]]:
    """Values with the line where the file has one, what to write, and the bodies that they count
    between; each alone would do."""
    return [_one(it, one) for one in (signs if isinstance(signs, tuple) else ())]


def _one(it: Mechanism, sign: MistakenSign) -> dict[str, Any]:
    if sign.entry:
        line, write = entry_turned(it.source, sign.name, sign.entry) or (None, "")
        connects = []
    else:
        line, write = line_of_symbol(it.source, sign.name, "assembly"), sign.write
        connects = list(it.value(sign.name).joint.bodies)
    told = {"name": sign.name, "place": sign.place, "line": line, "write": write}
    return told | {"connects": connects}


def show(signs: Sequence[Mapping[str, Any]]) -> None:
    """A line for people, where there is such a value."""
    if not signs:
        return
    lines = [f" (line {one['line']})" if one["line"] else "" for one in signs]
    named = [f"{one['place']}{line}" for one, line in zip(signs, lines, strict=True)]
    writes = ", or ".join(one["write"] for one in signs if one["write"])
    about, counts, connects = "about ", "", signs[0]["connects"]
    if connects:
        about = ""
    if connects and len(signs) == 1:
        first, second = connects
        counts = (
            f"; it counts from {first} to {second}: or write `connects: [{second}, {first}]` and "
            f"its points and axes in this order"
        )
    terminal.out.print(
        f"with the sign of {' or '.join(named)} turned round all loops close {about}as stated"
        f"{f': write {writes}' if writes else ''}{counts}",
        style="yellow",
    )
