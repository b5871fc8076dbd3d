"""Bare numbers of a range that are meant in another unit than the symbol's."""

from dataclasses import replace

from basepar_core.errors import ExpressionError
from basepar_core.expressions import evaluate, is_literal, parse, parse_unit
from basepar_core.files import Fields, Items, Node, Reading, Text, written
from basepar_core.mechanism import Mechanism, meant_unit


def check_unit(reading: Reading, node: Node, mechanism: Mechanism, name: str) -> None:
    """Bare numbers that all lie outside the bounds, and within them in another unit."""
    (symbol,) = (one for one in mechanism.geometry if one.name == name)
    parts = [node.entries.get(key) for key in ("from", "to")] if isinstance(node, Fields) else []
    parts = list(node.items) if isinstance(node, Items) else parts
    texts = [one.value.strip() for one in parts if isinstance(one, Text)]
    if symbol.bounds is None or not texts or not all(map(is_literal, texts)):
        return
    unit = parse_unit(symbol.unit or "1")
    try:
        ends = [float(x) for x in evaluate([parse(text, unit, {}) for text in texts], {})]
    except ExpressionError:  # reported where the numbers are read
        return
    meant = meant_unit(symbol, min(ends), max(ends))
    if meant is None:
        return
    low, high = (float(x) / unit.size for x in evaluate(symbol.bounds, {}))
    ways = [
        f"{written(_with_unit(node, one.text))} if {one.text} is meant" for one in (meant, unit)
    ]
    reading.mistake(
        node,
        f"wholly outside the bounds {low:g} … {high:g} {unit.text} of {name}, whose bare numbers "
        f"are in {unit.text}: write {', '.join(ways)}",
    )


def _with_unit(node: Node, unit: str) -> Node:
    """A list, or the ends of a range, with a unit behind each number."""
    if isinstance(node, Text):
        return replace(node, value=f"{node.value.strip()} {unit}")
    if isinstance(node, Items):
        return replace(node, items=tuple(_with_unit(one, unit) for one in node.items))
    assert isinstance(node, Fields)
    entries = {
        key: _with_unit(one, unit) if key in ("from", "to") else one
        for key, one in node.entries.items()
    }
    return replace(node, entries=entries)
