"""Poses of bodies from rough places of joints and points, `assembly: {points: …}`."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

import numpy as np

from basepar_core.errors import BaseparWarning
from basepar_core.expressions import UNITS, ZERO, Number, did_you_mean
from basepar_core.mechanism import GROUND, Joint, Point, Pose, Vector, joint_type

from .exchanged_points import (
    Carried,
    Distance,
    are_off,
    distances,
    exchanged,
    is_exchangeable,
    line_to_write,
    looks_exchanged,
)
from .misnamed_bodies import Misnamed, line_of_connects, looks_misnamed
from .misplaced_points import looks_misplaced
from .missing_joints import missing_joint
from .pinned_twice import check_pinned_twice, pairs_meant
from .reader import Reading
from .yaml_nodes import Fields, Node

#: Where points leave a turn open (about a line of them) it is the least one from the world's axes:
#: a weight that no point on a drawing feels.
_WEAK = 1e-9
#: No drawing that is meant is this many times as large as the mechanism; one in mm, cm, inch is.
_OTHER_UNIT = 20.0
#: By this share distances of a rough drawing may be off.
_ROUGH = 0.2


def read_drawn(
    reading: Reading, node: Node, joints: Sequence[Joint], points: Sequence[Point]
) -> tuple[Pose, ...]:
    """Poses of the bodies that the drawing places, by two points of theirs or more.

    A joint that does not slide is a point of both its bodies, one that slides a point of its
    second; joints on the ground have their places there.
    """
    entries = reading.entries(node, "a mapping of joints and points, such as B: [0.1 m, 0.2 m]")
    carried = _carried(joints, points)
    drawn: dict[str, Vector] = {}
    for name, entry in (entries or {}).items():
        drawn[name] = reading.fixed_point(entry, UNITS["m"])
        if name not in carried and name not in reading.spoilt and "joints" not in reading.unknown:
            hint = did_you_mean(name, carried) or f"; there are {', '.join(carried)}"
            reading.mistake(entry, f"no joint or point is named {name!r}{hint}")
    if reading.mistakes or not entries:
        return ()
    drawing = _Drawing(reading, joints, carried, drawn)
    if not drawing.names_bodies(pairs_meant(reading, joints)):
        check_pinned_twice(reading, joints)
        if reading.mistakes:
            return ()
    if times := drawing.times_too_large:
        reading.mistake(
            node,
            f"its points are {times:.3g} times as far apart as on their bodies; places are in m: "
            f"write the unit, such as [250 mm, 170 mm]",
        )
        return ()
    drawing.warn_of_distances(node)
    drawing.check_ground(entries)
    poses = drawing.poses
    placed = {GROUND, *(pose.body for pose in poses)}
    loose = [name for name in entries if not placed & {body for body, _ in carried[name]}]
    if loose and reading.top and (missing := missing_joint(reading, joints)):
        reading.mistake(reading.top.entries["joints"], missing)  # it would be one of these points
        return poses
    for name, entry in entries.items():
        bodies = [body for body, _ in carried[name]]
        if name in loose:
            reading.mistake(
                entry,
                f"one point alone does not place {' or '.join(bodies)}: draw another one of it "
                f"that is elsewhere on it (joints on the ground count), or give its pose in "
                f"`bodies`",
            )
    return poses


def _carried(
    joints: Sequence[Joint], points: Sequence[Point]
) -> Mapping[str, list[tuple[str, Vector]]]:
    """By the name of a joint or point the bodies that carry it, and where."""
    found = {
        joint.name: [
            (body, frame.at)
            for body, frame in zip(joint.bodies, joint.frames, strict=True)
            if not joint_type(joint.type).slides or body == joint.bodies[1]
        ]
        for joint in joints
    }
    return found | {point.name: [(point.body, point.at)] for point in points}


class _Drawing:
    """What is known of the bodies' places: pairs of points, and of directions, world and body."""

    def __init__(
        self,
        reading: Reading,
        joints: Sequence[Joint],
        carried: Mapping[str, list[tuple[str, Vector]]],
        drawn: Mapping[str, Vector],
    ):
        self.reading, self.joints = reading, joints
        self.carried, self.drawn = carried, drawn
        self.points: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        self.directions: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
        for joint in joints:
            if GROUND in joint.bodies:
                self._on_ground(joint)
        for name, place in drawn.items():
            if GROUND not in [body for body, _ in carried[name]]:
                for body, at in carried[name]:
                    self._pair(body, place, at)

    def _pair(self, body: str, world: Vector, local: Vector) -> None:
        both = self.reading.at_nominal([*world, *local])
        self.points.setdefault(body, []).append((both[:3], both[3:]))

    def _on_ground(self, joint: Joint) -> None:
        """The pin that stands still, and directions that do."""
        body = joint.bodies[1 - joint.bodies.index(GROUND)]
        sides = joint.frames if joint.bodies[0] == GROUND else joint.frames[::-1]
        shape = joint_type(joint.type)
        if not shape.slides:
            self._pair(body, sides[0].at, sides[1].at)
        if shape.rotations > 1:
            return
        axes = [self.reading.at_nominal([*side.axis, *side.reference]) for side in sides]
        z = [one[:3] / np.linalg.norm(one[:3]) for one in axes]
        x = [one[3:] - (one[3:] @ n) * n for one, n in zip(axes, z, strict=True)]
        pairs = [z] if shape.rotations else [z, [one / np.linalg.norm(one) for one in x]]
        self.directions.setdefault(body, []).extend((a, b) for a, b in pairs)

    def check_ground(self, entries: Mapping[str, Node]) -> None:
        """Report what is drawn farther from its place on the ground than any body is long."""
        longest = max(
            (np.abs(local).max() for pairs in self.points.values() for _, local in pairs),
            default=0,
        )
        for name, place in self.drawn.items():
            for body, at in self.carried[name]:
                there, own = np.split(self.reading.at_nominal([*place, *at]), 2)
                if body == GROUND and (far := float(np.linalg.norm(there - own))) > longest > 0:
                    where = ", ".join(f"{x:.4g} m" for x in own)
                    self.reading.mistake(
                        entries[name],
                        f"{name} is on the ground, {far:.3g} m from there, at [{where}]; its "
                        f"place in `joints` counts: correct one of the two, or take this out",
                    )

    def names_bodies(self, pairs: Collection[frozenset[str]]) -> bool:
        """Whether it shows a joint that connects a wrong body, and one of these pairs is right."""
        if not pairs:
            return False
        drawn = {name: self.reading.at_nominal(place) for name, place in self.drawn.items()}
        found = self._misnamed(self._numbers(self.carried), drawn)
        return found is not None and frozenset(found.joint.bodies) in pairs

    def warn_of_distances(self, node: Node) -> None:
        """Report which points are drawn farther apart, or nearer, than they are on their body.

        Where a joint's wrong body, or its two points in the wrong order, or the place of one
        point explains it, that is reported instead.
        """
        numbers = self.reading.at_nominal
        drawn = {name: numbers(place) for name, place in self.drawn.items()}
        carried = self._numbers(self.carried)
        found = distances(carried, drawn)
        if not any(map(are_off, found.values())):
            return
        far = [one for body in found.items() if (one := _farthest(*body))]
        misnamed = self._misnamed(carried, drawn) if far else None
        # A body that hangs loosely besides tells more than distances alone.
        is_sure = misnamed is not None and misnamed.is_loose
        message = (
            (self._on_body(misnamed) if is_sure else "")
            or self._on_exchange(carried, drawn)
            or self._on_body(misnamed)
            or (self._on_place(node, carried, drawn) if far else "")
        )
        remedies = [
            f"{node.path} (line {node.line}): {one} on {body}: correct the drawing, or "
            f"their `at` on {body}, which is in its own frame."
            for body, one in far
        ]
        for text in [message] if message else remedies:
            warnings.warn(text, BaseparWarning, stacklevel=2)

    def _misnamed(self, carried: Carried, drawn: Mapping[str, np.ndarray]) -> Misnamed | None:
        return looks_misnamed(
            self.joints, carried, lambda one: self._numbers(_carried([one], ())), drawn
        )

    def _on_body(self, found: Misnamed | None) -> str:
        """Which joint connects a wrong body, and what to write."""
        line = line_of_connects(self._joints_node, found.joint.name) if found else None
        if found is None or line is None:
            return ""
        name, bodies = found.joint.name, ", ".join(found.joint.bodies)
        return f"joints.{name}.connects (line {line}): {found}. Write connects: [{bodies}]."

    def _on_exchange(self, carried: Carried, drawn: Mapping[str, np.ndarray]) -> str:
        """Which joint's points look exchanged, and the line to write, where one's do."""
        turned = _carried([exchanged(one) for one in self.joints if is_exchangeable(one)], ())
        found = looks_exchanged(self.joints, carried, self._numbers(turned), drawn)
        there = line_to_write(self._joints_node, found.joint.name) if found else None
        if found is None or there is None:
            return ""
        first, second = found.joint.bodies
        return (
            f"joints.{found.joint.name}.at (line {there[0]}): its two points look exchanged: "
            f"{found.told} on {found.body}; with the points exchanged "
            f"{found.met.drawn:.4g} m and {found.met.own:.4g} m. Write {there[1]}: the first "
            f"point is in the frame of {first}, the second in that of {second}."
        )

    def _on_place(self, node: Node, carried: Carried, drawn: Mapping[str, np.ndarray]) -> str:
        """Which point is drawn at a wrong place, where all distances that are off are its."""
        found = looks_misplaced(carried, drawn)
        if found is None:
            return ""
        entry = node.entries[found.point] if isinstance(node, Fields) else node
        sign = ""
        if found.place is not None:
            size = 2 if self.reading.planar else 3
            place = ", ".join(f"{x:.4g} m" for x in found.place[:size])
            sign = f" Is a sign wrong? [{place}] fits."
        return (
            f"{entry.path} (line {entry.line}): {found}: correct the drawing of {found.point}, "
            f"which these have in common, or its `at` or "
            f"`connects`.{sign}"
        )

    @property
    def _joints_node(self) -> Node | None:
        return self.reading.top.entries.get("joints") if self.reading.top else None

    def _numbers(self, carried: Mapping[str, list[tuple[str, Vector]]]) -> Carried:
        numbers = self.reading.at_nominal
        return {name: [(body, numbers(at)) for body, at in some] for name, some in carried.items()}

    @property
    def times_too_large(self) -> float:
        """How many times larger bodies are drawn than they are; 0 where it is their unit."""
        found = [
            np.ptp(world, axis=0).max() / size
            for pairs in self.points.values()
            for world, local in [map(np.array, zip(*pairs, strict=True))]
            if (size := np.ptp(local, axis=0).max()) > 1e-6 * np.abs(local).max()
        ]
        return min(found) if found and min(found) > _OTHER_UNIT else 0.0

    @property
    def poses(self) -> tuple[Pose, ...]:
        """Of bodies with two points; the joints of one that is posed are points of the next."""
        placed: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        while new := [b for b in self.points if b not in placed and self._is_placed(b)]:
            for body in new:
                placed[body] = self._fitted(body)
                for joint in self.joints:
                    self._lead_on(joint, body, *placed[body])
        return tuple(Pose(body, _vector(p), self._turn(R)) for body, (R, p) in placed.items())

    def _lead_on(self, joint: Joint, body: str, R: np.ndarray, p: np.ndarray) -> None:
        if body in joint.bodies and not joint_type(joint.type).slides:
            side = joint.bodies.index(body)
            other = joint.bodies[1 - side]
            here, there = (self.reading.at_nominal(joint.frames[k].at) for k in (side, 1 - side))
            if other != GROUND:
                self.points.setdefault(other, []).append((p + R @ here, there))

    def _is_placed(self, body: str) -> bool:
        local = np.array([local for _, local in self.points[body]])
        # Points nearer than a share of 1e-6 of the body's size are one.
        apart = np.ptp(local, axis=0).max() > 1e-6 * np.abs(local).max()
        return bool(apart) or len(self.directions.get(body, [])) > 1

    def _fitted(self, body: str) -> tuple[np.ndarray, np.ndarray]:
        """The best rotation and shift (Kabsch, Acta Cryst. A32, 1976)."""
        world, local = (np.array(side) for side in zip(*self.points[body], strict=True))
        middle, own = world.mean(axis=0), local.mean(axis=0)
        size = np.abs(local - own).max() or 1.0
        H = _WEAK * np.eye(3) + (world - middle).T @ (local - own) / size**2
        for there, here in self.directions.get(body, []):
            H += np.outer(there, here)
        if self.reading.planar:
            H[2, 2] += 1.0
        U, _, V = np.linalg.svd(H)
        R = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ V))]) @ V
        return R, middle - R @ own

    def _turn(self, R: np.ndarray) -> Vector:
        if self.reading.planar:
            return ZERO, ZERO, _exact(np.arctan2(R[1, 0], R[0, 0]))
        from scipy.spatial.transform import Rotation  # slow to import, and seldom needed

        return _vector(Rotation.from_matrix(R).as_rotvec())


def _farthest(body: str, pairs: Sequence[Distance]) -> tuple[str, Distance] | None:
    """Of a body that no rough drawing has, the distance that is farthest off."""
    size = max((one.own for one in pairs), default=0.0)
    off = {abs(one.drawn - one.own) / (one.own + size): one for one in pairs if size}
    worst = max(off, default=0.0)
    # Of pairs as far apart as the body is long: _ROUGH.
    return (body, off[worst]) if worst > _ROUGH / 2 else None


def _vector(numbers: np.ndarray) -> Vector:
    x, y, z = map(_exact, numbers)
    return x, y, z


def _exact(value: float) -> Number:
    return Number(Fraction(float(value)))
