"""The keys `shape` of bodies and of the ground: what clearances are measured between."""

from collections.abc import Sequence

import numpy as np

from basepar_core.expressions import UNITS, ZERO, Expression, evaluate
from basepar_core.mechanism import GROUND, Shape, Symbol, Vector

from .mechanism_keys import SHAPE
from .reader import Reading
from .yaml_nodes import Fields, Items, Node

_CORNERS = {"circle": 1, "capsule": 2, "polygon": 3}


def read_shapes(
    reading: Reading, bodies: Node | None, ground: Node | None, symbols: Sequence[Symbol]
) -> tuple[Shape, ...]:
    """Shapes of the bodies in file order, then the ground's."""
    entries = bodies.entries if isinstance(bodies, Fields) else {}
    nodes = {
        name: body.entries["shape"]
        for name, body in entries.items()
        if isinstance(body, Fields) and "shape" in body.entries
    }
    if ground is not None:
        nodes[GROUND] = ground
    found = []
    for name, node in nodes.items():
        items = node.items if isinstance(node, Items) else (node,)
        for item in items:
            shape = _shape(reading, name, item, symbols)
            if shape is not None:
                found.append(shape)
    return tuple(found)


def _shape(reading: Reading, body: str, node: Node, symbols: Sequence[Symbol]) -> Shape | None:
    before = reading.count
    entries = reading.fields(node, SHAPE)
    kinds = [kind for kind in _CORNERS if kind in entries]
    if reading.count > before:
        return None
    if len(kinds) != 1:
        reading.mistake(node, "a shape is a circle, a capsule or a polygon: one of the three")
        return None
    (kind,) = kinds
    if kind == "circle":
        corners: tuple[Vector, ...] = (reading.smooth_point(entries[kind]),)
    else:
        wanted = 2 if kind == "capsule" else None
        what = "two ends [[0, 0], [0.1, 0]]" if wanted else "corners [[0, 0], [0.1, 0], [0, 0.1]]"
        items = reading.items(entries[kind], wanted, what) or ()
        corners = tuple(reading.smooth_point(item) for item in items)
    if kind == "polygon" and not reading.planar:
        reading.mistake(entries[kind], "polygons are of planar mechanisms; take capsules")
    if kind != "polygon" and "radius" not in entries:
        reading.mistake(node, f"a {kind} has a radius: `radius: 10 mm`")
    radius: Expression = ZERO
    if "radius" in entries:
        radius = reading.expression(entries["radius"], UNITS["m"])
    if reading.count == before:
        _check(reading, node, kind, corners, radius, symbols)
    return Shape(body, corners, radius) if reading.count == before else None


def _check(
    reading: Reading,
    node: Node,
    kind: str,
    corners: Sequence[Vector],
    radius: Expression,
    symbols: Sequence[Symbol],
) -> None:
    """That radius and corners are such, at nominal values."""
    names = [one.name for one in symbols]
    known = dict(zip(names, map(float, evaluate([one.value for one in symbols], {})), strict=True))
    numbers = evaluate([radius, *(x for corner in corners for x in corner)], known)
    size, *flat = (float(x) for x in numbers)
    if not size >= 0:
        reading.mistake(
            node, f"its radius is {size:.4g} m at nominal values; at least 0 is needed"
        )
    if kind != "polygon":
        return
    if len(corners) < _CORNERS[kind]:
        reading.mistake(node, f"a polygon has at least {_CORNERS[kind]} corners")
        return
    places = np.array(flat).reshape(-1, 3)[:, :2]
    sides = np.roll(places, -1, axis=0) - places
    following = np.roll(sides, -1, axis=0)
    turns = sides[:, 0] * following[:, 1] - sides[:, 1] * following[:, 0]
    if not ((turns > 0).all() or (turns < 0).all()):
        reading.mistake(
            node,
            "a polygon is convex, its corners in order; give several shapes in a list for others",
        )
