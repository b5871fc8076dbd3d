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
    is_literal,
    parse,
    parse_unit,
)
from basepar_core.mechanism import Mechanism, Symbol, beyond_bounds, meant_unit
from basepar_core.symbolic import roots

from .mechanism_file import loads, recorded_motions


def read_values(mechanism: Mechanism, texts: Mapping[str, str]) -> dict[str, Expression]:
    """Values as files write them, SI: numbers with units, bare ones in the symbol's own unit.

    Raises
    ------
    UsageError
        No symbol or constant of this name, one that follows from a relation, or no number of its
        dimension.
    """
    symbols = {one.name: one for one in (*mechanism.geometry, *mechanism.constants)}
    found = {}
    for name, text in texts.items():
        if name not in symbols:
            hint = did_you_mean(name, symbols) or f"; there are {', '.join(symbols) or 'none'}."
            raise UsageError(f"{mechanism.name!r} has no symbol {name!r}{hint}", [name])
        if name in mechanism.roots:
            raise UsageError(
                f"{name!r} follows from its relation; give the symbols it depends on.", [name]
            )
        try:
            found[name] = parse(text, parse_unit(symbols[name].unit or "1"), {})
        except ExpressionError as error:
            here = in_its_unit(symbols[name], mechanism.nominal[name])
            told = f'{name}={text}: {error.message.rstrip(".")}. The file has {name}="{here}".'
            raise UsageError(told.replace("?.", "?"), [name]) from None
        _warn_beyond_bounds(symbols[name], found[name], text)
    return found


def _warn_beyond_bounds(symbol: Symbol, value: Expression, text: str) -> None:
    beyond = beyond_bounds(symbol, value)
    if not beyond:
        return
    (here,) = evaluate([value], {})
    said = f"{symbol.name} = {beyond}"
    if is_literal(text) and (unit := meant_unit(symbol, here, here)) is not None:
        said += (
            f"; in {unit.text} it lies within, and bare numbers are in {symbol.unit}: write "
            f"{symbol.name}={text.strip()}{unit.text} if that is meant"
        )
    warnings.warn(f"{said}.", BaseparWarning, stacklevel=3)


def with_values(mechanism: Mechanism, values: Mapping[str, Expression]) -> Mechanism:
    """The mechanism as a file with these values states it; algebraic numbers follow them.

    The file's text is read again: constants stand in motions, assembly and noise by value. Its
    name says which values are not the file's.

    Parameters
    ----------
    values
        SI, by the name of a symbol or constant: numbers.

    Raises
    ------
    UsageError
        A root does not stay real on the way from the file's values.
    FileError
        What the text allows with the file's values, and not with these.
    """
    numbers = dict(zip(values, evaluate(list(values.values()), {}), strict=True))
    near = {name: float(root) for name, root in roots(mechanism, numbers).items()}
    if lost := [name for name, root in near.items() if root != root]:
        raise UsageError(
            f"{', '.join(lost)} has no real root at these values: choose others.", lost
        )
    at = {**values, **{name: Number(Fraction(root)) for name, root in near.items()}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BaseparWarning)  # of the text, which was read before
        other = loads(mechanism.source, mechanism.name, recorded_motions(mechanism), at)
    shown = (one for one in (*other.geometry, *other.constants) if one.name in values)
    changed = ", ".join(f"{one.name} = {in_its_unit(one, numbers[one.name])}" for one in shown)
    return replace(other, source="", name=f"{other.name} at {changed}" if changed else other.name)


def in_its_unit(symbol: Symbol, value: float) -> str:
    """A symbol's value, which is SI, as the command line takes it: `0.3 m`."""
    return f"{value / parse_unit(symbol.unit or '1').size:.6g} {symbol.unit}".strip()
