"""The section `couplings`, and screws: linear relations of joint values.

A screw is a cylindrical joint with a coupling of its own.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from basepar_core.expressions import (
    DIMENSIONLESS,
    LENGTH,
    ONE,
    UNITS,
    ZERO,
    Call,
    Expression,
    Number,
    Pi,
    Unit,
    did_you_mean,
    is_literal,
    multiply,
    names,
    negate,
)
from basepar_core.mechanism import Coupling, Joint, joint_type

from .assembly import nameable, value_units
from .bare_numbers import warn_of_millimetres
from .mechanism_keys import COUPLING
from .reader import Reading
from .remedies import written
from .yaml_nodes import Fields, Items, Node

_WHAT = "a mapping such as gears: {values: {A: 1, B: 2}}"
_LINEAR = "couplings are linear"
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
        nodes = {joint.name: node for joint in joints} | dict(entries)
        units = value_units(joints)
        _check_independent(reading, [nodes[one.name] for one in found], found, units)
    return found


def _coupling(reading: Reading, name: str, node: Node, joints: Sequence[Joint]) -> Coupling | None:
    reading.name(node, name, "coupling")
    if any(joint.name == name for joint in joints):
        reading.mistake(node, f"{name!r} is a joint too; name the coupling otherwise")
    before = reading.count
    if isinstance(node, Fields) and node.entries and set(node.entries) <= set(nameable(joints)):
        reading.mistake(node, f"coefficients stand in `values`: write {{values: {written(node)}}}")
        return None
    if said := _of_a_ratio(node, joints):
        reading.mistake(node, said)
        return None
    two = [joint.values[0] for joint in joints if joint.values][:2]
    example = f"{{{', '.join(f'{value}: {k}' for k, value in enumerate(two, 1))}}}"
    entries = reading.fields(node, COUPLING, {"values": example})
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
    for entry in given.values():
        words = set(re.findall(r"[A-Za-z][\w.]*", str(written(entry)))) - reading.dimensions.keys()
        if words & nameable(joints).keys():
            reading.mistake(entry, f"{_LINEAR}: coefficients are of symbols, not of joint values")
            return None
    if len(known) < len(given):  # the relation's unit is not known
        return None
    units = value_units(joints)
    unit = UNITS["m" if any(units[value].text == "m" for value in known.values()) else "rad"]
    lacks = _lacks_length(reading, [key for key, one in known.items() if units[one] == unit])
    terms: list[tuple[str, Expression]] = []
    for key, value in known.items():
        factor = _factor(unit, units[value])
        terms.append((value, reading.geometric(given[key], factor, pi=True, lacks=lacks)[0]))
        warn_of_millimetres(given[key], factor)
    for (value, coefficient), key in zip(terms, known, strict=True):
        if [other for other, _ in terms].count(value) > 1:
            reading.mistake(given[key], f"{value!r} is given twice")
        if (
            reading.count == before
            and not reading.spoilt  # what names one is read as 0
            and not names(coefficient)
            and not reading.at_nominal([coefficient])[0]
        ):
            reading.mistake(given[key], f"0 couples nothing; leave {key!r} out")
    offset = reading.expression(entries["offset"], unit) if "offset" in entries else ZERO
    warn_of_millimetres(entries.get("offset"), unit)
    return Coupling(name, tuple(terms), offset) if reading.count == before else None


def _lacks_length(reading: Reading, lengths: Sequence[str]) -> str:
    """What to say of an angle's coefficient without a unit beside joint values in m."""
    there = [name for name, one in reading.dimensions.items() if one == LENGTH]
    given = f"the file has {', '.join(there[:6])}{', …' * (len(there) > 6)}"
    return (
        f"has no unit, but with {' and '.join(lengths)} in m the coefficient of an angle is a "
        f"length, such as a pitch radius; {given if there else 'give it in mm or m'}"
    )


