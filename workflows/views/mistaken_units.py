"""A length that looks meant in another unit, as plain facts and in the terminal."""

from collections.abc import Mapping
from typing import Any

from basepar_core.dynamics import MistakenUnit
from basepar_core.expressions import parse_unit
from basepar_core.files import line_of_symbol
from basepar_core.mechanism import Mechanism

from . import terminal


def found(it: Mechanism, mistaken: object) -> dict[str, Any] | None:
    """The symbol, its line where the file has one, its number and unit, and the unit meant."""
    if not isinstance(mistaken, MistakenUnit):
        return None
    symbol = mistaken.symbol
    return {
        "symbol": symbol.name,
        "line": line_of_symbol(it.source, symbol.name),
        "value": it.nominal[symbol.name] / parse_unit(symbol.unit).size,
        "unit": symbol.unit,
        "unit_meant": mistaken.unit,
        "agrees": mistaken.value,
    }


def show(mistaken: Mapping[str, Any] | None) -> None:
    """A line for people, where there is such a symbol."""
    if mistaken is None:
        return
    line = f" (line {mistaken['line']})" if mistaken["line"] else ""
    terminal.out.print(
        f"geometry.{mistaken['symbol']}{line}: {terminal.number(mistaken['value'])} "
        f"{mistaken['unit']}; in {mistaken['unit_meant']} {mistaken['agrees']} is as stated: "
        f"write unit: {mistaken['unit_meant']}",
        style="yellow",
    )
