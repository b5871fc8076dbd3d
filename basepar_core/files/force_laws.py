"""The sections `friction`, `springs` and `dampers`: columns besides the inertial ones."""

from collections.abc import Callable, Mapping, Sequence

from basepar_core.expressions import UNITS, Expression, Unit, shown
from basepar_core.mechanism import GROUND, Damper, Friction, Joint, Spring

from .assembly import check_once, named_value, value_units
from .bare_numbers import warn_of_millimetres
from .joints import points, read_connects
from .mechanism_keys import DAMPER, FRICTION, FRICTION_KINDS, SPRING, SPRING_ON_JOINT
from .motions import effort
from .reader import Reading
from .remedies import parses_as, written
from .yaml_nodes import Fields, Node, Text


def _unit(kind: str, slot: Unit) -> Unit:
    """Unit of a friction value: effort per speed, effort, effort, inertia."""
    if kind == "viscous":
        return effort(slot) * UNITS["s"] / slot
    if kind == "rotor":
        return UNITS["kg"] if slot.text == "m" else UNITS["kg"] * UNITS["m"] ** 2
    return effort(slot)


def read_friction(
    reading: Reading, node: Node | None, joints: Sequence[Joint]
) -> tuple[Friction, ...]:
    """Columns `A.viscous`, `A.coulomb`, …; values where the file gives them."""
    entries = reading.entries(node, "a mapping such as A: [viscous, coulomb]") or {}
    if node is not None and (turned := _turned(entries)):
        reading.mistake(node, f"turned inside out, joints come first: write `friction: {turned}`")
        return ()
    check_once(reading, entries)
    slots = value_units(joints)
    columns: list[Friction] = []
    for name, entry in entries.items():
        value = named_value(reading, entry, name, joints)
        slot = slots.get(value or name, UNITS["rad"])
        if isinstance(entry, Fields):
            known = value is not None
            if known and (meant := _value_meant(reading, name, entry.entries, _unit, joints)):
                reading.mistake(entry, f"{meant[0]}: name {meant[1]} here")
                continue
            columns += _valued(reading, value or name, entry, slot, known)
        else:
            columns += _listed(reading, value or name, entry)
    return tuple(columns)


def _value_meant(
    reading: Reading,
    word: str,
    given: Mapping[str, Node],
    unit: Callable[[str, Unit], Unit],
    joints: Sequence[Joint],
) -> tuple[str, str] | None:
    """What to say where the units given fit another value of the same joint, and that value.

    `unit` is that of a key, by the unit of the joint value.
    """
    slots, value = value_units(joints), reading.called.get(word, word)
    joint = next(one for one in joints if value in one.values)
    wrong = [key for key in given if not _fits(reading, given[key], unit(key, slots[value]))]
    fitting = [
        one
        for one in joint.values
        if all(_fits(reading, node, unit(key, slots[one])) for key, node in given.items())
    ]
    if not wrong or not fitting:
        return None
    kinds = ("a length", "angle") if slots[fitting[0]].text == "m" else ("an angle", "length")
    verb = "are those" if len(wrong) > 1 else "is that"
    said = f"{word} is the {kinds[1]} of {joint.name}; {' and '.join(wrong)} {verb} of {kinds[0]}"
    return said, fitting[0]


def _fits(reading: Reading, node: Node, unit: Unit) -> bool:
    text = node.value if isinstance(node, Text) else ""
    return parses_as(text, unit, reading.dimensions)


def _turned(entries: Mapping[str, Node]) -> str:
    """Laws by joint of a section that has joints by law; nothing for others."""
    laws: dict[str, list[str]] = {}
    for kind, entry in entries.items():
        if kind not in FRICTION_KINDS or not isinstance(entry, Fields):
            return ""
        for name, value in entry.entries.items():
            laws.setdefault(name, []).append(f"{kind}: {written(value)}")
    joints = [f"{name}: {{{', '.join(some)}}}" for name, some in laws.items()]
    return f"{{{', '.join(joints)}}}" if joints else ""


def _valued(reading: Reading, name: str, node: Fields, slot: Unit, known: bool) -> list[Friction]:
    entries = reading.fields(node, FRICTION)
    if not known:  # without the joint there is no telling a force from a torque
        return []
    return [
        Friction(name, kind, reading.expression(entry, _unit(kind, slot)))
        for kind, entry in entries.items()
    ]


