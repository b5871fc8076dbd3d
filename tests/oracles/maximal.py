"""A second formulation of closed loops: all bodies free, all joints as constraints, multipliers.

Every body has its absolute pose; joints are scalar products of body-fixed vectors that must
vanish; the coordinates are driven by constraints of their own, whose multipliers are τ. Nothing
here knows of trees, loops, or relative coordinates. The variants are a leading axis.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from basepar_core.expressions.tree import evaluate
from basepar_core.mechanism import GROUND, Mechanism

Array = np.ndarray
#: Way of a coordinate between two solutions, rad or m.
STRIDE = 0.1


@dataclass(frozen=True)
class Jet:
    """A quantity that moves: value, derivative by all twists, acceleration at zero rates.

    Vectors are (variant, 3), (variant, 3, twist), (variant, 3); scalars have no axis of 3.
    """

    value: Array
    rate: Array
    bend: Array

    def minus(self, other: "Jet") -> "Jet":
        """The difference."""
        return Jet(self.value - other.value, self.rate - other.rate, self.bend - other.bend)


def dot(u: Jet, v: Jet, twist: Array) -> Jet:
    """Scalar product of two moving vectors at the given twists (variant, twist)."""
    du, dv = (np.einsum("bik,bk->bi", w.rate, twist) for w in (u, v))
    return Jet(
        np.einsum("bi,bi->b", u.value, v.value),
        np.einsum("bi,bik->bk", u.value, v.rate) + np.einsum("bi,bik->bk", v.value, u.rate),
        np.einsum("bi,bi->b", u.value, v.bend)
        + np.einsum("bi,bi->b", v.value, u.bend)
        + 2 * np.einsum("bi,bi->b", du, dv),
    )


def skew(v: Array) -> Array:
    """Matrices of the vector product, (…, 3, 3)."""
    K = np.zeros((*v.shape, 3))
    K[..., 0, 1], K[..., 0, 2], K[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    return K - np.swapaxes(K, -1, -2)


class Bodies:
    """All bodies of all variants: poses, constraints, forces."""

    def __init__(self, mechanism: Mechanism, values: Mapping[str, Array]):
        self.mechanism = mechanism
        self.number = {body.name: k for k, body in enumerate(mechanism.bodies)}
        self.count = max((np.size(x) for x in values.values()), default=1)
        self.size = 6 * len(self.number)
        self.values = {n: np.asarray(x, float) for n, x in values.items()}
        self._measure(0.0)
        self._lay_out()
        self.target = self._measured()
        self._hold(self._stated())
        self.settle()
        for k in range(1, 17 if values else 1):
            self._measure(k / 16)
            self.settle()

    # Geometry and poses.

    def _measure(self, share: float) -> None:
        """Joint frames on the straight way from the nominal geometry to the variants'."""
        nominal = self.mechanism.nominal
        known = dict(nominal) | {
            name: nominal[name] + share * (x - nominal[name]) for name, x in self.values.items()
        }
        frames = [side for joint in self.mechanism.joints for side in joint.frames]
        rows = [e for side in frames for v in (side.at, side.axis, side.reference) for e in v]
        table = [np.broadcast_to(x, (self.count,)) for x in evaluate(rows, known)]
        at, axis, reference = np.stack(table, 1).reshape(self.count, -1, 3, 3).swapaxes(0, 2)
        z = axis / np.linalg.norm(axis, axis=-1, keepdims=True)
        x = np.cross(np.cross(z, reference), z)
        x = x / np.linalg.norm(x, axis=-1, keepdims=True)
        axes = np.stack([x, np.cross(z, x), z], axis=-2)  # axes[…, k] is the k-th direction
        self.points = at.reshape(-1, 2, self.count, 3)
        self.axes = axes.reshape(-1, 2, self.count, 3, 3)
        self.gravity = np.stack(
            [np.broadcast_to(g, (self.count,)) for g in evaluate(self.mechanism.gravity, known)], 1
        ).astype(float)

    def _stated(self) -> dict[str, float]:
        entries = self.mechanism.assembly.values
        numbers = evaluate([value for _, value in entries], self.mechanism.nominal)
        return {name: float(x) for (name, _), x in zip(entries, numbers, strict=True)}

    def _lay_out(self) -> None:
        """Rough poses: over joints with stated values first, as docs/mechanism-files.md has it."""
        n = len(self.number)
        self.R = np.tile(np.eye(3), (self.count, n, 1, 1))
        self.p = np.zeros((self.count, n, 3))
        stated, known = self._stated(), {GROUND}
        for pose in self.mechanism.assembly.poses:
            numbers = np.array(evaluate([*pose.at, *pose.rotation], {}), float)
            self.p[:, self.number[pose.body]] = numbers[:3]
            self.R[:, self.number[pose.body]] = Rotation.from_rotvec(numbers[3:]).as_matrix()
            known.add(pose.body)
        while len(known) <= n:
            open_joints = [
                (not any(name in stated for name in joint.values), k)
                for k, joint in enumerate(self.mechanism.joints)
                if (joint.bodies[0] in known) != (joint.bodies[1] in known)
            ]
            self._place(min(open_joints)[1], stated, known)

    def _place(self, k: int, stated: Mapping[str, float], known: set[str]) -> None:
        joint = self.mechanism.joints[k]
        turn, shift = _motion(joint.type, [stated.get(name, 0.0) for name in joint.values])
        F1, F2 = (np.swapaxes(side, -1, -2) for side in self.axes[k])
        relative = F1 @ turn @ np.swapaxes(F2, -1, -2)
        offset = self.points[k, 0] + F1 @ shift - (relative @ self.points[k, 1][..., None])[..., 0]
        R1, p1 = self._pose(joint.bodies[0])
        R2, p2 = self._pose(joint.bodies[1])
        if joint.bodies[0] in known:
            R2[:] = R1 @ relative
            p2[:] = p1 + (R1 @ offset[..., None])[..., 0]
        else:
            R1[:] = R2 @ np.swapaxes(relative, -1, -2)
            p1[:] = p2 - (R1 @ offset[..., None])[..., 0]
        known.update(joint.bodies)

    def _pose(self, body: str) -> tuple[Array, Array]:
        if body == GROUND:
            return np.tile(np.eye(3), (self.count, 1, 1)), np.zeros((self.count, 3))
        return self.R[:, self.number[body]], self.p[:, self.number[body]]

    # Moving vectors.

    def _zero(self) -> tuple[Array, Array]:
        return np.zeros((self.count, 3, self.size)), np.zeros((self.count, 3))

    def _spin(self, body: str) -> Jet:
        rate, bend = self._zero()
        if body != GROUND:
            k = 6 * self.number[body]
            rate[:, range(3), range(k, k + 3)] = 1.0
        return Jet(np.zeros((self.count, 3)), rate, bend)

    def _fixed(self, body: str, local: Array, twist: Array) -> Jet:
        """A direction fixed in a body."""
        value = np.einsum("bij,bj->bi", self._pose(body)[0], local)
        rate, bend = self._zero()
        if body != GROUND:
            k = 6 * self.number[body]
            w = twist[:, k : k + 3]
            rate[..., k : k + 3] = -skew(value)
            bend = np.cross(w, np.cross(w, value))
        return Jet(value, rate, bend)

    def _point(self, body: str, local: Array, twist: Array) -> Jet:
        arm = self._fixed(body, local, twist)
        if body != GROUND:
            k = 6 * self.number[body] + 3
            arm.rate[:, range(3), range(k, k + 3)] = 1.0
        return Jet(arm.value + self._pose(body)[1], arm.rate, arm.bend)

    def _ends(self, k: int, twist: Array) -> tuple[list[Jet], list[Jet], Jet]:
        """The three axes of both joint frames, and the way between their origins."""
        names = self.mechanism.joints[k].bodies
        first, second = (
            [self._fixed(name, self.axes[k, side][:, i], twist) for i in range(3)]
            for side, name in enumerate(names)
        )
        ends = [self._point(name, self.points[k, s], twist) for s, name in enumerate(names)]
        return first, second, ends[1].minus(ends[0])

    # Constraints.

    def _joint(self, k: int, twist: Array) -> list[Jet]:
        (x, y, z), (_, b, c), way = self._ends(k, twist)

        def products(*pairs: tuple[Jet, Jet]) -> list[Jet]:
            return [dot(u, v, twist) for u, v in pairs]

        match self.mechanism.joints[k].type:
            case "revolute":
                return products((x, c), (y, c), (x, way), (y, way), (z, way))
            case "prismatic":
                return products((x, c), (y, c), (x, b), (x, way), (y, way))
            case "cylindrical":
                return products((x, c), (y, c), (x, way), (y, way))
            case "universal":
                return products((z, c), (x, way), (y, way), (z, way))
            case "spherical":
                return products((x, way), (y, way), (z, way))
            case "planar":
                return products((x, c), (y, c), (z, way))
        return products((x, c), (y, c), (x, b), (x, way), (y, way), (z, way))

    def _coordinate(self, name: str, twist: Array) -> Jet:
        """A coordinate; its value is measured, angles in (−π, π]."""
        k, place = next(
            (k, joint.values.index(name))
            for k, joint in enumerate(self.mechanism.joints)
            if name in joint.values
        )
        joint = self.mechanism.joints[k]
        (x, y, z), (a, _, c), way = self._ends(k, twist)
        lengths = {"prismatic": (z,), "cylindrical": (z,), "planar": (x, y)}.get(joint.type, ())
        if place < len(lengths):
            return dot(lengths[place], way, twist)
        spin = self._spin(joint.bodies[1]).minus(self._spin(joint.bodies[0]))
        axis, start, end = z, x, a
        if joint.type == "universal":
            # At zero c is along x (it turns about z with .1) and a along z (it turns about c).
            axis, start, end = (z, x, c) if place == 0 else (c, z, a)
        across = np.cross(axis.value, start.value)
        value = np.arctan2((across * end.value).sum(-1), (start.value * end.value).sum(-1))
        moving = np.einsum("bik,bk->bi", axis.rate, twist)
        return Jet(
            value,
            np.einsum("bi,bik->bk", axis.value, spin.rate),
            np.einsum("bi,bi->b", moving, np.einsum("bik,bk->bi", spin.rate, twist)),
        )

    def equations(self, twist: Array) -> tuple[Array, Array, Array]:
        """All joints', then the coordinates': value (variant, row), derivative, bend."""
        jets = [jet for k in range(len(self.mechanism.joints)) for jet in self._joint(k, twist)]
        jets += [self._coordinate(name, twist) for name in self.mechanism.coordinates]
        return (
            np.stack([jet.value for jet in jets], 1),
            np.stack([jet.rate for jet in jets], 1),
            np.stack([jet.bend for jet in jets], 1),
        )

    # Positions.

    def _measured(self) -> Array:
        twist = np.zeros((self.count, self.size))
        found = [self._coordinate(name, twist).value for name in self.mechanism.coordinates]
        return np.stack(found, 1)

    def joint_values(self) -> dict[str, float]:
        """Every joint value of the first variant as it stands."""
        still = np.zeros((self.count, self.size))
        found: dict[str, float] = {}
        for k, joint in enumerate(self.mechanism.joints):
            if joint.type == "spherical":
                F1, F2 = (
                    self._pose(name)[0][0] @ self.axes[k, side][0].T
                    for side, name in enumerate(joint.bodies)
                )
                turn = Rotation.from_matrix(F1.T @ F2).as_rotvec()
                found |= dict(zip(joint.values, map(float, turn), strict=True))
            else:
                found |= {n: float(self._coordinate(n, still).value[0]) for n in joint.values}
        return found

    def _hold(self, stated: Mapping[str, float]) -> None:
        """Coordinates stay at their stated values, the others where they were laid out."""
        for k, name in enumerate(self.mechanism.coordinates):
            if name in stated:
                self.target[:, k] = stated[name]

    def settle(self) -> None:
        """Newton on everything at once, coordinates at `target`."""
        still = np.zeros((self.count, self.size))
        for _ in range(60):
            gap, slope, _ = self.equations(still)
            n = len(self.mechanism.coordinates)
            gap[:, -n:] -= self.target
            turning = [self._is_angle(name) for name in self.mechanism.coordinates]
            part = gap[:, -n:]
            part[:, turning] = (part[:, turning] + np.pi) % (2 * np.pi) - np.pi
            step = -np.einsum("bki,bi->bk", np.linalg.pinv(slope, rcond=1e-10), gap)
            step = step / np.maximum(np.abs(step).max(axis=1, keepdims=True) / 0.3, 1.0)
            moves = step.reshape(self.count, -1, 2, 3)
            turn = Rotation.from_rotvec(moves[:, :, 0].reshape(-1, 3)).as_matrix()
            self.R[:] = turn.reshape(self.R.shape) @ self.R
            self.p += moves[:, :, 1]
            if np.abs(step).max() < 1e-11:
                return
        raise ArithmeticError("the mechanism does not close")

    def _is_angle(self, name: str) -> bool:
        joint = next(j for j in self.mechanism.joints if name in j.values)
        lengths = {"prismatic": 1, "cylindrical": 1, "planar": 2}.get(joint.type, 0)
        return joint.values.index(name) >= lengths

    def walk(self, q: Array) -> None:
        """Move the coordinates in small straight steps to q (coordinate,)."""
        start = self.target.copy()
        count = int(np.ceil(np.abs(q - start).max() / STRIDE)) or 1
        for k in range(1, count + 1):
            self.target = start + (q - start) * (k / count)
            self.settle()

    # Dynamics.

    def columns(self, dq: Array, ddq: Array) -> Array:
        """W (variant, coordinate, parameter) at the present pose."""
        still = np.zeros((self.count, self.size))
        slope = self.equations(still)[1]
        n = len(dq)
        inverse = np.linalg.pinv(slope, rcond=1e-10)
        twist = inverse[..., -n:] @ dq
        bend = -self.equations(twist)[2]
        bend[:, -n:] += ddq
        rates = np.einsum("bki,bi->bk", inverse, bend)
        load = np.stack(
            [self._load(k, twist, rates) for k in range(len(self.number))], 1
        )  # (variant, body, parameter, 6)
        width = load.shape[2]
        loads = np.zeros((self.count, self.size, len(self.number) * width))
        for k in range(len(self.number)):
            mine = slice(k * width, (k + 1) * width)
            loads[:, 6 * k : 6 * k + 6, mine] = np.swapaxes(load[:, k], 1, 2)
        # Multipliers of joints and drives carry every load; redundant joints share as they like.
        carried = np.linalg.pinv(np.swapaxes(slope, 1, 2), rcond=1e-10) @ loads
        return carried[:, -n:]

    def _load(self, k: int, twist: Array, rates: Array) -> Array:
        """Moment about the origin and force on a body per unit parameter, world axes."""
        R = self.R[:, k]
        w, dw = twist[:, 6 * k : 6 * k + 3], rates[:, 6 * k : 6 * k + 3]
        a = rates[:, 6 * k + 3 : 6 * k + 6] - self.gravity
        zero = np.zeros_like(a)
        found = [np.concatenate([zero, a], 1)]
        for i in range(2 if self.mechanism.planar else 3):
            c = R[:, :, i]
            force = np.cross(dw, c) + np.cross(w, np.cross(w, c))
            found.append(np.concatenate([np.cross(c, a), force], 1))
        planar = [(2, 2)]
        spatial = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
        for i, j in planar if self.mechanism.planar else spatial:
            unit = np.zeros((3, 3))
            unit[i, j] = unit[j, i] = 1.0
            I = R @ unit @ np.swapaxes(R, 1, 2)
            moment = np.einsum("bij,bj->bi", I, dw) + np.cross(w, np.einsum("bij,bj->bi", I, w))
            found.append(np.concatenate([moment, zero], 1))
        return np.stack(found, 1)


