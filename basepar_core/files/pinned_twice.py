"""Two pins that join the same two bodies in the plane: one body then, or a wrong name."""

import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np

from basepar_core.errors import BaseparWarning
from basepar_core.mechanism import GROUND, Joint, joint_type

from .reader import Reading
from .yaml_nodes import Fields


def check_pinned_twice(reading: Reading, joints: Sequence[Joint]) -> None:
    """Report pins of two bodies that another pin joins already, with the bodies that may be meant.

    A mistake where one other pair fits, which is named; else a warning. No mechanism needs such
    pins: two take one freedom more away by the count than they do. Which of the two is wrong the
    count leaves open; the later one is reported, as it may be copied.
    """
    node = reading.top.entries.get("joints") if reading.top else None
    if reading.mistakes or not isinstance(node, Fields):
        return
    for first, joint in _pinned_twice(reading, joints):
        entry = node.entries[joint.name]
        at = entry.entries["connects"] if isinstance(entry, Fields) else entry
        one, two = joint.bodies
        text = f"{first.name} already joins {one} and {two}, and two pins make them one body"
        meant = _meant(joint, joints)
        if len(meant) == 1:
            pair = ", ".join(meant[0])
            reading.mistake(at, f"{text}: is [{pair}] meant in one of the joints?")
        else:
            warnings.warn(f"{at.path} (line {at.line}): {text}.", BaseparWarning, stacklevel=2)


def pairs_meant(reading: Reading, joints: Sequence[Joint]) -> set[frozenset[str]]:
    """Bodies that pins of two bodies that are pinned already may be meant to join."""
    twice = _pinned_twice(reading, joints)
    return {frozenset(pair) for _, joint in twice for pair in _meant(joint, joints)}


def _pinned_twice(reading: Reading, joints: Sequence[Joint]) -> list[tuple[Joint, Joint]]:
    """The first and each further pin of the same two bodies, if two stand at different points."""
    pins: dict[frozenset[str], list[Joint]] = {}
    for joint in joints if reading.planar else ():
        shape = joint_type(joint.type)
        if shape.rotations and not shape.slides:
            pins.setdefault(frozenset(joint.bodies), []).append(joint)
    apart = [some for some in pins.values() if len({_places(reading, one) for one in some}) > 1]
    return [(some[0], one) for some in apart for one in some[1:]]


def _places(reading: Reading, joint: Joint) -> tuple[float, ...]:
    """Where a joint is on its two bodies, in the order of their names."""
    sides = sorted(zip(joint.bodies, joint.frames, strict=True), key=lambda side: side[0])
    numbers = reading.at_nominal([x for _, frame in sides for x in frame.at])
    return tuple(np.round(numbers, 12).tolist())


def _meant(joint: Joint, joints: Sequence[Joint]) -> list[tuple[str, str]]:
    """Pairs with another body in the place of one, with which all have two joints or more."""
    bodies = dict.fromkeys([GROUND, *(body for one in joints for body in one.bodies)])
    held = {frozenset(one.bodies) for one in joints}
    count = Counter(body for one in joints for body in one.bodies)
    one, two = joint.bodies
    pairs = [(body, two) for body in bodies] + [(one, body) for body in bodies]
    found = []
    for pair in pairs:
        after = count - Counter(joint.bodies) + Counter(pair)
        is_new = pair[0] != pair[1] and frozenset(pair) not in held
        if is_new and all(after[body] > 1 for body in bodies):
            found.append(pair)
    return found
