"""The section `couplings`, and screws: linear relations of joint values.

A screw is a cylindrical joint with a coupling of its own.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from basepar_core.expressions import (
    DIMENSIONLESS,
    ONE,
    UNITS,
    ZERO,
    Call,
    Expression,
    Number,
    Pi,
    Unit,
    did_you_mean,
    multiply,
    names,
    negate,
)
from basepar_core.mechanism import Coupling, Joint, joint_type

from .assembly import value_units
from .mechanism_keys import COUPLING
from .reader import Reading
from .remedies import written
from .yaml_nodes import Fields, Node

_WHAT = "a mapping such as gears: {values: {A: 1, B: 2}}"
#: Coefficients whose rows are dependent to this share of their size say the same twice.
_DEPENDENT = 1e-12


def screw(joint: Joint, pitch: Expression) -> Coupling:
    """The coupling of a right-handed screw of a pitch in m per turn: slide = pitch · turns."""
    lead = Call("/", (pitch, multiply(Number(Fraction(2)), Pi())))
    slide, turn = joint.values
    return Coupling(joint.name, ((slide, ONE), (turn, negate(lead))))


def read_couplings(
    reading: Reading, node: Node | None, joints: Sequence[Joint]
) -> tuple[Coupling, ...]:
    """All couplings in file order, those of screws first."""
    entries = reading.entries(node, _WHAT) or {}
    screws = [
        screw(joint, reading.pitches[joint.name])
        for joint in joints
        if joint.name in reading.pitches
    ]
    before = reading.count
    read = [_coupling(reading, name, entry, joints) for name, entry in entries.items()]
    found = (*screws, *(one for one in read if one is not None))
    if reading.count == before and node is not None:
        _check_independent(reading, node, found)
    return found


def _coupling(reading: Reading, name: str, node: Node, joints: Sequence[Joint]) -> Coupling | None:
    reading.name(node, name, "coupling")
    if any(joint.name == name for joint in joints):
        reading.mistake(node, f"{name!r} is a joint too; name the coupling otherwise")
    before = reading.count
    if isinstance(node, Fields) and node.entries and set(node.entries) <= set(_nameable(joints)):
        reading.mistake(node, f"coefficients stand in `values`: write {{values: {written(node)}}}")
        return None
    entries = reading.fields(node, COUPLING)
    given = reading.entries(
        entries.get("values"), "a mapping of joint values, such as {A: 1, B: 2}"
    )
    if given is None:
        return None
    if len(given) < 2:
        reading.mistake(entries["values"], "a coupling relates at least two joint values")
    known = {
        key: found
        for key, entry in given.items()
        if (found := _value(reading, entry, key, joints))
    }
    units = value_units(joints)
    unit = UNITS["m" if any(units[value].text == "m" for value in known.values()) else "rad"]
    terms = tuple(
        (value, reading.geometric(given[key], _factor(unit, units[value]))[0])
        for key, value in known.items()
    )
    for (value, coefficient), key in zip(terms, known, strict=True):
        if [other for other, _ in terms].count(value) > 1:
            reading.mistake(given[key], f"{value!r} is given twice")
        if (
            reading.count == before
            and not names(coefficient)
            and not reading.at_nominal([coefficient])[0]
        ):
            reading.mistake(given[key], f"0 couples nothing; leave {key!r} out")
    offset = reading.motion(entries["offset"], unit) if "offset" in entries else ZERO
    return Coupling(name, terms, offset) if reading.count == before else None


def _factor(relation: Unit, value: Unit) -> Unit:
    """What takes a value to the relation's unit: lengths as they are, angles by an arm in m."""
    return DIMENSIONLESS if relation.text == value.text else relation


def _value(reading: Reading, node: Node, word: str, joints: Sequence[Joint]) -> str | None:
    """The joint value that a word names, by its number or as `S.slide` or `S.angle`."""
    allowed = _nameable(joints)
    if word in allowed:
        return allowed[word]
    joint = next((one for one in joints if word.partition(".")[0] == one.name), None)
    if word in reading.spoilt or "joints" in reading.unknown:
        return None
    if joint is None or not joint.values:
        hint = did_you_mean(word, allowed) or f"; there are {', '.join(allowed) or 'none'}"
        reading.mistake(node, f"no joint value is named {word!r}{hint}")
    elif joint_type(joint.type).rotations > 1:
        reading.mistake(
            node,
            f"values of the {joint.type} joint {joint.name!r} cannot be coupled: they turn about "
            "two axes or in any way. Put a body between two revolute joints in its place",
        )
    else:
        mine = [key for key, value in allowed.items() if value in joint.values]
        many = "several values" if len(mine) > 1 else "one value"
        reading.mistake(
            node, f"the {joint.type} joint {joint.name!r} has {many}: {', '.join(mine)}"
        )
    return None


def _nameable(joints: Sequence[Joint]) -> dict[str, str]:
    """Words for joint values that may be coupled, and the values' names."""
    found: dict[str, str] = {}
    for joint in joints:
        shape = joint_type(joint.type)
        if shape.rotations > 1:
            continue
        found |= {value: value for value in joint.values}
        if len(joint.values) > 1:
            if len(shape.slides) == 1:
                found[f"{joint.name}.slide"] = joint.values[0]
            found[f"{joint.name}.angle"] = joint.values[-1]
    return found


def _check_independent(reading: Reading, node: Node, couplings: Sequence[Coupling]) -> None:
    """Name what follows from, or contradicts, the couplings before it."""
    places: dict[str, int] = {}
    for coupling in couplings:
        for value, _ in coupling.terms:
            places.setdefault(value, len(places))
    rows = np.zeros((len(couplings), len(places) + 1))
    for row, coupling in zip(rows, couplings, strict=True):
        row[[places[value] for value, _ in coupling.terms]] = reading.at_nominal(
            [coefficient for _, coefficient in coupling.terms]
        )
        row[-1] = reading.at_nominal([coupling.offset])[0]
        size = np.linalg.norm(row[:-1])
        if not size:
            what = f"all coefficients of coupling {coupling.name!r} are 0"
            reading.mistake(node, f"{what} at the values of the symbols; give others")
            return
        row /= size
    for k, coupling in enumerate(couplings):
        shares = (
            np.linalg.lstsq(rows[:k, :-1].T, rows[k, :-1], rcond=None)[0] if k else np.zeros(0)
        )
        left = rows[k] - shares @ rows[:k]
        if np.linalg.norm(left[:-1]) > _DEPENDENT * len(rows):
            continue
        others = [couplings[i].name for i, share in enumerate(shares) if abs(share) > _DEPENDENT]
        said = "contradicts" if abs(left[-1]) > _DEPENDENT else "follows from"
        reading.mistake(
            node, f"coupling {coupling.name!r} {said} {' and '.join(others)}; leave it out"
        )
        return
