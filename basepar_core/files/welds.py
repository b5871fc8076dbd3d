"""Fixed joints that are given a value or are named where one is: which type may be meant."""

from basepar_core.errors import ExpressionError
from basepar_core.expressions import UNITS, is_literal, parse_any
from basepar_core.mechanism import JOINT_TYPES, Joint

from .reader import Reading
from .yaml_nodes import Node, Text, entry_at

#: Types of one value, by its unit, and what they do.
_MOVES = {
    "rad": ("turns", next(name for name, kind in JOINT_TYPES.items() if kind.is_pin)),
    "m": ("slides", next(name for name, kind in JOINT_TYPES.items() if kind.is_slide)),
}


def no_value_of_weld(reading: Reading, node: Node, joint: Joint) -> str:
    """What to write where the value of a fixed joint is stated or asked for."""
    given = node.value.strip() if isinstance(node, Text) else ""
    unit = "" if given == joint.name else _unit(reading, given)
    units = [unit] if unit else [*_MOVES]
    verbs = " or ".join(_MOVES[one][0] for one in units)
    tells = f", as {given} tells," if unit else ","
    types = " or ".join(
        f"`type: {_MOVES[one][1]}`{' and its `axis`' * (one == 'm' and reading.planar)}"
        for one in units
    )
    return (
        f"joint {joint.name} is `fixed`{_line(reading, joint)}, a weld, and has no value; if it "
        f"{verbs}{tells} write {types} there; else leave this out"
    )


def _unit(reading: Reading, given: str) -> str:
    """Whether an expression is an angle or a length; nothing where it does not tell.

    A number without a unit fits both.
    """
    try:
        _, dimension = parse_any(given, reading.dimensions)
    except ExpressionError:  # a mapping, or what is reported where it is read
        return ""
    fits = [one for one in _MOVES if dimension == UNITS[one].dimension]
    return fits[0] if fits and not is_literal(given) else ""


def _line(reading: Reading, joint: Joint) -> str:
    """Where the file has the joint's type."""
    joints = reading.top.entries.get("joints") if reading.top else None
    kind = entry_at(joints, joint.name, "type")
    return f" (line {kind.line})" if kind else ""
