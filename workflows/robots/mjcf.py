"""MJCF: a tree of bodies with any joints, loops as connect and weld, couplings as equalities.

A body's frame is the mechanism's. Joint values are the mechanism's too, by `ref`; bodies stand
where loops are closed.
"""

from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import joint_type

from .coupled_values import in_file
from .kinds import MJCF, REVOLUTE
from .parts import Inertia, Joint, Law, Pose, Robot
from .tree import Branch, Tree, spanned
from .xml import Element, child, comments, number, row, text_of

#: Masses and moments that MuJoCo takes for none (its mjMINVAL).
NOTHING = 1e-15
#: Between the two points of a pin in space, m.
APART = 0.1
#: A moment of inertia may exceed the sum of the two others by this share: rounding.
ROUNDING = 1e-12


def write(_: str, robot: Robot, problems: list[str], notes: list[str]) -> str:
    """The file; what it cannot represent joins `problems`."""
    tree = _at_free(spanned(robot, MJCF))
    robot = tree.robot
    _check(tree, problems)
    if problems:
        return ""
    root = Element("mujoco", model=" ".join(robot.name.split()))
    child(root, "compiler", angle="radian", autolimits="false")
    child(root, "option", gravity=row(robot.gravity))
    places = {robot.ground: child(root, "worldbody")}
    for branch in tree.branches:
        places[branch.child] = _body(places[branch.parent], branch, robot)
    equalities, tendons = Element("equality"), Element("tendon")
    for cut in tree.cuts:
        _close(equalities, cut, robot)
    names = _joint_names(robot)
    for one in in_file(robot):
        values = {names[value]: x for value, x in one.terms.items()}
        if len(values) == 2:
            (first, a), (second, b) = values.items()
            offset = {"polycoef": row([one.offset / a, -b / a, 0, 0, 0])}
            child(equalities, "joint", name=one.name, joint1=first, joint2=second, **offset)
            continue
        made = child(tendons, "fixed", name=one.name)
        for joint, x in values.items():
            child(made, "joint", joint=joint, coef=number(x))
        offset = {"polycoef": row([one.offset, 0, 0, 0, 0])}
        child(equalities, "tendon", name=one.name, tendon1=one.name, **offset)
    drives = Element("actuator")
    for value in robot.actuated:
        if value in names:
            child(drives, "motor", name=f"{names[value]}_motor", joint=names[value])
    root.extend(part for part in (tendons, equalities, drives) if len(part))
    comments(root, notes)
    return text_of(root)


def _at_free(tree: Tree) -> Tree:
    """Bodies that float in the frames of their joints, so that their twists are the joints'."""
    frames = {}
    for one in tree.branches:
        if joint_type(one.joint.kind).is_free:
            frames[one.child] = one.joint.frames[one.joint.links.index(one.child)]
    return spanned(tree.robot.seen_in(frames), MJCF)


def _joint_names(robot: Robot) -> dict[str, str]:
    """Per value that is a hinge's or a slide's what that is called."""
    found: dict[str, str] = {}
    taken = {one.name for one in robot.joints}
    for one in robot.joints:
        for move in one.moves if not joint_type(one.kind).is_ball else ():
            name = move.value.replace(".", "_")
            while len(one.moves) > 1 and (name in taken or name in found.values()):
                name += "_"
            found[move.value] = name
    return found


def _check(tree: Tree, problems: list[str]) -> None:
    robot = tree.robot
    for cut in tree.cuts:
        if cut.kind not in MJCF:
            problems.append(f"joint {cut.name}, which closes a loop and is {cut.kind}")
    for one in tree.branches:
        if joint_type(one.joint.kind).is_free and one.parent != robot.ground:
            problems.append(f"joint {one.joint.name}, which floats but not from the ground")
        inertia = robot.links[one.child]
        assert inertia is not None
        if one.joint.freedoms and (fault := _fault(inertia)):
            problems.append(f"body {one.child}, {fault}")
    cut_values = {value for cut in tree.cuts for value in cut.values}
    for value, law in robot.laws.items():
        allowed = Law() if value in cut_values else replace(law, offset=0.0)
        problems.extend(law.beyond(allowed, value))
    problems.extend(robot.between)


