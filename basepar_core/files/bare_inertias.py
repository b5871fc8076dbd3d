"""Warnings of masses and moments that were most likely meant in another unit, such as g and mm."""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import pi, sqrt

import numpy as np

from basepar_core.errors import BaseparWarning
from basepar_core.expressions import UNITS, is_literal, parse_unit
from basepar_core.mechanism import Body, Joint, Point, likely_moment_unit

from .bare_numbers import bare_size
from .reader import Reading
from .remedies import written
from .yaml_nodes import Fields, Items, Node, Text

#: Shares of its body's size that a radius of gyration has: of most; and what no mass in kg has.
_LEAST, _MOST, _SMALL = 0.1, 2.0, 1 / 50
#: The least share where one of several units is told by it: a rod about its centre has 0.29.
_LIKELY = 0.2
#: A moment in another unit is of masses so many times farther away than any point.
_FAR = 5.0
#: kg/m³, and what of the radius of gyration of a ball of it flat or hollow bodies do not fall
#: below either: small heavy bodies on long arms have some.
_DENSEST, _FLAT = 20_000, 1 / 3
#: So many times its body's size no radius of gyration is, whatever units are stated, which also
#: is beyond the mechanism: eccentrics of some mm carry flywheels.
_BEYOND = 20
#: A mass in g is out of all proportion: so many times every body's in kg, and of more kg/m³ than
#: machines have that fill a cube as long as the mechanism, or the body by its moment, is.
_TIMES, _FILLED, _ACROSS = 100, 1000, 3.0
_QUANTITY = re.compile(r"([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?) *([A-Za-z][A-Za-z0-9*^/]*)")


@dataclass(frozen=True, slots=True)
class _Stated:
    """What a body states: its mass, kg, its radius of gyration, m, and the keys of its moments."""

    mass: float
    gyration: float
    key: str
    #: m: the greatest distance of two of its points, or of its centre from its origin.
    size: float


def warn_of_bare_inertias(
    reading: Reading,
    node: Node | None,
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    further: Sequence[Point] = (),
) -> None:
    """Say which bare masses are taken as kg, and moments as kg m², and are not likely such; and
    which masses and moments with units do not go together."""
    entries = node.entries if isinstance(node, Fields) else {}
    given = {name: one.entries for name, one in entries.items() if isinstance(one, Fields)}
    if reading.mistakes:
        return
    with np.errstate(all="ignore"):  # of sizes that no one meant
        points = _points(reading, joints, further)
        longest = max((_extent(some) for some in points.values()), default=0.0)
        masses = {
            body.name: float(reading.at_nominal(body.parameters)[0])
            for body in bodies
            if body.parameters is not None
        }
        for body in bodies:
            one = given.get(body.name, {})
            if body.parameters is not None and any(_is_number(one.get(key)) for key in _KEYS):
                stated = _stated(reading, body, one, points.get(body.name, []))
                if stated is not None:
                    _judge_mass(one, stated)
                    if not _judge_moment(one, stated, max(longest, stated.size)):
                        _judge_units(one, stated, max(longest, stated.size))
                if _bare(one.get("mass")):
                    _judge_heaviest(one["mass"], body.name, masses, stated, longest)


_KEYS = ("mass", "central_inertia", "inertia")


def _judge_mass(entries: Mapping[str, Node], one: _Stated) -> None:
    """Where grams make of a radius that no body of kg has one that bodies of this size have."""
    node = entries["mass"]
    if _bare(node) and _is_in_grams(one):
        _warn(node, "kg", f"its {one.key.replace('_', ' ')}", one, "g")


def _is_in_grams(one: _Stated) -> bool:
    ball = sqrt(2 / 5) * (3 * one.mass / (4 * pi * _DENSEST)) ** (1 / 3)
    small = one.gyration < min(_SMALL * one.size, _FLAT * ball)
    return small and _is_sensible(one.gyration * sqrt(1e3), one.size)


def _judge_heaviest(
    node: Node, body: str, masses: Mapping[str, float], one: _Stated | None, longest: float
) -> None:
    """Where a bare mass is out of all proportion to the others' and to the mechanism's size."""
    if one is not None and longest < one.gyration < _FAR * longest:
        longest = _ACROSS * one.gyration  # a flywheel
    others = {name: mass for name, mass in masses.items() if name != body and mass > 0}
    if not others or longest == 0 or (one is not None and _is_in_grams(one)):
        return
    second = max(others, key=others.__getitem__)
    if masses[body] > max(_TIMES * others[second], _FILLED * longest**3):
        number = written(node)
        warnings.warn(
            f"{node.path} (line {node.line}): {number} is taken as {number} kg, more than "
            f"{_TIMES} times every other body ({second} {others[second]:.3g} kg); "
            f"write '{number} g' or '{number} kg'.",
            BaseparWarning,
            stacklevel=3,
        )


def _judge_moment(entries: Mapping[str, Node], one: _Stated, longest: float) -> bool:
    """Where mm make of a radius far beyond the mechanism one that bodies of this size have;
    whether it is told."""
    node = entries[one.key]
    if not _bare(node) or one.gyration < _FAR * longest:
        return False
    unit, gyration = likely_moment_unit(one.gyration, one.size)
    told = _LIKELY * one.size <= gyration <= _MOST * one.size
    if told:
        _warn(node, "kg*m^2", "its mass", one, unit)
    return told


