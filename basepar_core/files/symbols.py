"""The sections `geometry` and `constants`: symbols with value, unit and bounds."""

import warnings
from collections.abc import Sequence

from basepar_core.errors import BaseparWarning, ExpressionError
from basepar_core.expressions import (
    DIMENSIONLESS,
    RESERVED,
    UNITS,
    ZERO,
    Expression,
    Unit,
    evaluate,
    parse_unit,
)
from basepar_core.mechanism import Symbol, beyond_bounds, unit_of_bounds

from . import remedies, yaml_nodes
from .mechanism_keys import CONSTANT, GEOMETRY_SYMBOL
from .reader import Reading
from .yaml_nodes import Fields, Node, Text, entry_at

#: A length so many times all others, which are this many at least, is in another unit than them.
_FAR, _FEW = 500, 3


def read_symbols(
    reading: Reading, geometry: Node | None, constants: Node | None
) -> tuple[tuple[Symbol, ...], tuple[Symbol, ...]]:
    """Symbols of the geometry and constants, each declared once; empty sections have none."""
    if isinstance(geometry, Text) and not geometry.value:
        geometry = None
    if isinstance(constants, Text) and not constants.value:
        constants = None
    what = "a mapping of symbols, such as lx: {value: 0.3, unit: m}"
    read = [reading.entries(geometry, what), reading.entries(constants, what)]
    if (geometry and read[0] is None) or (constants and read[1] is None):
        reading.unknown.add("symbols")
    free, fixed = (entries or {} for entries in read)
    for name in free.keys() & fixed.keys():
        line = geometry.lines[name] if isinstance(geometry, Fields) else None
        reading.mistake(fixed[name], f"{name!r} is declared in geometry too (line {line})")
    found = (
        tuple(_symbol(reading, name, node, True) for name, node in free.items()),
        tuple(_symbol(reading, n, node, False) for n, node in fixed.items() if n not in free),
    )
    if not reading.mistakes:
        _warn_of_lengths(geometry, found[0])
    reading.constants = {symbol.name: symbol.value for symbol in found[1]}
    reading.values = {symbol.name: symbol.value for symbol in (*found[0], *found[1])}
    return found


def _symbol(reading: Reading, name: str, node: Node, bounded: bool) -> Symbol:
    _check_name(reading, name, node)
    if not isinstance(node, Fields):
        reading.dimensions[name] = None
    remedy = ""
    if isinstance(node, Text):
        remedy = remedies.short_symbol(name, node, "m" if bounded else "kg")
    if remedy:
        reading.mistake(node, remedy)
    begun = reading.count
    entries = {} if remedy else reading.fields(node, GEOMETRY_SYMBOL if bounded else CONSTANT)
    if said := remedies.unit_apart(name, entries):
        reading.mistake(entries["value"], said)
        entries = {}
    if isinstance(node, Fields) and "value" in entries and "unit" not in entries:
        reading.unitless[name] = node
    unit = _unit(reading, entries.get("unit"))
    reading.dimensions[name] = unit.dimension if unit and entries else None
    slot = unit or DIMENSIONLESS
    reading.symbol_units.append(slot.text)
    before = reading.count
    value = reading.fixed(entries.get("value"), slot) if unit else ZERO
    value = reading.replaced.get(name, value)
    bounds = _bounds(reading, entries.get("bounds"), slot) if unit else None
    symbol = Symbol(name, value, slot.text, bounds)
    if reading.count > before or unit is None or "value" not in entries:
        reading.dubious.add(name)
    elif name not in reading.replaced and reading.count == begun:
        _warn_beyond_bounds(node, symbol)
    return symbol


def line_of_symbol(text: str, name: str, *sections: str) -> int | None:
    """The line of a geometry symbol, or of an entry elsewhere, in a mechanism file's text."""
    node, _ = yaml_nodes.read(text)
    symbol = entry_at(node, *(sections or ("geometry",)), name)
    return symbol.line if symbol else None


def _warn_of_lengths(geometry: Node | None, symbols: Sequence[Symbol]) -> None:
    """Say which length is in another unit than all others and far beyond them."""
    lengths = {one: abs(float(evaluate([one.value], {})[0])) for one in symbols if one.is_length}
    ranked = sorted((one for one in lengths if lengths[one]), key=lambda one: -lengths[one])
    if len(ranked) < _FEW or not isinstance(geometry, Fields):
        return
    longest, *others = ranked
    units = {one.unit for one in others}
    if lengths[longest] <= _FAR * lengths[others[0]] or len(units) > 1 or longest.unit in units:
        return
    (unit,), line = units, geometry.lines[longest.name]
    own = lengths[longest] / parse_unit(longest.unit or "1").size
    warnings.warn(
        f"geometry.{longest.name} (line {line}): {own:.6g} {longest.unit} is more than {_FAR} "
        f"times every other length, and these are in {unit}: write unit: {unit} if that is meant.",
        BaseparWarning,
        stacklevel=2,
    )


def _warn_beyond_bounds(node: Node, symbol: Symbol) -> None:
    """Say that a value is beyond its bounds, and in which unit these hold it."""
    beyond = beyond_bounds(symbol, symbol.value)
    if not beyond or symbol.bounds is None:
        return
    said = f"{node.path} (line {node.line}): its value {beyond}"
    if meant := unit_of_bounds(symbol):
        size = parse_unit(symbol.unit or "1").size
        ends = [f"{x / size:.6g} {meant.text}" for x in evaluate(symbol.bounds, {})]
        said += (
            f"; in {meant.text} they hold it: write bounds: [{', '.join(ends)}] if that is meant"
        )
    warnings.warn(f"{said}.", BaseparWarning, stacklevel=2)


def _check_name(reading: Reading, name: str, node: Node) -> None:
    if name in RESERVED and name != "ground":
        kind = "unit" if name in UNITS else "function"
        reading.mistake(node, f"{name!r} is a {kind}; choose another name for the symbol")
        reading.spoilt.add(name)
    elif not reading.name(node, name, "symbol"):
        reading.spoilt.add(name)


def _unit(reading: Reading, node: Node | None) -> Unit | None:
    """The unit, dimensionless where none is given, None where it is unreadable (reported)."""
    if node is None:
        return DIMENSIONLESS
    text = reading.text(node, "a unit such as m or kg/m")
    if text is None:
        return None
    try:
        return parse_unit(text)
    except ExpressionError as error:
        reading.mistake(node, error.message)
        return None


def _bounds(
    reading: Reading, node: Node | None, slot: Unit
) -> tuple[Expression, Expression] | None:
    pair = reading.items(node, 2, "a pair of bounds [lower, upper]")
    if pair is None:
        return None
    before = reading.count
    lower, upper = (reading.fixed(item, slot) for item in pair)
    if reading.count == before:
        low, high = map(float, evaluate([lower, upper], {}))
        if not low < high:
            assert node is not None
            said = f"write [{', '.join(remedies.written(item) for item in reversed(pair))}]"
            reading.mistake(node, f"the lower bound is not below the upper one; {said}")
    return lower, upper
