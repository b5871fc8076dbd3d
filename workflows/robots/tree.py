"""Trees and loops as dialects have them: joints split, a spanning tree, the rest closing loops."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from basepar_core.mechanism import joint_type

from .coupled_values import coupled
from .kinds import PRISMATIC, REVOLUTE
from .parts import Joint, Move, Pose, Robot


@dataclass(frozen=True)
class Branch:
    """A joint of the tree, from a link to the next one away from the ground.

    Attributes
    ----------
    pose
        The child in the parent, at zero.
    point
        The joint in the child's frame, at zero.
    moves
        From the parent on, axes in the child's frame at zero.
    """

    joint: Joint
    parent: str
    child: str

    @property
    def _forward(self) -> bool:
        return self.joint.links[0] == self.parent

    @property
    def pose(self) -> Pose:
        """The child in the parent, at zero."""
        pose = self.joint.relative
        return pose if self._forward else pose.inverse

    @property
    def elements(self) -> Pose:
        """The frame of the moves, seen from the child."""
        return self.joint.end.inverse if self._forward else self.joint.frames[0]

    @property
    def point(self) -> np.ndarray:
        """Where the joint is in the child, at zero."""
        return self.elements.p

    @property
    def moves(self) -> tuple[Move, ...]:
        """Slides and turns from the parent on, axes in the child at zero."""
        turn = self.elements.R
        if self._forward:
            return tuple(replace(one, axis=turn @ one.axis) for one in self.joint.moves)
        return tuple(replace(one, axis=-turn @ one.axis) for one in self.joint.moves[::-1])


@dataclass(frozen=True)
class Tree:
    """A robot's joints as a tree, parents before children, and joints that close loops."""

    robot: Robot
    branches: tuple[Branch, ...]
    cuts: tuple[Joint, ...]

    @cached_property
    def above(self) -> dict[str, Branch]:
        """Branches by the link that they lead to."""
        return {one.child: one for one in self.branches}


def spanned(robot: Robot, closable: Collection[str]) -> Tree:
    """A spanning tree; what may close loops (by kind) rather than the rest does.

    Coordinates, coupled and loaded joints are in it first, then what cannot close loops, then
    fewest freedoms: Kruskal's algorithm, as for the mechanism itself.
    """
    held = coupled(robot) | set(robot.laws)

    def preference(k: int) -> tuple[bool, bool, bool, int, int]:
        one = robot.joints[k]
        return (
            held.isdisjoint(one.values) and set(robot.coordinates).isdisjoint(one.values),
            set(robot.coordinates).isdisjoint(one.values),
            one.kind in closable,
            one.freedoms,
            k,
        )

    group = {name: name for name in (robot.ground, *robot.links)}

    def root(name: str) -> str:
        while group[name] != name:
            name = group[name]
        return name

    kept = set()
    for k in sorted(range(len(robot.joints)), key=preference):
        first, second = map(root, robot.joints[k].links)
        if first != second:
            group[second] = first
            kept.add(k)
    return Tree(
        robot,
        tuple(_rooted(robot, sorted(kept))),
        tuple(one for k, one in enumerate(robot.joints) if k not in kept),
    )


def _rooted(robot: Robot, kept: Sequence[int]) -> list[Branch]:
    reached, found, waiting = {robot.ground}, [], list(kept)
    while waiting:
        k = next(k for k in waiting if reached & set(robot.joints[k].links))
        waiting.remove(k)
        first, second = robot.joints[k].links
        parent, child = (first, second) if first in reached else (second, first)
        found.append(Branch(robot.joints[k], parent, child))
        reached.add(child)
    return found


def split(robot: Robot, names: Collection[str]) -> Robot:
    """The same with each of some joints as several of one value, links without mass between.

    A spherical joint becomes three turns about its own x, y and z: its values are lost.
    """
    links, poses, joints = dict(robot.links), dict(robot.poses), list[Joint]()
    for one in robot.joints:
        if one.name not in names:
            joints.append(one)
            continue
        moves = _three_turns(one) if joint_type(one.kind).is_ball else one.moves
        stubs = [free_name(f"{one.name}_stub_{k}", links) for k in range(1, len(moves))]
        base = _place(robot, one.links[0]).then(one.frames[0])
        for stub in stubs:
            links[stub], poses[stub] = None, base
        chain = [one.links[0], *stubs, one.links[1]]
        for k, move in enumerate(moves):
            turn = Pose(_along(move.axis))
            first = one.frames[0].then(turn) if k == 0 else turn
            second = one.end.inverse.then(turn) if k == len(moves) - 1 else turn
            values = (move.value,) if move.value else ()
            joints.append(
                Joint(
                    free_name(f"{one.name}_{k + 1}", [j.name for j in joints]),
                    PRISMATIC if move.is_slide else REVOLUTE,
                    (chain[k], chain[k + 1]),
                    (first, second),
                    values,
                    (move.zero,) if values else (),
                )
            )
    return replace(robot, links=links, poses=poses, joints=tuple(joints))


def _place(robot: Robot, link: str) -> Pose:
    return Pose() if link == robot.ground else robot.poses[link]


def _three_turns(one: Joint) -> tuple[Move, ...]:
    return tuple(Move("", axis, False) for axis in np.eye(3))


def _along(axis: np.ndarray) -> np.ndarray:
    """A rotation by thirds of a turn whose z is x, y or z of the frame."""
    return np.roll(np.eye(3), int(np.argmax(axis)) + 1, axis=0)


def free_name(wanted: str, taken: Collection[str]) -> str:
    """A name that none has yet."""
    found, k = wanted, 2
    while found in taken:
        found, k = f"{wanted}_{k}", k + 1
    return found


def gravity_down(robot: Robot) -> Robot:
    """The same in a ground turned so that gravity is along −z, as URDF's readers have it."""
    size = np.linalg.norm(robot.gravity)
    if not size:
        return robot
    down = -robot.gravity / size
    axis, cosine = np.cross(down, [0.0, 0.0, 1.0]), down[2]
    if not axis.any():
        turn = np.eye(3) if cosine > 0 else np.diag([1.0, -1.0, -1.0])
    else:
        K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
        turn = np.eye(3) + K + K @ K / (1 + cosine)
    return robot.seen_in({robot.ground: Pose(turn.T)})


def at_joints(tree: Tree) -> Robot:
    """The same with every link's frame at the joint that it hangs on, axes as they are.

    What floats has the frame in which its twist is the joint's own.
    """
    frames = {}
    for one in tree.branches:
        if joint_type(one.joint.kind).is_free:
            frames[one.child] = one.joint.frames[one.joint.links.index(one.child)]
        elif one.point.any():
            frames[one.child] = Pose(np.eye(3), one.point)
    return tree.robot.seen_in(frames)
