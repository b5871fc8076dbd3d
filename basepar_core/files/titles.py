"""Titles of columns with the unit of their numbers in brackets, `A [deg]`."""

import re

from basepar_core.errors import ExpressionError
from basepar_core.expressions import Unit, parse_unit

#: What of a title is read.
_LENGTH = 200
_TITLE = re.compile(r"\s*([^\[\]]+?)\s*(?:\[([^\]]*)\])?\s*\Z")


def name_and_unit(title: str) -> tuple[str, str]:
    """`A` and `deg` of `A [deg]`; the title itself and nothing where it has no unit."""
    match = _TITLE.match(title[:_LENGTH])
    return (match[1], match[2] or "") if match else (title, "")


def stated_unit(text: str, slot: Unit) -> Unit:
    """The unit in a title's brackets; `slot`, of SI, where there is none.

    Raises
    ------
    ExpressionError
        It is no unit, or of something else than `slot` is.
    """
    if not text.strip():
        return slot
    try:
        unit = parse_unit(text)
    except ExpressionError as error:
        raise ExpressionError(f"unit [{text}]: {error.message}") from None
    if unit.dimension != slot.dimension:
        wanted = slot.text or "no unit"
        raise ExpressionError(f"is in [{text}], but {wanted} or a multiple is needed")
    return unit
