"""A mechanism with other values of its symbols and constants than its file has."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from basepar_core.errors import BaseparWarning, ExpressionError, UsageError
from basepar_core.expressions import (
    Expression,
    Number,
    did_you_mean,
    evaluate,
    parse,
    parse_unit,
)
from basepar_core.mechanism import Mechanism, Symbol
from basepar_core.symbolic import polynomial, roots

from .reader import substitute
from .relations import root_near


def read_values(mechanism: Mechanism, texts: Mapping[str, str]) -> dict[str, Expression]:
    """Values as files write them, SI: numbers with units, bare ones in the symbol's own unit.

    Raises
    ------
    UsageError
        No symbol or constant of this name, one that follows from a relation, or no number of its
        dimension.
    """
    symbols = {one.name: one for one in (*mechanism.geometry, *mechanism.constants)}
    followers = {relation.symbol for relation in mechanism.relations}
    found = {}
    for name, text in texts.items():
        if name not in symbols:
            hint = did_you_mean(name, symbols) or f"; there are {', '.join(symbols) or 'none'}"
            raise UsageError(f"{mechanism.name!r} has no symbol {name!r}{hint}.", [name])
        if name in followers:
            raise UsageError(
                f"{name!r} follows from its relation; give the symbols it depends on.", [name]
            )
        try:
            found[name] = parse(text, parse_unit(symbols[name].unit or "1"), {})
            _warn_beyond_bounds(symbols[name], found[name])
        except ExpressionError as error:
            raise UsageError(f"{name}={text}: {error.message}", [name]) from None
    return found


def _warn_beyond_bounds(symbol: Symbol, value: Expression) -> None:
    if symbol.bounds is None:
        return
    least, here, most = evaluate([symbol.bounds[0], value, symbol.bounds[1]], {})
    if not least <= here <= most:
        size = parse_unit(symbol.unit or "1").size
        warnings.warn(
            f"{symbol.name} = {here / size:.6g} {symbol.unit} is beyond its bounds, "
            f"{least / size:.6g} to {most / size:.6g}.",
            BaseparWarning,
            stacklevel=3,
        )


def with_values(mechanism: Mechanism, values: Mapping[str, Expression]) -> Mechanism:
    """The mechanism with these values, and its algebraic numbers at the roots that follow them.

    Parameters
    ----------
    values
        SI, by the name of a symbol or constant: numbers.

    Raises
    ------
    UsageError
        A root does not stay real on the way from the file's values.
    """

    def changed(symbols: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        return tuple(replace(one, value=values.get(one.name, one.value)) for one in symbols)

    other = replace(
        mechanism,
        geometry=changed(mechanism.geometry),
        constants=changed(mechanism.constants),
        source="",
    )
    near = roots(mechanism, {name: other.nominal[name] for name in values})
    free = [one for one in (*other.geometry, *other.constants) if not one.is_angle]
    at = {one.name: one.value for one in (*other.geometry, *other.constants)}
    exact = {}
    for relation in mechanism.relations:
        if relation.symbol not in near:
            continue
        others = [one for one in free if one.name != relation.symbol]
        coefficients, _ = polynomial(others, relation)
        start = float(near[relation.symbol])
        numbers = [substitute(entry, at) for entry in coefficients]
        root = root_near(numbers, Number(Fraction(start))) if start == start else None
        if root is None:
            raise UsageError(
                f"{relation.symbol!r} has no real root at these values: choose others.",
                [relation.symbol],
            )
        exact[relation.symbol] = root
    geometry = (replace(one, value=exact.get(one.name, one.value)) for one in other.geometry)
    return replace(other, geometry=tuple(geometry))
