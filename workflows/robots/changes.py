"""What of a mechanism differs from the file that it comes from: inertias, joints, friction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.imported import Part, Tie
from basepar_core.mechanism import joint_type

from .parts import Inertia, Joint, Law, Pose
from .tree import Branch

#: Numbers of a file that is read agree with what was written to this, in m, in entries of
#: rotations, and as a share of a body's inertia: importers meet rotations to 1e-14 rad.
CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class Change:
    """A joint whose frames differ.

    Attributes
    ----------
    before, after
        With frames in the two bodies, the file's and the mechanism's.
    tie
        What the file calls it, and the links.
    carried
        The two links' frames in their bodies.
    """

    before: Joint
    after: Joint
    tie: Tie
    carried: tuple[Pose, Pose]

    @property
    def relative(self) -> Pose:
        """The second link in the first, all joint values zero."""
        return self.carried[0].inverse.then(self.after.relative).then(self.carried[1])

    @property
    def was_relative(self) -> Pose:
        """The same before."""
        return self.carried[0].inverse.then(self.before.relative).then(self.carried[1])

    def frame(self, side: int) -> Pose:
        """The joint's frame in one of its links."""
        return self.carried[side].inverse.then(self.after.frames[side])

    def moved(self, side: int, given: Pose) -> Pose:
        """Where a frame of the file goes that a link has at `given` for this joint."""
        own = self.carried[side].inverse.then(self.before.frames[side])
        return self.frame(side).then(own.inverse).then(given)


@dataclass(frozen=True)
class Force:
    """Friction, rotor inertia and spring of a value: its joint in the file, which of its values it
    is, the law now and before."""

    tie: Tie
    place: int
    law: Law
    before: Law


@dataclass
class Changes:
    """Everything that differs.

    Attributes
    ----------
    inertias
        By link, in the link's frame.
    joints
        Those whose frames differ.
    forces
        By joint value.
    poses
        All links in the ground at zero joint values, before and after.
    notes
        What was changed, in words.
    """

    inertias: dict[str, Inertia] = field(default_factory=dict)
    joints: list[Change] = field(default_factory=list)
    forces: dict[str, Force] = field(default_factory=dict)
    poses: Mapping[str, tuple[Pose, Pose]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.inertias or self.joints or self.forces)


def same(one: Joint, two: Joint) -> bool:
    """Whether two joints with frames in the same bodies hold and move alike."""
    parts = [[*_signs(joint)] for joint in (one, two)]
    return all(np.abs(a - b).max() <= CLOSE for a, b in zip(*parts, strict=True))


def _signs(joint: Joint) -> Iterable[Array]:
    shape, seen = joint_type(joint.kind), Branch(joint, *joint.links)
    yield joint.relative.R
    yield joint.relative.p
    yield from (move.axis for move in seen.moves)
    if shape.turns == "z":  # anywhere along its axis
        axis = seen.moves[-1].axis
        yield seen.point - (seen.point @ axis) * axis
    elif shape.turns:
        yield seen.point


def same_pose(one: Pose, two: Pose) -> tuple[bool, bool]:
    """Whether origins, and whether rotations agree."""
    return bool(np.abs(one.p - two.p).max() <= CLOSE), bool(np.abs(one.R - two.R).max() <= CLOSE)


def same_inertia(one: Inertia, two: Inertia) -> bool:
    """Whether two bodies in one frame are the same: mass, first moments, second moments."""
    blocks = zip(_blocks(one), _blocks(two), strict=True)
    return all(np.abs(a - b).max() <= CLOSE * np.abs([a, b]).max() for a, b in blocks)


def _blocks(one: Inertia) -> tuple[Array, Array, Array]:
    about = one.central - one.mass * _square(one.centre)
    return np.array([one.mass]), one.mass * one.centre, about


def _square(c: Array) -> Array:
    """(c×)²."""
    return np.outer(c, c) - c @ c * np.eye(3)


def total(bodies: Sequence[Inertia], signs: Sequence[float]) -> Inertia:
    """Bodies of one frame as one; those with a sign of −1 are taken away."""
    sums = [
        sum(s * x for s, x in zip(signs, parts, strict=True))
        for parts in zip(*map(_blocks, bodies), strict=True)
    ]
    mass, first, about = float(sums[0][0]), np.asarray(sums[1]), np.asarray(sums[2])
    centre = first / mass if mass else np.zeros(3)
    return Inertia(mass, centre, about + mass * _square(centre))


def is_possible(one: Inertia) -> bool:
    """Whether a distribution of mass has it."""
    moments = np.linalg.eigvalsh(one.central)
    return one.mass > 0 and moments[0] >= 0 and moments[2] <= moments[0] + moments[1]


def shared(parts: Sequence[Part], after: Inertia) -> tuple[dict[str, Inertia], str]:
    """A body's inertia over the links that it consists of, each in its own frame.

    The link whose frame is the body's takes what the others leave, if that is possible; else each
    gets the share that its mass was of the body's, as if all were of the body's shape, which sums
    up to it and is possible for every link.

    Returns
    -------
    tuple
        By link, those that differ; and what was done with several, in words.
    """
    own = [Inertia(part.mass, part.centre, part.central) for part in parts]
    weight = sum(one.mass for one in own)
    rest = total([after, *own[1:]], [1.0, *[-1.0] * (len(own) - 1)])
    if len(parts) == 1 or not weight or is_possible(rest):
        found, told = {parts[0].link: rest}, ""
        heavy = [part.link for part in parts[1:] if part.mass]
        if heavy:
            told = (
                f"{', '.join(heavy)}, fixed to {parts[0].link}, stay as they are: it has the rest"
            )
    else:
        shares = {part.link: part.mass / weight for part in parts if part.mass}
        found = {
            link: replace(after, mass=x * after.mass, central=x * after.central)
            for link, x in shares.items()
        }
        told = f"{', '.join(found)}, one body, share its inertia as they shared its mass"
    poses = {part.link: Pose(part.R, part.p) for part in parts}
    return {link: one.seen_from(poses[link].inverse) for link, one in found.items()}, told
