"""Links without mass between hinges or slides, as universal, spherical or planar joints.

Formats with joints of one axis make others of stubs: two hinges with a stub between them are a
universal joint where their axes meet at right angles, three are a ball where their axes meet in
one point, two slides and a hinge across both move in a plane. They are read as such in robots
whose loops close, where no joint of a stub is driven, coupled, limited, sprung or rubbed; all
arithmetic is exact. Other stubs stay, as massless bodies, whose parameters do not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt

import numpy as np
from scipy.spatial.transform import Rotation

from basepar_core.mechanism import JointTypeName

from .draft import Connection, Draft, End, Merged, merge, value_names
from .frames import are_alike, basis, floats, seen
from .kinds import PLANAR, PRISMATIC, REVOLUTE, SPHERICAL, UNIVERSAL
from .rationals import UNITS, ZERO, Pose, Vec, cross, dot, from_floats, minus, plus

#: An assembly's rotation vector is approximate: to so many parts of a rad.
PARTS = 1000


@dataclass(frozen=True)
class Step:
    """A joint of one axis on the way from one body to the next.

    Attributes
    ----------
    connection
        As the file has it.
    bodies
        Where the step begins and ends.
    near, far
        Its frame in these; by its value the far body moves about, or along, both axes.
    """

    connection: Connection
    bodies: tuple[str, str]
    near: End
    far: End

    @property
    def start(self) -> Fraction:
        """Where the assembly begins."""
        return self.connection.start.get(self.connection.name, Fraction(0))

    def onto(self, v: Vec) -> Vec:
        """A direction of the near body as the far one has it where the value is zero."""
        return seen(v, basis(self.near), basis(self.far))

    def back(self, v: Vec) -> Vec:
        """The other way round."""
        return seen(v, basis(self.far), basis(self.near))

    def spot_onto(self, p: Vec) -> Vec:
        """A point likewise; one on a hinge's axis stays where it is."""
        return plus(self.far.at, self.onto(minus(p, self.near.at)))

    def spot_back(self, p: Vec) -> Vec:
        """The other way round."""
        return plus(self.near.at, self.back(minus(p, self.far.at)))


def merge_stubs(draft: Draft) -> bool:
    """Replace joints of stubs by one joint each where that moves alike; notes list them.

    Parameters
    ----------
    draft
        Without mistakes; changed in place.

    Returns
    -------
    bool
        Whether there are any.
    """
    merged = merge(replace(draft, notes=[]))
    if len(draft.connections) <= len(merged.bodies):  # a tree: every joint is driven
        return False
    before = len(draft.connections)
    for count in (3, 2):
        while (way := next(_ways(draft, merged, count), None)) is not None:
            _put_in_place(draft, merged, *way)
            merged = merge(replace(draft, notes=[]))
    return len(draft.connections) < before


def _put_in_place(draft: Draft, merged: Merged, way: Sequence[Step], joint: Connection) -> None:
    old = [step.connection for step in way]
    inside = {step.bodies[1] for step in way[:-1]}
    gone = {name for name, (body, _) in merged.carried.items() if body in inside}
    first = min(draft.connections.index(one) for one in old)
    draft.connections.insert(first, joint)
    draft.connections = [one for one in draft.connections if one not in old]
    draft.links = [one for one in draft.links if one.name not in gone]
    draft.fixtures = [one for one in draft.fixtures if one.child not in gone]
    draft.notes.append(
        f"{', '.join(one.name for one in old)}, with {', '.join(sorted(gone))} without mass "
        f"between them, are the {joint.kind} joint {joint.name!r}"
    )


# Ways through stubs.


def _ways(draft: Draft, merged: Merged, count: int) -> Iterator[tuple[list[Step], Connection]]:
    """Ways of so many joints through stubs that move like one joint, and that joint."""
    held = _held(draft, merged)
    stubs = _stubs(draft, merged, held)
    for stub in stubs:
        for one in held[stub]:
            way, here = [_step(merged, one, stub, arrives=True)], stub
            while len(way) < count and here in stubs:
                (onward,) = (c for c in held[here] if c is not way[-1].connection)
                way.append(_step(merged, onward, here, arrives=False))
                here = way[-1].bodies[1]
            joint = _one_joint(way) if len(way) == count and here != way[0].bodies[0] else None
            if joint is not None:
                yield way, joint


def _held(draft: Draft, merged: Merged) -> dict[str, list[Connection]]:
    """By body the connections at it."""
    held: dict[str, list[Connection]] = {}
    for one in draft.connections:
        for link in one.links:
            held.setdefault(merged.carried[link][0], []).append(one)
    return held


def _stubs(draft: Draft, merged: Merged, held: Mapping[str, Sequence[Connection]]) -> list[str]:
    """Bodies without inertia that two passive joints hold, and nothing else."""
    pulled = {merged.carried[link][0] for tie in draft.between for link in tie.links}
    busy = {*draft.coordinates, *draft.preferred}
    busy |= {name for one in draft.couplings for name in one.terms}
    return [
        body
        for body, inertia in merged.bodies.items()
        if inertia.is_nothing and body not in pulled and len(held.get(body, [])) == 2
        if all(_is_passive(one) and one.name not in busy for one in held[body])
    ]


