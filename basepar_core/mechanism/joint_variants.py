"""Joints with one entry of their points changed, as whoever looks for a mistake tries it."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from basepar_core.expressions import Expression, names, renamed

from .mechanism import Joint


@dataclass(frozen=True, slots=True)
class JointVariant:
    """A joint and another one for it, which has `meant` in place of what is `written` at a place.

    `cost`: of several that explain something alike the one of the least is meant.
    """

    place: str
    written: str
    meant: str
    joint: Joint
    other: Joint
    cost: int = 0


def with_at(joint: Joint, side: int, axis: int, entry: Expression) -> Joint:
    """A joint with another entry in its point in one of its bodies."""
    frames = list(joint.frames)
    x, y, z = (entry if k == axis else one for k, one in enumerate(frames[side].at))
    frames[side] = replace(frames[side], at=(x, y, z))
    return replace(joint, frames=(frames[0], frames[1]))


def entries_of_points(joints: Sequence[Joint]) -> Iterator[tuple[Joint, int, int, Expression]]:
    """Entries of joints' points: the joint, which of its bodies, which axis, and what it is."""
    for joint in joints:
        for side, frame in enumerate(joint.frames):
            for axis, entry in enumerate(frame.at):
                yield joint, side, axis, entry


def symbols_in_points(joints: Sequence[Joint]) -> Counter[str]:
    """In how many entries of joints' points each symbol is."""
    return Counter(name for *_, entry in entries_of_points(joints) for name in names(entry))


def with_other_symbols(
    joints: Sequence[Joint], lengths: Collection[str]
) -> Iterator[JointVariant]:
    """Joints with another length's symbol in one entry of their points.

    Every length has its place: a symbol that no other point has is no mistaken one, and that is
    meant first which fewest points have.
    """
    uses = symbols_in_points(joints)
    for joint, side, axis, entry in entries_of_points(joints):
        for old in sorted(names(entry) & {*lengths}):
            for new in lengths if uses[old] > 1 else ():
                if new != old:
                    place = f"joints.{joint.name}.at[{side}][{axis}]"
                    other = with_at(joint, side, axis, renamed(entry, old, new))
                    yield JointVariant(place, old, new, joint, other, uses[new])
