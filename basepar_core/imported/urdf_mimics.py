"""URDF's mimic joints as couplings: value = multiplier · leader's value + offset."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any

from basepar_core.expressions import did_you_mean

from .draft import Coupling, Draft, value_names
from .kinds import SINGLE
from .rationals import decimal


def couple(draft: Draft, joints: Sequence[tuple[Any, int]]) -> None:
    """Couplings of all joints that mimic others, and the coordinates that are left."""
    known = {joint.name: joint for joint, _ in joints}
    followers = {joint.name: joint.mimic.joint for joint, _ in joints if joint.mimic is not None}
    for joint, line in joints:
        if joint.mimic is None:
            continue
        if wrong := _fault(joint, known, followers):
            draft.refuse(f"joint {joint.name!r}", wrong, line)
            continue
        multiplier, offset = _numbers(joint)
        terms = {joint.name: Fraction(1), joint.mimic.joint: -decimal(multiplier)}
        draft.couplings.append(Coupling(f"{joint.name}_mimic", terms, decimal(offset)))
        draft.notes.append(f"joint {joint.name!r} mimics {joint.mimic.joint!r}: a coupling")
    if draft.couplings:
        draft.coordinates += [
            value
            for one in draft.connections
            for value in value_names(one.name, one.kind)
            if value not in followers
        ]


def _numbers(joint: Any) -> tuple[float, float]:
    """Multiplier and offset, by default 1 and 0."""
    mimic = joint.mimic
    multiplier = 1.0 if mimic.multiplier is None else float(mimic.multiplier)
    return multiplier, 0.0 if mimic.offset is None else float(mimic.offset)


def _fault(joint: Any, known: Mapping[str, Any], followers: Mapping[str, str]) -> str:
    """Why a mimic joint is no coupling; empty if it is one."""
    name = joint.mimic.joint
    if name not in known:
        others = [one for one in known if one != joint.name]
        hint = did_you_mean(name, others) or f"; joints are {', '.join(others[:8])}"
        return f"it mimics {name!r}, and no joint is named so{hint}"
    for one in (joint, known[name]):
        if one.type not in SINGLE:
            return (
                f"it mimics {name!r}, and {one.name!r} is {one.type}: only joints of one value "
                f"({', '.join(SINGLE)}) are coupled; remove the mimic element"
            )
    numbers = _numbers(joint)
    if not all(map(isfinite, numbers)):
        return f"multiplier and offset {numbers} of its mimic are not finite"
    if numbers[0] == 0:
        return f"it mimics {name!r} by a multiplier of 0, and does not move; make it fixed"
    way = [joint.name]
    while way[-1] in followers:
        if followers[way[-1]] in way:
            return f"joints mimic each other in a circle: {', '.join(way)}; let one of them lead"
        way.append(followers[way[-1]])
    return ""
