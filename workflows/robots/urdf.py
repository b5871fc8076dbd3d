"""URDF: a tree with mimic joints, and the dialects that close its loops.

A link's frame is at the joint that it hangs on, with the body's axes; what has several values is
several joints with links without mass between. The ground is turned so that gravity is along −z.
"""

from collections.abc import Callable, Mapping

import numpy as np

from basepar_core.mechanism import joint_type

from .coupled_values import coupled, followers
from .kinds import CONSTRAINTS, LOOPS, REVOLUTE, URDF
from .parts import Inertia, Joint, Law, Pose, Robot
from .rolling_couplings import rollings_of, write_rolling
from .tree import Branch, Tree, at_joints, gravity_down, spanned, split
from .xml import Element, child, comments, number, row, rpy, text_of

#: What readers of URDF hold to be gravity, m/s².
GRAVITY = 9.81
#: Of a joint without limits, rad or m, and their rates and efforts: URDF has to have some.
UNLIMITED = "1e9"
#: Per dialect what closes loops.
CLOSING: Mapping[str, Mapping[str, str]] = {
    "urdf": {},
    "urdf+": LOOPS,
    "loop-joint": LOOPS,
    "constraint": CONSTRAINTS,
}


def write(dialect: str, robot: Robot, problems: list[str], notes: list[str]) -> str:
    """The file; what it cannot represent joins `problems`."""
    tree = _prepared(robot, CLOSING[dialect], problems)
    following, rest = followers(tree.robot)
    rollings = rollings_of(dialect, tree, rest, problems)
    _check(dialect, tree, problems)
    if problems:
        return ""
    root = Element("robot", name=" ".join(tree.robot.name.split()))
    child(root, "link", name=tree.robot.ground)
    for name in tree.robot.links:
        link(root, name, tree.robot)
    dependent = dialect == "urdf+" and bool(tree.cuts or rollings)
    for one in tree.branches:
        made = joint(root, one, tree.robot)
        mimic(made, one.joint, tree.robot, following)
        moves = one.joint.freedoms > 0
        if dependent and moves:
            follows = set(one.joint.values).isdisjoint(robot.coordinates)
            made.set("independent", "false" if follows else "true")
    for cut in tree.cuts:
        _CLOSERS[dialect](root, cut)
    for name, rolling in rollings.items():
        write_rolling(root, name, rolling)
    gravity_note(robot, notes)
    comments(root, notes)
    return text_of(root)


def gravity_note(robot: Robot, notes: list[str]) -> None:
    """Say what URDF does not state."""
    size = float(np.linalg.norm(robot.gravity))
    if size != GRAVITY:
        notes.append(f"gravity is {size!r} m/s^2 along −z, which URDF does not state")


def _prepared(robot: Robot, closable: Mapping[str, str], problems: list[str]) -> Tree:
    """Joints of one value, balls only where they close loops, links at their joints."""
    several = [one.name for one in robot.joints if len(one.moves) > 1 and one.kind not in URDF]
    robot = split(robot, several)
    while balls := [
        one.joint for one in spanned(robot, closable).branches if one.joint.kind not in URDF
    ]:
        for one in balls:
            if not set(robot.coordinates).isdisjoint(one.values):
                problems.append(
                    f"joint {one.name}, which turns in any way and has coordinates of its own"
                )
        robot = split(robot, [one.name for one in balls])
    robot = gravity_down(robot)
    return spanned(at_joints(spanned(robot, closable)), closable)


def _check(dialect: str, tree: Tree, problems: list[str]) -> None:
    for cut in tree.cuts:
        if cut.kind not in CLOSING[dialect]:
            problems.append(f"joint {cut.name}, which closes a loop and is {cut.kind}")
    beyond(tree, problems)


def beyond(tree: Tree, problems: list[str]) -> None:
    """What no dialect of URDF represents joins `problems`: bases elsewhere, other forces."""
    robot = tree.robot
    for one in tree.branches:
        if joint_type(one.joint.kind).is_free and one.joint.links[0] != robot.ground:
            problems.append(f"joint {one.joint.name}, which floats but not from the ground")
    cut_values = {value for cut in tree.cuts for value in cut.values}
    for value, law in robot.laws.items():
        allowed = Law() if value in cut_values else Law(law.viscous, law.coulomb)
        problems.extend(law.beyond(allowed, value))
    problems.extend(robot.between)


