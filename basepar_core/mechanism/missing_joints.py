"""Bodies that one joint alone holds: ends of arms, or a joint is missing there."""

from collections.abc import Iterable, Sequence

from .mechanism import GROUND, Joint


def held_once(bodies: Iterable[str], joints: Sequence[Joint]) -> list[tuple[str, str]]:
    """Bodies with one joint, and that joint."""
    found = []
    for body in bodies:
        own = [joint.name for joint in joints if body in joint.bodies]
        if len(own) == 1:
            found.append((body, own[0]))
    return found


def joint_to_add(loose: Sequence[tuple[str, str]], planar: bool) -> str:
    """Which bodies have one joint only, and a joint that would hold the first of them."""
    told = ", ".join(f"{body} has one joint only ({joint})" for body, joint in loose)
    body, origin = loose[0][0], "[0, 0]" if planar else "[0, 0, 0]"
    axis = "" if planar else ", axis: [[0, 0, 1], [0, 0, 1]]"
    joint = f"type: revolute, connects: [{GROUND}, {body}], at: [{origin}, {origin}]{axis}"
    return f"{told}. Add it to `joints`, like `{body}_pin: {{{joint}}}`"


def are_too_many(freedom: int, coordinates: int, planar: bool) -> bool:
    """Whether freedoms are so many more than coordinates that a joint may be missing: few joints
    take less away."""
    return freedom - coordinates >= (2 if planar else 3)
