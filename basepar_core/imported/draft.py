"""What importers collect: links, the joints between them, and notes on the rest.

Links that are fixed to each other become one body (whoever is nearest to the ground gives the
name and the frame); what is fixed to the ground belongs to it. Everything is exact.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from basepar_core.errors import Mistake
from basepar_core.mechanism import joint_type

from .kinds import FREE
from .rationals import ANGLE, UNITS, ZERO, Pose, Quaternion, Vec, from_rpy, quarters

#: The ground among links: no XML holds this character, so no link is named so.
WORLD = "\0"

Six = tuple[Fraction, Fraction, Fraction, Fraction, Fraction, Fraction]


@dataclass(frozen=True)
class Inertia:
    """Mass (kg), centre of mass (m), inertia about it (kg m²): xx, xy, xz, yy, yz, zz; all in
    the axes of one frame."""

    mass: Fraction
    centre: Vec
    central: Six

    @property
    def is_nothing(self) -> bool:
        """Whether it has neither mass nor moments."""
        return not (self.mass or any(self.central))

    def seen_from(self, pose: Pose) -> "Inertia":
        """The same body in the frame in which its own one has a pose."""
        xx, xy, xz, yy, yz, zz = self.central
        columns = [pose.turned(v) for v in ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))]
        rows = list(zip(*columns, strict=True))  # R I; then R (R I)ᵀ = R I Rᵀ
        a, b, c = (pose.turned(row) for row in rows)
        return Inertia(self.mass, pose.point(self.centre), (a[0], a[1], a[2], b[1], b[2], c[2]))

    def plus(self, other: "Inertia") -> "Inertia":
        """Two bodies as one, in their common frame."""
        mass = self.mass + other.mass
        if mass == 0:
            centre = ZERO
        else:
            x, y, z = (
                (self.mass * a + other.mass * b) / mass
                for a, b in zip(self.centre, other.centre, strict=True)
            )
            centre = (x, y, z)
        parts = [one._about(centre) for one in (self, other)]
        xx, xy, xz, yy, yz, zz = (a + b for a, b in zip(*parts, strict=True))
        return Inertia(mass, centre, (xx, xy, xz, yy, yz, zz))

    def with_sphere(self, moment: Fraction) -> "Inertia":
        """With a moment of inertia more about every axis, kg m²; the mass stays."""
        xx, xy, xz, yy, yz, zz = self.central
        return replace(self, central=(xx + moment, xy, xz, yy + moment, yz, zz + moment))

    def _about(self, point: Vec) -> Six:
        x, y, z = (a - b for a, b in zip(self.centre, point, strict=True))
        m, (xx, xy, xz, yy, yz, zz) = self.mass, self.central
        return (
            xx + m * (y * y + z * z),
            xy - m * x * y,
            xz - m * x * z,
            yy + m * (x * x + z * z),
            yz - m * y * z,
            zz + m * (x * x + y * y),
        )


NOTHING = Inertia(Fraction(0), ZERO, (Fraction(0),) * 6)


@dataclass(frozen=True)
class Link:
    """A link of the other format: name there, inertia in its own frame."""

    name: str
    inertia: Inertia


@dataclass(frozen=True)
class Fixture:
    """A link that is fixed to another one, at a pose in that one's frame."""

    child: str
    parent: str
    pose: Pose


@dataclass(frozen=True)
class End:
    """A joint's frame in one link: point, axis (z), reference (x), directions of any length."""

    at: Vec
    axis: Vec
    reference: Vec

    def seen_from(self, pose: Pose) -> "End":
        """The same frame where the link has a pose in another one's frame."""
        return End(pose.point(self.at), pose.turned(self.axis), pose.turned(self.reference))


@dataclass(frozen=True)
class Connection:
    """A joint: links of the other format, a frame in each; `values` names what moves.

    `friction` (by value: viscous, coulomb, rotor) and `springs` (by value: stiffness, rest) as
    the file has them; `start` is where the assembly begins; `pitch` of a screw, m per turn;
    `limits` (by value: least, most) are where a start is looked for.
    """

    name: str
    kind: str
    links: tuple[str, str]
    ends: tuple[End, End]
    friction: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)
    springs: Mapping[str, tuple[Fraction, Fraction]] = field(default_factory=dict)
    start: Mapping[str, Fraction] = field(default_factory=dict)
    pitch: Fraction | None = None
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def value_names(joint: str, kind: str) -> list[str]:
    """Names of a joint's values, as the format has them."""
    count = joint_type(kind).values
    return [joint] if count == 1 else [f"{joint}.{k + 1}" for k in range(count)]


