"""A length in a wrong unit: with its number in another one the loops close as stated."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from basepar_core.expressions import UNITS, Number, Unit, parse_unit
from basepar_core.mechanism import Mechanism, Symbol

from .swapped_points import NEAR, LaysOut, explains, farthest, starting_gap

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


def explaining(
    mechanism: Mechanism, stated: Mapping[str, float], laid_out: LaysOut
) -> MistakenUnit | None:
    """The one length in whose other unit all that is stated agrees; None where it agrees about
    already, or none, or more than one, explains it.

    Values that are stated beside the coordinates tell.
    """
    if not stated.keys() - {*mechanism.coordinates}:
        return None
    worst, off = farthest(mechanism, stated, laid_out)
    if off <= NEAR:
        return None
    gap = starting_gap(mechanism, laid_out)
    found = [
        MistakenUnit(symbol, unit.text, worst)
        for symbol, unit, other in _in_other_units(mechanism)
        if explains(other, stated, laid_out, gap, _MET)
    ]
    return found[0] if len(found) == 1 else None


def _in_other_units(mechanism: Mechanism) -> Iterator[tuple[Symbol, Unit, Mechanism]]:
    """Symbols of the geometry that are lengths, a unit that is not theirs, and the mechanism with
    their numbers in it."""
    for symbol in mechanism.geometry:
        own = parse_unit(symbol.unit) if symbol.unit else None
        if own is None or own.dimension != UNITS["m"].dimension or symbol.name in mechanism.roots:
            continue
        for unit in (UNITS[name] for name in _USUAL):
            if unit.size != own.size:
                value = Fraction(mechanism.nominal[symbol.name] * unit.size / own.size)
                changed = replace(symbol, value=Number(value))
                symbols = tuple(changed if one is symbol else one for one in mechanism.geometry)
                yield symbol, unit, replace(mechanism, geometry=symbols)
