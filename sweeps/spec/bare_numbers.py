"""Numbers of a range that are meant otherwise: in another unit, as a count, as two ends."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from basepar_core.errors import BaseparWarning, ExpressionError
from basepar_core.expressions import evaluate, is_literal, parse, parse_unit
from basepar_core.files import Fields, Items, Node, Reading, Text, written
from basepar_core.mechanism import Mechanism, Symbol, meant_unit

from .plans import Lists

#: Steps of a range whose values are written out.
_MOST_STEPS = 20
#: A third number that is a count, not an end: as a whole, and so many times the second.
_FEWEST, _FAR = 3, 3
_UNIT = re.compile(r"[-+0-9.eE/]+ *([A-Za-z]+)")


def check_unit(reading: Reading, node: Node, mechanism: Mechanism, name: str) -> None:
    """Bare numbers that all lie outside the bounds, and within them in another unit."""
    (symbol,) = (one for one in mechanism.geometry if one.name == name)
    parts = [node.entries.get(key) for key in ("from", "to")] if isinstance(node, Fields) else []
    parts = list(node.items) if isinstance(node, Items) else parts
    texts = [one.value.strip() for one in parts if isinstance(one, Text)]
    if symbol.bounds is None or not texts:
        return
    if not all(map(is_literal, texts)):
        _check_mixed(reading, node, symbol, texts)
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


def check_count(reading: Reading, node: Node, mechanism: Mechanism, name: str) -> None:
    """A list such as [0.2, 0.6, 5] of which the last is most likely a number of values."""
    (symbol,) = (one for one in mechanism.geometry if one.name == name)
    texts = (
        [one.value.strip() for one in node.items if isinstance(one, Text)]
        if isinstance(node, Items)
        else []
    )
    if symbol.bounds is None or len(texts) != 3 or not texts[2].isdigit() or int(texts[2]) < 2:
        return
    unit = parse_unit(symbol.unit or "1")
    try:
        *ends, last = (float(x) for x in evaluate([parse(text, unit, {}) for text in texts], {}))
    except ExpressionError:  # reported where the numbers are read
        return
    low, high = (float(x) for x in evaluate(symbol.bounds, {}))
    if all(low <= x <= high for x in ends) and not low <= last <= high:
        reading.mistake(
            node,
            f"{texts[2]} is beyond the bounds of {name}; for {texts[2]} values from {texts[0]} to "
            f"{texts[1]} write {{from: {texts[0]}, to: {texts[1]}, count: {texts[2]}}}",
        )


def range_by_steps(node: Items, choices: bool) -> str:
    """What to write for a range such as [40, 60, 5], with steps or a count; "" for other lists."""
    if len(node.items) != 3 or not all(isinstance(one, Text) for one in node.items):
        return ""
    texts = [written(one) for one in node.items]
    try:
        low, high, step = map(Fraction, texts)
    except (ValueError, ZeroDivisionError):
        return ""
    told = f"a range is [low, high]: write [{texts[0]}, {texts[1]}]"
    if low < high and _FEWEST <= step == int(step) and step > _FAR * high:
        return f"{told}; `{'trials' if choices else 'candidates'}` says how many designs"
    if not (low < high and 0 < step < high):
        return ""
    count = _count_of_steps(texts)
    if choices and 0 < count <= _MOST_STEPS + 1:
        values = (f"{float(low + k * step):.12g}" for k in range(count))
        told += f", or in steps of {texts[2]} {{choices: [{', '.join(values)}]}}"
    return told


def warn_of_step(node: Node) -> None:
    """Ask about a grid's list such as [0.2, 0.6, 0.05] of which the last is most likely a step."""
    texts = [written(one) for one in node.items] if isinstance(node, Items) else []
    if count := _count_of_steps(texts):
        low, high, step = texts
        warnings.warn(
            f"{node.path} (line {node.line}): a grid takes these three values; for those from "
            f"{low} to {high} in steps of {step} write {{from: {low}, to: {high}, count: {count}}}"
            ", else write them in order.",
            BaseparWarning,
            stacklevel=2,
        )