@dataclass(frozen=True)
class Coupling:
    """A linear relation of joint values, SI: Σ coefficient · value = offset."""

    name: str
    terms: Mapping[str, Fraction]
    offset: Fraction


@dataclass(frozen=True)
class Between:
    """A spring or damper between points of two links, in their frames, m.

    `stiffness` (N/m) with the length at `rest` (m), or `damping` (N s/m); zero: there is none.
    """

    name: str
    links: tuple[str, str]
    points: tuple[Vec, Vec]
    stiffness: Fraction = Fraction(0)
    rest: Fraction = Fraction(0)
    damping: Fraction = Fraction(0)


@dataclass
class Draft:
    """A mechanism on its way: what a file says, in our terms.

    Attributes
    ----------
    ground
        Names of links that are the ground from the start, besides `WORLD`.
    coordinates
        Joint values; empty: all of a tree, and of loops such as determine the others.
    preferred, avoided
        Joint values that are taken first where loops leave a choice: those of motors; and last.
    closed_at
        Joint values at which its loops are closed, where that has been seen.
    bases
        Poses of links that float, in the ground, by the names of their free joints.
    notes, dropped
        What was changed on the way, and what has no place in a mechanism file.
    mistakes
        What cannot be represented; a draft with mistakes is not written.
    right_angles
        Whether angles that are multiples of 90° as printed (1.57, 1.5708) are taken as such.
    count_massless
        Whether bodies without inertia between joints have parameters that count.
    has_merged
        Whether several joints of the file with links without inertia between them are one.
    nearly_right
        Angles that are multiples of 90° as printed and are not taken as such, by their names: by
        how much they are off (rad).
    """

    name: str
    format: str
    gravity: Vec
    ground: Sequence[str] = ()
    links: list[Link] = field(default_factory=list)
    fixtures: list[Fixture] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    between: list[Between] = field(default_factory=list)
    coordinates: list[str] = field(default_factory=list)
    preferred: list[str] = field(default_factory=list)
    avoided: list[str] = field(default_factory=list)
    closed_at: Mapping[str, Fraction] = field(default_factory=dict)
    bases: dict[str, Pose] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    right_angles: bool = False
    count_massless: bool = False
    has_merged: bool = False
    nearly_right: dict[str, float] = field(default_factory=dict)

    def refuse(self, path: str, message: str, line: int | None = None) -> None:
        found = Mistake(path, message, line)
        self.mistakes += [found] * (found not in self.mistakes)  # seen from several sides

    def turned(self, where: str, angles: Sequence[float]) -> Quaternion:
        """Roll, pitch and yaw (rad) of something; what is changed is noted, with its size."""
        for name, angle in zip(("roll", "pitch", "yaw"), angles, strict=True):
            printed = quarters(angle, as_printed=True)
            # Less off than rotations are met to is rounding of pi.
            if printed is None or printed[1] < ANGLE:
                continue
            taken, (turns, off) = quarters(angle, self.right_angles), printed
            if taken is None:
                self.nearly_right[f"{where}: {name} {angle!r}"] = off
                continue
            note = f"{where}: {name} {angle!r} is taken as {90 * turns} deg, {off:.1e} rad off"
            self.notes += [note] * (note not in self.notes)  # frames are placed more than once
        roll, pitch, yaw = angles
        return from_rpy(roll, pitch, yaw, self.right_angles)

    def let_float(
        self, name: str, links: tuple[str, str], pose: Pose, added: Fraction = Fraction(0)
    ) -> None:
        """Join a link to the ground by a free joint; at zero it has this pose.

        Parameters
        ----------
        added
            kg, of an added mass without weight: rotors on the joint's three lengths.
        """
        end = End(ZERO, UNITS[2], UNITS[0])
        rotors = {value: {"rotor": added} for value in value_names(name, FREE)[:3] if added}
        ends = end.seen_from(pose), end
        self.connections.insert(0, Connection(name, FREE, links, ends, rotors))
        self.bases[name] = pose

    def begin_at(self, values: Mapping[str, Fraction]) -> None:
        """Assemble at these values of joints, as the importer calls them."""
        self.connections = [
            replace(one, start={**one.start, **{n: values[n] for n in names if n in values}})
            for one in self.connections
            for names in [value_names(one.name, one.kind)]
        ]


