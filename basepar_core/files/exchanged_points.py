"""Joints whose two points are exchanged in `at`: what a drawing's distances tell of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from basepar_core.expressions import negate
from basepar_core.mechanism import GROUND, Joint, entries_of_points, with_at

from . import yaml_nodes
from .remedies import written
from .yaml_nodes import Items, Node, entry_at

#: By the name of a joint or point the bodies that carry it, and where in their frames, m.
Carried = Mapping[str, Sequence[tuple[str, np.ndarray]]]
#: A share of a body by which most drawings are nearer than that.
_OFF = 0.06
#: With the points exchanged, or another body, distances are so many times nearer, and no farther
#: off than a drawing is rough: else the drawing tells nothing of it.
BETTER, ROUGH = 4.0, 0.1


@dataclass(frozen=True, slots=True)
class Distance:
    """Of two points of a body: as drawn and on the body, m."""

    one: str
    two: str
    drawn: float
    own: float

    def __str__(self) -> str:
        return (
            f"{self.one} and {self.two} are {self.drawn:.4g} m apart as drawn, and "
            f"{self.own:.4g} m"
        )


@dataclass(frozen=True, slots=True)
class Exchange:
    """A joint whose points look exchanged, and the distance that tells it: `met` with its points
    exchanged."""

    joint: Joint
    body: str
    told: Distance
    met: Distance

    @property
    def met_at(self) -> str:
        return f"{self.met.drawn:.4g} m and {self.met.own:.4g} m"


def distances(carried: Carried, drawn: Mapping[str, np.ndarray]) -> dict[str, list[Distance]]:
    """By body, of all pairs of its points that are drawn; joints on the ground are there."""
    places: dict[str, list[tuple[str, np.ndarray, np.ndarray]]] = {}
    for name, carriers in carried.items():
        grounded = [at for body, at in carriers if body == GROUND]
        world = drawn[name] if name in drawn else grounded[0] if grounded else None
        for body, at in carriers if world is not None else ():
            if world is not None and body != GROUND:
                places.setdefault(body, []).append((name, world, at))
    return {
        body: [
            Distance(one, two, float(np.linalg.norm(a - b)), float(np.linalg.norm(x - y)))
            for (one, a, x), (two, b, y) in combinations(found, 2)
            if one in drawn or two in drawn
        ]
        for body, found in places.items()
    }


def looks_exchanged(
    joints: Sequence[Joint],
    carried: Carried,
    turned: Mapping[str, Sequence[tuple[str, np.ndarray]]],
    drawn: Mapping[str, np.ndarray],
) -> Exchange | None:
    """The one joint whose exchanged points make the drawing clearly right.

    `turned` has what joints carry with their points exchanged. Two joints that explain it alike
    are none.
    """
    before = distances(carried, drawn)
    found = []
    for joint in joints:
        if joint.name not in turned:
            continue
        after = distances({**carried, joint.name: turned[joint.name]}, drawn)
        # All other bodies' distances are the same.
        off, left = (
            [(share_off(some.get(body, ())), body) for body in joint.bodies]
            for some in (before, after)
        )
        worst, body = max(off)
        if worst >= _OFF and max(left)[0] <= min(worst / BETTER, ROUGH):
            k = int(np.argmax([abs(one.drawn - one.own) for one in before[body]]))
            found.append(Exchange(joint, body, before[body][k], after[body][k]))
    return found[0] if len(found) == 1 else None


def sign_as_well(
    found: Exchange,
    carried: Carried,
    carried_by: Callable[[Joint], Carried],
    drawn: Mapping[str, np.ndarray],
) -> tuple[Exchange, tuple[int, int]] | None:
    """The entry of the same joint's points, by point and axis, whose sign turned round makes the
    drawing right as well; it leaves bodies as long as they are."""
    before = distances(carried, drawn)
    worst = max(map(share_off, before.values()))
    for joint, side, axis, entry in entries_of_points([found.joint]):
        other = with_at(joint, side, axis, negate(entry))
        after = distances({**carried, **carried_by(other)}, drawn)
        if max(map(share_off, after.values())) <= min(worst / BETTER, ROUGH):
            k = before[found.body].index(found.told)
            return replace(found, met=after[found.body][k]), (side, axis)
    return None


def advice(
    joints: Node | None, found: Exchange, sign: tuple[Exchange, tuple[int, int]] | None
) -> Sequence[str]:
    """What to write, of the section `joints`: one remedy, or both where a sign explains it too."""
    there = line_to_write(joints, found.joint.name)
    turned = line_with_sign(joints, found.joint.name, sign[1]) if sign else None
    if there is None:
        return ()
    at = f"joints.{found.joint.name}.at (line {there[0]})"
    if sign and turned:
        point, axis = sign[1]
        return (
            f"{at}: {found.told} on {found.body}; with the sign of at[{point}][{axis}] turned "
            f"round {sign[0].met_at}, with its points exchanged {found.met_at}. Write "
            f"{turned[1]}, or {there[1]} if that is meant.",
        )
    first, second = found.joint.bodies
    return (
        f"{at}: its two points look exchanged: {found.told} on {found.body}; with the points "
        f"exchanged {found.met_at}. Write {there[1]}: the first point is in the frame of {first}, "
        f"the second in that of {second}.",
    )


def are_off(found: Iterable[Distance]) -> bool:
    """Whether distances of one body are farther off than in most drawings."""
    return share_off(found) >= _OFF


def is_off(one: Distance, found: Iterable[Distance]) -> bool:
    """Whether one of a body's distances is farther off than in most drawings."""
    size = max(max(each.drawn, each.own) for each in found)
    return abs(one.drawn - one.own) >= _OFF * size > 0


