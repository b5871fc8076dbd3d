"""Couplings of joint values as dialects have them: mimic joints, tendons, gearboxes, screws."""

from collections.abc import Mapping
from math import pi

from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism

from .parts import Coupling, Robot


def couplings_of(mechanism: Mechanism) -> tuple[Coupling, ...]:
    """Those of a mechanism at its nominal geometry; terms that vanish are left out."""
    found = []
    for one in mechanism.couplings:
        entries = [*(x for _, x in one.terms), one.offset]
        *factors, offset = map(float, evaluate(entries, mechanism.nominal))
        names = (name for name, _ in one.terms)
        terms = {name: x for name, x in zip(names, factors, strict=True) if x}
        found.append(Coupling(one.name, terms, offset))
    return tuple(found)


def has_couplings(mechanism: Mechanism) -> bool:
    """Whether values of its joints are coupled."""
    return bool(mechanism.couplings)


def coupled(robot: Robot) -> frozenset[str]:
    """Joint values that couplings name."""
    return frozenset(name for one in robot.couplings for name in one.terms)


def in_file(robot: Robot) -> tuple[Coupling, ...]:
    """The couplings between values as the file counts them, from `zeros`."""
    return tuple(
        Coupling(
            one.name,
            one.terms,
            one.offset - sum(x * robot.zeros[name] for name, x in one.terms.items()),
        )
        for one in robot.couplings
    )


def mimics(robot: Robot, problems: list[str]) -> dict[str, tuple[str, float, float]]:
    """Per following joint value its leader, multiplier and offset, as the file counts them."""
    found: dict[str, tuple[str, float, float]] = {}
    leading = set(robot.coordinates)
    waiting = list(in_file(robot))
    for one in [one for one in waiting if len(one.terms) != 2]:
        problems.append(f"coupling {one.name} of {len(one.terms)} values")
        waiting.remove(one)
    while waiting:
        known = leading | found.keys()
        one = next((c for c in waiting if len(known & c.terms.keys()) == 1), waiting[0])
        waiting.remove(one)
        first, second = one.terms
        if first in found or (first in leading and second not in known):
            first, second = second, first
        if first in known:
            problems.append(f"coupling {one.name}, whose values follow others already")
            continue
        leading.add(second)
        a, b = one.terms[first], one.terms[second]
        found[first] = (second, -b / a, one.offset / a)
    return found


def pitches(robot: Robot) -> Mapping[str, tuple[str, float]]:
    """Per joint that slides and turns along one axis by a screw: its coupling's name, and the
    pitch in m per turn, right-handed."""
    found = {}
    for joint in robot.joints:
        slide, turn = joint.values if len(joint.values) == 2 else ("", "")
        for one in robot.couplings:
            if set(one.terms) == {slide, turn} and joint.moves[0].is_slide:
                found[joint.name] = (one.name, -2 * pi * one.terms[turn] / one.terms[slide])
    return found
