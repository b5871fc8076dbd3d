"""Changes in a URDF file: inertias, origins and axes, friction; loops in all writings."""

from xml.etree.ElementTree import Element

import numpy as np

from .changes import CLOSE, Change, Changes, Force, same_pose
from .edited import Document, Node
from .kinds import FIXED, PRISMATIC, REVOLUTE
from .parts import Inertia, Law, Pose
from .tree import Branch
from .urdf import inertial
from .xml import number, rotation, row, rpy

#: Elements that close loops, and where their two frames stand in them.
_LOOPS = {
    "loop": ("predecessor", "successor"),
    "loop_joint": ("link1", "link2"),
    "constraint": ("parent_origin", "child_origin"),
}


def write(document: Document, changes: Changes, problems: list[str]) -> None:
    """Put changes into a file; what it cannot take joins `problems`."""
    root = document.root
    links = {one.get("name"): one for one in root.children if one.tag == "link"}
    for name, inertia in changes.inertias.items():
        _inertia(document, links[name], inertia)
    joints = {one.get("name"): one for one in root.children if one.tag == "joint"}
    loops = {one.get("name"): one for one in root.children if one.tag in _LOOPS}
    for change in changes.joints:
        name = change.tie.name
        if name in joints:
            _joint(document, joints[name], change, problems)
        elif name in loops:
            for side in (0, 1):
                _side(document, loops[name], change, side)
        else:
            _frames(document, list(joints.values()), change, changes, problems)
    for value, force in changes.forces.items():
        _friction(document, joints.get(force.tie.name), value, force, problems)


def _inertia(document: Document, link: Node, inertia: Inertia) -> None:
    """In the link's axes, so that its numbers are those that were found."""
    given, made = link.find("inertial"), inertial(inertia)
    if given is None:
        document.insert(link, made)
        return
    for part in made:
        old = given.find(part.tag)
        if old is None:
            document.insert(given, part)
            continue
        document.set(old, **part.attrib)
        if part.tag == "origin" and any(map(float, old.get("rpy", "0").split())):
            document.set(old, rpy="0 0 0")


def _joint(document: Document, node: Node, change: Change, problems: list[str]) -> None:
    """A joint of the tree: its child's frame is where it is, with its own axes."""
    kind, seen = change.after.kind, Branch(change.after, *change.after.links)
    if kind in (REVOLUTE, PRISMATIC):
        turn = change.carried[1].R.T
        (axis,) = (turn @ move.axis for move in seen.moves)
        point = change.carried[1].inverse.then(Pose(np.eye(3), seen.point)).p
        off = point - (point @ axis) * axis
        if kind == REVOLUTE and np.abs(off).max() > CLOSE:
            problems.append(
                f"joint {change.tie.name}, whose point in its child link moves by "
                f"{np.abs(off).max():.1e} m: URDF has it at the link's origin; move it in the "
                f"parent"
            )
            return
        _axis(document, node, axis)
    _origin(document, node, "origin", change.was_relative, change.relative)


def _axis(document: Document, node: Node, axis: np.ndarray) -> None:
    given = node.find("axis")
    old = _numbers(given, "xyz", "1 0 0")
    if np.abs(old / np.linalg.norm(old) - axis).max() <= CLOSE:
        return
    if given is None:
        document.insert(node, Element("axis", xyz=row(axis)))
    else:
        document.set(given, xyz=row(axis))


def _origin(document: Document, node: Node, tag: str, before: Pose, after: Pose) -> None:
    given = node.find(tag)
    if given is None:
        given_before, made = Pose(), Element(tag)
        made.attrib |= _written(given_before, after)
        if made.attrib:
            document.insert(node, made)
        return
    document.set(given, **_written(before, after))


def _written(before: Pose, after: Pose) -> dict[str, str]:
    """Attributes of a pose that differ."""
    place, turn = same_pose(before, after)
    found = {} if place else {"xyz": row(after.p)}
    return found | ({} if turn else {"rpy": row(rpy(after.R))})


def _side(document: Document, loop: Node, change: Change, side: int) -> None:
    """The frame of a loop's joint in one of its links."""
    holder = loop.find(_LOOPS[loop.tag][side])
    if loop.tag == "loop" and holder is not None:
        before = _pose(holder.find("origin"))
        _origin(document, holder, "origin", before, change.moved(side, before))
    elif holder is not None:
        before = _pose(holder)
        document.set(holder, **_written(before, change.moved(side, before)))


def _frames(
    document: Document,
    joints: list[Node],
    change: Change,
    changes: Changes,
    problems: list[str],
) -> None:
    """Of Extended URDF: links that are fixed to others are the frames that a loop holds."""
    by_child = {child.get("link"): one for one in joints if (child := one.find("child"))}
    for side, link in enumerate(change.tie.links):
        node = by_child.get(link)
        if node is None or node.get("type") != FIXED:
            problems.append(f"joint {change.tie.name}, whose frame {link} is no link of its own")
            return
        before = _pose(node.find("origin"))
        own = change.carried[side].inverse.then(change.before.frames[side])
        moved = change.after.frames[side].then(own.inverse)
        parent = change.carried[side].then(before.inverse)
        _origin(document, node, "origin", before, parent.inverse.then(moved))


def _friction(
    document: Document, node: Node | None, value: str, force: Force, problems: list[str]
) -> None:
    law, old = force.law, force.before
    kept = Law(law.viscous, law.coulomb, old.offset, old.rotor, old.stiffness, old.rest)
    problems.extend(law.beyond(kept, value))
    if node is None or force.place:
        problems.append(f"{value}.viscous")
        return
    pairs = {"damping": (law.viscous, old.viscous), "friction": (law.coulomb, old.coulomb)}
    told = {key: number(new) for key, (new, was) in pairs.items() if new != was}
    given = node.find("dynamics") or node.find("joint_properties")
    if given is None:
        document.insert(node, Element("dynamics", told))
    else:
        document.set(given, **told)


def _numbers(node: Node | None, key: str, otherwise: str = "0 0 0") -> np.ndarray:
    text = otherwise if node is None else node.get(key, otherwise)
    return np.array([float(word) for word in text.split()])


def _pose(node: Node | None) -> Pose:
    return Pose(rotation(*_numbers(node, "rpy")), _numbers(node, "xyz"))
