"""The section `points`: places of bodies whose paths are wanted."""

from collections.abc import Sequence

from basepar_core.mechanism import GROUND, Joint, Point

from .mechanism_keys import POINT
from .reader import Reading
from .yaml_nodes import Node


def read_points(
    reading: Reading, node: Node | None, joints: Sequence[Joint], bodies: Sequence[str]
) -> tuple[Point, ...]:
    """Points in file order; each name also tells it from joints, in `assembly` and in drawings."""
    what = "a mapping of points, such as P: {body: coupler, at: [0.1 m, 0.2 m]}"
    taken = {joint.name for joint in joints} | reading.spoilt
    return tuple(
        _point(reading, name, entry, taken, bodies)
        for name, entry in (reading.entries(node, what) or {}).items()
    )


def _point(
    reading: Reading, name: str, node: Node, taken: set[str], bodies: Sequence[str]
) -> Point:
    if name in taken:
        reading.mistake(node, f"{name!r} names a joint already; rename the point")
    else:
        reading.name(node, name, "point")
    last = bodies[-1] if bodies else GROUND
    entries = reading.fields(node, POINT, {"body": last}, f"body: {last}, at: «»")
    body = reading.text(entries.get("body"), "the name of a body")
    if body is not None and "bodies" not in reading.unknown:
        body = reading.known(entries["body"], (GROUND, *bodies), "body")
    return Point(name, body or GROUND, reading.smooth_point(entries.get("at")))
