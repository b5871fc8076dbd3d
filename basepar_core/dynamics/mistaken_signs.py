"""A value of the assembly with the wrong sign: turned round, the loops close as stated."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import degrees

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number
from basepar_core.mechanism import Mechanism

from .swapped_points import LaysOut, explains, farthest, starting_gap

#: rad, or a share of the larger of two lengths: values farther off are on another branch or of
#: another sign, and with the right sign they are as near as they are stated.
_OFF, _MET = 0.1, 0.05


@dataclass(frozen=True, slots=True)
class MistakenSign:
    """A joint value of the assembly whose sign looks wrong, and its line there as it is meant."""

    name: str
    write: str


def explaining(
    mechanism: Mechanism, stated: Mapping[str, float], laid_out: LaysOut
) -> tuple[MistakenSign, ...]:
    """Stated values of which each alone, its sign turned round, makes all of them agree.

    Mostly one; two where a mirror image agrees as well. Empty where all agree about already.
    Values that are stated beside the coordinates tell.
    """
    if not stated.keys() - {*mechanism.coordinates}:
        return ()
    _, off = farthest(mechanism, stated, laid_out)
    if off < _OFF:
        return ()
    # No wider open will do: bodies may be laid out without the value that is wrong.
    gap = 2 * starting_gap(mechanism, laid_out)
    found = [
        MistakenSign(name, f"{name}: {_written(mechanism, name, -value)}")
        for name, value in stated.items()
        if explains(
            _turned(mechanism, name, -value), {**stated, name: -value}, laid_out, gap, _MET
        )
    ]
    return tuple(found) if len(found) <= 2 else ()


def advised(
    error: AssemblyError, mechanism: Mechanism, stated: Mapping[str, float], laid_out: LaysOut
) -> AssemblyError:
    """The error of open loops, with the value whose sign explains it, if there is."""
    found = explaining(mechanism, stated, laid_out)
    if not found:
        return error
    places = [f"assembly.{one.name}" for one in found]
    return AssemblyError(
        f"{error.message} With the sign of {' or '.join(places)} turned round all loops close as "
        f"stated: write {', or '.join(one.write for one in found)}.",
        places,
    )


def _turned(mechanism: Mechanism, name: str, value: float) -> Mechanism:
    """The mechanism with another value in its assembly, rad or m."""
    given = mechanism.assembly
    number = Number(Fraction(value))
    values = tuple((one, number if one == name else x) for one, x in given.values)
    return replace(mechanism, assembly=replace(given, values=values))


def _written(mechanism: Mechanism, name: str, value: float) -> str:
    return f"{value:.6g} m" if mechanism.value(name).is_length else f"{degrees(value):.6g} deg"
