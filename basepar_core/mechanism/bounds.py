"""Numbers that are meant in another unit than the one they are read in."""

from basepar_core.expressions import (
    DIMENSIONLESS,
    UNITS,
    Expression,
    Unit,
    evaluate,
    parse_unit,
)

from .mechanism import Symbol


def beyond_bounds(symbol: Symbol, value: Expression) -> str:
    """`60 mm is beyond its bounds, 40 to 50 mm`; nothing where it is within, or there are none."""
    if symbol.bounds is None:
        return ""
    low, here, high = evaluate([symbol.bounds[0], value, symbol.bounds[1]], {})
    if low <= here <= high:
        return ""
    size = parse_unit(symbol.unit or "1").size
    unit = f" {symbol.unit}".rstrip()
    ends = f"{low / size:.6g} to {high / size:.6g}{unit}"
    return f"{here / size:.6g}{unit} is beyond its bounds, {ends}"


def unit_of_bounds(symbol: Symbol) -> Unit | None:
    """The unit in which a symbol's bounds hold its value; None where there is none."""
    if symbol.bounds is None:
        return None
    low, here, high = map(float, evaluate([symbol.bounds[0], symbol.value, symbol.bounds[1]], {}))
    unit = parse_unit(symbol.unit) if symbol.unit else DIMENSIONLESS
    for other in UNITS.values():
        scale = other.size / unit.size
        alike = (other.dimension, other.is_angle) == (unit.dimension, unit.is_angle)
        if alike and low * scale <= here <= high * scale:
            return other
    return None


def meant_unit(symbol: Symbol, least: float, most: float) -> Unit | None:
    """The unit in which numbers lie within a symbol's bounds that lie wholly outside in its own.

    `least` and `most` are SI, read in the symbol's unit. None where there is no such unit, or
    they are not wholly outside.
    """
    if symbol.bounds is None:
        return None
    low, high = map(float, evaluate(symbol.bounds, {}))
    if most >= low and least <= high:
        return None
    unit = parse_unit(symbol.unit) if symbol.unit else DIMENSIONLESS
    slack = 1e-12 * max(abs(low), abs(high))  # 700 mm may be one rounding off 0.7
    for other in UNITS.values():
        scale = other.size / unit.size
        alike = (other.dimension, other.is_angle) == (unit.dimension, unit.is_angle)
        if alike and scale != 1 and low - slack <= least * scale and most * scale <= high + slack:
            return other
    return None
