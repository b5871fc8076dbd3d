"""The section `bodies`: inertias in whichever form, as parameters about the frame's origin."""

from basepar_core.expressions import (
    ONE,
    UNITS,
    ZERO,
    Call,
    Expression,
    add,
    multiply,
    negate,
    subtract,
)
from basepar_core.mechanism import BODY_FORMS, Body, BodyForm, Vector

from . import vector_remedies
from .mechanism_keys import BODY
from .reader import Reading
from .yaml_nodes import Node

_KG = UNITS["kg"]
_KG_M = UNITS["kg"] * UNITS["m"]
_KG_M2 = UNITS["kg"] * UNITS["m"] ** 2
Six = tuple[Expression, ...]


def read_bodies(reading: Reading, node: Node | None) -> tuple[Body, ...]:
    """All bodies in file order, numbers unique."""
    entries = reading.entries(node, "a mapping of bodies, such as crank: {number: 1}")
    if not entries:
        reading.unknown.add("bodies")
    bodies = tuple(_body(reading, name, body) for name, body in (entries or {}).items())
    if node is not None and entries is not None and not entries:
        reading.mistake(node, "a mechanism has at least one body")
    seen: dict[int, str] = {}
    for body in bodies:
        if body.number is not None and seen.setdefault(body.number, body.name) != body.name:
            assert entries is not None
            owner = seen[body.number]
            message = f"number {body.number} is that of body {owner!r} already"
            reading.mistake(entries[body.name], message)
    return bodies


def _body(reading: Reading, name: str, node: Node) -> Body:
    reading.name(node, name, "body")
    before = reading.count
    entries = reading.fields(node, BODY)
    number = reading.whole(entries["number"], 0) if "number" in entries else None
    form = _form(reading, entries)
    given = [key for group in BODY.together for key in group if key in entries]
    if not given or reading.count > before:
        _read_anyway(reading, entries)
        zeros = (ZERO,) * (4 if reading.planar else 10)
        return Body(name, zeros if form == "massless" else None, number, form)
    for one, other in BODY.together[1:]:
        if one in entries and other in entries:
            reading.mistake(entries[other], f"stands beside {one}; give one of them")
        elif one not in entries and other not in entries:
            reading.mistake(node, f"{one} (or {other}) is missing; give all inertia or none")
    if "mass" not in entries:
        reading.mistake(node, "mass is missing; give all inertia or none")
    if reading.count > before:
        _read_anyway(reading, entries)
        return Body(name, None, number, form)
    return Body(name, _parameters(reading, entries), number, form)


def _form(reading: Reading, entries: dict[str, Node]) -> BodyForm:
    word = reading.choice(entries.get("form"), BODY_FORMS, "form")
    form: BodyForm = next((one for one in BODY_FORMS if one == word), "")
    stated = [key for group in BODY.together for key in group if key in entries]
    if form == "massless" and stated:
        reading.mistake(entries["form"], f"a massless body has no {', '.join(stated)}")
    if form == "slender" and reading.planar:
        reading.mistake(entries["form"], "slender bodies are spatial; leave it out")
    return form


def _read_anyway(reading: Reading, entries: dict[str, Node]) -> None:
    """Find the mistakes inside, though no parameters will come of it."""
    reading.expression(entries.get("mass"), _KG)
    reading.smooth_point(entries.get("centre"))
    reading.smooth_point(entries.get("first_moment"), _KG_M)
    for key in ("inertia", "central_inertia"):
        _inertia(reading, entries.get(key))


def _parameters(reading: Reading, entries: dict[str, Node]) -> tuple[Expression, ...]:
    mass = reading.expression(entries["mass"], _KG)
    if "centre" in entries:
        centre = reading.smooth_point(entries["centre"])
        moment = _scaled(mass, centre)
    else:
        moment = reading.smooth_point(entries["first_moment"], _KG_M)
        centre = _scaled(Call("/", (ONE, mass)), moment)
    inertia = _inertia(reading, entries.get("inertia", entries.get("central_inertia")))
    if "central_inertia" in entries:
        shift = _planar_shift if reading.planar else _shift
        inertia = tuple(add(*pair) for pair in zip(inertia, shift(moment, centre), strict=True))
    return (mass, *(moment[:2] if reading.planar else moment), *inertia)


def _inertia(reading: Reading, node: Node | None) -> Six:
    """Planar J, or Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""
    if node is not None and (remedy := vector_remedies.inertia(node, reading.planar)):
        reading.mistake(node, remedy)
        return (ZERO,) if reading.planar else (ZERO,) * 6
    if reading.planar:
        return (reading.expression(node, _KG_M2),)
    items = reading.items(node, 6, "the six Ixx, Ixy, Ixz, Iyy, Iyz, Izz")
    return tuple(reading.expression(item, _KG_M2) for item in items or ()) or (ZERO,) * 6


def _scaled(scale: Expression, vector: Vector) -> Vector:
    x, y, z = (multiply(scale, entry) for entry in vector)
    return (x, y, z)


def _planar_shift(moment: Vector, centre: Vector) -> Six:
    return (add(multiply(moment[0], centre[0]), multiply(moment[1], centre[1])),)


def _shift(moment: Vector, centre: Vector) -> Six:
    """m (|c|² 1 − c cᵀ), written with m c so that a mass of zero does no harm."""
    squares = [multiply(p, c) for p, c in zip(moment, centre, strict=True)]
    products = {(i, j): negate(multiply(moment[i], centre[j])) for i in range(3) for j in range(i)}
    return (
        add(squares[1], squares[2]),
        _zero_kept(products[1, 0]),
        _zero_kept(products[2, 0]),
        add(squares[0], squares[2]),
        _zero_kept(products[2, 1]),
        add(squares[0], squares[1]),
    )


def _zero_kept(entry: Expression) -> Expression:
    """The entry, exact zeros recognised."""
    return subtract(ZERO, negate(entry)) if entry == negate(ZERO) else entry
