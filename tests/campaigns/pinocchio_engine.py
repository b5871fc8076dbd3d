"""Pinocchio's own mechanics of a URDF file with what closes its loops, read once more.

Pinocchio loads the tree. Mimic joints, plugins that mimic, URDF+'s loops and couplings, pairs of
frames of Extended URDF and frames named as ends of loops are read here from the XML and YAML
themselves, by other code than the importer's, and become constraints on that tree.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from lxml import etree

from basepar_core.imported import Imported
from tests.campaigns.merged_joints import Merged, called, merged_joints
from tests.oracles.engine import Array, Engine

AXES = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}
WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
#: A frame in the tree: its joint, its placement there.
Frame = tuple[int, pin.SE3]


class PinocchioEngine(Engine):
    """A URDF file's tree under its constraints; `read` says which joints are one of ours, and
    which balls of rods are three turns of ours."""

    def __init__(self, path: Path, closing: str = "", read: Imported | None = None):
        root = _parsed(path)
        companion = path.with_name("robot.yaml")
        more = yaml.safe_load(companion.read_text()) if companion.exists() else {}
        types = dict(zip(more.get("joint_name", ()), more.get("joint_type", ()), strict=True))
        for node in root.findall("joint"):
            if types.get(node.get("name")) == "FIXED":
                node.set("type", "fixed")
        plain = pin.buildModelFromXML(etree.tostring(root).decode())
        merged = list(merged_joints(read, plain)) if read else []
        rods = rod_axes(read.text) if read else {}
        self.model, ids, self.columns = _retyped(plain, types, rods, merged)

        def frame(name: str) -> Frame:
            found = plain.frames[plain.getFrameId(name)]
            joint, body = ids[plain.names[found.parentJoint]]
            return joint, body * found.placement

        pairs = [
            (frame(one), frame(two), 3 if kind.lower() == "3d" else 6)
            for (one, two), kind in zip(
                more.get("closed_loop", ()), more.get("type", ()), strict=True
            )
        ]
        pairs += [pair for node in root.findall("loop") for pair in _loop(node, frame)]
        if not more and closing:
            names = {f.name for f in plain.frames}
            pairs += _named(names, frame, closing)
        kind, self.has_loops = pin.FrameType.OP_FRAME, bool(pairs)
        self.frames = [
            (
                self.model.addFrame(pin.Frame(f"{k}a", one[0], one[1], kind)),
                self.model.addFrame(pin.Frame(f"{k}b", two[0], two[1], kind)),
                rows,
            )
            for k, (one, two, rows) in enumerate(pairs)
        ]
        self.linear = [(self._factors(terms), offset) for terms, offset in _relations(root)]
        self.data, self.speeds = self.model.createData(), self.model.nv
        self.loose: Sequence[int] = ()
        joints = list(self.model.joints)[1:]
        self.continuous = [joint.idx_v for joint in joints if (joint.nq, joint.nv) == (2, 1)]

    def _factors(self, terms: Mapping[str, float]) -> Array:
        found = np.zeros(self.model.nv)
        for name, x in terms.items():
            found[self.model.joints[self.model.getJointId(name)].idx_v] += x
        return found

    def configuration(self, values: Mapping[str, float]) -> Array:
        step = np.zeros(self.speeds)
        for name, (column, sign) in self.columns.items():
            step[column] = sign * values.get(name, 0.0)
        q = pin.integrate(self.model, pin.neutral(self.model), step)
        for joint in self.model.joints:
            if joint.shortname() == "JointModelFreeFlyer":  # a step is a twist, values are not
                turn = pin.Quaternion(pin.exp3(step[joint.idx_v + 3 : joint.idx_v + 6]))
                q[joint.idx_q : joint.idx_q + 3] = step[joint.idx_v : joint.idx_v + 3]
                q[joint.idx_q + 3 : joint.idx_q + 7] = turn.coeffs()
        return q

    def moved(self, q: Array, step: Array) -> Array:
        return pin.integrate(self.model, q, step)

    def gap(self, q: Array) -> Array:
        pin.forwardKinematics(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        at, found = self.data.oMf, []
        for one, two, rows in self.frames:
            found.append(at[two].translation - at[one].translation)
            if rows == 6:
                R = at[one].rotation
                found.append(R @ pin.log3(R.T @ at[two].rotation))
        turns = self._values(q)
        for factors, offset in self.linear:
            open_by = factors @ turns - offset
            # Of a continuous joint whole turns are not known.
            whole = abs(factors[[k for k in self.continuous if factors[k]]]) * math.tau
            known = [math.remainder(open_by, turn) for turn in whole]
            found.append(np.array([min([open_by, *known], key=abs)]))
        return np.concatenate(found) if found else np.zeros(0)

    def _values(self, q: Array) -> Array:
        """Values of joints of one speed; angles of continuous ones within a turn."""
        found = np.zeros(self.speeds)
        for joint in list(self.model.joints)[1:]:
            if joint.nv == 1:
                at = q[joint.idx_q : joint.idx_q + joint.nq]
                found[joint.idx_v] = at[0] if joint.nq == 1 else np.arctan2(at[1], at[0])
        return found

    def rows(self, q: Array, v: Array) -> tuple[Array, Array]:
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.speeds))
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        J, drift = [np.zeros((0, self.speeds))], [np.zeros(0)]
        for one, two, rows in self.frames:
            sides = [pin.getFrameJacobian(self.model, self.data, k, WORLD) for k in (one, two)]
            along = [
                pin.getFrameClassicalAcceleration(self.model, self.data, k, WORLD).vector
                for k in (one, two)
            ]
            J.append((sides[1] - sides[0])[:rows])
            drift.append((along[1] - along[0])[:rows])
        for factors, _ in self.linear:
            J.append(factors[None])
            drift.append(np.zeros(1))
        return np.vstack(J), np.concatenate(drift)

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        return pin.rnea(self.model, self.data, q, v, a).copy()

    def regressor(self, q: Array, v: Array, a: Array) -> Array:
        Y = pin.computeJointTorqueRegressor(self.model, self.data, q, v, a)
        weighs = [
            k for k, it in enumerate(list(self.model.inertias)[1:]) if it.mass or it.inertia.any()
        ]
        return Y.reshape(self.speeds, -1, 10)[:, weighs].reshape(self.speeds, -1)


def rod_axes(text: str) -> dict[str, list[Array]]:
    """Balls of rods that are read as three turns, by joint: their axes in the rod."""
    joints, found = yaml.safe_load(text)["joints"], {}
    for name, joint in joints.items():
        if name.endswith("_across") and (along := joints.get(f"{name[:-7]}_along")):
            one, two = joint["reference"][1], joint["axis"][1]
            three = along.get("axis", [[0, 0, 1]] * 2)[1]
            turns = [np.array(axis, dtype=float) for axis in (one, two, three)]
            found[name[:-7]] = [axis / np.linalg.norm(axis) for axis in turns]
    return found


def _parsed(path: Path) -> etree._Element:
    """The XML as Pinocchio's parser would have it."""
    text = re.sub(rb"^\s*<\?xml[^>]*\?>", b"", path.read_bytes())
    root = etree.fromstring(text)
    for node in root.iter(etree.Comment):
        node.getparent().remove(node)
    return root


