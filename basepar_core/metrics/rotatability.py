"""How far a pin is from turning all the way round, or from not doing so.

In a four-bar a link turns fully where its two neighbours can always span what its end is away
from them: Grashof's rule (Theorie der Getriebe, 1917) for this link, as the least length to spare.
In a slider-crank it is the rod beyond crank and offset. Elsewhere the least distance of the loop
equations from singular is taken, over the cycle.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import Expression, subtract
from basepar_core.mechanism import Joint, Mechanism, joint_type

from .analytic import length, size
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .targets import Target

WORDS = ("full_rotation",)
#: Joints of a loop in order, each with the body that follows.
_Loop = tuple[tuple[Joint, str], ...]


def metrics(mechanism: Mechanism, _: Sequence[Target]) -> dict[str, CycleMetric]:
    """By name: of every pin of a planar mechanism."""
    found: dict[str, CycleMetric] = {}
    if not mechanism.planar:
        return found
    for joint in mechanism.joints:
        if joint_type(joint.type).is_pin:
            value, unit, words = _of_pin(mechanism, joint)
            found[f"full_rotation({joint.name})"] = CycleMetric(value, unit, words)
    return found


def _of_pin(mechanism: Mechanism, joint: Joint) -> tuple[Callable[[ClosedCycle], Array], str, str]:
    loops = list(_loops(mechanism, joint))
    four = [loop for loop in loops if all(joint_type(x.type).is_pin for x, _ in loop)]
    if four:
        words = f"length to spare in a full rotation of {joint.name}; below 0 there is none"
        return partial(_four_bar, loop=four[0]), "m", words
    cranks = [loop for loop in loops if joint_type(loop[3][0].type).is_slide]
    if cranks:
        words = f"rod's length to spare in a full rotation of {joint.name}; below 0 there is none"
        return partial(_slider_crank, loop=cranks[0]), "m", words
    return _margin, "1", "least distance of the loop equations from singular over the cycle"


def _loops(mechanism: Mechanism, joint: Joint) -> Iterator[_Loop]:
    """Loops of four pins, or three pins and a slide, that begin with a joint.

    The last joint is between the body before the first and the first's other one.
    """
    for base, link in (joint.bodies, joint.bodies[::-1]):
        for second, coupler in _from(mechanism, link, {joint.name}):
            for third, other in _from(mechanism, coupler, {joint.name, second.name}):
                for last, end in _from(mechanism, other, {joint.name, second.name, third.name}):
                    kinds = [joint_type(x.type) for x in (second, third, last)]
                    pins = [kind.is_pin for kind in kinds]
                    if end == base and pins[0] and pins[1] and (pins[2] or kinds[2].is_slide):
                        yield ((joint, link), (second, coupler), (third, other), (last, base))


def _from(mechanism: Mechanism, body: str, used: set[str]) -> Iterator[tuple[Joint, str]]:
    for joint in mechanism.joints:
        if joint.name not in used and body in joint.bodies:
            yield joint, joint.bodies[1 - joint.bodies.index(body)]


def _at(joint: Joint, body: str) -> tuple[Expression, ...]:
    return joint.frames[joint.bodies.index(body)].at[:2]


def _between(first: Joint, second: Joint, body: str) -> list[Expression]:
    pairs = zip(_at(second, body), _at(first, body), strict=True)
    return [subtract(x, y) for x, y in pairs]


def _four_bar(cycle: ClosedCycle, loop: _Loop) -> Array:
    """The other two links reach from |d − a| to d + a at least."""
    joints = [joint for joint, _ in loop]
    links = [_between(joints[k], joints[(k + 1) % 4], loop[k][1]) for k in range(4)]
    sides = cycle._of_symbols([entry for link in links for entry in link])
    a, b, c, d = length(sides.reshape(-1, 4, 2), axis=2).T
    return np.minimum(b + c - (a + d), size(d - a) - size(b - c))


def _slider_crank(cycle: ClosedCycle, loop: _Loop) -> Array:
    """The rod reaches beyond crank and offset of the slide's line from the pin."""
    (pin, crank), (second, rod), (third, slider), (slide, base) = loop
    own = slide.frames[slide.bodies.index(base)]
    other = slide.frames[slide.bodies.index(slider)]
    numbers = cycle._of_symbols(
        [
            *_between(pin, second, crank),
            *_between(second, third, rod),
            *(subtract(x, y) for x, y in zip(_at(pin, base), own.at[:2], strict=True)),
            *own.axis[:2],
            *(subtract(x, y) for x, y in zip(_at(third, slider), other.at[:2], strict=True)),
            *other.axis[:2],
        ]
    ).reshape(-1, 6, 2)
    a, b = length(numbers[:, :2], axis=2).T
    offsets = [
        (x[:, 0] * d[:, 1] - x[:, 1] * d[:, 0]) / length(d, axis=1)
        for x, d in ((numbers[:, 2], numbers[:, 3]), (numbers[:, 4], numbers[:, 5]))
    ]
    return b - a - size(offsets[0] - offsets[1])


def _margin(cycle: ClosedCycle) -> Array:
    return cycle.regularity.min(axis=-1)
