"""A value of the assembly with the wrong sign: turned round, the loops close as stated."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import degrees

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number
from basepar_core.mechanism import Mechanism

from .trials import Trial, closing

#: rad, or a share of the larger of two lengths: values farther off are on another branch or of
#: another sign, and with the right sign they are as near as they are stated.
_OFF, _MET = 0.1, 0.05


@dataclass(frozen=True, slots=True)
class MistakenSign:
    """A joint value of the assembly whose sign looks wrong, and its line there as it is meant."""

    name: str
    write: str


def explaining(own: Trial) -> tuple[MistakenSign, ...]:
    """Stated values of which each alone, its sign turned round, makes all of them agree.

    Mostly one; two where a mirror image agrees as well. Empty where all agree about already.
    """
    if own.farthest[1] < _OFF:
        return ()
    # No wider open will do: bodies may be laid out without the value that is wrong.
    found = closing(((name, _turned(own, name)) for name in own.stated), own.gap, _MET)
    if len(found) > 2:
        return ()
    return tuple(
        MistakenSign(name, f"{name}: {_written(own.mechanism, name, -own.stated[name])}")
        for name, _ in found
    )


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of open loops, with the value whose sign explains it, if there is."""
    found = explaining(own) if own.tells else ()
    if not found:
        return error
    places = [f"assembly.{one.name}" for one in found]
    return AssemblyError(
        f"{error.message} With the sign of {' or '.join(places)} turned round all loops close as "
        f"stated: write {', or '.join(one.write for one in found)}.",
        places,
    )


def _turned(own: Trial, name: str) -> Trial:
    """The mechanism with a value of its assembly turned round."""
    value, given = -own.stated[name], own.mechanism.assembly
    number = Number(Fraction(value))
    values = tuple((one, number if one == name else x) for one, x in given.values)
    other = replace(own.mechanism, assembly=replace(given, values=values))
    return replace(own, mechanism=other, stated={**own.stated, name: value})


def _written(mechanism: Mechanism, name: str, value: float) -> str:
    return f"{value:.6g} m" if mechanism.value(name).is_length else f"{degrees(value):.6g} deg"
