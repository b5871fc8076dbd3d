"""Elements of XML with numbers that read back as they are."""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Comment, Element, SubElement, indent, tostring

import numpy as np

from basepar_core.arrays import Array
from basepar_core.texts import visible

__all__ = ["Element", "child", "comments", "number", "rotation", "row", "rpy", "text_of"]


def number(x: float) -> str:
    """The shortest decimal that is this number (at most 17 digits)."""
    text = repr(float(x) + 0.0)
    return text.removesuffix(".0")


def row(values: Iterable[float]) -> str:
    """Numbers with spaces between."""
    return " ".join(map(number, values))


def rpy(R: Array) -> Sequence[float]:
    """Roll, pitch and yaw of a rotation: about the fixed x, then y, then z axis, rad.

    Yaw and pitch from the first column; roll from what they leave, so that it makes up for their
    rounding where the pitch is near a right angle.
    """
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return float(roll), float(pitch), float(yaw)


def rotation(roll: float, pitch: float, yaw: float) -> Array:
    """The rotation of these angles: `rpy` backwards."""
    (a, b, c), (x, y, z) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [c * b, c * y * x - z * a, c * y * a + z * x],
            [z * b, z * y * x + c * a, z * y * a - c * x],
            [-y, b * x, b * a],
        ]
    )


def child(parent: Element, tag: str, text: str = "", /, **attributes: str) -> Element:
    """A new element in another; an attribute `class_` is called `class`."""
    made = SubElement(parent, tag, {k.rstrip("_"): visible(v) for k, v in attributes.items()})
    made.text = text or None
    return made


def comments(root: Element, lines: Iterable[str]) -> None:
    """Comments at an element's beginning."""
    for k, line in enumerate(lines):
        plain = visible(line).replace("--", "- -").rstrip("-")
        root.insert(k, Comment(f" {plain} "))


def text_of(root: Element) -> str:
    """The file's text."""
    indent(root)
    return '<?xml version="1.0"?>\n' + tostring(root, encoding="unicode") + "\n"