def is_exchangeable(joint: Joint) -> bool:
    """Whether it makes a difference which of its points is which."""
    return joint.frames[0].at != joint.frames[1].at


def exchanged(joint: Joint) -> Joint:
    """A joint with its two points exchanged."""
    one, two = joint.frames
    return replace(joint, frames=(replace(one, at=two.at), replace(two, at=one.at)))


def share_off(found: Iterable[Distance]) -> float:
    """How far off the worst distance is, as a share of the larger of body and drawing."""
    found = [*found]
    size = max((max(one.drawn, one.own) for one in found), default=0.0)
    return max((abs(one.drawn - one.own) / size for one in found), default=0.0) if size else 0.0


def line_to_write(joints: Node | None, name: str) -> tuple[int, str] | None:
    """The line of a joint's `at`, and `at` with its two points exchanged, as the file has them."""
    at = entry_at(joints, name, "at")
    if not isinstance(at, Items) or len(at.items) != 2:
        return None
    return at.line, f"at: [{written(at.items[1])}, {written(at.items[0])}]"


def line_in_text(text: str, name: str) -> tuple[int, str] | None:
    """`line_to_write` of a mechanism file's text."""
    node, _ = yaml_nodes.read(text)
    return line_to_write(entry_at(node, "joints"), name)


def entry_turned(text: str, name: str, entry: Sequence[int]) -> tuple[int, str] | None:
    """The line of a joint's `at` in a mechanism file's text, and `at` with the sign of one entry,
    by point and axis, turned round."""
    node, _ = yaml_nodes.read(text)
    return line_with_sign(entry_at(node, "joints"), name, entry)


def line_with_sign(joints: Node | None, name: str, entry: Sequence[int]) -> tuple[int, str] | None:
    """`entry_turned` of the section itself."""
    at = entry_at(joints, name, "at")
    if not isinstance(at, Items) or len(at.items) != 2:
        return None
    side, axis = entry
    points = [written(one) for one in at.items]
    point = at.items[side]
    if not isinstance(point, Items):
        return None
    entries = [written(one) for one in point.items]
    entries[axis] = _turned(entries[axis])
    points[side] = f"[{', '.join(entries)}]"
    return at.line, f"at: [{', '.join(points)}]"


def _turned(text: str) -> str:
    """An expression's negative."""
    body = text.removeprefix("-").strip()
    if set(body) & set("+-"):
        return f"-({text})"
    return body if text != body else f"-{text}"
