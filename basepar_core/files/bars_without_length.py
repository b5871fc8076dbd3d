"""Bars of a loop in the plane whose two pins stand at one point: most often a slip in `at`."""

import warnings
from collections.abc import Sequence
from itertools import combinations

from basepar_core.errors import BaseparWarning
from basepar_core.mechanism import GROUND, Joint, Vector, joint_type

from .exchanged_points import exchanged, line_to_write
from .reader import Reading
from .yaml_nodes import Fields, Node


def warn_of_no_length(reading: Reading, joints: Sequence[Joint], node: Node | None) -> None:
    """Say which bars of a loop in the plane have both pins at one point, and what to write.

    Wheels of open chains and gears have theirs in their middle.
    """
    geared = reading.top is not None and "couplings" in reading.top.entries
    if geared or not reading.planar or not isinstance(node, Fields):
        return
    for body, names in _without_length(joints).items():
        turned = _with_points_exchanged(joints, node, body, names)
        if turned is None:
            remedy = f"write where on {body} one of them is, in its `at`"
        elif connects := _turned_away(joints, turned[0]):
            remedy = (
                f"the bodies of {turned[0]} look exchanged: write {connects} or, if these are "
                f"meant in this order, {turned[1]}, not both"
            )
        else:
            remedy = f"is it that the points of {turned[0]} are exchanged? Then write {turned[1]}"
        entries = [node.entries[name] for name in names]
        places = [f"{entry.path} (line {entry.line})" for entry in entries]
        warnings.warn(
            f"{' and '.join(places)} stand at one point of {body}, which has no length then; "
            f"{remedy}.",
            BaseparWarning,
            stacklevel=2,
        )


def _without_length(joints: Sequence[Joint]) -> dict[str, list[str]]:
    """Bodies of a loop with two pins at one point, and these."""
    pins: dict[str, list[tuple[str, Vector | None]]] = {}
    for joint in joints:
        for body, frame in zip(joint.bodies, joint.frames, strict=True):
            pins.setdefault(body, []).append((joint.name, frame.at if _is_pin(joint) else None))
    return {
        body: [name for name, _ in held]
        for body, held in pins.items()
        if body != GROUND
        and len(held) == 2
        and held[0][1] == held[1][1]
        and held[0][1] is not None
        and _is_in_loop(joints, body)
    }


def _with_points_exchanged(
    joints: Sequence[Joint], node: Node, body: str, names: Sequence[str]
) -> tuple[str, str] | None:
    """The one joint whose two points in the other order give all bars a length; its `at` then."""
    before = _at_one_point(joints)
    found = []
    for name in names:
        turned = [exchanged(one) if one.name == name else one for one in joints]
        after = _at_one_point(turned)
        there = line_to_write(node, name)
        if there and (body, *names) not in after and after <= before:
            found.append((name, there[1]))
    return found[0] if len(found) == 1 else None


def _at_one_point(joints: Sequence[Joint]) -> set[tuple[str, str, str]]:
    """Bodies, the ground among them, with two pins that stand at one point of it."""
    found = set()
    for one, two in combinations(filter(_is_pin, joints), 2):
        for body in {*one.bodies} & {*two.bodies}:
            first, second = (x.frames[x.bodies.index(body)].at for x in (one, two))
            if first == second:
                found.add((body, one.name, two.name))
    return found


def _is_pin(joint: Joint) -> bool:
    return joint_type(joint.type).values == len(joint_type(joint.type).turns) == 1


def _turned_away(joints: Sequence[Joint], name: str) -> str:
    """`connects` in the other order, if a joint hangs its first body on one of the joints before.

    Most files go from the ground outwards: `at` is in that order where `connects` is not.
    """
    k = next(k for k, joint in enumerate(joints) if joint.name == name)
    known = {GROUND, *(body for joint in joints[:k] for body in joint.bodies)}
    one, two = joints[k].bodies
    return f"connects: [{two}, {one}]" if two in known and one not in known else ""


def _is_in_loop(joints: Sequence[Joint], body: str) -> bool:
    """Whether both joints of a body lead to each other without it."""
    one, two = (
        next(x for x in joint.bodies if x != body) for joint in joints if body in joint.bodies
    )
    reached, found = {one}, True
    while found:
        found = False
        for joint in joints:
            if body not in joint.bodies and len({*joint.bodies} & reached) == 1:
                reached |= {*joint.bodies}
                found = True
    return two in reached
