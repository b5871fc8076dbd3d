"""Numbers that are meant in another unit than the one they are read in."""

from basepar_core.expressions import DIMENSIONLESS, UNITS, Unit, evaluate, parse_unit

from .mechanism import Symbol


def unit_of_bounds(symbol: Symbol) -> Unit | None:
    """The unit in which a symbol's bounds hold its value, which they do not in its own.

    None where there is no such unit, or they hold it.
    """
    if symbol.bounds is None:
        return None
    low, here, high = map(float, evaluate([symbol.bounds[0], symbol.value, symbol.bounds[1]], {}))
    if low <= here <= high:
        return None
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
