"""How many base parameters a mechanism's exact numbers have: energies of free bodies, 80 digits.

W φ = 0 for every motion if and only if φ has no kinetic energy in any motion that the joints
allow and no potential that changes. Every body has a pose of its own (a quaternion and a point),
joints are scalar products that must vanish, motions are the null space of their derivatives; no
inverse dynamics, no tree, no coordinates, no excitation: poses are found by a random walk along
the branch from the assembled one. What is taken from the program is the reading of the file and
the assembled pose in float64, from which Newton's method starts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpq

from basepar_core.dynamics import kinematics
from basepar_core.dynamics.closure import Model
from basepar_core.expressions.tree import OPERATORS, evaluate
from basepar_core.mechanism import GROUND, Mechanism
from tests.oracles import rods

Array = np.ndarray
#: Two points of each slender body, by number.
Lines = Mapping[int, tuple[Array, Array]]
BITS = 300
#: Loops close to this: 300 bits are 90 digits.
CLOSED = 1e-75
#: Derivatives of equations left over vanish to what closing and solving leave of it.
LEFT_OVER = 1e-68
#: Pivots of the energies' matrix are above one or below the other, or the oracle has no answer.
NONZERO, ZERO = 1e-45, 1e-65
#: Length of a step of the walk (rad or m), and how far a singular value may sink on it.
STEP, SINK = 0.12, 0.2
#: Independent equations: float64's singular values fall to 1e-15 or stay above this share.
DEPENDENT = 1e-7

ARITHMETIC = {
    **OPERATORS,
    "number": lambda exact: arb(fmpq(exact.numerator, exact.denominator)),
    "pi": arb.pi,
    "sqrt": lambda x: (arb(0) + x).sqrt(),
    "sin": lambda x: (arb(0) + x).sin(),
    "cos": lambda x: (arb(0) + x).cos(),
}
_MID = np.frompyfunc(lambda x: x.mid() if isinstance(x, arb) else arb(x), 1, 1)
_FLOAT = np.frompyfunc(float, 1, 1)


class NoAnswerError(Exception):
    """The oracle cannot tell; says why."""


def mid(array: Array) -> Array:
    """Balls without their radii."""
    return np.asarray(_MID(array), dtype=object)


def floats(array: Array) -> Array:
    """As float64."""
    return np.asarray(_FLOAT(array), dtype=float)


def cross(a: Array, b: Array) -> Array:
    """Of three-vectors of any numbers."""
    return np.array(
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    )


def rotation(q: Array) -> Array:
    """Of a unit quaternion (w, x, y, z)."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


@dataclass
class Poses:
    """Quaternions (body, 4) and points (body, 3)."""

    q: Array
    p: Array

    def moved(self, step: Array, root: Callable[[Any], Any]) -> "Poses":
        """After small turns and shifts (body, 6), world axes."""
        q = self.q.copy()
        for k, (w, x, y, z) in enumerate(self.q):
            a, b, c = step[k, :3] / 2
            more = [-a * x - b * y - c * z, a * w + b * z - c * y, b * w + c * x - a * z]
            new = self.q[k] + np.array([*more, c * w + a * y - b * x])
            q[k] = new / root((new * new).sum())
        return Poses(q, self.p + step[:, 3:])


