"""Numbers of the command line, with or without a unit."""

import warnings
from math import pi

from basepar_core.errors import BaseparWarning, ExpressionError, UsageError
from basepar_core.expressions import evaluate, is_literal, parse, parse_unit
from basepar_core.files import FASTEST_BARE


def quantity(text: str, unit: str, option: str) -> float:
    """A number of the command line in SI; a bare one is in `unit`, which is SI.

    A bare angle of more than a turn is warned of as rad; of more than two it is rejected.

    Raises
    ------
    UsageError
        No number, or of another unit.
    """
    text = text.strip()
    try:
        value = float(evaluate([parse(text, parse_unit(unit), {})], {})[0])
    except ExpressionError as error:
        raise UsageError(f"{option} {text}: {error.message}", [option]) from None
    if unit == "rad" and is_literal(text) and abs(value) > 2 * pi:
        said = (
            f"{option} {text} is {text} rad, {abs(value) / (2 * pi):.1f} turns; write {text}deg, "
            f"or {text}rad"
        )
        if abs(value) > 4 * pi + 1e-6:
            raise UsageError(f"{said} if that is meant.", [option])
        warnings.warn(f"{said}.", BaseparWarning, stacklevel=2)
    if unit == "rad/s" and is_literal(text) and abs(value) >= FASTEST_BARE:
        warnings.warn(
            f"{option} {text} is {text} rad/s, {abs(value) * 30 / pi:.4g} rpm; write {text}deg/s, "
            f"{text}rpm or {text}rad/s.",
            BaseparWarning,
            stacklevel=2,
        )
    return value
