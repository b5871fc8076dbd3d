"""Warnings of angles, lengths and speeds that are given without a unit, and so taken as SI."""

import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from math import pi

from basepar_core.errors import BaseparWarning, ExpressionError
from basepar_core.expressions import (
    DIMENSIONLESS,
    Dimension,
    Unit,
    bare_angles,
    evaluate,
    is_literal,
    parse,
    shown,
)

from .remedies import written
from .yaml_nodes import Items, Node, Text

#: m per turn; long leads of ball screws are a tenth of it.
_LONGEST_PITCH = 0.5
#: m; few bodies are as long, and those with lengths in mm have most above it.
_LONGEST = 10
#: m/s², Jupiter's four times.
_STRONGEST = 100
#: The earth's.
_EARTH = re.compile(r"9\.8[0-9]*( *m/s\^2)?")
#: sin, cos and tan of a bare number.
_OF_ANGLE = re.compile(r"\b(sin|cos|tan)\( *([0-9]+\.?[0-9]*) *\)")
#: rad/s, 286 rpm; who writes more is likely to count in rpm or deg/s.
FASTEST_BARE = 30


def warn_of_degrees(node: Node, text: str) -> None:
    """Say that a bare number is taken as rad where it is more than a turn."""
    if bare_size(node) > 2 * pi:
        _warn(node, text, "rad, more than a turn", "deg", "rad")


def warn_of_degrees_beside(nodes: Iterable[Node]) -> None:
    """Say which bare angles are less than a turn where others of the same section are more: who
    writes degrees writes all of them so."""
    sizes = [(node, size) for node in nodes if (size := bare_size(node))]
    if any(size > 2 * pi for _, size in sizes):
        for node, size in sizes:
            if size <= 2 * pi:  # of the others `warn_of_degrees` has said it
                beside = "rad, beside angles of more than a turn"
                _warn(node, written(node), beside, "deg", "rad")


def warn_of_trigonometry(node: Node, text: str) -> None:
    """Say that the number in cos(30) is taken as rad where it is more than a turn."""
    for name, number in _OF_ANGLE.findall(text):
        if float(number) > 2 * pi:
            call, taken = f"{name}({number})", f"{name} of {number} rad, more than a turn"
            warnings.warn(
                f"{node.path} (line {node.line}): {call} is taken as {taken}; write "
                f"'{name}({number} deg)' or '{name}({number} rad)'.",
                BaseparWarning,
                stacklevel=3,
            )


def warn_of_millimetres(node: Node | None, slot: Unit) -> None:
    """Say which bare numbers, of a point or one, are taken as m, and longer than most bodies."""
    items = node.items if isinstance(node, Items) else [node]
    for item in items if slot.text == "m" else ():
        if item is not None and bare_size(item) >= _LONGEST:
            _warn(item, written(item), "m", "mm", "m")


def warn_of_pitch(node: Node) -> None:
    """Say that a bare pitch is taken as m per turn where it is longer than screws have it."""
    if bare_size(node) > _LONGEST_PITCH:
        _warn(node, written(node), "m per turn", "mm", "m")


def warn_of_gravity(node: Node | None) -> None:
    """Say which bare components are taken as m/s², and stronger than any planet's; and where
    the earth's points upwards along the last axis."""
    items = node.items if isinstance(node, Items) else ()
    texts = [item.value.strip() for item in items if isinstance(item, Text)]
    if texts and _EARTH.fullmatch(texts[-1]) and not any(bare_size(item) for item in items[:-1]):
        axis = "xyz"[len(texts) - 1]
        warnings.warn(
            f"{items[-1].path} (line {items[-1].line}): gravity is the acceleration of a falling "
            f"body, and {texts[-1]} points along +{axis}; if {axis} points up, write "
            f"[{', '.join([*texts[:-1], f'-{texts[-1]}'])}].",
            BaseparWarning,
            stacklevel=2,
        )
    for item in items:
        if bare_size(item) > _STRONGEST:
            _warn(item, written(item), "m/s^2", "mm/s^2", "m/s^2")


def warn_of_rpm(node: Node, slot: Unit) -> None:
    """Say that a bare speed is taken as rad/s where it is faster than most are stated in that."""
    size = bare_size(node) if slot.text == "rad" else 0.0
    if size >= FASTEST_BARE:
        rpm = f"rad/s, which is {size * 30 / pi:.4g} rpm"
        _warn(node, written(node), rpm, "rpm", "deg/s", "rad/s")


def bare_size(node: Node | None) -> float:
    """Of a number without a unit; 0 of all else."""
    text = node.value.strip() if isinstance(node, Text) else ""
    try:
        return abs(float(evaluate([parse(text, DIMENSIONLESS, {})], {})[0])) * is_literal(text)
    except ExpressionError:  # reported where it is read
        return 0.0


def _warn(node: Node, text: str, taken: str, *units: str) -> None:
    *others, last = (f"'{text} {unit}'" for unit in units)
    warnings.warn(
        f"{node.path} (line {node.line}): {text} is taken as {text} {taken}; write "
        f"{', '.join(others)} or {last}.",
        BaseparWarning,
        stacklevel=3,
    )


def judge_bare_angles(
    place: str, text: str, names: Mapping[str, Dimension | None], angles: Collection[str]
) -> str:
    """Warn of numbers of an expression that was read that are taken as rad.

    Returns
    -------
    str
        The mistake, where one is more than half a turn: what is computed by it would be lost.
        Else nothing.
    """
    for value in bare_angles(text, names, angles):
        number = f"{float(value):.6g}"
        said = (
            f"in {shown(text)} {number} is taken as {number} rad, which is "
            f"{float(value) * 180 / pi:.4g} deg; write '{number} deg' or '{number} rad'"
        )
        if abs(value) > pi:
            return said
        warnings.warn(f"{place}: {said}.", BaseparWarning, stacklevel=2)
    return ""