def _of_a_ratio(node: Node, joints: Sequence[Joint]) -> str:
    """What to write for two joints and their ratio, as other programs have it; else nothing."""
    parts = node.entries if isinstance(node, Fields) else {}
    pairs = [one for one in parts.values() if isinstance(one, Items) and len(one.items) == 2]
    ratio = parts.get("ratio") or parts.get("multiplier")
    if "values" in parts or ratio is None or len(pairs) != 1:
        return ""
    one, other = map(written, pairs[0].items)
    if not {one, other} <= set(nameable(joints)):
        return ""
    text = written(ratio).strip('"')
    turned = f"-{text}" if is_literal(text) else f"-({text})"
    factor = text[1:] if text.startswith("-") else turned
    return (
        f"a coupling is the sum of coefficients times joint values: write {{values: {{{one}: 1, "
        f"{other}: {factor}}}}} for {one} = {text}·{other}, or {{values: {{{one}: {factor}, "
        f"{other}: 1}}}} for {other} = {text}·{one}"
    )


def _factor(relation: Unit, value: Unit) -> Unit:
    """What takes a value to the relation's unit: lengths as they are, angles by an arm in m."""
    return DIMENSIONLESS if relation.text == value.text else relation


def _value(reading: Reading, node: Node, word: str, joints: Sequence[Joint]) -> str | None:
    """The joint value that a word names, by its number or as `S.slide` or `S.angle`."""
    allowed = nameable(joints)
    if word in allowed:
        return allowed[word]
    joint = next((one for one in joints if word.partition(".")[0] == one.name), None)
    if word in reading.spoilt or "joints" in reading.unknown:
        return None
    if (
        joint is None
        and len({*re.findall(r"[A-Za-z][\w.]*", word)} & allowed.keys())
        and (re.search(r"[*^/]", word))
    ):
        reading.mistake(
            node,
            f"{_LINEAR}: {word!r} is no joint value; write {{A: 1, B: 2}} for A + 2 B",
        )
    elif joint is None or not joint.values:
        hint = did_you_mean(word, allowed) or f"; there are {', '.join(allowed) or 'none'}"
        reading.mistake(node, f"no joint value is named {word!r}{hint}")
    elif joint_type(joint.type).is_free:
        reading.mistake(
            node,
            f"values of the free joint {joint.name!r} cannot be coupled: its velocities are a "
            "twist, not their rates. Let the base move on joints with one axis each, such as "
            "prismatic and revolute ones with bodies between them, and couple the values of these",
        )
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


def _check_independent(
    reading: Reading,
    nodes: Sequence[Node],
    couplings: Sequence[Coupling],
    units: Mapping[str, Unit],
) -> None:
    """Name all that follow from, or contradict, the couplings before them."""
    places: dict[str, int] = {}
    for coupling in couplings:
        for value, _ in coupling.terms:
            places.setdefault(value, len(places))
    rows = np.zeros((0, len(places) + 1))
    before: list[str] = []
    for node, coupling in zip(nodes, couplings, strict=True):
        row = np.zeros(len(places) + 1)
        row[[places[value] for value, _ in coupling.terms]] = reading.at_nominal(
            [coefficient for _, coefficient in coupling.terms]
        )
        row[-1] = reading.at_nominal([coupling.offset])[0]
        size = np.linalg.norm(row[:-1])
        if not size:
            what = f"all coefficients of coupling {coupling.name!r} are 0"
            reading.mistake(node, f"{what} at the values of the symbols; give others")
            continue
        shares = np.linalg.lstsq(rows[:, :-1].T, row[:-1], rcond=None)[0]
        left = row - shares @ rows
        if np.linalg.norm(left[:-1]) > _DEPENDENT * len(nodes) * size:
            rows = np.vstack([rows, row / size])
            before.append(coupling.name)
            continue
        others = [
            name for name, x in zip(before, shares, strict=True) if abs(x) > _DEPENDENT * size
        ]
        others_named = " and ".join(others)
        said = f"follows from {others_named}; leave it out"
        if abs(left[-1]) > _DEPENDENT * size:
            unit = "m" if "m" in {units[value].text for value, _ in coupling.terms} else "rad"
            fits = row[-1] - left[-1]
            said = (
                f"contradicts {others_named}: its offset is {row[-1]:.6g} {unit}, and "
                f"{fits:.6g} {unit} follows from there, {abs(left[-1]):.4g} {unit} apart. Correct "
                f"its coefficients or theirs; with `offset: {fits:.12g} {unit}` it says nothing "
                f"new, and may be left out"
            )
        reading.mistake(node, f"coupling {coupling.name!r} {said}")
