"""A length in a wrong unit: with its number in another one the loops close as stated."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from basepar_core.expressions import UNITS, Number, Unit, parse_unit
from basepar_core.mechanism import Symbol

from .trials import NEAR, Trial, closing

#: In which lengths are most often, and of one that is mistaken for another.
_USUAL = ("mm", "cm", "m", "inch")
#: rad, or a share of the larger of two lengths, by which values that are stated may be off where
#: the unit is right: another one is at least 2.5 times off.
_MET = 0.05


@dataclass(frozen=True, slots=True)
class MistakenUnit:
    """A symbol whose number looks meant in another unit, `unit`, in which `value` is as stated.

    `value` is of all stated values the one that is farthest off in the unit of the file.
    """

    symbol: Symbol
    unit: str
    value: str


def explaining(own: Trial) -> MistakenUnit | None:
    """The one length in whose other unit all that is stated agrees; None where it agrees about
    already, or none, or more than one, explains it."""
    worst, off = own.farthest
    if off <= NEAR:
        return None
    found = closing(_in_other_units(own), own.gap / 2, _MET)
    if len(found) != 1:
        return None
    (symbol, unit), _ = found[0]
    return MistakenUnit(symbol, unit.text, worst)


def _in_other_units(own: Trial) -> Iterator[tuple[tuple[Symbol, Unit], Trial]]:
    """Symbols of the geometry that are lengths, a unit that is not theirs, and the mechanism with
    their numbers in it."""
    mechanism = own.mechanism
    for symbol in mechanism.geometry:
        given = parse_unit(symbol.unit) if symbol.unit else None
        if (
            given is None
            or given.dimension != UNITS["m"].dimension
            or symbol.name in mechanism.roots
        ):
            continue
        for unit in (UNITS[name] for name in _USUAL):
            if unit.size != given.size:
                value = Fraction(mechanism.nominal[symbol.name] * unit.size / given.size)
                changed = replace(symbol, value=Number(value))
                symbols = tuple(changed if one is symbol else one for one in mechanism.geometry)
                yield (symbol, unit), own.of(replace(mechanism, geometry=symbols))
