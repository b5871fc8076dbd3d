"""Mechanisms by a home pose in exact numbers, written as files in several ways.

Every joint is put at a point and along directions of the world that are rational, so that all
lengths, equalities and right angles hold exactly; each body gets a frame, and the file holds
what the joints look like from there. Loops of hinges by lengths and twists (`hinges`) have no
rational home; their file has the bodies' approximate poses instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from basepar_core.mechanism import joint_type
from tests.campaigns.drafts import CUBE, IDENTITY
from tests.mechanisms import C, E, P, R, S, U, _rotation

__all__ = ["C", "E", "Home", "P", "R", "S", "U", "Written", "X", "Y", "Z", "hinges"]

X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
Vector = Sequence[Any]
#: How lengths are written: numbers; one symbol for equal values; a symbol for each; some of each.
STYLES = ("numbers", "shared", "distinct", "mixed")
#: Half-ranges of excitations, rad or m.
AMPLITUDES = ("0.3", "0.1", "0.01", "0.001", "0.0001", "0.00001")
#: Digits after which a decimal misses what it should be, and how.
NEAR = (4, 7, 10, 13)


@dataclass(frozen=True)
class Written:
    """How a mechanism is written."""

    style: str
    amplitude: str
    near: int | None
    frames: str
    gravity: str
    kind: str

    @classmethod
    def random(cls, rng: np.random.Generator, loose: bool) -> "Written":
        """One way; `loose`: whether the loops close with any numbers."""
        near = int(rng.choice(NEAR)) if loose and rng.uniform() < 0.15 else None
        return cls(
            str(rng.choice(STYLES)),
            str(rng.choice(AMPLITUDES, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])),
            near,
            str(rng.choice(["aligned", "along", "turned"])),
            str(rng.choice(["down", "axis", "any", "none"], p=[0.4, 0.2, 0.25, 0.15])),
            str(rng.choice(["states", "fourier"])),
        )

    def pull(self, planar: bool) -> list[Any]:
        """Gravity."""
        flat = {"down": [0, "-9.81"], "axis": ["9.81", 0], "any": ["1.5", "-9.7"], "none": [0, 0]}
        deep = {
            "down": [0, 0, "-9.81"],
            "axis": [0, "-9.81", 0],
            "any": ["0.5", "-2", "-9.5"],
            "none": [0, 0, 0],
        }
        return list((flat if planar else deep)[self.gravity])

    def excitation(self, coordinates: Sequence[str], parameters: int) -> dict[str, Any]:
        """Enough samples, random states or waves."""
        amplitude = dict.fromkeys(coordinates, self.amplitude)
        count = 24 + 2 * parameters // len(coordinates)
        if self.kind == "states":
            return {
                "kind": "states",
                "samples": count,
                "seed": 1,
                "amplitude": amplitude,
                "frequency": "0.3 Hz",
            }
        return {
            "kind": "fourier",
            "harmonics": 5,
            "base_frequency": "0.4 Hz",
            "samples": count,
            "seed": 2,
            "amplitude": amplitude,
        }


@dataclass
class Book:
    """Which lengths are symbols, and which number is off."""

    style: str
    rng: np.random.Generator
    near: int | None = None
    geometry: dict[str, Any] = field(default_factory=dict)
    known: dict[Fraction, str] = field(default_factory=dict)
    spoilt: Fraction | None = None

    def entry(self, value: Fraction, moving: bool) -> Any:
        """A number or the name of a symbol that has this value."""
        if value == 0:
            return 0
        if self.near is not None and moving and self.spoilt is None and self.rng.uniform() < 0.3:
            self.spoilt = value
            value += Fraction(1, 10**self.near)
        named = {
            "numbers": False,
            "shared": moving,
            "distinct": True,
            "mixed": bool(self.rng.uniform() < 0.5),
        }[self.style]
        if not named:
            return value
        if self.style == "shared":
            name = self.known.setdefault(abs(value), f"l{len(self.known)}")
            self.geometry[name] = {"value": abs(value), "unit": "m"}
            return name if value > 0 else f"-{name}"
        name = f"l{len(self.geometry)}"
        self.geometry[name] = {"value": value, "unit": "m"}
        return name


@dataclass
class Home:
    """Joints at their home: name, type, bodies, point, axis and reference in the world."""

    planar: bool
    coordinates: Sequence[str]
    loose: bool = True
    offset: bool = True
    slender: Sequence[str] = ()
    joints: list[tuple[str, str, str, str, list[Fraction], Vector, Vector]] = field(
        default_factory=list
    )

    def joint(
        self,
        name: str,
        kind: str,
        first: str,
        second: str,
        at: Vector,
        axis: Vector = Z,
        reference: Vector | None = None,
    ) -> "Home":
        """A joint; a reference perpendicular to the axis is found if none is given."""
        point = [Fraction(x) for x in at] + [Fraction(0)] * (3 - len(at))
        if reference is None:
            a, b, c = (Fraction(x) for x in axis)
            reference = (0, c, -b) if (b, c) != (0, 0) else (0, a, 0)
        self.joints.append((name, kind, first, second, point, axis, reference))
        return self

    @property
    def bodies(self) -> list[str]:
        """In order of appearance."""
        every = [body for joint in self.joints for body in joint[2:4]]
        return [body for body in dict.fromkeys(every) if body != "ground"]

    def document(self, rng: np.random.Generator, it: Written, name: str) -> dict[str, Any]:
        """The file."""
        poses = {"ground": (IDENTITY, [Fraction(0)] * 3)}
        for body in self.bodies:
            points = [joint[4] for joint in self.joints if body in joint[2:4]]
            poses[body] = (self._turned(rng, it.frames, points), points[0])
        book = Book(it.style, rng, it.near if self.loose else None)
        joints: dict[str, Any] = {}
        for label, kind, first, second, at, axis, reference in self.joints:
            entry: dict[str, Any] = {"type": kind, "connects": [first, second]}
            size = 2 if self.planar else 3
            ends = [
                (_local(poses[b], at, True), _local(poses[b], axis), _local(poses[b], reference))
                for b in (first, second)
            ]
            entry["at"] = [
                [book.entry(x, b != "ground") for x in end[0][:size]]
                for b, end in zip((first, second), ends, strict=True)
            ]
            if self.planar and kind == P:
                entry["axis"] = [end[1][:2] for end in ends]
            if not self.planar:
                axes = [end[1] for end in ends]
                references = [end[2] for end in ends]
                if kind == U:  # at zero the second axis is the first's x, and its x the first's z
                    axes[1], references[1] = ends[1][2], ends[1][1]
                entry["axis"], entry["reference"] = axes, references
            joints[label] = entry
        count = (4 if self.planar else 10) * len(self.bodies)
        document = {
            "name": name,
            "space": "planar" if self.planar else "spatial",
            "gravity": it.pull(self.planar),
            "geometry": book.geometry,
            "bodies": {
                body: {"form": "slender"} if body in self.slender else {} for body in self.bodies
            },
            "joints": joints,
            "coordinates": list(self.coordinates),
            "excitation": it.excitation(self.coordinates, count),
        }
        placed = {
            body: {
                "at": poses[body][1][: 2 if self.planar else 3],
                "rotation": _vector(poses[body][0], self.planar),
            }
            for body in self.bodies
        }
        document["assembly"] = {"bodies": placed}
        if self.offset and rng.uniform() < 0.5:
            moved = {c: f"{0.05 * rng.uniform(-1, 1):.4f}" for c in self.coordinates}
            document["assembly"] |= moved
        return document

    def _turned(self, rng: np.random.Generator, frames: str, points: list[Any]) -> Any:
        if frames == "aligned":
            return IDENTITY
        if frames == "turned" and not self.planar:
            return _rotation(rng) if rng.uniform() < 0.5 else CUBE[int(rng.integers(len(CUBE)))]
        if frames == "turned":
            c, s = Fraction(3, 5), Fraction(4, 5)
            return [[c, -s, Fraction(0)], [s, c, Fraction(0)], [Fraction(0)] * 2 + [Fraction(1)]]
        way = [b - a for a, b in zip(points[0], points[-1], strict=True)]
        square = way[0] ** 2 + way[1] ** 2
        root = Fraction(float(square) ** 0.5).limit_denominator(10**6)
        if way[2] != 0 or square == 0 or root * root != square:
            return IDENTITY
        c, s = way[0] / root, way[1] / root
        return [[c, -s, Fraction(0)], [s, c, Fraction(0)], [Fraction(0)] * 2 + [Fraction(1)]]


def _local(pose: tuple[Any, Any], v: Vector, point: bool = False) -> list[Fraction]:
    turned, origin = pose
    way = [Fraction(x) - (o if point else 0) for x, o in zip(v, origin, strict=True)]
    return [sum((turned[i][k] * way[i] for i in range(3)), Fraction(0)) for k in range(3)]


def _vector(turned: Any, planar: bool) -> Any:
    found = Rotation.from_matrix(np.array(turned, float)).as_rotvec()
    return f"{found[2]:.9f}" if planar else [f"{x:.9f}" for x in found]


@dataclass
class Hinges:
    """A loop of hinges by lengths a, twists (cosine, sine) and offsets d; solved in float64."""

    a: Sequence[Fraction]
    twists: Sequence[tuple[Fraction, Fraction]]
    d: Sequence[Fraction]

    def _step(self, k: int, theta: float) -> np.ndarray:
        """From the hinge k's frame, turned by theta about z and shifted by d, to the next's."""
        c, s = np.cos(theta), np.sin(theta)
        ca, sa = (float(x) for x in self.twists[k])
        turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, float(self.d[k])], [0, 0, 0, 1]])
        link = np.array(
            [[1, 0, 0, float(self.a[k])], [0, ca, -sa, 0], [0, sa, ca, 0], [0, 0, 0, 1]]
        )
        return turn @ link

    def closed(self, rng: np.random.Generator) -> np.ndarray | None:
        """Angles at which the loop closes with one freedom, far from what is singular."""

        def gap(theta: np.ndarray) -> np.ndarray:
            T = np.eye(4)
            for k, x in enumerate(theta):
                T = T @ self._step(k, x)
            return (T - np.eye(4))[:3].ravel()

        for _ in range(60):
            found = least_squares(gap, rng.uniform(-2.8, 2.8, len(self.a)), xtol=1e-15, gtol=1e-15)
            if np.abs(found.fun).max() > 1e-9:
                continue
            values = np.linalg.svd(found.jac, compute_uv=False)
            angles = np.abs(np.sin(found.x))
            if (
                values[-1] < 1e-5 * values[0]
                and values[-2] > 0.05 * values[0]
                and (angles.min() > 0.2)
            ):
                return np.asarray(found.x)
        return None

    def document(self, rng: np.random.Generator, it: Written, name: str) -> dict[str, Any] | None:
        """The file; None where no pose was found."""
        theta = self.closed(rng)
        if theta is None:
            return None
        count = len(self.a)
        # Body k carries hinge k at its origin; the last hinge's link is the ground.
        T = np.eye(4)
        names = [f"link{k + 1}" for k in range(count - 1)]
        book = Book(it.style, rng)
        joints: dict[str, Any] = {}
        placed: dict[str, Any] = {}
        for k in range(count):
            first = "ground" if k == 0 else names[k - 1]
            second = names[k] if k < count - 1 else "ground"
            before = k - 1  # the link in whose frame hinge k is at the far end
            ca, sa = self.twists[before]
            at = [self.a[before], Fraction(0), Fraction(0)] if k else [Fraction(0)] * 3
            axis = [Fraction(0), -sa, ca] if k else [Fraction(0), Fraction(0), Fraction(1)]
            at = [x + self.d[k] * z for x, z in zip(at, axis, strict=True)]
            own_at, own_axis, own_x = [Fraction(0)] * 3, list(Z), list(X)
            if k == count - 1:  # the ground's frame is at hinge 0; its far end closes the loop
                ca, sa = self.twists[k]
                # Inverse of the last link: hinge k's frame in the ground.
                own_at = [-self.a[k], Fraction(0), Fraction(0)]
                own_axis, own_x = [Fraction(0), sa, ca], list(X)
            joints[f"J{k + 1}"] = {
                "type": R,
                "connects": [first, second],
                "at": [
                    [book.entry(x, first != "ground") for x in at],
                    [book.entry(x, second != "ground") for x in own_at],
                ],
                "axis": [axis, own_axis],
                "reference": [list(X), own_x],
            }
            if k < count - 1:
                turn = np.eye(4)
                c, s = np.cos(theta[k]), np.sin(theta[k])
                turn[:2, :2] = [[c, -s], [s, c]]
                turn[2, 3] = float(self.d[k])
                T = T @ turn
                placed[names[k]] = {
                    "at": [f"{x:.10f}" for x in T[:3, 3]],
                    "rotation": [f"{x:.10f}" for x in Rotation.from_matrix(T[:3, :3]).as_rotvec()],
                }
                ca, sa = self.twists[k]
                T = T @ np.array(
                    [
                        [1, 0, 0, float(self.a[k])],
                        [0, float(ca), -float(sa), 0],
                        [0, float(sa), float(ca), 0],
                        [0, 0, 0, 1],
                    ]
                )
        return {
            "name": name,
            "space": "spatial",
            "gravity": it.pull(False),
            "geometry": book.geometry,
            "bodies": {body: {} for body in names},
            "joints": joints,
            "coordinates": ["J1"],
            "assembly": {"bodies": placed},
            "excitation": it.excitation(["J1"], 10 * len(names)),
        }


def hinges(
    a: Sequence[Any], twists: Sequence[tuple[Any, Any]], d: Sequence[Any] | None = None
) -> Hinges:
    """A loop of hinges, exact."""
    return Hinges(
        [Fraction(x) for x in a],
        [(Fraction(c), Fraction(s)) for c, s in twists],
        [Fraction(x) for x in (d or [0] * len(a))],
    )


assert joint_type(R).values == 1
