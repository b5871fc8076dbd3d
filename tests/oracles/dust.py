"""A rigid body is a cloud of dust: inverse dynamics from positions alone, in forty digits.

d'Alembert's principle for particles needs only where each particle is: Σ m (r̈ − g)·∂r/∂q, by
central differences. No inertia tensor, no recursion, no velocities of frames. Loops are closed
by plain Newton's method on the loop equations, at every displaced coordinate anew. Joints mean
what docs/mechanism-files.md says, written out here once more.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

from basepar_core.expressions.tree import OPERATORS, evaluate
from basepar_core.mechanism import GROUND, Frame, Mechanism

DIGITS = 40
#: Central differences with this step err by its square; 40 digits lose as much to rounding.
STEP = mpf(10) ** -10
#: Longest way of a coordinate between two closures of the loops, rad or m.
STRIDE = 0.05

ARITHMETIC = {
    **OPERATORS,
    "number": lambda exact: mpf(exact.numerator) / exact.denominator,
    "pi": lambda: +mp.pi,
    "sqrt": mp.sqrt,
    "sin": mp.sin,
    "cos": mp.cos,
}
Vector = list
Rows = list
Pose = tuple[Rows, Vector]
Values = dict[str, Any]


def random_cloud(mechanism: Mechanism, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Unit masses: as many points per body, (point, 3), as it has inertial parameters."""
    count, flat = (4, [1, 1, 0]) if mechanism.planar else (10, [1, 1, 1])
    return {body.name: rng.uniform(-1, 1, (count, 3)) * flat for body in mechanism.bodies}


def parameters(planar: bool, points: np.ndarray) -> np.ndarray:
    """Inertial parameters (point, parameter) of unit masses at points (point, 3)."""
    x, y, z = points.T
    one = np.ones_like(x)
    if planar:
        return np.stack([one, x, y, x**2 + y**2], axis=1)
    second = [y**2 + z**2, -x * y, -x * z, x**2 + z**2, -y * z, x**2 + y**2]
    return np.stack([one, x, y, z, *second], axis=1)


def multiply(A: Rows, B: Rows) -> Rows:
    """A B."""
    return [[sum(a * B[k][c] for k, a in enumerate(row)) for c in range(3)] for row in A]


def transpose(A: Rows) -> Rows:
    """Aᵀ."""
    return [list(column) for column in zip(*A, strict=True)]


def apply(A: Rows, v: Vector) -> Vector:
    """A v."""
    return [sum(a * x for a, x in zip(row, v, strict=True)) for row in A]


def after(one: Pose, two: Pose) -> Pose:
    """The pose `two`, given relative to `one`, in the frame that `one` is given in."""
    turned = apply(one[0], two[1])
    return multiply(one[0], two[0]), [p + t for p, t in zip(one[1], turned, strict=True)]


def inverse(pose: Pose) -> Pose:
    """The same relation seen from the other side."""
    back = transpose(pose[0])
    return back, [-x for x in apply(back, pose[1])]


def turn(axis: Sequence[Any], angle: Any) -> Rows:
    """Rodrigues' rotation about a unit vector."""
    c, s = mp.cos(angle), mp.sin(angle)
    x, y, z = axis
    K = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
    KK = multiply(K, K)
    return [[(i == j) + s * K[i][j] + (1 - c) * KK[i][j] for j in range(3)] for i in range(3)]


def joint_motion(kind: str, v: Sequence[Any]) -> Pose:
    """Second joint frame seen from the first at joint values v (docs/mechanism-files.md)."""
    still = [mpf(0)] * 3
    z = (0, 0, 1)
    match kind:
        case "revolute":
            return turn(z, v[0]), still
        case "prismatic":
            return turn(z, mpf(0)), [mpf(0), mpf(0), v[0]]
        case "cylindrical":
            return turn(z, v[1]), [mpf(0), mpf(0), v[0]]
        case "planar":
            return turn(z, v[2]), [v[0], v[1], mpf(0)]
        case "pin_slot":
            return turn(z, v[1]), [v[0], mpf(0), mpf(0)]
        case "universal":
            # At zero the second axis (z of F2) is F1's x and F2's x is the first axis (F1's z).
            columns = [(0, 0, 1), (0, -1, 0), (1, 0, 0)]
            zero = transpose([[mpf(k) for k in column] for column in columns])
            about_second = turn((1, 0, 0), v[1])  # where the second axis is at zero
            return multiply(turn(z, v[0]), multiply(about_second, zero)), still
        case "spherical":
            angle = mp.sqrt(v[0] ** 2 + v[1] ** 2 + v[2] ** 2)
            return (turn([x / angle for x in v], angle) if angle else turn(z, mpf(0))), still
        case "free":
            return joint_motion("spherical", v[3:])[0], list(v[:3])
    return turn(z, mpf(0)), still


