"""Changes in an SDF file: inertials, poses of links and joints, friction."""

import numpy as np

from .changes import CLOSE, Change, Changes, Force, same_pose
from .edited import Document, Node
from .parts import Inertia, Law, Pose
from .sdf import inertial
from .xml import Element, number, rotation, row, rpy

#: Attributes of a pose that say how its numbers are meant.
_MEANT = ("degrees", "rotation_format")


def write(document: Document, changes: Changes, problems: list[str]) -> None:
    """Put changes into a file; what it cannot take joins `problems`."""
    models = [one for one in document.root.all("model") if not _is_static(one)]
    links = {one.get("name"): one for one in models[0].children if one.tag == "link"}
    joints = {one.get("name"): one for one in models[0].children if one.tag == "joint"}
    for name, inertia in changes.inertias.items():
        _inertia(document, links[name], inertia)
    for change in changes.joints:
        _joint(document, joints.get(change.tie.name), change, problems)
    for name in links if changes.joints else ():
        _link(document, name, links, changes, problems)
    for value, force in changes.forces.items():
        _friction(document, joints.get(force.tie.name), value, force, problems)


def _is_static(model: Node) -> bool:
    said = model.find("static")
    return said is not None and said.text.strip() in ("true", "1")


def _inertia(document: Document, link: Node, inertia: Inertia) -> None:
    given, made = link.find("inertial"), inertial(inertia)
    if given is None:
        document.insert(link, made)
        return
    if (pose := given.find("pose")) is not None and made.find("pose") is None:
        _pose(document, pose, Pose())
    for part in made:
        old = given.find(part.tag)
        if old is None:
            document.insert(given, part)
        elif part.tag == "pose":
            _pose(document, old, Pose(p=inertia.centre))
        elif part.tag == "mass":
            document.write(old, part.text or "")
        else:
            for entry in part:
                known = old.find(entry.tag)
                if known is None:
                    document.insert(old, entry)
                else:
                    document.write(known, entry.text or "")


def _pose(document: Document, node: Node, pose: Pose) -> None:
    """Write a pose; what of it has not changed keeps its words."""
    words, before = node.text.split(), _read(node)
    place, turn = same_pose(before, pose)
    plain = len(words) == 6 and not any(key in node.attributes for key in _MEANT)
    at = " ".join(words[:3]) if place and words else row(pose.p)
    angles = " ".join(words[3:]) if turn and plain else row(rpy(pose.R))
    document.set(node, **{key: None for key in _MEANT if key in node.attributes})
    document.write(node, f"{at} {angles}")


def _read(node: Node | None) -> Pose:
    values = [float(word) for word in node.text.split()] if node is not None else []
    if not values or node is None:
        return Pose()
    if node.get("rotation_format") == "quat_xyzw":
        x, y, z, w = np.array(values[3:]) / np.linalg.norm(values[3:])
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return Pose(np.eye(3) + 2 * w * K + 2 * K @ K, np.array(values[:3]))
    angles = np.radians(values[3:]) if node.get("degrees") in ("true", "1") else values[3:]
    return Pose(rotation(*angles), np.array(values[:3]))


def _joint(document: Document, node: Node | None, change: Change, problems: list[str]) -> None:
    """Its frame in the child link; axes keep their numbers in it."""
    given = None if node is None else node.find("pose")
    if node is None or (given and (given.get("relative_to") or given.get("frame"))):
        problems.append(f"joint {change.tie.name}, whose pose is relative to another frame")
        return
    before = _read(given)
    after = change.moved(1, before)
    if all(same_pose(before, after)):
        return
    if given is None:
        made = Element("pose")
        made.text = f"{row(after.p)} {row(rpy(after.R))}"
        document.insert(node, made)
    else:
        _pose(document, given, after)


def _link(
    document: Document, name: str, links: dict[str, Node], changes: Changes, problems: list[str]
) -> None:
    """Where a link stands at zero joint values."""
    was, now = changes.poses[name]
    given = links[name].find("pose")
    said = "" if given is None else given.get("relative_to") or given.get("frame")
    moved = was.inverse.then(now)
    before = _read(given)
    after = before.then(moved)
    if said in links:
        base_was, base_now = changes.poses[said]
        after = base_now.inverse.then(base_was).then(after)
    if max(np.abs(before.p - after.p).max(), np.abs(before.R - after.R).max()) <= CLOSE:
        return
    if said and said not in links:
        problems.append(f"link {name}, whose pose is relative to {said}")
    elif given is None:
        made = Element("pose")
        made.text = f"{row(after.p)} {row(rpy(after.R))}"
        document.insert(links[name], made)
    else:
        _pose(document, given, after)


def _friction(
    document: Document, node: Node | None, value: str, force: Force, problems: list[str]
) -> None:
    law, old = force.law, force.before
    problems.extend(
        law.beyond(
            Law(law.viscous, law.coulomb, old.offset, old.rotor, old.stiffness, old.rest), value
        )
    )
    axis = None if node is None else node.find(("axis", "axis2")[force.place])
    if node is None or axis is None or force.place > 1:
        problems.append(f"friction of {value}")
        return
    told = {"damping": number(law.viscous), "friction": number(law.coulomb)}
    given = axis.find("dynamics")
    made = Element("dynamics")
    for tag, text in told.items():
        part = Element(tag)
        part.text = text
        known = given and given.find(tag)
        if given is None:
            made.append(part)
        elif known is None:
            document.insert(given, part)
        else:
            document.write(known, text)
    if given is None:
        document.insert(axis, made)
