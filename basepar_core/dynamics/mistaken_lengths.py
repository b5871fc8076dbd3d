"""A length that does not fit the stated values: with another one, or with the value of another
symbol exchanged for its own, the loops close as stated."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number, evaluate, parse_unit
from basepar_core.mechanism import Symbol

from .mistaken_entries import MistakenEntry, advising
from .trials import ROUGH, Trial, closing

#: With the length that fits, values are met so many times nearer, and to this many rad or shares
#: of a length: values of whole degrees are.
_BETTER, _MET = 10.0, 0.01
#: Exchanged values of two lengths are no fit: they may be met to this.
_EXCHANGED = 0.05


def explaining(own: Trial) -> MistakenEntry | None:
    """The one symbol of the geometry with another length of which all that is stated is met."""
    most = min(own.farthest[1] / _BETTER, _MET)
    found = []
    for symbol in _lengths(own):
        value = _fitting(own, symbol)
        if value <= 0:
            continue
        trial = _with(own, symbol, value)
        if trial.gap <= own.gap / _BETTER and trial.farthest[1] <= most:
            found.append((symbol, value))
    if len(found) != 1:
        return None
    symbol, value = found[0]
    entry = _other_value(own, symbol, _with(own, symbol, next(_rounded(own, symbol, value))))
    return entry if entry.meant != entry.written else None


def exchanged(own: Trial) -> MistakenEntry | None:
    """The one pair of lengths with whose values exchanged all that is stated is met."""
    off = own.farthest[1]
    if off < ROUGH:
        return None
    found = closing(_exchanges(own), own.gap / 2, min(off / _BETTER, _EXCHANGED))
    if len(found) != 1:
        return None
    (one, two), trial = found[0]
    bounded = any(_leaves_bounds(symbol, trial) for symbol in (one, two))
    return replace(
        _other_value(own, one, trial),
        partner=_other_value(own, two, trial),
        why="their bounds are to be exchanged as well" if bounded else "",
    )


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of open loops, with the lengths that are exchanged, if there are."""
    found = exchanged(own) if own.tells else None
    return advising(error, found) if found else error


def _exchanges(own: Trial) -> Iterator[tuple[tuple[Symbol, Symbol], Trial]]:
    """Pairs of different lengths in one unit, and the mechanism with their values exchanged."""
    values = own.mechanism.nominal
    for one, two in combinations(_lengths(own), 2):
        if one.unit == two.unit and values[one.name] != values[two.name]:
            yield (one, two), _with(_with(own, one, values[two.name]), two, values[one.name])


def _lengths(own: Trial) -> list[Symbol]:
    """Symbols of the geometry that are lengths, but for those that others determine."""
    it = own.mechanism
    return [one for one in it.geometry if one.is_length and one.name not in it.roots]


def _other_value(own: Trial, symbol: Symbol, trial: Trial) -> MistakenEntry:
    size = parse_unit(symbol.unit).size
    written, meant = (
        f"{float(one.mechanism.nominal[symbol.name] / size):.6g} {symbol.unit}"
        for one in (own, trial)
    )
    return MistakenEntry(f"geometry.{symbol.name}", written, meant)


def _leaves_bounds(symbol: Symbol, trial: Trial) -> bool:
    if symbol.bounds is None:
        return False
    low, high = evaluate(symbol.bounds, {})
    return not low <= trial.mechanism.nominal[symbol.name] <= high


def _fitting(own: Trial, symbol: Symbol) -> float:
    """The length with which the gaps at stated values are least, as far as they are linear in it;
    zero where it changes nothing, or bodies cannot be laid out."""
    here = own.mechanism.nominal[symbol.name]
    step = abs(here) or 1.0  # an eccentricity may be zero
    longer = _with(own, symbol, here + step)
    if not longer.concerns:
        return 0.0
    one, two = own.gaps, longer.gaps
    if one.shape != two.shape or not np.all(np.isfinite([one, two])):
        return 0.0
    slope = (two - one) / step
    size = slope @ slope
    value = float(here - slope @ one / size) if size else 0.0
    return value if np.isfinite(value) else 0.0


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
    symbols = tuple(changed if one.name == symbol.name else one for one in own.mechanism.geometry)
    return own.of(replace(own.mechanism, geometry=symbols))