class Joints:
    """The joints' equations and their derivatives, in float64 or many digits."""

    def __init__(self, mechanism: Mechanism, exact: bool, home: Mapping[str, float]):
        self.mechanism = rods.with_balls(mechanism)
        #: Joint values at the assembly; a pose of the walk is less than half a turn away.
        self.home = home
        self.number = {body.name: k for k, body in enumerate(mechanism.bodies)}
        self.exact = exact
        known: dict[str, Any] = {}
        symbols = [*mechanism.constants, *mechanism.geometry]
        for value, symbol in zip(
            evaluate([s.value for s in symbols], {}, ARITHMETIC), symbols, strict=True
        ):
            known[symbol.name] = arb(0) + value

        def vector(expressions: Sequence[Any]) -> Array:
            found = mid(np.array([arb(0) + x for x in evaluate(expressions, known, ARITHMETIC)]))
            return found if exact else floats(found)

        flat = [[*(x for _, x in one.terms), one.offset] for one in mechanism.couplings]
        self.couplings = [vector(one) for one in flat]
        self.root: Callable[[Any], Any] = (lambda x: x.sqrt().mid()) if exact else np.sqrt
        self.gravity = vector(mechanism.gravity)
        self.points = [[vector(side.at) for side in j.frames] for j in mechanism.joints]
        self.axes = [
            [self._axes(vector(side.axis), vector(side.reference)) for side in j.frames]
            for j in mechanism.joints
        ]

    def _axes(self, z: Array, reference: Array) -> Array:
        z = z / self.root((z * z).sum())
        x = reference - (reference * z).sum() * z
        x = x / self.root((x * x).sum())
        found = np.array([x, cross(z, x), z])
        return mid(found) if self.exact else found

    def equations(self, at: Poses) -> tuple[Array, Array]:
        """Values (row,) and derivatives (row, 6·body)."""
        R = [rotation(q) for q in at.q]
        rows, slopes = [], []
        for k in range(len(self.mechanism.joints)):
            for value, slope in self._joint(k, R, at.p):
                rows.append(value)
                slopes.append(slope)
        for coupling, (*factors, offset) in zip(
            self.mechanism.couplings, self.couplings, strict=True
        ):
            seen = [self._value(name, R, at.p) for name, _ in coupling.terms]
            terms = [*zip(factors, seen, strict=True)]
            rows.append(sum((factor * value for factor, (value, _) in terms), -offset))
            slopes.append(sum(factor * slope for factor, (_, slope) in terms))
        gaps, slope = np.array(rows), np.array(slopes)
        return (mid(gaps), mid(slope)) if self.exact else (gaps.astype(float), slope.astype(float))

    def _value(self, name: str, R: list[Array], p: Array) -> tuple[Any, Array]:
        """A joint value of a coupling."""
        for k, joint in enumerate(self.mechanism.joints):
            if name in joint.values:
                return self._joint(k, R, p, joint.values.index(name))[0]
        raise KeyError(name)

    def _joint(
        self, k: int, R: list[Array], p: Array, place: int | None = None
    ) -> list[tuple[Any, Array]]:
        """Its equations, or its value at a place with the derivatives."""
        joint = self.mechanism.joints[k]
        ends, arms, number = [], [], []
        for side, name in enumerate(joint.bodies):
            n = self.number.get(name, -1)
            turned = R[n] if name != GROUND else np.eye(3, dtype=int)
            arms.append(turned @ self.points[k][side])
            ends.append((turned @ self.axes[k][side].T).T)
            number.append(n)
        here = [arm + (p[n] if n >= 0 else 0) for arm, n in zip(arms, number, strict=True)]
        zero = arb(0) if self.exact else 0.0
        blank = np.full(6 * len(self.number), zero, dtype=object if self.exact else float)
        pair = _Pair((ends[0], ends[1]), (arms[0], arms[1]), (number[0], number[1]), here, blank)
        if place is None:
            return pair.equations(joint.type)
        slides = {"prismatic": [Z], "cylindrical": [Z], "planar": [X, Y]}.get(joint.type, [])
        if place < len(slides):
            return [pair.along(slides[place])]
        return [pair.turned(self.home[joint.values[-1]], self.exact)]


X, Y, Z = 0, 1, 2


