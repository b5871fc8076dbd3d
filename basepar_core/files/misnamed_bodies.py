"""Joints that connect a wrong body: what a drawing's distances tell of it."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.mechanism import GROUND, Joint

from .exchanged_points import BETTER, ROUGH, Carried, Distance, are_off, distances, share_off
from .yaml_nodes import Node, entry_at

#: How far distances may be off on another body, where each body is held by two joints as it is.
CLOSE = 0.04


@dataclass(frozen=True, slots=True)
class Misnamed:
    """A joint that looks as if it should connect `body` in the place of `wrong`.

    Attributes
    ----------
    joint
        With `body` in it.
    told, met
        The distance on `wrong` that is farthest off, and one to this joint that `body` meets.
    is_loose
        Whether fewer bodies hang on a single joint with `body` in it.
    """

    joint: Joint
    wrong: str
    body: str
    told: Distance
    met: Distance
    is_loose: bool

    def __str__(self) -> str:
        return (
            f"{self.wrong} does not fit the drawing, {self.body} does: {self.told} on "
            f"{self.wrong}; {self.met} on {self.body}"
        )


def looks_misnamed(
    joints: Sequence[Joint],
    carried: Carried,
    carried_by: Callable[[Joint], Carried],
    drawn: Mapping[str, np.ndarray],
) -> Misnamed | None:
    """The one joint that with another body in it makes the drawing clearly right.

    `carried_by` is what a joint carries. Of several such joints one counts if it alone leaves
    fewer bodies that hang on a single joint.
    """
    before = distances(carried, drawn)
    worst = max(map(share_off, before.values()), default=0.0)
    most = min(worst / BETTER, ROUGH)
    found = []
    for other, wrong, body in _renamed(joints, {name for name in before if are_off(before[name])}):
        after = distances({**carried, **carried_by(other)}, drawn)
        to_it = [one for one in after.get(body, ()) if other.name in (one.one, one.two)]
        others = [other if one.name == other.name else one for one in joints]
        fewer = len(_hanging(others)) < len(_hanging(joints))
        # Where no body hangs, a rough drawing may fit another body by chance.
        if to_it and max(map(share_off, after.values())) <= (most if fewer else min(most, CLOSE)):
            told = max(before[wrong], key=lambda one: abs(one.drawn - one.own))
            met = max(to_it, key=lambda one: one.own)
            found.append(Misnamed(other, wrong, body, told, met, fewer))
    best = [one for one in found if one.is_loose] or found
    return best[0] if len(best) == 1 else None


def _renamed(joints: Sequence[Joint], off: set[str]) -> Iterator[tuple[Joint, str, str]]:
    """Joints with another body in the place of one that is off: that joint, the wrong body and
    the other one.

    Only where the mechanism makes sense with it: all bodies are held by the ground, no more of
    them hang on a single joint, and no second joint connects the same two.
    """
    bodies = sorted({body for joint in joints for body in joint.bodies} - {GROUND})
    held = {frozenset(joint.bodies) for joint in joints}
    for joint in joints:
        for side in (0, 1):
            wrong, kept = joint.bodies[side], joint.bodies[1 - side]
            for body in bodies if wrong in off else ():
                if body in joint.bodies or frozenset((body, kept)) in held:
                    continue
                pair = (body, kept) if side == 0 else (kept, body)
                other = replace(joint, bodies=pair)
                others = [other if one is joint else one for one in joints]
                few = len(_hanging(others)) <= len(_hanging(joints))
                if few and _held_by_ground(others) >= {GROUND, *bodies}:
                    yield other, wrong, body


def _hanging(joints: Sequence[Joint]) -> set[str]:
    """Bodies with one joint only."""
    count = Counter(body for joint in joints for body in joint.bodies if body != GROUND)
    return {body for body, joints_of_it in count.items() if joints_of_it == 1}


def _held_by_ground(joints: Sequence[Joint]) -> set[str]:
    """Bodies to which joints lead from the ground, and itself."""
    known = {GROUND}
    while (
        new := {body for joint in joints if known & {*joint.bodies} for body in joint.bodies}
        - known
    ):
        known |= new
    return known


def line_of_connects(joints: Node | None, name: str) -> int | None:
    """The line where a joint says what it connects."""
    connects = entry_at(joints, name, "connects")
    return connects.line if connects else None