def _is_passive(one: Connection) -> bool:
    """Whether it has one axis, and nothing limits, pulls or rubs it."""
    rubbed = any(x for values in one.friction.values() for x in values.values())
    alone = one.kind in (REVOLUTE, PRISMATIC) and one.pitch is None
    return alone and not (one.limits or one.springs or rubbed)


def _step(merged: Merged, one: Connection, body: str, arrives: bool) -> Step:
    """A joint on a way that arrives at a body, or leaves it."""
    bodies, ends = merged.joined(one)
    if (bodies[1] == body) == arrives:
        return Step(one, bodies, *ends)
    # The first body moves against the second: by the same value about the axes reversed.
    near, far = (replace(end, axis=minus(ZERO, end.axis)) for end in reversed(ends))
    return Step(one, (bodies[1], bodies[0]), near, far)


# What a way is.


def _one_joint(way: Sequence[Step]) -> Connection | None:
    """The joint that moves as a way does; None where there is none."""
    if not all(are_alike((step.near, step.far)) for step in way):
        return None
    kinds = [step.connection.kind for step in way]
    if kinds == [REVOLUTE, REVOLUTE]:
        return _universal(*way)
    if kinds == [REVOLUTE] * 3:
        return _ball(*way)
    if kinds == [PRISMATIC, PRISMATIC, REVOLUTE]:
        return _planar(*way)
    return None


def _universal(one: Step, two: Step) -> Connection | None:
    """Hinges whose axes meet at right angles; the values are theirs."""
    spot = _meet(one.far, two.near)
    if spot is None or dot(one.far.axis, two.near.axis):
        return None
    near = End(one.spot_back(spot), one.near.axis, one.back(two.near.axis))
    far = End(two.spot_onto(spot), two.far.axis, two.onto(one.far.axis))
    return _made((one, two), UNIVERSAL, near, far, [one.start, two.start])


def _ball(one: Step, two: Step, three: Step) -> Connection | None:
    """Hinges whose axes meet in one point and are independent where their values are zero."""
    spot, other = _meet(one.far, two.near), _meet(two.far, three.near)
    if spot is None or other is None or two.spot_onto(spot) != other:
        return None
    # Where a ball has its zero does not matter, and short numbers read better.
    seen_far = [floats(three.onto(two.onto(one.onto(unit)))) for unit in UNITS]
    turned = Rotation.from_matrix(np.array(seen_far).T).as_quat(scalar_first=True)
    there = Pose(turn=from_floats(np.round(turned / np.abs(turned).max(), 2).tolist()))
    near = End(one.spot_back(spot), UNITS[2], UNITS[0])
    far = replace(near, at=ZERO).seen_from(there)
    far = replace(far, at=three.spot_onto(other))
    home = (one.near.axis, one.back(two.near.axis), one.back(two.back(three.near.axis)))
    if not dot(home[0], cross(home[1], home[2])):
        return None
    turn = Rotation.identity()
    for step, axis in zip((one, two, three), home, strict=True):
        unit = np.array(floats(axis)) / np.linalg.norm(floats(axis))
        turn = turn * Rotation.from_rotvec(float(step.start) * unit)
    start = [Fraction(round(PARTS * x), PARTS) for x in turn.as_rotvec()]
    return _made((one, two, three), SPHERICAL, near, far, start)


def _planar(one: Step, two: Step, turn: Step) -> Connection | None:
    """Slides at right angles, and a hinge across both."""
    u, v = one.near.axis, one.back(two.near.axis)
    w = one.back(two.back(turn.near.axis))
    if dot(u, v) or dot(u, w) or dot(v, w):
        return None
    # Where the hinge's point is with both slides at zero; y is z × x.
    spot = one.spot_back(two.spot_back(turn.near.at))
    second = -two.start if dot(cross(w, u), v) < 0 else two.start
    near = End(spot, w, u)
    far = End(turn.far.at, turn.far.axis, turn.onto(two.onto(one.onto(u))))
    return _made((one, two, turn), PLANAR, near, far, [one.start, second, turn.start])


def _made(
    way: Sequence[Step], kind: JointTypeName, near: End, far: End, start: Sequence[Fraction]
) -> Connection | None:
    """The joint; None where its axes have no rational lengths that agree."""
    ratio = _root(dot(near.axis, near.axis) / dot(far.axis, far.axis))
    if ratio is None:
        return None
    name = " ".join(step.connection.name for step in way)
    x, y, z = (ratio * c for c in far.axis)
    begun = {n: s for n, s in zip(value_names(name, kind), start, strict=True) if s}
    links = way[0].bodies[0], way[-1].bodies[1]
    return Connection(name, kind, links, (near, replace(far, axis=(x, y, z))), start=begun)


def _meet(one: End, other: End) -> Vec | None:
    """Where two lines of one body meet in one point."""
    normal, apart = cross(one.axis, other.axis), minus(other.at, one.at)
    square = dot(normal, normal)
    if not square or dot(apart, normal):
        return None
    share = dot(cross(apart, other.axis), normal) / square
    x, y, z = (a + share * c for a, c in zip(one.at, one.axis, strict=True))
    return x, y, z


def _root(square: Fraction) -> Fraction | None:
    """The rational root of a number, if it has one."""
    found = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return found if found * found == square else None