def _retyped(
    plain: pin.Model,
    types: Mapping[str, str],
    rods: Mapping[str, Sequence[Array]],
    merged: Sequence[Merged],
) -> tuple[pin.Model, dict[str, Frame], dict[str, tuple[int, int]]]:
    """The tree with joints of other types, by joint of the file its own and where its body is,
    and columns by our values."""
    model, columns, still = pin.Model(), {}, pin.SE3.Identity()
    ids: dict[str, Frame] = {"universe": (0, still)}
    balls = {joint: one for one in merged if one.ends for joint in one.joints}
    model.gravity = plain.gravity
    for name in list(plain.names)[1:]:
        k, kind = plain.getJointId(name), types.get(name, "")
        if (ball := balls.get(name)) is not None:
            if name == ball.joints[-1]:
                first = plain.getJointId(ball.joints[0])
                above = ids[plain.names[plain.parents[first]]]
                last, body, own = ball.add(model, *above)
                ids[name] = last, body
                model.appendBodyToJoint(last, plain.inertias[k], body)
                for (value, sign), column in zip(ball.values, own, strict=True):
                    columns[value] = column, sign
            continue
        parent, body = ids[plain.names[plain.parents[k]]]
        at, made = body * plain.jointPlacements[k], plain.joints[k]
        if kind.startswith("UJOINT"):
            parent = model.addJoint(parent, AXES[kind[-2]](), at, f"{name}_{kind[-2]}")
            columns[f"{called(name)}.1"] = (model.joints[parent].idx_v, 1)
            at, made = pin.SE3.Identity(), AXES[kind[-1]]()
        elif kind == "SPHERICAL" and (axes := rods.get(called(name))):
            for axis, value in zip(axes, ("across.1", "across.2"), strict=False):
                turn = pin.JointModelRevoluteUnaligned(axis)
                parent = model.addJoint(parent, turn, at, f"{name} {value}")
                columns[f"{called(name)}_{value}"] = (model.joints[parent].idx_v, 1)
                at = pin.SE3.Identity()
            made = pin.JointModelRevoluteUnaligned(axes[2])
        elif kind == "SPHERICAL":
            made = pin.JointModelSpherical()
        last = model.addJoint(parent, made, at, name)
        ids[name] = last, still
        model.appendBodyToJoint(last, plain.inertias[k], still)
        first, count = model.joints[last].idx_v, model.joints[last].nv
        if kind.startswith("UJOINT"):
            columns[f"{called(name)}.2"] = (first, 1)
        elif count == 1:
            along = "_along" if called(name) in rods else ""
            columns[called(name) + along] = (first, 1)
        else:
            columns |= {f"{called(name)}.{i + 1}": (first + i, 1) for i in range(count)}
    for one in merged:
        for joint, (value, sign) in zip(
            one.joints, one.values if not one.ends else (), strict=False
        ):
            columns[value] = columns.pop(called(joint))[0], sign
    return model, ids, columns