@dataclass(frozen=True)
class _Pair:
    """The two sides of a joint at a pose: axes, arms, bodies (-1: ground), points."""

    ends: tuple[Array, Array]
    arms: tuple[Array, Array]
    number: tuple[int, int]
    here: list[Array]
    blank: Array

    def equations(self, kind: str) -> list[tuple[Any, Array]]:
        angle, along = self.angle, self.along
        match kind:
            case "revolute":
                return [angle(X, Z), angle(Y, Z), along(X), along(Y), along(Z)]
            case "prismatic":
                return [angle(X, Z), angle(Y, Z), angle(X, Y), along(X), along(Y)]
            case "cylindrical":
                return [angle(X, Z), angle(Y, Z), along(X), along(Y)]
            case "universal":
                return [angle(Z, Z), along(X), along(Y), along(Z)]
            case "spherical":
                return [along(X), along(Y), along(Z)]
            case "planar":
                return [angle(X, Z), angle(Y, Z), along(Z)]
            case "free":
                return []
        return [angle(X, Z), angle(Y, Z), angle(X, Y), along(X), along(Y), along(Z)]

    def angle(self, i: int, j: int) -> tuple[Any, Array]:
        """Axis i of the first against axis j of the second."""
        u, w = self.ends[0][i], self.ends[1][j]
        return (u * w).sum(), self._turns(cross(u, w))

    def along(self, i: int) -> tuple[Any, Array]:
        """The way between the points along axis i of the first."""
        u, slope, way = self.ends[0][i], self.blank.copy(), self.here[1] - self.here[0]
        first, second = self.number
        if second >= 0:
            slope[6 * second : 6 * second + 3] += cross(self.arms[1], u)
            slope[6 * second + 3 : 6 * second + 6] += u
        if first >= 0:
            slope[6 * first : 6 * first + 3] -= cross(self.arms[0], u) - cross(u, way)
            slope[6 * first + 3 : 6 * first + 6] -= u
        return (u * way).sum(), slope

    def turned(self, start: float, exact: bool) -> tuple[Any, Array]:
        """Angle about z, less than half a turn from that at home."""
        c, s = (self.ends[0][i] @ self.ends[1][0] for i in (X, Y))
        if exact:
            sine, cosine = (mid(np.array(arb(start).sin_cos()))).tolist()
            value = arb(start) + arb.atan2(s * cosine - c * sine, c * cosine + s * sine)
        else:
            sine, cosine = np.sin(start), np.cos(start)
            value = start + np.arctan2(s * cosine - c * sine, c * cosine + s * sine)
        return value, self._turns(-self.ends[0][Z])

    def _turns(self, rate: Array) -> Array:
        """Derivative by turns of the first body; those of the second count the other way."""
        slope, (first, second) = self.blank.copy(), self.number
        if first >= 0:
            slope[6 * first : 6 * first + 3] += rate
        if second >= 0:
            slope[6 * second : 6 * second + 3] -= rate
        return slope


