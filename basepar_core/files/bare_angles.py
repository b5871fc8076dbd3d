"""Warnings of angles and lengths that are given without a unit, and so taken as SI."""

import warnings
from collections.abc import Collection, Mapping
from fractions import Fraction
from math import pi

from basepar_core.errors import BaseparWarning
from basepar_core.expressions import (
    DIMENSIONLESS,
    Dimension,
    Unit,
    bare_angles,
    is_literal,
    parse,
    shown,
)

from .yaml_nodes import Items, Node, Text

#: m per turn; long leads of ball screws are a tenth of it.
_LONGEST_PITCH = 0.5
#: m; few bodies are as long, and those with lengths in mm have most above it.
_LONGEST = 10


def warn_of_degrees(node: Node, text: str) -> None:
    """Say that a bare number is taken as rad where it is more than a turn."""
    if abs(Fraction(parse(text, DIMENSIONLESS, {}).value)) > 2 * pi:  # type: ignore[union-attr]
        warnings.warn(
            f"{node.path} (line {node.line}): {text} is taken as {text} rad, more than a "
            f"turn; write '{text} deg' or '{text} rad'.",
            BaseparWarning,
            stacklevel=2,
        )


def warn_of_millimetres(node: Node | None, slot: Unit) -> None:
    """Say which bare numbers of a point are taken as m where they are longer than most bodies."""
    items = node.items if isinstance(node, Items) and slot.text == "m" else ()
    texts = [one.value.strip() for one in items if isinstance(one, Text)]
    for text in filter(is_literal, texts):
        if abs(float(Fraction(text))) >= _LONGEST:
            assert node is not None
            warnings.warn(
                f"{node.path} (line {node.line}): {text} is taken as {text} m; write '{text} mm' "
                f"or '{text} m'.",
                BaseparWarning,
                stacklevel=2,
            )


def warn_of_metres(node: Node) -> None:
    """Say that a bare pitch is taken as m per turn where it is longer than screws have it."""
    text = node.value.strip() if isinstance(node, Text) else ""
    if is_literal(text) and abs(float(Fraction(text))) > _LONGEST_PITCH:
        warnings.warn(
            f"{node.path} (line {node.line}): {text} is taken as {text} m per turn; write "
            f"'{text} mm' or '{text} m'.",
            BaseparWarning,
            stacklevel=2,
        )


def warn_of_bare_angles(
    place: str, text: str, names: Mapping[str, Dimension | None], angles: Collection[str]
) -> None:
    """Say which numbers of an expression that was read are taken as rad."""
    for value in bare_angles(text, names, angles):
        number = f"{float(value):.6g}"
        warnings.warn(
            f"{place}: in {shown(text)} {number} is taken as {number} rad, which is "
            f"{float(value) * 180 / pi:.4g} deg; write '{number} deg' or '{number} rad'.",
            BaseparWarning,
            stacklevel=2,
        )
