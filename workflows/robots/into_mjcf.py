"""Changes in an MJCF file: inertials, poses of bodies, joints, anchors; all in the file itself."""

import numpy as np

from basepar_core.mechanism import joint_type

from .changes import CLOSE, Change, Changes, Force, same_pose
from .edited import Document, Node
from .mjcf import inertial, quaternion
from .parts import Pose
from .tree import Branch
from .xml import Element, number, row

#: Ways to write an orientation.
_TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")


def write(document: Document, changes: Changes, problems: list[str]) -> None:
    """Put changes into a file; what it cannot take joins `problems`."""
    file = _File(document, changes, problems)
    for compiler in document.root.children if changes.inertias else ():
        if compiler.tag == "compiler" and compiler.get("inertiafromgeom") == "true":
            document.set(compiler, inertiafromgeom="auto")  # else no inertial counts
    for name, inertia in changes.inertias.items():
        body = file.bodies.get(name)
        if body is None:
            problems.append(f"inertia of body {name}, {_ELSEWHERE}")
            continue
        given = body.find("inertial")
        made = inertial(inertia)
        if given is None:
            document.insert(body, Element("inertial", made))
        else:
            gone = dict.fromkeys((*_TURNS, "fullinertia"))
            document.set(given, **{k: v for k, v in gone.items() if k in given.attributes})
            document.set(given, **made)
    for change in changes.joints:
        file.joint(change)
    for value, force in changes.forces.items():
        file.force(value, force)


_ELSEWHERE = "which is no element of this file (it may be included, replicated or attached)"


class _File:
    def __init__(self, document: Document, changes: Changes, problems: list[str]):
        self.document, self.changes, self.problems = document, changes, problems
        world = [node for node in document.root.children if node.tag == "worldbody"]
        held = [node for node in document.root.children if node.tag == "equality"]
        self.bodies = _named([one for node in world for one in node.all("body")], "body")
        joints = [one for node in world for one in node.all("joint", "freejoint")]
        self.joints = _named(joints, "joint")
        self.sites = _named([one for node in world for one in node.all("site")], "site")
        self.equalities = _named([one for node in held for one in node.children], "")

    def joint(self, change: Change) -> None:
        """A joint of the tree, or one that closes a loop."""
        if loops := self._connects(change.tie.name):
            first = self._bodies(loops[0])
            for loop in loops:
                sides = (0, 1) if self._bodies(loop) == first else (1, 0)
                self._loop(loop, change, sides, len(loops) > 1)
            return
        body = self.bodies.get(change.tie.links[1])
        if body is None or body.parent is None or body.parent.tag == "frame":
            self.problems.append(f"joint {change.tie.name}, {_ELSEWHERE}")
            return
        place, turn = same_pose(change.was_relative, change.relative)
        given = {} if place else {"pos": row(change.relative.p)}
        if not turn:
            given |= self._turned(body, change.relative)
        self.document.set(body, **given)
        before, after = (_inside(one, change.carried[1]) for one in (change.before, change.after))
        if np.abs(before - after).max() <= CLOSE:
            return
        joint = self.joints.get(change.tie.name)
        if joint is None or joint.parent is not body or len(after) > 2:
            self.problems.append(f"joint {change.tie.name}, which is several joints in the file")
            return
        axis = {"axis": row(after[1])} if len(after) == 2 else {}
        self.document.set(joint, pos=row(after[0]), **axis)

    def _turned(self, node: Node, pose: Pose) -> dict[str, str]:
        gone = {key: None for key in _TURNS[1:] if key in node.attributes}
        self.document.set(node, **gone)
        return {"quat": row(quaternion(pose.R))}

    def _connects(self, name: str) -> list[Node]:
        """The equality that closes a loop, or two connects that are a hinge."""
        if (alone := self.equalities.get(name)) is not None:
            return [alone]
        for first, one in self.equalities.items():
            two = self.equalities.get(name.removeprefix(f"{first} "))
            if name.startswith(f"{first} ") and two is not None:
                same = {*self._bodies(one)} == {*self._bodies(two)}
                return [one, two] if same else []
        return []

    def _bodies(self, loop: Node) -> tuple[str, str]:
        """The two bodies that it holds, in its order: by name, or those of its two sites."""
        found = []
        for k in "12":
            node: Node | None = self.sites.get(loop.get(f"site{k}"))
            while node is not None and node.tag not in ("body", "worldbody"):
                node = node.parent
            named = loop.get(f"body{k}") if node is None else node.get("name")
            found.append(named or "world")
        return found[0], found[1]

    def _loop(self, loop: Node, change: Change, sides: tuple[int, int], of_two: bool) -> None:
        """Of a connect by bodies its second point is where the first is at the reference pose.

        `sides` are those of the change that its first and its second body are.
        """
        sites = [self.sites.get(loop.get(key)) for key in ("site1", "site2")]
        if "anchor" in loop.attributes:
            at = change.moved(sides[0], _at(loop, "anchor")) if of_two else change.frame(0)
            self.document.set(loop, anchor=row(at.p))
        elif None in sites:
            self.problems.append(f"joint {change.tie.name}, a weld of two bodies")
        for side, site in zip(sides, sites, strict=True):
            if site is None:
                continue
            before = _at(site, "pos")
            after = change.moved(side, before)
            place, turn = same_pose(before, after)
            if loop.tag == "weld" and not turn:
                self.problems.append(f"joint {change.tie.name}, whose site turns")
            elif not place:
                self.document.set(site, pos=row(after.p))

    def force(self, value: str, force: Force) -> None:
        """Friction, armature and spring of a joint with one value."""
        joint, law, old = self.joints.get(force.tie.name), force.law, force.before
        one = joint is not None and joint.parent is not None
        alone = one and sum(part.tag == "joint" for part in joint.parent.children) == 1  # type: ignore[union-attr]
        if joint is None or not alone:
            self.problems.append(f"friction of {value}, {_ELSEWHERE}")
            return
        pairs = {
            "damping": (law.viscous, old.viscous),
            "frictionloss": (law.coulomb, old.coulomb),
            "armature": (law.rotor, old.rotor),
            "stiffness": (law.stiffness, old.stiffness),
            "springref": (law.rest, old.rest),
        }
        given = {key: number(new) for key, (new, was) in pairs.items() if new != was}
        self.document.set(joint, **given)


def _named(nodes: list[Node], word: str) -> dict[str, Node]:
    """Elements by name; those without are called as `import` calls them."""
    return {
        node.get("name") or f"{word or node.tag} #{k}": node for k, node in enumerate(nodes, 1)
    }


def _at(node: Node, key: str) -> Pose:
    """A point of the file."""
    return Pose(p=np.array([float(x) for x in node.get(key, "0 0 0").split()]))


def _inside(joint: object, carried: Pose) -> np.ndarray:
    """Point and axes of a joint in its second link."""
    seen = Branch(joint, *joint.links)  # type: ignore[attr-defined,arg-type]
    own = carried.inverse
    shape = joint_type(seen.joint.kind)
    moves = [] if shape.is_ball else [own.R @ move.axis for move in seen.moves]
    return np.array([own.then(Pose(p=seen.point)).p, *moves])
