"""Poses of bodies from rough places of joints and points, `assembly: {points: …}`."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from basepar_core.errors import BaseparWarning
from basepar_core.expressions import LENGTH, UNITS, ZERO, Name, Number, did_you_mean
from basepar_core.mechanism import GROUND, Joint, Point, Pose, Vector, joint_type

from .exchanged_points import (
    Carried,
    Distance,
    advice,
    are_off,
    distances,
    exchanged,
    is_exchangeable,
    looks_exchanged,
    sign_as_well,
)
from .misnamed_bodies import Misnamed, line_of_connects, looks_misnamed
from .misplaced_points import looks_misplaced
from .missing_joints import missing_joint
from .mistaken_lengths import looks_mistaken
from .pinned_twice import check_pinned_twice, pairs_meant
from .reader import Reading
from .yaml_nodes import Fields, Node, entry_at

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
    drawing = _Drawing(reading, node, joints, carried, drawn)
    # A wrong joint or unit spoils all distances: they are judged where neither is told.
    for check in (drawing.check_pins, drawing.check_unit):
        check()
        if reading.mistakes:
            return ()
    drawing.warn_of_distances()
    drawing.check_ground(entries)
    poses = drawing.poses
    drawing.check_placed(entries, {GROUND, *(pose.body for pose in poses)})
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
        node: Node,
        joints: Sequence[Joint],
        carried: Mapping[str, list[tuple[str, Vector]]],
        drawn: Mapping[str, Vector],
    ):
        self.reading, self.node, self.joints = reading, node, joints
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

    def check_pins(self) -> None:
        """Report two pins of the same two bodies, unless distances tell which joint is wrong."""
        pairs = pairs_meant(self.reading, self.joints)
        found = self._misnamed if pairs else None
        if found is None or frozenset(found.joint.bodies) not in pairs:
            check_pinned_twice(self.reading, self.joints)

    def check_unit(self) -> None:
        """Report places without the unit they are meant in."""
        if times := self.times_too_large:
            self.reading.mistake(
                self.node,
                f"its points are {times:.3g} times as far apart as on their bodies; places are "
                f"in m: write the unit, such as [250 mm, 170 mm]",
            )

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

    def check_placed(self, entries: Mapping[str, Node], placed: Collection[str]) -> None:
        """Report points none of whose bodies is placed."""
        carriers = {name: [body for body, _ in self.carried[name]] for name in entries}
        loose = [name for name in entries if not {*placed} & {*carriers[name]}]
        joints = self._joints_node
        # A joint that is left out would be one of these points.
        if loose and joints and (missing := missing_joint(self.reading, self.joints)):
            self.reading.mistake(joints, missing)
            return
        for name in loose:
            self.reading.mistake(
                entries[name],
                f"one point alone does not place {' or '.join(carriers[name])}: draw another one "
                f"of it that is elsewhere on it (joints on the ground count), or give its pose in "
                f"`bodies`",
            )

    def warn_of_distances(self) -> None:
        """Report which points are drawn farther apart, or nearer, than they are on their body.

        Where a joint's wrong body, or its two points in the wrong order, or the place of one
        point explains it, that is reported instead.
        """
        if not any(map(are_off, self._distances.values())):
            return
        # The surest first. A body that hangs loosely besides tells more than distances alone;
        # by distances alone another body fits by chance more often than points exchanged do; a
        # point is at fault where no joint is. What is off less than `far` may be roughly drawn:
        # only points exchanged are told then.
        checks = (
            (
                self._on_loose_body,
                self._on_exchange,
                self._on_body,
                self._on_length,
                self._on_place,
                self._on_each,
            )
            if self._far
            else (self._on_exchange,)
        )
        told = next(filter(None, (check() for check in checks)), [])
        for text in told:
            warnings.warn(text, BaseparWarning, stacklevel=2)

    @cached_property
    def _on_bodies(self) -> Carried:
        return self._numbers(self.carried)

    @cached_property
    def _drawn(self) -> Mapping[str, np.ndarray]:
        return {name: self.reading.at_nominal(place) for name, place in self.drawn.items()}

    @cached_property
    def _distances(self) -> Mapping[str, Sequence[Distance]]:
        return distances(self._on_bodies, self._drawn)

    @cached_property
    def _far(self) -> Sequence[tuple[str, Distance]]:
        return [one for body in self._distances.items() if (one := _farthest(*body))]

    @cached_property
    def _misnamed(self) -> Misnamed | None:
        return looks_misnamed(
            self.joints,
            self._on_bodies,
            self._carried_by,
            self._drawn,
        )

    def _on_loose_body(self) -> Sequence[str]:
        """`_on_body`, where fewer bodies hang on a single joint then."""
        return self._on_body() if self._misnamed and self._misnamed.is_loose else ()

    def _on_body(self) -> Sequence[str]:
        """Which joint connects a wrong body, and what to write."""
        found = self._misnamed
        line = line_of_connects(self._joints_node, found.joint.name) if found else None
        if found is None or line is None:
            return ()
        name, bodies = found.joint.name, ", ".join(found.joint.bodies)
        return (f"joints.{name}.connects (line {line}): {found}. Write connects: [{bodies}].",)

    def _on_exchange(self) -> Sequence[str]:
        """Which joint's points look exchanged, and the line to write, where one's do."""
        turned = _carried([exchanged(one) for one in self.joints if is_exchangeable(one)], ())
        found = looks_exchanged(self.joints, self._on_bodies, self._numbers(turned), self._drawn)
        if found is None:
            return ()
        sign = sign_as_well(found, self._on_bodies, self._carried_by, self._drawn)
        return advice(self._joints_node, found, sign)

    def _on_length(self) -> Sequence[str]:
        """Which length looks wrong in a joint's point, and what to write there."""
        reading, joints = self.reading, self.joints
        lengths = {
            f"{'constants' if name in reading.constants else 'geometry'}.{name}": Fraction(
                reading.at_nominal([Name(name)])[0]
            )
            for name, one in reading.dimensions.items()
            if one == LENGTH
        }
        found = looks_mistaken(joints, self._on_bodies, self._carried_by, self._drawn, lengths)
        if found is None or reading.top is None:
            return ()
        place = found.variant.place
        section, *keys = place.partition("[")[0].split(".")
        node = entry_at(reading.top.entries.get(section), *keys)
        line = f" (line {node.line})" if node else ""
        return (f"{place}{line}: {found}. Write {found.variant.meant}.",)

    def _on_place(self) -> Sequence[str]:
        """Which point is drawn at a wrong place, where all distances that are off are its."""
        found = looks_misplaced(self._on_bodies, self._drawn)
        if found is None:
            return ()
        entry = self.node.entries[found.point] if isinstance(self.node, Fields) else self.node
        sign = ""
        if found.place is not None:
            size = 2 if self.reading.planar else 3
            place = ", ".join(f"{x:.4g} m" for x in found.place[:size])
            sign = f" Is a sign wrong? [{place}] fits."
        return (
            f"{entry.path} (line {entry.line}): {found}: correct the drawing of {found.point}, "
            f"which these have in common, or its `at` or "
            f"`connects`.{sign}",
        )

    def _on_each(self) -> Sequence[str]:
        """Of every body the distance that is farthest off."""
        return [
            f"{self.node.path} (line {self.node.line}): {one} on {body}: correct the drawing, or "
            f"their `at` on {body}, which is in its own frame{self._or_on_ground(one)}."
            for body, one in self._far
        ]

    def _or_on_ground(self, distance: Distance) -> str:
        """Where joints of a distance stand that the file places by their ground's point only."""
        stated = self.node.entries if isinstance(self.node, Fields) else {}
        pins = [
            joint.name
            for joint in self.joints
            if GROUND in joint.bodies
            and joint.name in (distance.one, distance.two)
            and joint.name not in stated
        ]
        return "".join(f", or the place of {pin} on the ground, joints.{pin}.at" for pin in pins)

    @property
    def _joints_node(self) -> Node | None:
        return self.reading.top.entries.get("joints") if self.reading.top else None

    def _carried_by(self, joint: Joint) -> Carried:
        return self._numbers(_carried([joint], ()))

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