def _count_of_steps(texts: Sequence[str]) -> int:
    """How many values low, high and a step give; 0 of other numbers."""
    try:
        low, high, step = map(Fraction, texts)
    except (ValueError, ZeroDivisionError):  # others than three plain numbers
        return 0
    if not low < high or not 0 < step < high:
        return 0
    steps = (high - low) / step
    return int(steps) + 1 if steps.denominator == 1 and steps >= 2 else 0


def warn_of_corners(variables: Node, lists: Lists, mechanism: Mechanism) -> None:
    """Say that a grid has the ends of its lists alone where each looks like a range.

    That is two values that span a third of the symbol's bounds, or of which one is twice the
    other, or, of several symbols, with the file's own value between them; nearer ones, and with
    or without (0), may be meant as two.
    """
    symbols = {one.name: one for one in mechanism.geometry}
    nodes = variables.entries if isinstance(variables, Fields) else {}
    lines = [
        f"{name}: {{from: {written(node.items[0])}, to: {written(node.items[1])}, count: 5}}"
        for name, values in lists
        if isinstance(node := nodes[name], Items)
        and _spans(values, symbols[name], mechanism.nominal[name] if len(lists) > 1 else None)
    ]
    if len(lines) < len(lists):
        return
    ends = "2 ends" if len(lines) == 1 else f"{2 ** len(lines)} corners"
    warnings.warn(
        f"{variables.path} (line {variables.line}): a grid takes the values of its lists, here "
        f"the {ends} alone; for values between write {', '.join(lines)}.",
        BaseparWarning,
        stacklevel=2,
    )


def _spans(values: Sequence[float], symbol: Symbol, nominal: float | None) -> bool:
    """Whether values (SI) look like the two ends of a symbol's range."""
    if len(values) != 2 or not symbol.unit or not values[0] < values[1]:
        return False
    low, high = values
    if nominal is not None and low < nominal < high:
        return True
    if low * high > 0 and high - low >= min(abs(low), abs(high)):
        return True
    ends = [float(x) for x in evaluate(symbol.bounds or (), {})]
    return bool(ends) and high - low >= (ends[1] - ends[0]) / 3


def _check_mixed(reading: Reading, node: Node, symbol: Symbol, texts: Sequence[str]) -> None:
    """Bare numbers beside others with a unit, beyond the bounds as they are and not in that."""
    own = parse_unit(symbol.unit or "1")
    units = {match[1] for text in texts if (match := _UNIT.fullmatch(text))}
    bare = [text for text in texts if is_literal(text)]
    if len(units) != 1 or not bare or symbol.bounds is None:
        return
    (unit,) = units
    try:
        low, high = (float(x) for x in evaluate(symbol.bounds, {}))
        here = [float(x) for x in evaluate([parse(text, own, {}) for text in bare], {})]
        there = [float(x) for x in evaluate([parse(f"{x} {unit}", own, {}) for x in bare], {})]
    except ExpressionError:  # reported where the numbers are read
        return
    if all(low <= x <= high for x in there) and not any(low <= x <= high for x in here):
        reading.mistake(
            node,
            f"{', '.join(bare)} without a unit is taken as {own.text}, beyond the bounds of "
            f"{symbol.name}: write {written(_with_unit(node, unit))}",
        )


def _with_unit(node: Node, unit: str) -> Node:
    """A list, or the ends of a range, with a unit behind each number."""
    if isinstance(node, Text):
        bare = is_literal(node.value.strip())
        return replace(node, value=f"{node.value.strip()} {unit}") if bare else node
    if isinstance(node, Items):
        return replace(node, items=tuple(_with_unit(one, unit) for one in node.items))
    assert isinstance(node, Fields)
    entries = {
        key: _with_unit(one, unit) if key in ("from", "to") else one
        for key, one in node.entries.items()
    }
    return replace(node, entries=entries)