def link(root: Element, name: str, robot: Robot) -> None:
    """A link, with its inertia if it has any."""
    made = child(root, "link", name=name)
    inertia = robot.links[name]
    if inertia is None or (not inertia.mass and not inertia.central.any()):
        return
    made.append(inertial(inertia))


def inertial(inertia: Inertia) -> Element:
    """A link's inertia, in the axes of the link."""
    part = Element("inertial")
    child(part, "origin", xyz=row(inertia.centre))
    child(part, "mass", value=number(inertia.mass))
    I = inertia.central
    places = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2)}
    places |= {"iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    child(part, "inertia", **{key: number(I[place]) for key, place in places.items()})
    return part


def joint(root: Element, branch: Branch, robot: Robot) -> Element:
    """A joint of the tree."""
    one = branch.joint
    # Pinocchio has no mimic joints of those without limits.
    kind = one.kind if coupled(robot) & {*one.values} else URDF[one.kind]
    made = child(root, "joint", name=one.name, type=kind)
    child(made, "parent", link=branch.parent)
    child(made, "child", link=branch.child)
    origin(made, "origin", branch.pose)
    if one.freedoms == 1:
        (move,) = branch.moves
        child(made, "axis", xyz=row(move.axis))
        if kind != URDF[REVOLUTE]:
            keys = ("upper", "effort", "velocity")
            limits = dict.fromkeys(keys, UNLIMITED) | {"lower": f"-{UNLIMITED}"}
            child(made, "limit", **limits)
        law = robot.laws.get(move.value, Law())
        if law.viscous or law.coulomb:
            child(made, "dynamics", damping=number(law.viscous), friction=number(law.coulomb))
    return made


def mimic(
    made: Element, one: Joint, robot: Robot, following: Mapping[str, tuple[str, float, float]]
) -> None:
    """Into a joint that follows another one."""
    if one.values and one.values[0] in following:
        leader, multiplier, offset = following[one.values[0]]
        name = next(j.name for j in robot.joints if leader in j.values)
        child(made, "mimic", joint=name, multiplier=number(multiplier), offset=number(offset))


def origin(parent: Element, tag: str, pose: Pose, **more: str) -> Element:
    """An element that is a pose."""
    turned = bool((np.eye(3) != pose.R).any())
    angles = {"rpy": row(rpy(pose.R))} if turned else {}
    return child(parent, tag, **more, xyz=row(pose.p), **angles)


def _loop(root: Element, cut: Joint) -> None:
    """URDF+."""
    made = child(root, "loop", name=cut.name, type=LOOPS[cut.kind])
    for tag, link, frame in zip(("predecessor", "successor"), cut.links, cut.frames, strict=True):
        origin(child(made, tag, link=link), "origin", frame)
    child(made, "axis", xyz="0 0 1")


def _loop_joint(root: Element, cut: Joint) -> None:
    """Isaac's and Drake's."""
    made = child(root, "loop_joint", name=cut.name, type=LOOPS[cut.kind])
    for tag, link, frame in zip(("link1", "link2"), cut.links, cut.frames, strict=True):
        origin(made, tag, frame, link=link)
    child(made, "axis", xyz="0 0 1")


def _constraint(root: Element, cut: Joint) -> None:
    """urdfdom's proposed one."""
    made = child(root, "constraint", name=cut.name, type=CONSTRAINTS[cut.kind])
    for tag, link, frame in zip(("parent", "child"), cut.links, cut.frames, strict=True):
        child(made, tag, link=link)
        origin(made, f"{tag}_origin", frame)
        child(made, f"{tag}_axis", xyz="0 0 1")


_CLOSERS: Mapping[str, Callable[[Element, Joint], None]] = {
    "urdf+": _loop,
    "loop-joint": _loop_joint,
    "constraint": _constraint,
}