def _listed(reading: Reading, name: str, node: Node) -> list[Friction]:
    kinds_of = f"a list or mapping of {', '.join(FRICTION_KINDS)}"
    if isinstance(node, Text) and (word := node.value.strip()):
        meant = f"[{word}]" if word in FRICTION_KINDS else f"{{viscous: {word}}}"
        reading.mistake(
            node, f"{shown(word)} where {kinds_of} is expected; write `{name}: {meant}`"
        )
        return []
    items = reading.items(node, None, kinds_of) or ()
    kinds: list[str] = []
    for item in items:
        kind = reading.choice(item, FRICTION_KINDS, "friction")
        if kind in kinds:
            reading.mistake(item, f"{kind!r} is given twice")
        elif kind is not None:
            kinds.append(kind)
    return [Friction(name, kind) for kind in kinds]


def read_springs(
    reading: Reading, node: Node | None, joints: Sequence[Joint], bodies: Sequence[str]
) -> tuple[Spring, ...]:
    """Springs on joint values or between points of two bodies."""
    entries = reading.entries(node, "a mapping such as S: {joint: A, rest: 0 rad}") or {}
    taken = {joint.name for joint in joints}
    springs = []
    for name, entry in entries.items():
        if name in taken:
            reading.mistake(entry, f"{name!r} names a joint already; rename the spring")
        else:
            reading.name(entry, name, "spring")
        springs.append(_spring(reading, name, entry, joints, bodies))
    return tuple(springs)


def _spring(
    reading: Reading,
    name: str,
    node: Node,
    joints: Sequence[Joint],
    bodies: Sequence[str],
) -> Spring:
    on_joint = isinstance(node, Fields) and "joint" in node.entries
    lines = {"rest": "0 rad", "joint": "A"} if on_joint else {"rest": "0.1 m"}
    lines |= _ends(reading, bodies)
    entries = reading.fields(node, SPRING_ON_JOINT if on_joint else SPRING, lines)
    if not on_joint:
        ends = read_connects(reading, entries.get("connects"), bodies)
        slot = UNITS["m"]
        rest, stiffness = _values(reading, entries, slot)
        return Spring(name, rest, None, ends, points(reading, entries.get("at")), stiffness)
    word = reading.text(entries["joint"], "the name of a joint value")
    value = word and named_value(reading, entries["joint"], word, joints)
    if not value:
        return Spring(name, *_values(reading, {}, UNITS["m"])[:1], word)
    given: dict[str, Node] = {key: node for key, node in entries.items() if key != "joint"}
    if meant := _value_meant(reading, value, given, _spring_unit, joints):
        reading.mistake(entries["joint"], f"{meant[0]}: write `joint: {meant[1]}`")
        return Spring(name, *_values(reading, {}, UNITS["m"])[:1], word)
    rest, stiffness = _values(reading, entries, value_units(joints)[value])
    return Spring(name, rest, value, None, None, stiffness)


def _ends(reading: Reading, bodies: Sequence[str]) -> dict[str, str]:
    """What the ends of a spring or damper may be."""
    origin = "[0, 0]" if reading.planar else "[0, 0, 0]"
    ends = [GROUND, *bodies[-1:]]
    return {"connects": f"[{', '.join(ends)}]", "at": f"[{origin}, {origin}]"}


def _values(
    reading: Reading, entries: dict[str, Node], slot: Unit
) -> tuple[Expression, Expression | None]:
    rest = reading.expression(entries.get("rest"), slot)
    warn_of_millimetres(entries.get("rest"), slot)
    if "stiffness" not in entries:
        return rest, None
    return rest, reading.expression(entries["stiffness"], _spring_unit("stiffness", slot))


def _spring_unit(key: str, slot: Unit) -> Unit:
    return effort(slot) / slot if key == "stiffness" else slot


def read_dampers(
    reading: Reading,
    node: Node | None,
    springs: Node | None,
    joints: Sequence[Joint],
    bodies: Sequence[str],
) -> tuple[Damper, ...]:
    """Dampers between points of two bodies."""
    entries = reading.entries(node, "a mapping such as C: {connects: [ground, rod], at: …}") or {}
    taken = {joint.name for joint in joints}
    taken |= set(springs.entries) if isinstance(springs, Fields) else set()
    dampers = []
    for name, entry in entries.items():
        if name in taken:
            reading.mistake(entry, f"{name!r} names a joint or spring already; rename the damper")
        else:
            reading.name(entry, name, "damper")
        if isinstance(entry, Fields) and "joint" in entry.entries:
            reading.mistake(
                entry, "a damper on a joint value is friction: write `friction: {A: [viscous]}`"
            )
            continue
        fields = reading.fields(entry, DAMPER, _ends(reading, bodies))
        ends = read_connects(reading, fields.get("connects"), bodies)
        places = points(reading, fields.get("at"))
        value = None
        if "damping" in fields:
            unit = UNITS["N"] * UNITS["s"] / UNITS["m"]
            value = reading.expression(fields["damping"], unit)
        dampers.append(Damper(name, ends, places, value))
    return tuple(dampers)
