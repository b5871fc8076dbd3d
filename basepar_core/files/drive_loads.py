"""The sections `motors` and `torques`: what drives a mechanism and what resists it.

Electrical quantities are bare SI numbers (V, Ω, H, N m/A): the file's units know no ampere,
because A and V are names that people give to joints and symbols (docs/decisions/0040).
"""

import re
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

from basepar_core.errors import BaseparWarning
from basepar_core.expressions import ONE, UNITS, ZERO, Expression, Unit, evaluate, names
from basepar_core.mechanism import Joint, Motor, Torque

from .assembly import named_value, value_units
from .electrical_values import plain_number
from .mechanism_keys import MOTOR, TORQUE, TORQUE_OF_PIECES
from .motions import effort, rate
from .reader import Reading
from .remedies import written
from .yaml_nodes import Fields, Node

#: What a torque's expression may name besides symbols.
STATE = ("position", "speed")
_NUMBER = Unit("")
#: rad/s or m/s, and rad or m, at which a torque tells whether it drives.
_SPEEDS, _POSITIONS = (-100.0, -1.0, -0.1, 0.0, 0.1, 1.0, 100.0), (-1.5, -0.2, 0.0, 0.3, 2.0)


def read_motors(reading: Reading, node: Node | None, joints: Sequence[Joint]) -> tuple[Motor, ...]:
    """DC motors by name."""
    entries = reading.entries(node, "a mapping such as drive: {joint: A, voltage: 12, …}") or {}
    return tuple(_motor(reading, name, entry, joints) for name, entry in entries.items())


def _motor(reading: Reading, name: str, node: Node, joints: Sequence[Joint]) -> Motor:
    reading.name(node, name, "motor")
    entries = reading.fields(node, MOTOR)
    joint = _joint(reading, entries.get("joint"), joints)

    def number(key: str, unit: Unit = _NUMBER) -> Expression | None:
        if key not in entries:
            return None
        text = written(entries[key])
        if plain := plain_number(key, text):
            said = f"electrical values are plain numbers in V, ohm, H, N*m/A: {text} is {plain}"
            reading.mistake(entries[key], f"{said}; write {key}: {plain}")
            return None
        return reading.expression(entries[key], unit)

    inertia = UNITS["kg"] * UNITS["m"] ** 2
    before = reading.count
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
    if reading.count > before:
        return motor
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
        before = reading.count
        value = reading.expression(entries.get("value"), effort(slot), state)
        if reading.count == before and not reading.dubious:
            _warn_of_driving(reading, node, entries["value"], value, slot)
        return Torque(name, joint, value, when)
    along = _joint(reading, entries["along"], joints) if "along" in entries else joint
    of = units.get(along, slot)
    return Torque(name, joint, ZERO, when, along, _pieces(reading, entries, of, effort(slot)))


def _warn_of_driving(
    reading: Reading, node: Node, entry: Node, value: Expression, slot: Unit
) -> None:
    """Say that a torque grows with its joint's speed, wherever it is and whichever way it goes: a
    resistance whose sign is left out."""
    if "speed" not in names(value):
        return
    known = dict(zip(reading.values, evaluate(reading.values.values(), {}), strict=True))
    speeds, positions = (one.ravel() for one in np.meshgrid(_SPEEDS, _POSITIONS))
    with np.errstate(all="ignore"):
        found = evaluate([value], {**known, "speed": speeds, "position": positions})[0]
    rises = np.diff(np.reshape(found, (len(_POSITIONS), len(_SPEEDS))))
    if (rises > 0).all():
        text = written(entry)
        less = f"-({text})" if re.search(r"[-+]", text) else f"-{text}"
        warnings.warn(
            f"{node.path} (line {node.line}): drives the joint the faster it "
            f"{'slides' if slot.text == 'm' else 'turns'}; torques are positive where they drive: "
            f"a resistance is `{less}`.",
            BaseparWarning,
            stacklevel=2,
        )


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