class Dust:
    """A mechanism's positions, and the forces that dust on it needs.

    Parameters
    ----------
    mechanism
        Any, as long as the loops are not overconstrained.
    values
        Symbols, SI; others are nominal.
    start
        A good guess of every joint value at the nominal assembly; none: all zero.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        values: Mapping[str, float],
        start: Mapping[str, float] | None = None,
    ):
        self.mechanism = mechanism
        with mp.workdps(DIGITS):
            exact = {s.name: s.value for s in mechanism.geometry + mechanism.constants}
            nominal = evaluate(exact.values(), {}, ARITHMETIC)
            self.known = dict(zip(exact, nominal, strict=True))
            given = {name: mpf(float(value)) for name, value in values.items()}
            self.nominal, self.known = self.known, {**self.known, **given}
            self.gravity = evaluate(mechanism.gravity, self.known, ARITHMETIC)
            self._measure(self.known)
        names = [name for joint in mechanism.joints for name in joint.values]
        self.start: Values = {name: mpf(float((start or {}).get(name, 0))) for name in names}
        self.free = [name for name in names if name not in mechanism.coordinates]
        self._grow()

    def _measure(self, known: Mapping[str, Any]) -> None:
        self.frames = [
            tuple(self._frame(side, known) for side in joint.frames)
            for joint in self.mechanism.joints
        ]

    def _frame(self, frame: Frame, known: Mapping[str, Any]) -> Pose:
        at, axis, reference = (
            evaluate(vector, known, ARITHMETIC)
            for vector in (frame.at, frame.axis, frame.reference)
        )
        z = _unit(axis)
        along = sum(a * b for a, b in zip(reference, z, strict=True))
        x = _unit([r - along * k for r, k in zip(reference, z, strict=True)])
        y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]]
        return transpose([x, y, z]), list(at)

    def _grow(self) -> None:
        """Bodies in the order in which joints reach them; what is left over closes loops."""
        self.tree: list[tuple[int, bool]] = []
        reached, waiting = {GROUND}, list(range(len(self.mechanism.joints)))
        while len(reached) <= len(self.mechanism.bodies):
            for k in waiting:
                first, second = self.mechanism.joints[k].bodies
                if (first in reached) != (second in reached):
                    self.tree.append((k, first in reached))
                    reached |= {first, second}
                    waiting.remove(k)
                    break
        self.cut = waiting

    def _relative(self, k: int, values: Values) -> Pose:
        """The second body seen from the first."""
        joint = self.mechanism.joints[k]
        F1, F2 = self.frames[k]
        motion = joint_motion(joint.type, [values[name] for name in joint.values])
        return after(after(F1, motion), inverse(F2))

    def poses(self, values: Values) -> dict[str, Pose]:
        """World poses of the bodies at joint values."""
        at = {GROUND: (turn((0, 0, 1), mpf(0)), [mpf(0)] * 3)}
        for k, forward in self.tree:
            first, second = self.mechanism.joints[k].bodies
            relative = self._relative(k, values)
            if forward:
                at[second] = after(at[first], relative)
            else:
                at[first] = after(at[second], inverse(relative))
        return at

    def gaps(self, values: Values) -> list[Any]:
        """What keeps the loops open: three lengths and three sines each, in the plane 2 and 1."""
        at = self.poses(values)
        rows: list[Any] = []
        for k in self.cut:
            first, second = self.mechanism.joints[k].bodies
            R, p = after(inverse(at[second]), after(at[first], self._relative(k, values)))
            spins = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]
            rows += [*p[:2], spins[2]] if self.mechanism.planar else [*p, *spins]
        return rows

    def slopes(self, values: Values) -> Any:
        """Inverse of the gaps' derivatives by the free joint values."""
        step = mpf(10) ** (-mp.dps // 2)
        here = self.gaps(values)
        columns = []
        for name in self.free:
            there = self.gaps({**values, name: values[name] + step})
            columns.append([(b - a) / step for a, b in zip(here, there, strict=True)])
        return mpmath.inverse(mpmath.matrix(columns).T)

    def close(self, values: Values, slopes: Any = None) -> Values:
        """Newton from given values; with `slopes` from nearby it need not compute them."""
        if not self.cut:
            return values
        for _ in range(60):
            fixed = self.slopes(values) if slopes is None else slopes
            step = -fixed * mpmath.matrix(self.gaps(values))
            moved = {name: values[name] + s for name, s in zip(self.free, step, strict=True)}
            values = {**values, **moved}
            if max(abs(s) for s in step) < mpf(10) ** (5 - mp.dps):
                return values
        raise ArithmeticError("the loops do not close")

    def walk(self, q: Sequence[float] | np.ndarray) -> Values:
        """Joint values at coordinates q, reached in small steps from the nominal assembly."""
        names = self.mechanism.coordinates
        with mp.workdps(15):
            values = self.start
            for k in range(9):
                share = mpf(k) / 8
                known = {n: v + share * (self.known[n] - v) for n, v in self.nominal.items()}
                self._measure(known)
                values = self.close(values)
            begin = [values[name] for name in names]
            way = [mpf(float(x)) - b for x, b in zip(q, begin, strict=True)]
            count = int(np.ceil(max(abs(float(w)) for w in way) / STRIDE)) or 1
            for k in range(1, count + 1):
                here = [b + w * k / count for b, w in zip(begin, way, strict=True)]
                values = self.close({**values, **dict(zip(names, here, strict=True))})
        with mp.workdps(DIGITS):
            self._measure(self.known)
            values = {**values, **{n: mpf(float(x)) for n, x in zip(names, q, strict=True)}}
            return self.close(values)

    def positions(self, values: Values, cloud: Mapping[str, np.ndarray]) -> list[Vector]:
        """World positions of all dust, body by body."""
        at = self.poses(values)
        return [
            [x + p for x, p in zip(apply(R, list(map(mpf, point))), shift, strict=True)]
            for body, points in cloud.items()
            for R, shift in [at[body]]
            for point in points.tolist()
        ]

    def forces(
        self, cloud: Mapping[str, np.ndarray], q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
    ) -> np.ndarray:
        """Coordinate forces (coordinate, grain) per unit mass of each grain."""
        return np.array(self.exact_forces(cloud, q, dq, ddq), float)

    def exact_forces(
        self, cloud: Mapping[str, np.ndarray], q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
    ) -> list[list[Any]]:
        """The same in forty digits, twenty of which are right."""
        values = self.walk(q)
        with mp.workdps(DIGITS):
            slopes = self.slopes(values) if self.cut else None
            names = self.mechanism.coordinates

            def at(shift: Sequence[Any]) -> list[Vector]:
                moved = {n: values[n] + s for n, s in zip(names, shift, strict=True)}
                return self.positions(self.close({**values, **moved}, slopes), cloud)

            h = STEP
            rates = [mpf(float(x)) for x in dq]
            bends = [mpf(float(x)) * h * h / 2 for x in ddq]
            now = at([mpf(0)] * len(names))
            before = at([b - h * r for r, b in zip(rates, bends, strict=True)])
            later = at([b + h * r for r, b in zip(rates, bends, strict=True)])
            pull = [
                [(x - 2 * y + z) / h**2 - g for x, y, z, g in zip(*three, strict=True)]
                for three in zip(before, now, later, [self.gravity] * len(now), strict=True)
            ]
            rows = []
            for k in range(len(names)):
                unit = [h * (i == k) for i in range(len(names))]
                ahead, behind = at(unit), at([-u for u in unit])
                work = [
                    sum((x - y) * f for x, y, f in zip(*three, strict=True)) / (2 * h)
                    for three in zip(ahead, behind, pull, strict=True)
                ]
                rows.append(work)
            return rows

    def power(
        self, cloud: Mapping[str, np.ndarray], q: np.ndarray, dq: np.ndarray, ddq: np.ndarray
    ) -> np.ndarray:
        """Growth (grain,) of kinetic and potential energy per unit mass of each grain."""
        values = self.walk(q)
        with mp.workdps(DIGITS):
            names, h = self.mechanism.coordinates, mpf(10) ** -4
            slopes = self.slopes(values) if self.cut else None
            rates, bends = ([mpf(float(x)) for x in row] for row in (dq, ddq))

            def at(t: Any) -> list[Vector]:
                way = zip(names, rates, bends, strict=True)
                moved = {n: values[n] + t * r + t * t / 2 * b for n, r, b in way}
                return self.positions(self.close({**values, **moved}, slopes), cloud)

            def energy(t: Any) -> list[Any]:
                three = zip(at(t - STEP), at(t), at(t + STEP), strict=True)
                return [
                    sum(
                        ((z - x) / (2 * STEP)) ** 2 / 2 - g * y
                        for x, y, z, g in zip(*grain, self.gravity, strict=True)
                    )
                    for grain in three
                ]

            four = zip(*(energy(k * h) for k in (-2, -1, 1, 2)), strict=True)
            return np.array([float((a - 8 * b + 8 * c - d) / (12 * h)) for a, b, c, d in four])


def _unit(vector: Sequence[Any]) -> Vector:
    length = mp.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


def work(mechanism: Mechanism, cloud: Mapping[str, np.ndarray], W: np.ndarray) -> np.ndarray:
    """What W (coordinate, parameter) says of the same dust: (coordinate, grain)."""
    width = 4 if mechanism.planar else 10
    return np.concatenate(
        [
            W[:, k * width : (k + 1) * width] @ parameters(mechanism.planar, points).T
            for k, points in enumerate(cloud.values())
        ],
        axis=1,
    )
