"""A value of the assembly, or of a joint's point, with the wrong sign: turned round, the loops
close as stated."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import degrees

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number, evaluate, negate
from basepar_core.mechanism import Mechanism, entries_of_points, with_at

from . import swapped_points
from .trials import Trial, closing

#: rad, or a share of the larger of two lengths: values farther off are on another branch or of
#: another sign, and with the right sign they are as near as they are stated.
_OFF, _MET = 0.1, 0.05


@dataclass(frozen=True, slots=True)
class MistakenSign:
    """A joint value of the assembly whose sign looks wrong, and its line there as it is meant.

    Or an `entry` of the points of joint `name`, by point and axis, of which the file has the text.
    """

    name: str
    write: str = ""
    entry: tuple[int, ...] = ()

    @property
    def place(self) -> str:
        """Where the file has it."""
        if not self.entry:
            return f"assembly.{self.name}"
        return f"joints.{self.name}.at{''.join(f'[{k}]' for k in self.entry)}"


def explaining(own: Trial) -> tuple[MistakenSign, ...]:
    """Stated values of which each alone, its sign turned round, makes all of them agree; where
    none does, entries of the joints' points.

    Mostly one; two where a mirror image agrees as well. Empty where all agree about already.
    """
    if own.farthest[1] < _OFF:
        return ()
    # No wider open will do: bodies may be laid out without the value that is wrong.
    found = closing(_values(own), own.gap, _MET)
    # An entry's other sign is far from its own: rough values tell it.
    if not found:
        found = closing(_entries(own), own.gap / 2, own.to_meet)
        if own.mechanism.assembly.poses and len(found) == 1:
            # Two bodies that stand alike are joined nearly as well with one entry turned round.
            found = [one for one in found if one[1].gap <= 2 * swapped_points.least_gap(own)]
    return tuple(sign for sign, _ in found) if len(found) <= 2 else ()


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of open loops, with the value whose sign explains it, if there is."""
    found = explaining(own) if own.tells else ()
    if not found:
        return error
    places = [one.place for one in found]
    writes = ", or ".join(one.write for one in found if one.write)
    return AssemblyError(
        f"{error.message} With the sign of {' or '.join(places)} turned round all loops close "
        f"{'about ' if found[0].entry else ''}as stated{f': write {writes}' if writes else ''}.",
        places,
    )


def _values(own: Trial) -> Iterator[tuple[MistakenSign, Trial]]:
    """Values of the assembly, and the mechanism with each turned round."""
    for name in own.stated:
        write = f"{name}: {_written(own.mechanism, name, -own.stated[name])}"
        yield MistakenSign(name, write), _turned(own, name)


def _entries(own: Trial) -> Iterator[tuple[MistakenSign, Trial]]:
    """Entries of the joints' points, and the mechanism with each turned round."""
    for joint, side, axis, entry in entries_of_points(own.mechanism.joints):
        if evaluate([entry], own.mechanism.nominal)[0]:
            other = with_at(joint, side, axis, negate(entry))
            yield MistakenSign(joint.name, entry=(side, axis)), own.with_joint(joint, other)


def _turned(own: Trial, name: str) -> Trial:
    """The mechanism with a value of its assembly turned round."""
    value, given = -own.stated[name], own.mechanism.assembly
    number = Number(Fraction(value))
    values = tuple((one, number if one == name else x) for one, x in given.values)
    other = replace(own.mechanism, assembly=replace(given, values=values))
    return replace(own, mechanism=other, stated={**own.stated, name: value})


def _written(mechanism: Mechanism, name: str, value: float) -> str:
    return f"{value:.6g} m" if mechanism.value(name).is_length else f"{degrees(value):.6g} deg"