def _placement(node: etree._Element | None) -> pin.SE3:
    if node is None:
        return pin.SE3.Identity()
    at, turn = (np.array([float(x) for x in node.get(k, "0 0 0").split()]) for k in ("xyz", "rpy"))
    return pin.SE3(pin.rpy.rpyToMatrix(turn), at)


def _loop(node: etree._Element, frame) -> Iterator[tuple[Frame, Frame, int]]:
    """URDF+'s loop joint as points and bodies held together."""
    ends = []
    for tag in ("predecessor", "successor"):
        side = node.find(tag)
        joint, at = frame(side.get("link"))
        ends.append((joint, at * _placement(side.find("origin"))))
    kind, axis = node.get("type"), node.find("axis")
    along = np.array(
        [float(x) for x in (axis.get("xyz") if axis is not None else "1 0 0").split()]
    )
    yield from _held(ends, kind, along)


def _held(ends: Sequence[Frame], kind: str, along: Array) -> Iterator[tuple[Frame, Frame, int]]:
    if kind == "fixed":
        yield ends[0], ends[1], 6
        return
    yield ends[0], ends[1], 3
    if kind in ("revolute", "continuous"):  # a second point of the axis
        on = pin.SE3(np.eye(3), 0.1 * along / np.linalg.norm(along))
        one, two = ((joint, at * on) for joint, at in ends)
        yield one, two, 3
    elif kind != "spherical":
        raise ValueError(f"a loop of type {kind!r} is not held against Pinocchio")


def _named(names: set[str], frame, closing: str) -> Iterator[tuple[Frame, Frame, int]]:
    """Frames closing_X_1 and closing_X_2, closedloop1_A and closedloop1_B."""
    for name in sorted(names):
        other = re.sub(r"^(closing_.+)_1$", r"\1_2", name)
        other = re.sub(r"^(.*closedloop\d+.*)_A$", r"\1_B", other)
        if other != name and other in names:
            yield from _held([frame(name), frame(other)], closing, np.array([0.0, 0, 1]))


def _relations(root: etree._Element) -> Iterator[tuple[dict[str, float], float]]:
    """Linear relations of joint values."""
    joints = {node.get("name"): node for node in root.findall("joint")}
    said = {}
    for name, node in joints.items():
        mimic = node.find("mimic")
        if mimic is not None and node.get("type") != "fixed":
            numbers = float(mimic.get("multiplier", 1)), float(mimic.get("offset", 0))
            said[name] = (mimic.get("joint"), *numbers)
    for plugin in root.iterfind("gazebo/plugin"):
        follower = (plugin.findtext("mimicJoint") or "").strip()
        if follower in joints and joints[follower].get("type") != "fixed":
            numbers = [
                float(plugin.findtext(k) or d) for k, d in (("multiplier", 1), ("offset", 0))
            ]
            said.setdefault(follower, (plugin.findtext("joint").strip(), *numbers))
        for one in plugin.findall("virtualJoint"):
            leader, factor = plugin.findtext("actuatedJoint"), float(one.findtext("scale_factor"))
            said.setdefault(one.findtext("name").strip(), (leader.strip(), 1 / factor, 0.0))
    for name, (leader, factor, offset) in said.items():
        yield {name: 1.0, leader: -factor}, offset
    above = {node.find("child").get("link"): node for node in joints.values()}
    for node in root.findall("coupling"):
        ratio, ways = float(node.find("ratio").get("value")), []
        for tag in ("predecessor", "successor"):
            way, link = [], node.find(tag).get("link")
            while link in above:
                way.append(above[link].get("name"))
                link = above[link].find("parent").get("link")
            ways.append(way)
        terms: dict[str, float] = {}
        for way, x, other in ((ways[0], ratio, ways[1]), (ways[1], -1.0, ways[0])):
            for name in way:
                if name not in other and joints[name].get("type") != "fixed":
                    terms[name] = x
        yield terms, 0.0
