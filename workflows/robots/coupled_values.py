"""Couplings of joint values as dialects have them: mimic joints, tendons, gearboxes, screws."""

from collections.abc import Mapping
from math import pi

from basepar_core.expressions import evaluate
from basepar_core.mechanism import Mechanism

from .parts import Coupling, Robot

#: A coefficient that is this share of what it is the difference of is rounding.
ROUNDING = 1e-14


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


def followers(robot: Robot) -> tuple[dict[str, tuple[str, float, float]], list[Coupling]]:
    """The couplings, solved for values that are no coordinates (Gauss–Jordan).

    Returns
    -------
    dict
        Values that follow one other: leader, multiplier and offset, as the file counts them.
    list
        Couplings of more values that are left; the first of each follows the others.
    """
    waiting, done = list(in_file(robot)), list[Coupling]()
    while waiting:
        pivots = [
            (-abs(x), k, name)
            for k, one in enumerate(waiting)
            for name, x in one.terms.items()
            if name not in robot.coordinates
        ]
        if not pivots:
            break
        _, k, name = min(pivots)
        row = _scaled(waiting.pop(k), name)
        waiting, done = ([_cleared(one, row, name) for one in some] for some in (waiting, done))
        done.append(row)
    found, rest = {}, list(waiting)
    for one in done:
        (value, _), *others = one.terms.items()
        if len(others) == 1:
            ((leader, x),) = others
            found[value] = leader, -x, one.offset
        else:
            rest.append(one)
    return found, rest


def several(robot: Robot, one: Coupling) -> str:
    """A coupling that `followers` left, in words, with the values that its own file names."""
    (terms,) = (given.terms for given in robot.couplings if given.name == one.name)
    if len(terms) > 2:
        return f"coupling {one.name} of {len(terms)} values ({', '.join(terms)})"
    return f"coupling {one.name} ({', '.join(terms)}), whose values others tie to two more"


def _scaled(one: Coupling, name: str) -> Coupling:
    """With a coefficient of 1 for a value, which comes first."""
    by = one.terms[name]
    terms = {name: 1.0} | {other: x / by for other, x in one.terms.items() if other != name}
    return Coupling(one.name, terms, one.offset / by)


def _cleared(one: Coupling, row: Coupling, name: str) -> Coupling:
    """Without a value for which a row is solved."""
    if name not in one.terms:
        return one
    by, terms = one.terms[name], dict(one.terms)
    for other, x in row.terms.items():
        sizes = abs(terms.get(other, 0.0)), abs(by * x)
        left = terms.pop(other, 0.0) - by * x
        if abs(left) > ROUNDING * max(sizes):
            terms[other] = left
    return Coupling(one.name, terms, one.offset - by * row.offset)


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