def _fault(inertia: Inertia) -> str:
    """Why MuJoCo does not move a body; empty if it does."""
    moments = np.linalg.eigvalsh(inertia.central)
    if inertia.mass < NOTHING or moments[0] < NOTHING:
        return "which moves without mass, or without a moment of inertia about some axis"
    if moments[2] > (moments[0] + moments[1]) * (1 + ROUNDING):
        return "whose moments of inertia no mass distribution has (one is above the others' sum)"
    return ""


def _body(parent: Element, branch: Branch, robot: Robot) -> Element:
    one = branch.joint
    shape = joint_type(one.kind)
    pose = robot.poses[branch.child] if shape.is_free else branch.pose
    made = child(parent, "body", name=branch.child, **_placed(pose))
    inertia = robot.links[branch.child]
    assert inertia is not None
    if inertia.mass >= NOTHING:
        child(made, "inertial", **inertial(inertia))
    if shape.is_free:
        child(made, "freejoint", name=one.name)
        return made
    names = _joint_names(robot)
    for move in branch.moves:
        law = robot.laws.get(move.value, Law())
        given = {
            "ref": move.zero,
            "damping": law.viscous,
            "frictionloss": law.coulomb,
            "armature": law.rotor,
            "stiffness": law.stiffness,
            "springref": law.rest,
        }
        child(
            made,
            "joint",
            name=names[move.value],
            type="slide" if move.is_slide else "hinge",
            pos=row(branch.point),
            axis=row(move.axis),
            **{key: number(x) for key, x in given.items() if x},
        )
    if shape.is_ball:
        child(made, "joint", name=one.name, type="ball", pos=row(branch.point))
    return made


def _placed(pose: Pose) -> dict[str, str]:
    turned = bool((np.eye(3) != pose.R).any())
    return {"pos": row(pose.p)} | ({"quat": row(quaternion(pose.R))} if turned else {})


def quaternion(R: Array) -> Array:
    """w, x, y, z of a rotation, w not negative: from the largest of the four, which loses none."""
    w, x, y, z = R.trace(), *np.diag(R)
    squares = np.array([1 + w, 1 + 2 * x - w, 1 + 2 * y - w, 1 + 2 * z - w])
    k = int(np.argmax(squares))
    differences = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    if k == 0:
        found = np.array([squares[0], *differences])
    else:
        sums = (R + R.T)[k - 1]
        found = np.array([differences[k - 1], *sums])
        found[k] = squares[k]
    found = found / np.linalg.norm(found)
    return found if found[0] >= 0 else -found


def inertial(inertia: Inertia) -> dict[str, str]:
    """By principal axes: those that MuJoCo finds of a full matrix are ten times less precise."""
    given = {"pos": row(inertia.centre), "mass": number(inertia.mass)}
    central = inertia.central
    if not (central - np.diag(np.diag(central))).any():
        return given | {"diaginertia": row(_within(np.diag(central)))}
    moments, axes = np.linalg.eigh(central)
    if np.linalg.det(axes) < 0:
        axes[:, 0] *= -1
    return given | {"quat": row(quaternion(axes)), "diaginertia": row(_within(moments))}


def _within(moments: Array) -> Array:
    """Moments of which none exceeds the sum of the others by rounding."""
    found, most = np.array(moments), int(np.argmax(moments))
    found[most] = min(found[most], np.delete(found, most).sum())
    return found


def _close(equalities: Element, cut: Joint, robot: Robot) -> None:
    first, second = ({"body1": cut.links[0]}, {"body2": cut.links[1]})
    if MJCF[cut.kind] == "weld":
        child(equalities, "weld", name=cut.name, **first, **second)
        return
    # In the plane one point is enough for a pin: nothing moves along its axis.
    pin = cut.kind == REVOLUTE and not robot.planar
    frame = cut.frames[0]
    points = [frame.p, frame.p + APART * frame.R[:, 2]] if pin else [frame.p]
    for k, point in enumerate(points):
        name = f"{cut.name}_{k + 1}" if pin else cut.name
        child(equalities, "connect", name=name, **first, **second, anchor=row(point))
