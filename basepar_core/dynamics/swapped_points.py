"""Joints whose two points, or bodies, stand in the wrong order: swapped, the loops close."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.errors import AssemblyError
from basepar_core.mechanism import Joint

from .trials import NEAR, ROUGH, Trial, closing, stands_on_pin


@dataclass(frozen=True, slots=True)
class SwappedPoints:
    """A joint whose points look swapped, by the stated value that is farthest off, `value`.

    `off` is how far, rad or a share of the larger of two lengths; `left` is how far `nearest`,
    the value that is then farthest off, is with the points swapped. `connects` are its bodies in
    the other order where that does as well: its axes are swapped too.
    """

    joint: str
    value: str
    off: float
    nearest: str
    left: float
    connects: tuple[str, ...] = ()


def advised(error: AssemblyError, own: Trial) -> AssemblyError:
    """The error of open loops, with the joint whose points or bodies are swapped, if just one.

    Values that are stated beside the coordinates tell whether they close as they are meant to.
    """
    # Bodies are laid out over most joints as if nothing were wrong: no wider open will do.
    found = _closing(own, own.gap, NEAR) if own.tells else None
    if found is None:
        return error
    joint, is_turned, _ = found
    first, second = joint.bodies
    if is_turned:
        advice = (
            f"With joints.{joint.name}.connects: [{second}, {first}] all loops close about as "
            f"stated: `at`, `axis` and `reference` are in this order."
        )
    else:
        advice = (
            f"With the two points of {joint.name} the other way round all loops close about as "
            f"stated: in its `at` the first point is in {first}, the second in {second}."
        )
    return AssemblyError(f"{error.message} {advice}", [f"joints.{joint.name}"])


def explaining(own: Trial) -> SwappedPoints | None:
    """The one joint with whose points swapped the loops close clearly nearer to stated values.

    For loops that close in both orders; None where stated values are met about, or no swap, or
    more than one, explains them.
    """
    off = own.farthest
    if off[1] < ROUGH:
        return None
    found = _closing(own, own.gap / 2, own.to_meet)
    if found is None:
        return None
    joint, is_turned, other = found
    connects = joint.bodies[::-1] if is_turned else ()
    return SwappedPoints(joint.name, *off, *other.farthest, connects)


def least_gap(own: Trial) -> float:
    """The least gap at stated values with the points or bodies of one joint swapped."""
    orders = (*_swaps(own), *_turns(own))
    return min((trial.gap for _, trial in orders), default=np.inf)


def _closing(own: Trial, gap: float, most: float) -> tuple[Joint, bool, Trial] | None:
    """The one joint with whose points, or bodies where those do as well, swapped loops close."""
    swapped, turned = (closing(some, gap, most) for some in (_swaps(own), _turns(own)))
    joints = {joint.name for joint, _ in swapped}
    is_turned = len(turned) == 1 and joints <= {turned[0][0].name}
    # Of equal axes it is told by values alone, and of those without them the points do.
    is_turned = is_turned and (not swapped or _has_two_axes(turned[0][0]))
    found = turned if is_turned else swapped
    return (found[0][0], is_turned, found[0][1]) if len(found) == 1 else None


def _swaps(own: Trial) -> Iterator[tuple[Joint, Trial]]:
    """Joints of two different points, and the mechanism with these swapped."""
    for joint in own.mechanism.joints:
        one, two = joint.frames
        if one.at != two.at:
            frames = (replace(one, at=two.at), replace(two, at=one.at))
            other = replace(joint, frames=frames)
            if not stands_on_pin(other, own.mechanism):
                yield joint, own.with_joint(joint, other)


def _turns(own: Trial) -> Iterator[tuple[Joint, Trial]]:
    """Joints of two different points or axes, and the mechanism with their bodies swapped: with
    them go points, axes and references."""
    for joint in own.mechanism.joints:
        other = replace(joint, bodies=joint.bodies[::-1])
        if joint.frames[0] != joint.frames[1] and not stands_on_pin(other, own.mechanism):
            yield joint, own.with_joint(joint, other)


def _has_two_axes(joint: Joint) -> bool:
    one, two = joint.frames
    return (one.axis, one.reference) != (two.axis, two.reference)
