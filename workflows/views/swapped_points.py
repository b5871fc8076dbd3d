"""A joint whose two points look swapped, as plain facts and in the terminal."""

import math
from collections.abc import Mapping
from typing import Any

from basepar_core.dynamics import SwappedPoints
from basepar_core.files import line_in_text
from basepar_core.mechanism import Mechanism

from . import terminal


def found(it: Mechanism, swapped: object) -> dict[str, Any] | None:
    """The joint, the line to write where the file has one, and the stated values that tell."""
    if not isinstance(swapped, SwappedPoints):
        return None

    def value(name: str, off: float) -> dict[str, Any]:
        # A length's is a share of it, a body's of the mechanism's size.
        is_share = name in it.body_index or it.value(name).is_length
        return {"name": name, "unit": "1" if is_share else "rad", "value": off}

    line, write = line_in_text(it.source, swapped.joint) or (None, None)
    if swapped.connects:
        write = f"connects: [{', '.join(swapped.connects)}]"
    return {
        "joint": swapped.joint,
        "line": line,
        "write": write,
        "connects": list(swapped.connects),
        "off": value(swapped.value, swapped.off),
        "off_swapped": value(swapped.nearest, swapped.left),
    }


def show(swapped: Mapping[str, Any] | None) -> None:
    """A line for people, where there is such a joint."""
    if swapped is None:
        return
    line = f" (line {swapped['line']})" if swapped["line"] else ""
    what = "bodies" if swapped["connects"] else "points"
    key = "connects" if swapped["connects"] else "at"
    terminal.out.print(
        f"joints.{swapped['joint']}.{key}{line}: its two {what} look exchanged: "
        f"{swapped['off']['name']} is {_size(swapped['off'])} off its stated value, and with the "
        f"{what} exchanged no value more than {_size(swapped['off_swapped'])}; write "
        f"{swapped['write'] or 'them the other way round'}",
        style="yellow",
    )


def _size(off: Mapping[str, Any]) -> str:
    is_angle = off["unit"] == "rad"
    size = math.degrees(off["value"]) if is_angle else 100 * off["value"]
    return f"{float(f'{size:.2g}'):g} {'deg' if is_angle else '%'}"
