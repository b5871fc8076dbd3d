"""Joints of ours that are several hinges or slides of a URDF file in a row, in Pinocchio's tree.

The importer's notes say which; our joint's frames say where it is at zero. A ball is Pinocchio's
own spherical joint, and a rod's ball three turns about axes of the rod.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from basepar_core.imported import Imported
from tests.oracles.engine import Array

_NOTE = re.compile(r"(.+), with .+ without mass between them, are the (\w+) joint '(.+)'$")


@dataclass(frozen=True)
class Merged:
    """Joints of the file in a row, and what they are here.

    Attributes
    ----------
    joints
        Their names in the file; of balls in the tree's order.
    values
        Ours, by joint of the file or by turn, and 1 or −1 as they count.
    ends
        Of a ball its frame in the bodies of the tree's parent and child; None where our values
        are those of the file.
    turns
        Of a rod's ball axes in the rod, in a row from its other body, the last along the rod.
    is_above
        Whether the rod is the parent.
    """

    joints: tuple[str, ...]
    values: tuple[tuple[str, int], ...]
    ends: tuple[pin.SE3, pin.SE3] | None = None
    turns: tuple[Array, ...] = ()
    is_above: bool = False

    def add(self, model: pin.Model, parent: int, body: pin.SE3) -> tuple[int, pin.SE3, list[int]]:
        """Put a ball into a tree behind a joint in whose frame its body has a pose; returns the
        last joint, the child's pose in its frame, and columns by value."""
        assert self.ends is not None
        (here, there), name = self.ends, self.joints[-1]
        if not self.turns:
            last = model.addJoint(parent, pin.JointModelSpherical(), body * here, name)
            first = model.joints[last].idx_v
            return last, there.inverse(), [first + k for k in range(3)]
        still, rod = pin.SE3.Identity(), here if self.is_above else there
        unturned = pin.SE3(rod.rotation.T, np.zeros(3))
        at, last, columns = body * here * unturned, parent, []
        axes = [-axis for axis in reversed(self.turns)] if self.is_above else list(self.turns)
        for k, axis in enumerate(axes):
            turn = pin.JointModelRevoluteUnaligned(axis)
            last = model.addJoint(last, turn, at, f"{name} {k}" if k < 2 else name)
            columns.append(model.joints[last].idx_v)
            at = still
        order = columns[::-1] if self.is_above else columns
        return last, unturned.inverse() * there.inverse(), order


def merged_joints(read: Imported, plain: pin.Model) -> Iterator[Merged]:
    """Joints that the notes say are merged, in the file's tree."""
    ours = {joint.name: joint for joint in read.mechanism.joints}
    for note in read.notes:
        if (found := _NOTE.match(note)) is None:
            continue
        joints, kind, name = tuple(found[1].split(", ")), found[2], called(found[3])
        if kind != "spherical":
            signs = [1, _second(plain, joints), 1] if kind == "planar" else [1, 1]
            yield Merged(joints, tuple((f"{name}.{k + 1}", s) for k, s in enumerate(signs)))
            continue
        order = sorted(joints, key=plain.getJointId)
        above = _body(read, plain, plain.parents[plain.getJointId(order[0])])
        if name in ours:
            frames = [_frame(one.axis, one.reference, one.at) for one in ours[name].frames]
            is_down = ours[name].bodies[0] == above
            parent, child = frames if is_down else reversed(frames)
            values = tuple((f"{name}.{k + 1}", 1 if is_down else -1) for k in range(3))
            yield Merged(tuple(order), values, (parent, child))
            continue
        across, along = ours[f"{name}_across"], ours[f"{name}_along"]
        near, far = across.frames
        here = _frame(near.reference, near.axis, near.at)  # x and z are the two axes at zero
        rod = _frame(far.axis, far.reference, along.frames[1].at)
        turns = tuple(_unit(v) for v in (far.reference, far.axis, along.frames[1].axis))
        values = tuple((f"{name}_{k}", 1) for k in ("across.1", "across.2", "along"))
        is_above = across.bodies[0] != above
        ends = (rod, here) if is_above else (here, rod)
        yield Merged(tuple(order), values, ends, turns, is_above)


def called(name: str) -> str:
    """What a name of the file becomes, unless another one becomes the same."""
    found = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_")
    return found if found[:1].isalpha() else f"joint_{found}"


def _body(read: Imported, plain: pin.Model, joint: int) -> str:
    """Our body that a joint of the tree carries."""
    if joint == 0:
        return "ground"
    links = {one.name for one in plain.frames if one.parentJoint == joint}
    return next(
        body for body, parts in read.origin.bodies.items() for part in parts if part.link in links
    )


def _unit(v: Sequence[object]) -> Array:
    found = np.array([float(x.value) for x in v])  # type: ignore[attr-defined]
    return found / np.linalg.norm(found)


def _frame(z: Sequence[object], x: Sequence[object], at: Sequence[object]) -> pin.SE3:
    up, along = _unit(z), _unit(x)
    along = along - up * (up @ along)
    along /= np.linalg.norm(along)
    R = np.stack([along, np.cross(up, along), up], axis=1)
    return pin.SE3(R, np.array([float(c.value) for c in at]))  # type: ignore[attr-defined]


def _second(plain: pin.Model, joints: Sequence[str]) -> int:
    """Sign of the second slide of a planar joint, whose y is z × x."""
    data = plain.createData()
    J = pin.computeJointJacobians(plain, data, pin.neutral(plain))
    u, v, w = (J[:, plain.joints[plain.getJointId(name)].idx_v] for name in joints)
    return -1 if np.cross(w[3:], u[:3]) @ v[:3] < 0 else 1
