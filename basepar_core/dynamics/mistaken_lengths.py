"""A length that does not fit the stated values: with another one the loops close as stated."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from basepar_core.expressions import LENGTH, Number, parse_unit
from basepar_core.mechanism import Symbol

from .mistaken_entries import MistakenEntry
from .trials import Trial

#: With the length that fits, values are met so many times nearer, and to this many rad or shares
#: of a length: values of whole degrees are.
_BETTER, _MET = 10.0, 0.01


def explaining(own: Trial) -> MistakenEntry | None:
    """The one symbol of the geometry with another length of which all that is stated is met."""
    most = min(own.farthest[1] / _BETTER, _MET)
    found = []
    for symbol in own.mechanism.geometry:
        is_length = symbol.unit and parse_unit(symbol.unit).dimension == LENGTH
        if is_length and symbol.name not in own.mechanism.roots:
            value = _fitting(own, symbol)
            trial = _with(own, symbol, value)
            if value > 0 and trial.gap <= own.gap / _BETTER and trial.farthest[1] <= most:
                found.append((symbol, value))
    if len(found) != 1:
        return None
    symbol, value = found[0]
    size = parse_unit(symbol.unit).size
    numbers = (
        own.mechanism.nominal[symbol.name] / size,
        next(_rounded(own, symbol, value)) / size,
    )
    written, meant = (f"{float(x):.6g} {symbol.unit}" for x in numbers)
    return MistakenEntry(f"geometry.{symbol.name}", written, meant, 0)


def _fitting(own: Trial, symbol: Symbol) -> float:
    """The length with which the gaps at stated values are least, as far as they are linear in it;
    zero where it changes nothing."""
    here = own.mechanism.nominal[symbol.name]
    one, two = (trial.gaps for trial in (own, _with(own, symbol, 2 * here)))
    if one.shape != two.shape or not np.any(slope := (two - one) / here):
        return 0.0
    return float(here - slope @ one / (slope @ slope))


def _rounded(own: Trial, symbol: Symbol, value: float) -> Iterator[float]:
    """The length with so few digits that it fits about as well; at last as it is."""
    least = _with(own, symbol, value).farthest[1]
    for digits in (1, 2, 3):
        short = float(f"{value:.{digits}g}")
        if _with(own, symbol, short).farthest[1] <= min(2 * least, _MET):
            yield short
    yield value


def _with(own: Trial, symbol: Symbol, value: float) -> Trial:
    changed = replace(symbol, value=Number(Fraction(value)))
    symbols = tuple(changed if one is symbol else one for one in own.mechanism.geometry)
    return own.of(replace(own.mechanism, geometry=symbols))
