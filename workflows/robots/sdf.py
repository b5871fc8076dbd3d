"""SDF: joints as a graph, gearboxes and screws; links stand where all joints are at zero."""

from collections.abc import Mapping

import numpy as np

from basepar_core.mechanism import joint_type

from .coupled_values import in_file, pitches
from .kinds import REVOLUTE, SDF
from .parts import Inertia, Joint, Law, Pose, Robot
from .tree import Branch, spanned
from .xml import Element, child, comments, number, row, rpy, text_of

#: An offset of a coupling below this is rounding: rad or m.
ROUNDING = 1e-12


def write(_: str, robot: Robot, problems: list[str], notes: list[str]) -> str:
    """The file; what it cannot represent joins `problems`."""
    free = [one for one in robot.joints if joint_type(one.kind).is_free]
    for one in free:
        if one.links[0] != robot.ground:
            problems.append(f"joint {one.name}, which floats but not from the ground")
    robot = robot.seen_in({one.links[1]: one.frames[1] for one in free})
    screws = pitches(robot)
    _check(robot, [*screws], problems)
    if problems:
        return ""
    root = Element("sdf", version="1.10")
    world = child(root, "world", name="world")
    child(world, "gravity", row(robot.gravity))
    model = child(world, "model", name=" ".join(robot.name.split()))
    for branch in spanned(robot, SDF).branches:
        _link(model, branch, robot)
    names = _joint_names(robot)
    for one in robot.joints:
        if not joint_type(one.kind).is_free:
            _joint(model, names[one.name], one, robot, screws)
    for one in robot.joints:
        if {*one.values} & {*robot.actuated}:
            # What takes forces from outside and exerts none of its own: the motors of SDF.
            drive = {"filename": "gz-sim-apply-joint-force-system"}
            made = child(model, "plugin", **drive, name="gz::sim::systems::ApplyJointForce")
            child(made, "joint_name", names[one.name])
    used = {name for name, _ in screws.values()}
    for coupling in in_file(robot):
        if coupling.name not in used:
            _gearbox(model, coupling.terms, coupling.offset, coupling.name, robot, problems)
    comments(root, notes)
    return "" if problems else text_of(root)


def _check(robot: Robot, screws: list[str], problems: list[str]) -> None:
    for one in robot.joints:
        shape = joint_type(one.kind)
        if one.kind not in SDF and one.name not in screws and not shape.is_free:
            problems.append(f"joint {one.name}, which is {one.kind}")
    for name, inertia in robot.links.items():
        if inertia is not None and inertia.mass <= 0:
            problems.append(f"body {name}, which has no mass")
    for value, law in robot.laws.items():
        allowed = Law(law.viscous, law.coulomb, stiffness=law.stiffness, rest=law.rest)
        problems.extend(law.beyond(allowed, value))
    problems.extend(robot.between)


def _joint_names(robot: Robot) -> dict[str, str]:
    """Links, joints and couplings share their names in SDF."""
    found: dict[str, str] = {}
    for one in robot.joints:
        name = one.name
        while name in robot.links or name in found.values():
            name += "_joint"
        found[one.name] = name
    return found


def _posed(parent: Element, pose: Pose, base: str = "") -> None:
    turned = bool((np.eye(3) != pose.R).any())
    if turned or pose.p.any() or base:
        relative = {"relative_to": base} if base else {}
        numbers = [*pose.p, *(rpy(pose.R) if turned else (0, 0, 0))]
        child(parent, "pose", row(numbers), **relative)


def _link(model: Element, branch: Branch, robot: Robot) -> None:
    """Where it stands in the link before it: what is exact there would not be in the model."""
    made = child(model, "link", name=branch.child)
    free = joint_type(branch.joint.kind).is_free
    pose = robot.poses[branch.child] if free else branch.pose
    _posed(made, pose, "" if branch.parent == robot.ground else branch.parent)
    inertia = robot.links[branch.child]
    assert inertia is not None
    made.append(inertial(inertia))


def inertial(inertia: Inertia) -> Element:
    """A link's inertia, in the axes of the link."""
    part = Element("inertial")
    _posed(part, Pose(np.eye(3), inertia.centre))
    child(part, "mass", number(inertia.mass))
    held = child(part, "inertia")
    for a, b in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        child(held, f"i{'xyz'[a]}{'xyz'[b]}", number(inertia.central[a, b]))
    return part


def _joint(
    model: Element, name: str, one: Joint, robot: Robot, screws: Mapping[str, tuple[str, float]]
) -> None:
    """The ground may be a joint's parent only."""
    parent, last = one.links if one.links[1] != robot.ground else one.links[::-1]
    seen = Branch(one, parent, last)
    screw = one.name in screws
    made = child(model, "joint", name=name, type="screw" if screw else SDF[one.kind])
    child(made, "parent", "world" if parent == robot.ground else parent)
    child(made, "child", last)
    _posed(made, Pose(np.eye(3), seen.point))
    moves = seen.moves[1:] if screw and seen.moves[0].is_slide else seen.moves
    if screw and not seen.moves[0].is_slide:
        moves = seen.moves[:1]
    for tag, move in zip(("axis", "axis2"), moves, strict=False):
        axis = child(made, tag)
        child(axis, "xyz", row(move.axis))
        law = robot.laws.get(move.value, Law())
        if law != Law():
            held = child(axis, "dynamics")
            child(held, "damping", number(law.viscous))
            child(held, "friction", number(law.coulomb))
            child(held, "spring_reference", number(law.rest - move.zero))
            child(held, "spring_stiffness", number(law.stiffness))
    if screw:
        child(made, "screw_thread_pitch", number(screws[one.name][1]))


def _gearbox(
    model: Element,
    terms: Mapping[str, float],
    offset: float,
    name: str,
    robot: Robot,
    problems: list[str],
) -> None:
    """Two joints that turn on one link: θ₂ = −ratio θ₁ of child and parent against it."""
    turning = {v: one for one in robot.joints for v in one.values if one.kind == REVOLUTE}
    joints = [turning[value] for value in terms if value in turning]
    if len(joints) != 2 or len(terms) != 2:
        problems.append(f"coupling {name}, which is not of two joints that turn")
        return
    first, second = joints
    shared = set(first.links) & set(second.links)
    if len(shared) != 1 or abs(offset) > ROUNDING:
        problems.append(f"coupling {name}, whose two joints are not on one body")
        return
    (reference,) = shared
    links = [one.links[1] if one.links[0] == reference else one.links[0] for one in joints]
    if robot.ground in links:
        problems.append(f"coupling {name}, of a joint that turns the ground")
        return
    coefficients = list(terms.values())
    made = child(model, "joint", name=f"{name}_gearbox", type="gearbox")
    child(made, "parent", links[0])
    child(made, "child", links[1])
    child(made, "gearbox_ratio", number(coefficients[0] / coefficients[1]))
    child(made, "gearbox_reference_body", "world" if reference == robot.ground else reference)
    for tag, one, link in zip(("axis", "axis2"), joints, links, strict=True):
        turned = robot.poses[links[1]].R.T @ robot.poses[link].R
        axis = turned @ Branch(one, reference, link).moves[0].axis
        child(child(made, tag), "xyz", row(axis))
