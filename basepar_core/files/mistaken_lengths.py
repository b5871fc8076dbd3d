"""A length that is wrong in a joint's point: what a drawing's distances tell of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from basepar_core.expressions import Name, Number
from basepar_core.mechanism import (
    Joint,
    JointVariant,
    entries_of_points,
    symbols_in_points,
    with_at,
    with_other_symbols,
)

from .exchanged_points import BETTER, ROUGH, Carried, Distance, distances, share_off

#: What a number is multiplied by whose decimal point, or unit (mm for m), is a wrong one.
_SHIFTS = (Fraction(1, 1000), Fraction(1, 10), Fraction(10), Fraction(1000))


@dataclass(frozen=True, slots=True)
class MistakenLength:
    """Another entry in a joint's point that makes the drawing clearly right, and the distance
    that tells it, as it is and with that entry."""

    variant: JointVariant
    body: str
    told: Distance
    met: Distance

    def __str__(self) -> str:
        return (
            f"{self.told} on {self.body}; with {self.variant.meant} in place of "
            f"{self.variant.written}, {self.met.drawn:.4g} m and {self.met.own:.4g} m"
        )


def looks_mistaken(
    joints: Sequence[Joint],
    carried: Carried,
    carried_by: Callable[[Joint], Carried],
    drawn: Mapping[str, np.ndarray],
    lengths: Mapping[str, Fraction],
) -> MistakenLength | None:
    """The one entry with another length's symbol, or a number a tenth, ten, a thousandth or a
    thousand times as large, that makes the drawing clearly right.

    `carried_by` is what a joint carries, `lengths` are the symbols' values by where they
    are declared, m.
    """
    before = distances(carried, drawn)
    worst, body = max((share_off(some), body) for body, some in before.items())
    k = int(np.argmax([abs(one.drawn - one.own) for one in before[body]]))
    places = {place.partition(".")[2]: place for place in lengths}
    found = []
    for variant in (
        *with_other_symbols(joints, places),
        *_shifted(joints, {name: (place, lengths[place]) for name, place in places.items()}),
    ):
        after = distances({**carried, **carried_by(variant.other)}, drawn)
        if max(map(share_off, after.values())) <= min(worst / BETTER, ROUGH):
            found.append(MistakenLength(variant, body, before[body][k], after[body][k]))
    least = min((one.variant.cost for one in found), default=0)
    best = [one for one in found if one.variant.cost == least]
    return best[0] if len(best) == 1 else None


def _shifted(
    joints: Sequence[Joint], symbols: Mapping[str, tuple[str, Fraction]]
) -> Iterator[JointVariant]:
    """Joints with a number times as large, or a symbol that no other point has."""
    uses = symbols_in_points(joints)
    for joint, side, axis, entry in entries_of_points(joints):
        place, value = f"joints.{joint.name}.at[{side}][{axis}]", Fraction(0)
        if isinstance(entry, Number):
            value = entry.value
        elif isinstance(entry, Name) and entry.name in symbols and uses[entry.name] == 1:
            place, value = symbols[entry.name]
        for shift in _SHIFTS if value else ():
            other = with_at(joint, side, axis, Number(value * shift))
            written, meant = (f"{float(x):.6g} m" for x in (value, value * shift))
            yield JointVariant(place, written, meant, joint, other)
