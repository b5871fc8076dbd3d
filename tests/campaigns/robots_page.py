"""The page docs/robots.md from the records of `tests.campaigns.robots`."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.oracles.engine import CLEAR

#: The table's place in the page.
BEGIN, END = "<!-- campaign: robots -->", "<!-- end of campaign -->"
#: Shares of the largest torque within which trees (mimic joints too) and loops are right.
RIGHT = {"tree": 1e-9, "coupled": 1e-9, "loops": 1e-8}

Record = Mapping[str, Any]


def page(records: Sequence[Record]) -> str:
    """Counts by collection and by kind, then a line per file."""
    lines = [
        "| collection | format | files that move | read | freedoms right | torque right | "
        "count right, of those compared |",
        "|---|---|---|---|---|---|---|",
    ]
    for group in dict.fromkeys((one["folder"], one["format"]) for one in records):
        own = [one for one in records if (one["folder"], one["format"]) == group]
        lines.append(f"| {group[0]} | {group[1]} | {len(own)} | {_sums(own)} |")
    for word in ("URDF", "MJCF"):
        own = [one for one in records if one["format"] == word]
        trees = [one for one in own if not one["loops"]]
        lines.append(f"| **all** | {word} | {len(own)} | {_sums(own)} |")
        lines.append(f"| **without loops** | {word} | {len(trees)} | {_sums(trees)} |")
    loops = [one for one in records if one["loops"]]
    lines.append(f"| **closed loops** | both | {len(loops)} | {_sums(loops)} |")
    whole = [one for one in loops if freedoms(one) and torque(one) and count(one) is True]
    lines += ["", f"All three right: {len(whole)} of {len(loops)} files with closed loops.", ""]
    lines += ["| file | format | speeds of the engine | result |", "|---|---|---|---|"]
    for one in records:
        said = _said(one).replace("|", "\\|").replace("<", "&lt;")
        lines.append(
            f"| {one['folder']}: {one['name']} | {one['format']} | {one['speeds']} | {said} |"
        )
    return "\n".join(lines)


def freedoms(one: Record) -> bool:
    """Whether they are the engine's."""
    return "read" in one and one.get("freedoms") == one["read"]


def torque(one: Record) -> bool:
    """Whether it is the engine's, within what its kind allows."""
    return one.get("torque", 1.0) <= RIGHT.get(one.get("kind", ""), 0.0)


def count(one: Record) -> bool | None:
    """Whether it is the rank of the engine's regressor; None where that cannot be told."""
    if "count" not in one or one["clear"] < CLEAR:
        return None
    return one["count"][0] == one["count"][1]


def _sums(own: Sequence[Record]) -> str:
    read = [one for one in own if "read" in one]
    counts = [count(one) for one in read]
    compared = sum(found is not None for found in counts)
    return " | ".join(
        str(x)
        for x in (
            len(read),
            sum(map(freedoms, read)),
            sum(map(torque, read)),
            f"{sum(found is True for found in counts)} of {compared}",
        )
    )


def _said(one: Record) -> str:
    for key in ("internal", "rejected", "open"):
        if key in one and "moved" not in one:
            return f"{key}: {one[key]}"
    said = [f"{one.get('kind', 'read')}, {one['read']} coordinates"]
    if "moved" in one:
        said.append(f"repaired by at most {one['moved']:.0e} m (rad)")
    if "freedoms" in one and not freedoms(one):
        said.append(f"{one['freedoms']} freedoms of the engine")
    if "torque" in one:
        said.append("torque right" if torque(one) else f"torque off by {one['torque']:.0e}")
    if "count" in one:
        ours, theirs = one["count"]
        doubt = " (doubtful)" if one["clear"] < CLEAR else ""
        said.append(
            f"{ours} base parameters{f', {theirs} of the engine' * (ours != theirs)}{doubt}"
        )
    return ", ".join(said + [str(one[k]) for k in ("mechanics", "counted") if k in one])