@dataclass(frozen=True)
class Merged:
    """Bodies by name with their inertia, and where every link is: body and pose in it; bodies
    whose parameters do not count."""

    bodies: dict[str, Inertia]
    carried: dict[str, tuple[str, Pose]]
    massless: frozenset[str] = frozenset()

    def joined(self, connection: Connection) -> tuple[tuple[str, str], tuple[End, End]]:
        """Bodies that a connection joins, and its frames in these."""
        first, second = (self.carried[link] for link in connection.links)
        ends = (
            connection.ends[0].seen_from(first[1]),
            connection.ends[1].seen_from(second[1]),
        )
        return (first[0], second[0]), ends


def held_by_world(draft: Draft) -> set[str]:
    """Links that a chain of connections and fixtures leads to from the world, and the world."""
    neighbours = defaultdict[str, set[str]](set)
    pairs = [one.links for one in draft.connections]
    for first, second in pairs + [(one.parent, one.child) for one in draft.fixtures]:
        neighbours[first].add(second)
        neighbours[second].add(first)
    held, ends = {WORLD}, {WORLD}
    while ends:
        ends = set[str]().union(*(neighbours[one] for one in ends)) - held
        held |= ends
    return held


def merge(draft: Draft) -> Merged:
    """Links that are fixed to each other as one body; says which.

    Fixtures form trees (importers see to that); notes are added to the draft.
    """
    fixed = {fixture.child: fixture for fixture in draft.fixtures}
    carried: dict[str, tuple[str, Pose]] = {
        name: (WORLD, Pose()) for name in (WORLD, *draft.ground)
    }

    def place(name: str) -> tuple[str, Pose]:
        if name not in carried:
            fixture = fixed.get(name)
            if fixture is None:
                carried[name] = name, Pose()
            else:
                body, pose = place(fixture.parent)
                carried[name] = body, pose.then(fixture.pose).short
        return carried[name]

    bodies: dict[str, Inertia] = {}
    with_body: dict[str, list[str]] = {}
    for link in draft.links:
        body, pose = place(link.name)
        if body != WORLD:
            part = link.inertia.seen_from(pose)
            bodies[body] = bodies[body].plus(part) if body in bodies else part
        if link.name != body:
            with_body.setdefault(body, []).append(link.name)
    empty = {name for name, inertia in bodies.items() if inertia.is_nothing}
    held = Counter(place(link)[0] for one in draft.connections for link in one.links)
    some = len(empty) < len(bodies) and not draft.count_massless
    stubs = frozenset(name for name in empty if some and held[name] > 1)
    for which, why in (
        (stubs, "between joints: massless, and their parameters do not count"),
        (empty - stubs, "their parameters are zero, but count like any other"),
    ):
        if named := ", ".join(name for name in bodies if name in which):
            draft.notes.append(f"without inertia in the file, {why}: {named}")
    for body, names in with_body.items():
        whom = "the ground" if body == WORLD else body
        draft.notes.append(f"fixed to {whom}, and part of it: {', '.join(names)}")
    return Merged(bodies, carried, stubs)


class Names:
    """Names as the mechanism format allows them, each given once."""

    def __init__(self, taken: Sequence[str] = ()):
        self.taken = set(taken)
        self.changed: list[tuple[str, str]] = []

    def give(self, wanted: str, otherwise: str) -> str:
        """The name, with letters, digits and _ only; another if it is taken."""
        plain = re.sub(r"[^A-Za-z0-9_]+", "_", wanted).strip("_") or otherwise
        if not plain[0].isalpha():
            plain = f"{otherwise}_{plain}"
        found, k = plain, 2
        while found in self.taken:
            found, k = f"{plain}_{k}", k + 1
        self.taken.add(found)
        if found != wanted and wanted:
            self.changed.append((wanted, found))
        return found
