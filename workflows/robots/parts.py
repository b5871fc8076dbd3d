"""Links, joints and couplings of a mechanism in numbers: what writers of robots' files need.

All at one geometry, SI. A joint's value counts from `zero`: its two frames say where it is then.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import UNIVERSAL_ZERO
from basepar_core.mechanism import joint_type

#: Entries of a rotation matrix this near to 0, 1 or −1 are rounding.
_ROUNDING = 4e-16


@dataclass(frozen=True, eq=False)
class Pose:
    """A frame in another: rotation matrix (3, 3), and where its origin is (3,), m."""

    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    def then(self, inner: "Pose") -> "Pose":
        """A frame that is given in this one, in the other."""
        return Pose(_tidy(self.R @ inner.R), self.p + self.R @ inner.p)

    @property
    def inverse(self) -> "Pose":
        """The other frame in this one."""
        return Pose(self.R.T, -self.R.T @ self.p)


def _tidy(R: Array) -> Array:
    whole = np.round(R)
    return np.where(np.abs(R - whole) < _ROUNDING, whole, R)


@dataclass(frozen=True, eq=False)
class Inertia:
    """Mass (kg), centre (3,) in m, and inertia about it (3, 3) in kg m², in one frame's axes."""

    mass: float
    centre: Array
    central: Array

    def seen_from(self, pose: Pose) -> "Inertia":
        """The same body in the frame in which its own one has a pose."""
        central = pose.R @ self.central @ pose.R.T
        return Inertia(self.mass, pose.p + pose.R @ self.centre, (central + central.T) / 2)


@dataclass(frozen=True, eq=False)
class Move:
    """One slide or turn of a joint: along or about an axis of its first frame, as that stands
    where all is at zero."""

    value: str
    axis: Array
    is_slide: bool
    zero: float = 0.0


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint between two links (`parts.GROUND` is the ground's), at zero where `frames` are.

    Attributes
    ----------
    kind
        Of `JOINT_TYPES`.
    frames
        Its frames in the first and the second link, at `zero`.
    values, zero
        Names of its values in the mechanism, and what these are where the file has zero.
    """

    name: str
    kind: str
    links: tuple[str, str]
    frames: tuple[Pose, Pose]
    values: tuple[str, ...] = ()
    zero: tuple[float, ...] = ()

    @property
    def freedoms(self) -> int:
        """How many values it has."""
        return joint_type(self.kind).values

    @property
    def moves(self) -> tuple[Move, ...]:
        """Its slides, then its turns; of a joint that turns in any way only the slides."""
        shape = joint_type(self.kind)
        axes = [*(np.eye(3)[k] for k in shape.directions)]
        axes += {"": [], "z": [_Z], "zz": [_Z, _X], "any": []}[shape.turns]
        return tuple(
            Move(
                self.values[k] if self.values else "",
                axis,
                k in shape.lengths,
                self.zero[k] if self.zero else 0.0,
            )
            for k, axis in enumerate(axes)
        )

    @property
    def end(self) -> Pose:
        """The second link where all is at zero, seen from the first frame."""
        turned = joint_type(self.kind).turns == "zz"
        return Pose(UNIVERSAL_ZERO if turned else np.eye(3)).then(self.frames[1].inverse)

    @property
    def relative(self) -> Pose:
        """The second link in the first, at zero."""
        return self.frames[0].then(self.end)


_X, _Z = np.eye(3)[0], np.eye(3)[2]


@dataclass(frozen=True)
class Coupling:
    """Σ coefficient · value = offset, in the mechanism's own values, SI."""

    name: str
    terms: Mapping[str, float]
    offset: float


@dataclass(frozen=True)
class Law:
    """Friction, rotor inertia and spring of a joint value, SI; `rest` in the mechanism's value."""

    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    rotor: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0

    def beyond(self, allowed: "Law", value: str) -> list[str]:
        """Columns of what is here and not in another, by name."""
        kinds = ("viscous", "coulomb", "offset", "rotor", "stiffness")
        return [
            f"{value}.{kind}" for kind in kinds if getattr(self, kind) != getattr(allowed, kind)
        ]


@dataclass(frozen=True, eq=False)
class Robot:
    """A mechanism in numbers.

    Attributes
    ----------
    ground
        What the ground is called among links.
    links
        Inertia by name, the ground's not; None for a stub between two joints of what is one.
    poses
        Of links in the ground where all joints are at zero, loops closed; per link.
    laws
        Per joint value what acts on it.
    between
        Springs and dampers between points, by their columns' names.
    """

    name: str
    planar: bool
    gravity: Array
    ground: str
    links: Mapping[str, Inertia | None]
    poses: Mapping[str, Pose]
    joints: tuple[Joint, ...]
    couplings: tuple[Coupling, ...]
    coordinates: tuple[str, ...]
    actuated: tuple[str, ...]
    laws: Mapping[str, Law]
    between: tuple[str, ...] = ()

    @cached_property
    def has_loops(self) -> bool:
        """Whether joints close loops."""
        return len(self.joints) > len(self.links)

    @cached_property
    def zeros(self) -> Mapping[str, float]:
        """Per value of the mechanism where the file has zero."""
        return {v: x for one in self.joints for v, x in zip(one.values, one.zero, strict=True)}

    def seen_in(self, frames: Mapping[str, Pose]) -> "Robot":
        """The same with other frames of links, given in their present ones."""
        back = {name: pose.inverse for name, pose in frames.items()}

        def seen(link: str, frame: Pose) -> Pose:
            return back[link].then(frame) if link in back else frame

        links = {
            name: one.seen_from(back[name]) if one is not None and name in back else one
            for name, one in self.links.items()
        }
        joints = []
        for one in self.joints:
            first, second = map(seen, one.links, one.frames)
            joints.append(replace(one, frames=(first, second)))
        ground = back.get(self.ground, Pose())
        poses = {
            name: ground.then(pose).then(frames.get(name, Pose()))
            for name, pose in self.poses.items()
        }
        gravity = ground.R @ self.gravity
        return replace(self, gravity=gravity, links=links, poses=poses, joints=tuple(joints))