def _motion(kind: str, v: list[float]) -> tuple[Array, Array]:
    """Second joint frame seen from the first (the table of docs/mechanism-files.md)."""
    z = np.array([0.0, 0.0, 1.0])
    match kind:
        case "revolute":
            return Rotation.from_euler("z", v[0]).as_matrix(), 0 * z
        case "prismatic":
            return np.eye(3), v[0] * z
        case "cylindrical":
            return Rotation.from_euler("z", v[1]).as_matrix(), v[0] * z
        case "planar":
            return Rotation.from_euler("z", v[2]).as_matrix(), np.array([v[0], v[1], 0.0])
        case "universal":
            zero = np.array([[0.0, 0, 1], [0, -1, 0], [1, 0, 0]])
            about = [Rotation.from_euler("z", angle).as_matrix() for angle in v]
            return about[0] @ zero @ about[1], 0 * z
        case "spherical":
            return Rotation.from_rotvec(v).as_matrix(), 0 * z
    return np.eye(3), 0 * z


def observe(
    mechanism: Mechanism, values: Mapping[str, Array], q: Array, dq: Array, ddq: Array
) -> Array:
    """W (variant, sample, coordinate, parameter) along a motion (coordinate, sample)."""
    bodies = Bodies(mechanism, values)
    samples = []
    for here in zip(q.T, dq.T, ddq.T, strict=True):
        bodies.walk(here[0])
        samples.append(bodies.columns(*here[1:]))
    return np.stack(samples, 1)