def _judge_units(entries: Mapping[str, Node], one: _Stated, longest: float) -> None:
    """Where a mass and a moment make a radius that no body of this size has."""
    mass, moment = entries["mass"], entries[one.key]
    light, heavy = _quantity(mass), _quantity(moment)
    unit, gyration = likely_moment_unit(one.gyration, one.size)
    is_far = one.gyration > max(_BEYOND * one.size, _MOST * longest)
    likely = is_far and _LIKELY * one.size <= gyration <= _MOST * one.size
    if is_far and light and light[1] == "g" and one.gyration / sqrt(1e3) <= one.size:
        meant = f"{light[0]} kg"
    elif heavy and likely:
        number = float(heavy[0]) * parse_unit(heavy[1]).size
        meant = f"{heavy[0] if heavy[1] == 'kg*m^2' else f'{number:g}'} {unit}"
    elif (light or _bare(mass)) and not likely and _is_of_more(one, longest):
        meant = f"{1e3 * one.mass:g} kg"
    else:
        return
    stated = f"{written(mass)}{' kg' * _bare(mass)} with {written(moment)}"
    warnings.warn(
        f"{mass.path} (line {mass.line}): {stated}{' kg*m^2' * _bare(moment)} has a radius of "
        f"gyration of {_length(one.gyration)}, {one.gyration / one.size:.0f} times the body's "
        f"size, {_length(one.size)}; is it {meant}?",
        BaseparWarning,
        stacklevel=3,
    )


def _is_of_more(one: _Stated, longest: float) -> bool:
    """Whether 1000 times the mass fits moment and size, and the mass does not."""
    is_far = one.gyration >= max(_FAR * one.size, _MOST * longest)
    is_light = 1e3 * one.mass < _FILLED * one.size**3
    return is_far and is_light and _LEAST * one.size <= one.gyration / sqrt(1e3) <= one.size


def _quantity(node: Node) -> tuple[str, str] | None:
    """Number and unit of a quantity, of a list the first one that is not 0; None of all else."""
    if isinstance(node, Items):
        return next((one for item in node.items if (one := _quantity(item))), None)
    found = _QUANTITY.fullmatch(node.value.strip()) if isinstance(node, Text) else None
    is_unit = found and {*re.findall(r"[A-Za-z]+", found[2])} <= UNITS.keys()
    return (found[1], found[2]) if found and is_unit and float(found[1]) else None


def _warn(node: Node, taken: str, other: str, one: _Stated, unit: str) -> None:
    number = written(node)
    write = f"'{number} {unit}' or '{number} {taken}'"
    if isinstance(node, Items):
        first = written(next(item for item in node.items if bare_size(item)))
        write = f"units there, such as '{first} {unit}', or '{first} {taken}'"
    warnings.warn(
        f"{node.path} (line {node.line}): {number} is taken as {number} {taken}; with {other} the "
        f"radius of gyration is {_length(one.gyration)} in a body of {_length(one.size)}; write "
        f"{write}.",
        BaseparWarning,
        stacklevel=4,
    )


def _is_sensible(gyration: float, size: float) -> bool:
    return _LEAST * size <= gyration <= _MOST * size


def _stated(
    reading: Reading, body: Body, entries: Mapping[str, Node], points: list[np.ndarray]
) -> _Stated | None:
    """None where mass, moment or size is zero, or is none that a body has."""
    key = "central_inertia" if "central_inertia" in entries else "inertia"
    phi = reading.at_nominal(body.parameters or ())
    planar = len(phi) == 4
    mass, first = phi[0], phi[1:3] if planar else phi[1:4]
    if mass <= 0:
        return None
    centre = np.append(first / mass, [0.0] * planar)
    # The sum of squared distances of the mass, about an axis in the plane and a point in space.
    moment = phi[3] if planar else (phi[4] + phi[7] + phi[9]) / 2
    if key == "central_inertia":
        moment -= mass * (centre @ centre)
    size = max(_extent([*points, centre]), float(np.linalg.norm(centre)))
    if not (moment > 0 and size > 0):
        return None
    return _Stated(float(mass), sqrt(moment / mass), key, size)


def _points(
    reading: Reading, joints: Sequence[Joint], further: Sequence[Point]
) -> dict[str, list[np.ndarray]]:
    """Points of joints, and further ones, by body."""
    sides = [
        (body, frame.at)
        for joint in joints
        for body, frame in zip(joint.bodies, joint.frames, strict=True)
    ]
    sides += [(one.body, one.at) for one in further]
    at = reading.at_nominal([x for _, place in sides for x in place]).reshape(-1, 3)
    found: dict[str, list[np.ndarray]] = {}
    for (body, _), point in zip(sides, at, strict=True):
        found.setdefault(body, []).append(point)
    return found


def _extent(points: Sequence[np.ndarray]) -> float:
    return max((float(np.linalg.norm(a - b)) for a, b in combinations(points, 2)), default=0.0)


def _bare(node: Node | None) -> bool:
    """Whether a number, or each of a list, has no unit."""
    if isinstance(node, Items):
        return all(map(_bare, node.items))
    return isinstance(node, Text) and is_literal(node.value.strip())


def _is_number(node: Node | None) -> bool:
    """Whether a number, or some of a list, has a unit or needs none."""
    return node is not None and (_bare(node) or _quantity(node) is not None)


def _length(metres: float) -> str:
    return f"{metres * 1e3:.3g} mm" if metres < 1 else f"{metres:.4g} m"
