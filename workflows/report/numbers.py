"""Numbers as people read them: four digits, a true minus, powers of ten."""

import math

from markupsafe import Markup

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ORDINARY = (1e-3, 1e5)


def digits(value: float, count: int = 4) -> str:
    """A number with so many significant digits: `0.2500`, `16,590`, `1.013 × 10⁷`."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{count - 1}e}")
    exponent = math.floor(math.log10(abs(rounded)))
    if _ORDINARY[0] <= abs(rounded) < _ORDINARY[1]:
        return f"{rounded:,.{max(count - 1 - exponent, 0)}f}".replace("-", "−")
    mantissa, _, _ = f"{value:.{count - 1}e}".partition("e")
    return f"{mantissa} × {power(exponent)}".replace("-", "−")


def power(exponent: int) -> str:
    """10ⁿ."""
    return f"10{str(exponent).translate(_RAISED)}"


def brief(value: float) -> str:
    """As few digits as say it, at most four: `0.25`, `7`."""
    text = digits(value)
    return text.rstrip("0").rstrip(".") if "." in text and "×" not in text else text


def counted(value: float, unit: str = "") -> str:
    """A number; a whole one without a unit is a count: `5`."""
    is_count = not unit and math.isfinite(value) and value == round(value) and abs(value) < 1e6
    return f"{value:,.0f}" if is_count else digits(value)


def data(value: float, shown: str | None = None) -> Markup:
    """A number for people around the same number, in full, for programs."""
    whole = repr(value) if isinstance(value, int) else repr(float(value))
    if shown is None:
        shown = f"{value:,}" if isinstance(value, int) else digits(value)
    return Markup('<data value="{}">{}</data>').format(whole, shown)


def share(part: int, whole: int) -> str:
    """Percent, never rounded to 0 or 100 when it is neither."""
    percent = 100 * part / whole if whole else 0.0
    if 0 < percent < 0.1:
        return "< 0.1 %"
    if 99.9 < percent < 100:
        return "> 99.9 %"
    return f"{percent:.1f} %"
