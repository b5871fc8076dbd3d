"""A length whose decimal point is one place off: with it shifted the loops close."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from basepar_core.errors import AssemblyError
from basepar_core.expressions import Number
from basepar_core.mechanism import Joint, entries_of_points, with_at

from .trials import Trial, closing

_SHIFTS = (Fraction(1, 10), Fraction(10))
#: rad, or a share of the larger of two lengths, by which stated values may be off then.
_MET = 0.2


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of open loops, with the one length that explains it a tenth or ten times as long.

    Tried are numbers in the points of joints, and symbols of the geometry.
    """
    found = closing(_shifted(own), own.gap / 2, _MET) if own.stated else []
    if len(found) != 1:
        return error
    (place, value, shift), _ = found[0]
    return AssemblyError(
        f"{error.message} With {float(value * shift):.6g} m in place of {float(value):.6g} m in "
        f"{place} all loops close as stated.",
        [place],
    )


def _shifted(own: Trial) -> Iterator[tuple[tuple[str, Fraction, Fraction], Trial]]:
    """Places of lengths, m, what they are multiplied by, and the mechanism with them so."""
    mechanism = own.mechanism
    for shift in _SHIFTS:
        for joint in mechanism.joints:
            for place, value, other in _of_joint(joint, shift):
                yield (place, value, shift), own.with_joint(joint, other)
        for symbol in mechanism.geometry:
            if symbol.is_length and symbol.name not in mechanism.roots:
                value = Fraction(mechanism.nominal[symbol.name])
                changed = replace(symbol, value=Number(value * shift))
                symbols = tuple(changed if one is symbol else one for one in mechanism.geometry)
                place = f"geometry.{symbol.name}"
                yield (place, value, shift), own.of(replace(mechanism, geometry=symbols))


def _of_joint(joint: Joint, shift: Fraction) -> Iterator[tuple[str, Fraction, Joint]]:
    """Numbers in the points of a joint, and the joint with one of them multiplied."""
    for _, side, axis, entry in entries_of_points([joint]):
        if isinstance(entry, Number) and entry.value:
            other = with_at(joint, side, axis, Number(entry.value * shift))
            yield f"joints.{joint.name}.at[{side}][{axis}]", entry.value, other
