"""A joint with one entry of its points changed, as whoever looks for a mistake tries it."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from basepar_core.expressions import Expression, names, renamed

from .mechanism import Joint


def with_at(joint: Joint, side: int, axis: int, entry: Expression) -> Joint:
    """A joint with another entry in its point in one of its bodies."""
    frames = list(joint.frames)
    x, y, z = (entry if k == axis else one for k, one in enumerate(frames[side].at))
    frames[side] = replace(frames[side], at=(x, y, z))
    return replace(joint, frames=(frames[0], frames[1]))


def with_other_symbols(
    joint: Joint, lengths: Collection[str]
) -> Iterator[tuple[str, str, str, Joint]]:
    """Entries of a joint's points with another length in the place of one.

    Yields
    ------
    The entry, such as `joints.B.at[0][0]`, the symbol there, the other one, and the joint with it.
    """
    for side, frame in enumerate(joint.frames):
        for axis, entry in enumerate(frame.at):
            for old in sorted(names(entry) & {*lengths}):
                for new in lengths:
                    if new != old:
                        other = with_at(joint, side, axis, renamed(entry, old, new))
                        yield f"joints.{joint.name}.at[{side}][{axis}]", old, new, other
