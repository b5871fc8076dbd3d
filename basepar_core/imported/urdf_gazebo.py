"""Joints in SDF's writing within `<gazebo>` of a URDF file, which close loops.

Gazebo turns the URDF file into SDF and adds them, so that they are at zero where all joints of the
tree are. Axes are directions of the joint's frame, as libsdformat has had it since version 5;
before, they were the model's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .draft import WORLD, Draft
from .rationals import Pose
from .sdf_elements import audit
from .sdf_joints import MODEL, read_gear, read_joint


def taken(root: Any) -> list[Any]:
    """The joints, taken out of the tree of elements; a `gazebo` with nothing else goes too."""
    found: list[Any] = []
    for holder in root.findall("gazebo"):
        joints = [] if holder.get("reference") else holder.findall("joint")
        for node in joints:
            holder.remove(node)
        if joints and not len(holder):
            root.remove(holder)
        found += joints
    return found


@dataclass(frozen=True)
class Places:
    """Links and joints of the tree, with all joint values zero.

    Attributes
    ----------
    links
        Poses in the root link.
    children
        Child links by joint.
    """

    links: Mapping[str, Pose]
    children: Mapping[str, str]

    @classmethod
    def of(cls, draft: Draft, joints: Sequence[tuple[Any, Pose]]) -> "Places":
        """Those of URDF's joints, each with its child link's pose in its parent link."""
        known = dict.fromkeys((WORLD, "world", MODEL, *draft.ground), Pose())
        steps = {joint.child: (joint.parent, pose) for joint, pose in joints}
        for _ in steps:
            for child, (parent, pose) in steps.items():
                if parent in known and child not in known:
                    known[child] = known[parent].then(pose)
        return cls(known, {joint.name: joint.child for joint, _ in joints})

    def place(self, name: str) -> Pose | None:
        """A frame in the root link's."""
        return self.links.get(self.children.get(name, name))

    def link(self, name: str) -> str | None:
        """The link that a frame is fixed to."""
        if name in ("world", WORLD):
            return WORLD
        found = self.children.get(name, name)
        return found if found in self.links and found != MODEL else None


def read_joints(draft: Draft, nodes: Sequence[Any], scope: Places) -> None:
    """Connections of these joints."""
    for node in nodes:
        audit(draft, node)
        if any(one.name == node.get("name") for one in draft.connections):
            draft.refuse(
                f"joint {node.get('name')!r}", "this name is given twice", node.sourceline
            )
        else:
            read_joint(draft, node, scope, in_model=None)
    for node in nodes:
        if node.get("type") == "gearbox":
            read_gear(draft, node, scope)
