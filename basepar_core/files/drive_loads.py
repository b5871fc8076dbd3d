"""The sections `motors` and `torques`: what drives a mechanism and what resists it.

Electrical quantities are bare SI numbers (V, Ω, H, N m/A): the file's units know no ampere,
because A and V are names that people give to joints and symbols (docs/decisions/0040).
"""

from collections.abc import Mapping, Sequence

from basepar_core.expressions import ONE, UNITS, ZERO, Expression, Unit, evaluate, names
from basepar_core.mechanism import Joint, Motor, Torque

from .assembly import named_value, value_units
from .mechanism_keys import MOTOR, TORQUE, TORQUE_OF_PIECES
from .motions import effort, rate
from .reader import Reading
from .yaml_nodes import Fields, Node

#: What a torque's expression may name besides symbols.
STATE = ("position", "speed")
_NUMBER = Unit("")


def read_motors(reading: Reading, node: Node | None, joints: Sequence[Joint]) -> tuple[Motor, ...]:
    """DC motors by name."""
    entries = reading.entries(node, "a mapping such as drive: {joint: A, voltage: 12, …}") or {}
    return tuple(_motor(reading, name, entry, joints) for name, entry in entries.items())


def _motor(reading: Reading, name: str, node: Node, joints: Sequence[Joint]) -> Motor:
    reading.name(node, name, "motor")
    entries = reading.fields(node, MOTOR)
    joint = _joint(reading, entries.get("joint"), joints)

    def number(key: str, unit: Unit = _NUMBER) -> Expression | None:
        return reading.expression(entries[key], unit) if key in entries else None

    inertia = UNITS["kg"] * UNITS["m"] ** 2
    motor = Motor(
        name,
        joint,
        number("voltage") or ZERO,
        number("resistance") or ONE,
        number("constant") or ONE,
        number("ratio") or ONE,
        number("inductance"),
        number("rotor", inertia),
    )
    if "resistance" in entries:
        _check_positive(reading, entries["resistance"], motor.resistance)
    if "inductance" in entries and motor.inductance is not None:
        _check_positive(reading, entries["inductance"], motor.inductance)
    return motor


def _check_positive(reading: Reading, node: Node, value: Expression) -> None:
    if not names(value) and not float(evaluate([value], {})[0]) > 0:
        reading.mistake(node, "something positive is expected")


def read_torques(
    reading: Reading, node: Node | None, joints: Sequence[Joint]
) -> tuple[Torque, ...]:
    """Torques and forces by name."""
    entries = reading.entries(node, "a mapping such as brake: {joint: A, value: -2 N*m}") or {}
    return tuple(_torque(reading, name, entry, joints) for name, entry in entries.items())


def _torque(reading: Reading, name: str, node: Node, joints: Sequence[Joint]) -> Torque:
    reading.name(node, name, "torque")
    pieces = isinstance(node, Fields) and "pieces" in node.entries
    entries = reading.fields(node, TORQUE_OF_PIECES if pieces else TORQUE)
    joint = _joint(reading, entries.get("joint"), joints)
    when = ""
    if "when" in entries:
        when = reading.choice(entries["when"], ("rising", "falling"), "direction") or ""
    units = value_units(joints)
    if joint not in units:
        return Torque(name, joint, when=when)
    slot = units[joint]
    if not pieces:
        taken = [word for word in STATE if word in reading.dimensions]
        for word in taken:
            reading.mistake(
                node, f"{word!r} is a symbol of this file; in a torque it is the joint's"
            )
        state = dict(zip(STATE, (slot.dimension, rate(slot).dimension), strict=True))
        value = reading.expression(entries.get("value"), effort(slot), state)
        return Torque(name, joint, value, when)
    along = _joint(reading, entries["along"], joints) if "along" in entries else joint
    of = units.get(along, slot)
    return Torque(name, joint, ZERO, when, along, _pieces(reading, entries, of, effort(slot)))


def _pieces(
    reading: Reading, entries: Mapping[str, Node], of: Unit, slot: Unit
) -> tuple[tuple[Expression, Expression, Expression], ...]:
    found = []
    what = "a piece [from, to, value]"
    for item in reading.items(entries.get("pieces"), None, f"a list of {what}") or ():
        parts = reading.items(item, 3, what)
        if parts is None:
            continue
        low, high = (reading.motion(part, of) for part in parts[:2])
        if not float(evaluate([low], {})[0]) < float(evaluate([high], {})[0]):
            reading.mistake(item, "ends before it begins")
        found.append((low, high, reading.expression(parts[2], slot)))
    return tuple(found)


def _joint(reading: Reading, node: Node | None, joints: Sequence[Joint]) -> str:
    word = reading.text(node, "the name of a joint value")
    if word is None or node is None:
        return ""
    return named_value(reading, node, word, joints) or ""
