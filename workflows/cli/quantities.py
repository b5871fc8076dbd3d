"""Numbers of the command line, with or without a unit."""

import warnings
from collections.abc import Sequence
from math import pi

from basepar_core.errors import BaseparWarning, ExpressionError, UsageError
from basepar_core.expressions import evaluate, is_literal, parse, parse_unit
from basepar_core.files import FASTEST_BARE


def quantity(text: str, unit: str, option: str, beside: Sequence[str] = ()) -> float:
    """A number of the command line in SI; a bare one is in `unit`, which is SI.

    A bare angle of more than a turn is warned of as rad; of more than two it is rejected, with
    what to write for all numbers of the option (`beside`, this one among them).

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
            f"{option} {text} is {text} rad, {abs(value) / (2 * pi):.1f} turns; write "
            f"{_all_in('deg', beside or [text])}, or {_all_in('rad', beside or [text])}"
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


def _all_in(unit: str, texts: Sequence[str]) -> str:
    plain = [text.strip() for text in texts]
    return " ".join(f"{text}{unit}" if is_literal(text) else text for text in plain)