class Branch:
    """A mechanism on its branch, from the assembled pose."""

    def __init__(self, model: Model, seed: int = 0):
        self.mechanism = model.mechanism
        home = _values(model)
        self.rough, self.fine = (Joints(model.mechanism, exact, home) for exact in (False, True))
        bodies = len(model.mechanism.bodies)
        # In the plane a body turns about z and shifts along x and y.
        each = [2, 3, 4] if model.mechanism.planar else list(range(6))
        self.columns = [6 * k + i for k in range(bodies) for i in each]
        self.rng = np.random.default_rng(seed)
        dims = kinematics.geometry(model.mechanism, {})
        at = kinematics.poses(model.topology, dims, model.assembled.q[:, None])
        Rs = [_flat(at.R[b]).reshape(3, 3) for b in range(bodies)]
        ps = [_flat(at.p[b]) for b in range(bodies)]
        self.start = self._closed(Poses(np.array([_quaternion(R) for R in Rs]), np.array(ps)))
        # Somewhere near, because the assembled pose may be special itself.
        values = self._singular(self.start)
        self.equations = int((values > DEPENDENT * values[0]).sum()) if values.size else 0

    def _singular(self, at: Poses) -> Array:
        slope = self.rough.equations(at)[1][:, self.columns]
        return np.linalg.svd(slope, compute_uv=False) if slope.size else np.zeros(0)

    def _closed(self, at: Poses) -> Poses:
        for _ in range(40):
            gap, slope = self.rough.equations(at)
            step = np.zeros(at.q.shape[0] * 6)
            pinv = np.linalg.pinv(slope[:, self.columns], rcond=1e-9)
            step[self.columns] = -pinv @ gap
            size = float(np.abs(step).max(initial=0.0))
            if size > 0.5:
                break
            at = at.moved(step.reshape(-1, 6), np.sqrt)
            if size < 1e-13:
                return at
        if size < 1e-9:
            return at
        raise NoAnswerError("float64 does not close the loops")

    def poses(self, count: int) -> list[Poses]:
        """Random poses on the branch: a walk that begins anew where it nears a singularity."""
        found: list[Poses] = []
        at, length, fails = self.start, 0, 0
        while len(found) < count:
            slope = self.rough.equations(at)[1][:, self.columns]
            values = self._singular(at)
            modes = (
                np.linalg.svd(slope)[2][self.equations :]
                if slope.size
                else np.eye(len(self.columns))
            )
            if len(modes) == 0:
                raise NoAnswerError("nothing moves")
            way = np.zeros(len(at.q) * 6)
            way[self.columns] = self.rng.standard_normal(len(modes)) @ modes
            way *= STEP * self.rng.uniform(0.4, 1.0) / np.abs(way).max()
            try:
                there = self._closed(at.moved(way.reshape(-1, 6), np.sqrt))
            except NoAnswerError:
                there = None
            if there is not None and self._regular(there, values):
                at, length = there, length + 1
                found.append(at)
            else:
                fails += 1
                if fails > 60 + 10 * count:
                    raise NoAnswerError("the branch cannot be walked")
            if length > 6 or (there is None and length):
                at, length = self.start, 0
        return found

    def _regular(self, at: Poses, before: Array) -> bool:
        values = self._singular(at)
        n = self.equations
        if n == 0:
            return True
        clear = n == len(values) or values[n] < 1e-10 * values[0]
        return bool(clear and values[n - 1] > max(SINK * before[n - 1], 1e-3 * values[0]))

    def polished(self, at: Poses) -> tuple[Poses, Array]:
        """The pose to many digits, and the motions there (motion, 6·body)."""
        slope = self.rough.equations(at)[1][:, self.columns]
        inverse = np.linalg.pinv(slope, rcond=1e-9) if slope.size else slope.T
        exact = Poses(mid(at.q), mid(at.p))
        exact = exact.moved(mid(np.zeros((len(at.q), 6))), self.fine.root)
        for _ in range(12):
            gap, J = self.fine.equations(exact)
            size = max((abs(x) for x in gap), default=arb(0))
            if size < CLOSED:
                break
            # An inverse in floats gains a dozen digits a step.
            scale = size.mid()
            step = np.full(len(at.q) * 6, arb(0), dtype=object)
            step[self.columns] = mid(inverse @ floats(gap / scale)) * scale * -1
            exact = exact.moved(mid(step).reshape(-1, 6), self.fine.root)
            exact = Poses(mid(exact.q), mid(exact.p))
        else:
            raise NoAnswerError(f"the loops stay open by {float(size):.1e}")
        return exact, self._motions(J, slope)

    def _motions(self, J: Array, slope: Array) -> Array:
        from scipy.linalg import qr

        width, n = len(self.columns), self.equations
        J = J[:, self.columns] if J.size else J
        full = np.full((width - n, len(self.fine.number) * 6), arb(0), dtype=object)
        rows = qr(slope.T, pivoting=True, mode="r")[1][:n] if n else []
        bound = qr(slope[rows], pivoting=True, mode="r")[1] if n else np.arange(width)
        held, free = bound[:n], bound[n:]
        for k, column in enumerate(free):
            full[k, self.columns[column]] = arb(1)
        if n:
            A = arb_mat([[J[r, c] for c in held] for r in rows])
            B = arb_mat([[-J[r, c] for c in free] for r in rows])
            X = A.solve(B).mid()
            for k in range(len(free)):
                for i, column in enumerate(held):
                    full[k, self.columns[column]] = X[i, k]
            left = arb_mat(J.tolist()) * arb_mat([[x[c] for x in full] for c in self.columns])
            if max(abs(x) for x in left.entries()) > LEFT_OVER:
                raise NoAnswerError("more equations are independent in many digits than in few")
        return full


def _values(model: Model) -> dict[str, float]:
    """Joint values of the tree at the assembly."""
    found = {}
    for node in model.topology.tree:
        for place, name in enumerate(model.mechanism.joints[node.joint].values):
            found[name] = float(model.assembled.q[node.position + place])
    return found


def _flat(array: Any) -> Array:
    return np.asarray(array, dtype=float).reshape(-1)


