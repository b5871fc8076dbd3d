"""Extended URDF: a tree whose joints a YAML file beside it gives other types, and closes.

A joint that turns in any way or about two axes stays one joint: its link's frame has the joint's
axes. What closes a loop as spherical holds two frames by their origins (3d), what is fixed by all
of them (6d); anything else goes into the tree, with a link without mass that is then held.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from basepar_core.mechanism import joint_type

from .coupled_values import followers, several
from .kinds import FIXED, REVOLUTE, SPHERICAL, UNIVERSAL, URDF
from .parts import Joint, Pose, Robot
from .tree import Branch, Tree, at_joints, free_name, gravity_down, spanned, split
from .urdf import beyond, gravity_note, joint, link, mimic, origin
from .xml import Element, child, comments, text_of

#: How frames are held, by what closes a loop.
HELD: Mapping[str, str] = {SPHERICAL: "3d", FIXED: "6d"}
#: Joints of the tree that the YAML file names.
_OTHERS = (SPHERICAL, UNIVERSAL)
#: Half a turn about y: it turns x and z around, for joints that lead back to the ground.
_BACK = np.diag([-1.0, 1.0, -1.0])


@dataclass
class Companion:
    """The YAML file: pairs of frames and how they are held, motors, joints with other types."""

    motors: list[str]
    loops: list[tuple[str, str]] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Its lines."""
        lists = {
            "closed_loop": [f"[{one}, {two}]" for one, two in self.loops],
            "type": self.kinds,
            "name_mot": self.motors,
            "joint_name": list(self.types),
            "joint_type": list(self.types.values()),
        }
        lines = (f"{key}: [{', '.join(found)}]\n" for key, found in lists.items())
        return "# Written by basepar, with the URDF file of its name.\n" + "".join(lines)


def write(_: str, robot: Robot, problems: list[str], notes: list[str]) -> tuple[str, str]:
    """The file and its companion; what they cannot represent joins `problems`."""
    tree = _prepared(robot)
    following, rest = followers(tree.robot)
    problems += [several(tree.robot, one) for one in rest]
    _check(tree, problems)
    if problems:
        return "", ""
    root = Element("robot", name=" ".join(robot.name.split()))
    child(root, "link", name=tree.robot.ground)
    for name in tree.robot.links:
        link(root, name, tree.robot)
    motors = {one.name for one in tree.robot.joints if {*one.values} & {*robot.actuated}}
    more = Companion([one.name for one in tree.robot.joints if one.name in motors])
    for branch in tree.branches:
        kind = branch.joint.kind
        made = joint(root, _plain(branch), tree.robot)
        mimic(made, branch.joint, tree.robot, following)
        if kind in _OTHERS:
            forward = branch.joint.links[0] == branch.parent
            turned = f"UJOINT_{'ZX' if forward else 'XZ'}"
            more.types[branch.joint.name] = "SPHERICAL" if kind == SPHERICAL else turned
    for cut in tree.cuts:
        ends = []
        for k, (name, frame) in enumerate(zip(cut.links, cut.frames, strict=True), 1):
            end = free_name(f"closing_{cut.name}_{k}", tree.robot.links)
            child(root, "link", name=end)
            made = child(root, "joint", name=f"{end}_frame", type=FIXED)
            child(made, "parent", link=name)
            child(made, "child", link=end)
            origin(made, "origin", frame)
            ends.append(end)
        more.loops.append((ends[0], ends[1]))
        more.kinds.append(HELD.get(cut.kind, HELD[SPHERICAL]))  # of a plane pin its point
    gravity_note(robot, notes)
    comments(root, notes)
    return text_of(root), more.text


def _prepared(robot: Robot) -> Tree:
    """A tree of what joints can be, held together by frames."""
    stay = {*URDF, *_OTHERS}
    robot = split(robot, [one.name for one in robot.joints if one.kind not in stay])
    held = {*HELD, *([REVOLUTE] if robot.planar else [])}
    while others := [one for one in spanned(robot, held).cuts if one.kind not in held]:
        robot = _with_stub(robot, others[0])
    robot = at_joints(spanned(gravity_down(robot), held))
    frames = {}
    for one in spanned(robot, held).branches:
        if one.joint.kind in _OTHERS:
            forward = one.joint.links[0] == one.parent
            frames[one.child] = one.elements.then(Pose(np.eye(3) if forward else _BACK))
    return spanned(robot.seen_in(frames), held)


def _with_stub(robot: Robot, cut: Joint) -> Robot:
    """The same with a joint that leads to a link without mass, which is fixed to its second."""
    stub, last = free_name(f"{cut.name}_stub", robot.links), cut.links[1]
    pose = Pose() if last == robot.ground else robot.poses[last]
    led = replace(cut, links=(cut.links[0], stub))
    name = free_name(f"{cut.name}_held", [one.name for one in robot.joints])
    held = Joint(name, FIXED, (stub, last), (cut.frames[1], cut.frames[1]))
    joints = [one for one in robot.joints if one is not cut]
    return replace(
        robot,
        links={**robot.links, stub: None},
        poses={**robot.poses, stub: pose},
        joints=(*joints, led, held),
    )


def _plain(branch: Branch) -> Branch:
    """As the URDF file has it: a joint that turns about z, whatever the companion says."""
    if branch.joint.kind not in _OTHERS:
        return branch
    frames = (branch.pose, Pose())
    links = (branch.parent, branch.child)
    return Branch(Joint(branch.joint.name, REVOLUTE, links, frames), *links)


def _check(tree: Tree, problems: list[str]) -> None:
    beyond(tree, problems)
    for one in tree.branches:
        values = {*one.joint.values}
        if one.joint.kind in _OTHERS and values & tree.robot.laws.keys():
            problems.append(f"friction of {one.joint.name}, which is {one.joint.kind}")
        backward = one.joint.links[0] != one.parent
        if joint_type(one.joint.kind).is_ball and backward and values & {*tree.robot.coordinates}:
            problems.append(f"joint {one.joint.name}, whose coordinates lead back to the ground")
