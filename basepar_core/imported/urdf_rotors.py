"""Rotors behind transmissions of URDF: `motorInertia` at the motor, by the reduction's square at
the joint. Transmissions of several joints or motors, and numbers that are none, are left for the
audit to reject."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any

from .draft import Draft
from .kinds import PRISMATIC, REVOLUTE
from .rationals import decimal

#: What a transmission's joint and motor are turned by.
_REDUCTION = ("mechanicalReduction", "mechanical_reduction")


def rotors(root: Any) -> dict[str, Fraction]:
    """By joint the rotor's inertia at it, kg m²; what is read leaves the tree."""
    found: dict[str, Fraction] = {}
    for node in root.iterfind("transmission"):
        joints, stated = node.findall("joint"), list(node.iter("motorInertia"))
        if len(joints) != 1 or len(stated) != 1 or len(node.findall("actuator")) > 1:
            continue
        name = joints[0].get("name")
        reductions = [one for tag in _REDUCTION for one in node.iter(tag)] or [None]
        numbers = [_number(one) for one in (stated[0], *reductions)]
        if len(reductions) > 1 or None in numbers or name in found or name is None:
            continue
        inertia, reduction = (x for x in numbers if x is not None)
        if inertia < 0:
            continue
        stated[0].getparent().remove(stated[0])
        found[name] = inertia * reduction**2
    return found


def drive(draft: Draft, found: Mapping[str, Fraction]) -> None:
    """Give joints that turn or slide their rotors; notes say which."""
    for k, one in enumerate(draft.connections):
        if found.get(one.name) and one.kind in (REVOLUTE, PRISMATIC):
            law = {**one.friction.get(one.name, {}), "rotor": found[one.name]}
            draft.connections[k] = replace(one, friction={**one.friction, one.name: law})
            draft.notes.append(
                f"joint {one.name!r}: its motor's inertia by the square of the reduction is a "
                f"rotor of {float(found[one.name]):.6g} kg m^2 (kg of a slide)"
            )


def _number(node: Any) -> Fraction | None:
    """An element's number; 1 where there is none."""
    if node is None:
        return Fraction(1)
    try:
        value = float(node.text)
    except (TypeError, ValueError):
        return None
    return decimal(value) if isfinite(value) else None
