"""Lengths and angles mixed up in objectives and constraints: what a joint value measures, and why.

Who writes `stroke(F) >= 150 mm` of a revolute joint F often means the slider next to it.
"""

import re
from collections.abc import Mapping

from basepar_core.errors import ExpressionError
from basepar_core.expressions import LENGTH, Dimension, parse_any, parse_comparison
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import canonical

_OF = re.compile(r"\b([A-Za-z_]+)\(\s*([A-Za-z][\w.]*)\s*([,)])")
_ANGLE_UNIT = re.compile(r"[\d)]\s*(deg|rad|rev)\b")
#: Dimensions of what expressions may name.
Known = Mapping[str, Dimension | None]
#: Joint values listed at most.
_LISTED = 6


def explained(message: str, text: str, mechanism: Mechanism, known: Known) -> str:
    """A mistake's message, with what the joint values of the text measure where that is its cause.

    Parameters
    ----------
    message, text
        What is wrong with which objective or constraint.
    known
        Dimensions of the mechanism's quantities.
    """
    if _fits(text, known):  # an equality, which has other faults
        return message
    values = {name for joint in mechanism.joints for name in joint.values}
    for match in _OF.finditer(text):
        if match[2] in values and (why := _why(match, text, mechanism, known)):
            return f"{message.rstrip('.')}. {why}."
    return message


def _why(match: re.Match[str], text: str, mechanism: Mechanism, known: Known) -> str:
    """Whether the text would fit if this value were of the other kind, and which are; else ""."""
    value = mechanism.value(match[2])
    name = _named(match, match[2])
    unit = known.get(name)
    if unit is None or not (value.is_length or value.is_angle):
        return ""
    if value.is_length and not _ANGLE_UNIT.search(text):
        return ""  # a number without its unit, most likely
    other = unit / LENGTH if value.is_length else unit * LENGTH
    if not _fits(text, {**known, name: other}):
        return ""
    is_, are = (
        ("a length", "angles") if value.is_length else ("an angle, in deg or rad", "lengths")
    )
    joint = value.joint
    why = f"{joint.name} is {joint.type}: {name} is {is_}"
    others = [
        one
        for joint in mechanism.joints
        for one in joint.values
        if mechanism.value(one).is_length != value.is_length and _named(match, one) in known
    ]
    if not others:
        return f"{why}, and {mechanism.name} has no joint whose values are {are}"
    listed = f"{', '.join(others[:_LISTED])}{', …' * (len(others) > _LISTED)}"
    start, end = match.span(2)
    return f"{why}; {are} are the values of {listed}: write {text[:start]}{others[0]}{text[end:]}"


def _named(match: re.Match[str], value: str) -> str:
    """The quantity of a match with another joint value: `stroke(G)`."""
    inner = match.string[match.end(2) :].partition(")")[0]
    return canonical(f"{match[1]}({value}{inner})")


def _fits(text: str, known: Known) -> bool:
    for reads in (parse_comparison, parse_any):
        try:
            reads(text, known)
        except ExpressionError:
            continue
        return True
    return False