def _quaternion(R: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat()[[3, 0, 1, 2]]


def _kinetic(planar: bool, at: Poses, u: Array, w: Array, lines: Lines) -> list[Any]:
    """Twice the kinetic energy of two motions together, per parameter."""
    row: list[Any] = []
    for k, q in enumerate(at.q):
        own = slice(6 * k, 6 * k + 6)
        if k in lines:
            row += rods.kinetic(rotation(q), lines[k], u[own], w[own])
            continue
        back = rotation(q).T
        (a, va), (b, vb) = (
            (back @ one[6 * k : 6 * k + 3], back @ one[6 * k + 3 : 6 * k + 6]) for one in (u, w)
        )
        first = cross(va, b) + cross(vb, a)
        row.append((va * vb).sum())
        if planar:
            row += [first[0], first[1], a[2] * b[2]]
            continue
        row += list(first)
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            row.append(a[i] * b[j] if i == j else a[i] * b[j] + a[j] * b[i])
    return row


def _potential(planar: bool, at: Poses, gravity: Array, lines: Lines) -> list[Any]:
    row: list[Any] = []
    for k, (q, p) in enumerate(zip(at.q, at.p, strict=True)):
        if k in lines:
            row += rods.potential(rotation(q), p, lines[k], gravity)
            continue
        g = rotation(q).T @ gravity
        row += [-(gravity * p).sum(), *(-x for x in g[: 2 if planar else 3])]
        row += [arb(0)] * (1 if planar else 6)
    return row


@dataclass(frozen=True)
class EnergyRank:
    """The rank, with the last pivot that counts and the largest that does not."""

    rank: int
    last: float
    following: float
    poses: int
    freedoms: int


def energy_rank(model: Model, seed: int = 0) -> EnergyRank:
    """Number of base parameters at the file's exact numbers, on its branch, over any motion.

    Raises
    ------
    NoAnswerError
        The branch cannot be walked, or the pivots leave no clear gap.
    """
    before = ctx.prec
    ctx.prec = BITS
    try:
        return _rank(Branch(model, seed))
    finally:
        ctx.prec = before


def _rank(branch: Branch) -> EnergyRank:
    planar = branch.mechanism.planar
    width = len(branch.mechanism.parameter_names)
    freedoms = len(branch.columns) - branch.equations
    lines = rods.ends(branch.mechanism, branch.fine.points, branch.fine.axes)
    rows: list[list[Any]] = []
    base: list[Any] = []
    # A pose adds a dimension or all are reached; each of several freedoms adds more of them.
    count = max(int(np.ceil(0.75 * width / min(freedoms, 3))) + 4, 12)
    found: tuple[int, float, float] | None = None
    seen = 0
    for _ in range(4):
        for at in branch.poses(count if not seen else max(count // 3, 4)):
            exact, motions = branch.polished(at)
            chosen = _mixed(branch.rng, motions)
            for i, u in enumerate(chosen):
                rows += [
                    list(mid(np.array(_kinetic(planar, exact, u, w, lines))))
                    for w in chosen[: i + 1]
                ]
            potential = mid(np.array(_potential(planar, exact, branch.fine.gravity, lines)))
            if len(base) == 0:
                base = list(potential)
            else:
                rows.append([x - y for x, y in zip(potential, base, strict=True)])
            seen += 1
        now = pivots(rows)
        if found is not None and now[0] == found[0]:
            return EnergyRank(*now, seen, freedoms)
        found = now
    raise NoAnswerError("the rank still grows with more poses")


def _mixed(rng: np.random.Generator, motions: Array) -> list[Array]:
    """All motions where they are one or two, else two mixtures."""
    if len(motions) <= 2:
        return list(motions)
    shares = rng.integers(-9, 10, (2, len(motions)))
    return [mid((motions * np.array([[arb(int(c))] for c in row])).sum(axis=0)) for row in shares]


def pivots(rows: list[list[Any]]) -> tuple[int, float, float]:
    """Rank by full pivoting of unit columns; the last pivot and what is left.

    Raises
    ------
    NoAnswerError
        There is no clear gap.
    """
    A = np.array(rows, dtype=object)
    for c in range(A.shape[1]):
        norm = max(abs(x) for x in A[:, c])
        if norm > ZERO:
            A[:, c] = mid(A[:, c] / norm)
    last, rank = 1.0, 0
    while True:
        sizes = np.abs(A)
        if A.size == 0:
            return rank, last, 0.0
        # Logarithms in floats choose the pivot; underflow is zero.
        size = floats(sizes)
        r, c = np.unravel_index(int(np.argmax(size)), size.shape)
        top = float(size[r, c])
        if top < NONZERO:
            if top > ZERO:
                raise NoAnswerError(f"a pivot of {top:.1e} is neither zero nor not")
            return rank, last, top
        last, rank = top, rank + 1
        row = A[r] / A[r, c]
        rest = np.delete(A, r, axis=0)
        A = np.delete(mid(rest - np.outer(rest[:, c], row)), c, axis=1)
