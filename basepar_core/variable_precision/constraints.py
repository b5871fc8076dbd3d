"""What joints and drives demand of the bodies' poses, in three kinds of equation.

Two points coincide, two directions are perpendicular, or a point keeps its distance from a
plane. Each gives its gap, its row (the gap's derivatives by the bodies' twists) and its bias: the
second derivative at zero accelerations. Joint types are put together from these, and so are
prescribed joint values.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import arb

from basepar_core.mechanism import joint_type
from basepar_core.symbolic import add, cross, dot, minus, product, scale, times, transpose

from .arithmetic import ORIGIN, UNITS, ZERO, Matrix, Vec, exact
from .exact_geometry import JointFrames
from .rotations import rates, rotation

#: Coefficients of one equation by (ω, v of the origin) of its bodies.
Row = list[tuple[int, Vec, Vec]]


@dataclass
class Poses:
    """Orientations (rows) and origins of the bodies in the world; −1 is the ground."""

    R: list[Matrix]
    p: list[Vec]
    #: Directions in the world by body and identity of the vector, which is kept beside.
    known: dict[tuple[int, int], tuple[Vec, Vec]] = field(default_factory=dict, repr=False)

    def turned(self, body: int, v: Vec) -> Vec:
        """A body's direction in the world; three equations of a point ask for the same."""
        if body < 0:
            return v
        found = self.known.get((body, id(v)))
        if found is None:
            found = self.known[body, id(v)] = v, times(self.R[body], v)
        return found[1]

    def origin(self, body: int) -> Vec:
        return ORIGIN if body < 0 else self.p[body]


@dataclass
class Twists:
    """Angular velocities and velocities of the origins, world."""

    omega: list[Vec]
    v: list[Vec]

    def spin(self, body: int) -> Vec:
        return ORIGIN if body < 0 else self.omega[body]

    def slide(self, body: int) -> Vec:
        return ORIGIN if body < 0 else self.v[body]


def _across(r: Vec, axis: int) -> Vec:
    """r × e of an axis of the world."""
    found = [ZERO, ZERO, ZERO]
    after, before = (axis + 1) % 3, (axis + 2) % 3
    found[after], found[before] = r[before], -r[after]
    return found[0], found[1], found[2]


def _minus(a: Vec) -> Vec:
    return -a[0], -a[1], -a[2]


def _centripetal(omega: Vec, reach: Vec) -> Vec:
    return cross(omega, cross(omega, reach))


@dataclass(frozen=True, slots=True)
class Coincide:
    """Points a of the first and b of the second body coincide along one world axis."""

    first: int
    second: int
    a: Vec
    b: Vec
    axis: int

    def gap(self, at: Poses) -> arb:
        r1, r2 = at.turned(self.first, self.a), at.turned(self.second, self.b)
        k = self.axis
        return at.origin(self.first)[k] + r1[k] - at.origin(self.second)[k] - r2[k]

    def row(self, at: Poses) -> Row:
        r1, r2 = at.turned(self.first, self.a), at.turned(self.second, self.b)
        k, e = self.axis, UNITS[self.axis]
        return [(self.first, _across(r1, k), e), (self.second, _minus(_across(r2, k)), _minus(e))]

    def bias(self, at: Poses, moving: Twists) -> arb:
        one = _centripetal(moving.spin(self.first), at.turned(self.first, self.a))
        two = _centripetal(moving.spin(self.second), at.turned(self.second, self.b))
        return one[self.axis] - two[self.axis]


@dataclass(frozen=True, slots=True)
class Perpendicular:
    """Direction u of the first and w of the second body are perpendicular."""

    first: int
    second: int
    u: Vec
    w: Vec

    def gap(self, at: Poses) -> arb:
        return dot(at.turned(self.first, self.u), at.turned(self.second, self.w))

    def row(self, at: Poses) -> Row:
        n = cross(at.turned(self.first, self.u), at.turned(self.second, self.w))
        return [(self.first, n, ORIGIN), (self.second, _minus(n), ORIGIN)]

    def bias(self, at: Poses, moving: Twists) -> arb:
        u, w = at.turned(self.first, self.u), at.turned(self.second, self.w)
        w1, w2 = moving.spin(self.first), moving.spin(self.second)
        turning = add(cross(cross(w1, u), w), cross(u, cross(w2, w)))
        return dot(minus(w1, w2), turning)


@dataclass(frozen=True, slots=True)
class Distance:
    """Point b of the second body lies `target` (m) along u beyond point a of the first."""

    first: int
    second: int
    a: Vec
    b: Vec
    u: Vec
    target: arb = ZERO

    def _reach(self, at: Poses) -> tuple[Vec, Vec, Vec, Vec]:
        """u, the arms of both points, and the way from one to the other."""
        r1, r2 = at.turned(self.first, self.a), at.turned(self.second, self.b)
        between = minus(add(at.origin(self.second), r2), add(at.origin(self.first), r1))
        return at.turned(self.first, self.u), r1, r2, between

    def gap(self, at: Poses) -> arb:
        u, _, _, between = self._reach(at)
        return dot(u, between) - self.target

    def row(self, at: Poses) -> Row:
        u, r1, r2, between = self._reach(at)
        return [
            (self.first, cross(u, add(between, r1)), _minus(u)),
            (self.second, cross(r2, u), u),
        ]

    def bias(self, at: Poses, moving: Twists) -> arb:
        u, r1, r2, between = self._reach(at)
        w1, w2 = moving.spin(self.first), moving.spin(self.second)
        v1 = add(moving.slide(self.first), cross(w1, r1))
        v2 = add(moving.slide(self.second), cross(w2, r2))
        pull = minus(_centripetal(w2, r2), _centripetal(w1, r1))
        twist = 2 * dot(cross(w1, u), minus(v2, v1)) + dot(_centripetal(w1, u), between)
        return dot(u, pull) + twist


@dataclass(frozen=True, slots=True)
class CoupledValue:
    """A joint value in a coupling, with its coefficient.

    `near` is the value in float64 at the sample that is looked at: a pose tells an angle up to
    whole turns only.
    """

    name: str
    joint: JointFrames
    place: int
    factor: arb
    near: float = 0.0

    def value(self, at: Poses) -> arb:
        if slide := self._slide():
            return slide.gap(at)
        joint = self.joint
        x1, y1, _ = (at.turned(joint.first, axis) for axis in joint.axes[0])
        x2 = at.turned(joint.second, joint.axes[1][0])
        start = exact(self.near)
        sine, cosine = start.sin_cos()
        seen = dot(x2, x1), dot(x2, y1)
        turn = arb.atan2(seen[1] * cosine - seen[0] * sine, seen[0] * cosine + seen[1] * sine)
        return start + turn

    def row(self, at: Poses) -> Row:
        """The value's derivatives."""
        if slide := self._slide():
            return slide.row(at)
        n = at.turned(self.joint.first, self.joint.axes[0][2])
        return [(self.joint.first, _minus(n), ORIGIN), (self.joint.second, n, ORIGIN)]

    def bias(self, at: Poses, moving: Twists) -> arb:
        """Its second derivative at zero accelerations."""
        if slide := self._slide():
            return slide.bias(at, moving)
        n = at.turned(self.joint.first, self.joint.axes[0][2])
        w1, w2 = moving.spin(self.joint.first), moving.spin(self.joint.second)
        return dot(cross(w1, n), w2)

    def _slide(self) -> Distance | None:
        joint, shape = self.joint, joint_type(self.joint.kind)
        if self.place not in shape.lengths:
            return None
        axis = joint.axes[0][shape.directions[self.place]]
        return Distance(joint.first, joint.second, *joint.at, axis)


@dataclass(frozen=True, slots=True)
class Coupled:
    """Joint values keep a linear relation."""

    values: tuple[CoupledValue, ...]
    offset: arb

    def gap(self, at: Poses) -> arb:
        return sum((value.factor * value.value(at) for value in self.values), -self.offset)

    def row(self, at: Poses) -> Row:
        twists: dict[int, tuple[Vec, Vec]] = {}
        for value in self.values:
            for body, omega, v in value.row(at):
                w0, v0 = twists.get(body, (ORIGIN, ORIGIN))
                w, shift = scale(value.factor, omega), scale(value.factor, v)
                twists[body] = add(w0, w), add(v0, shift)
        return [(body, *twist) for body, twist in twists.items()]

    def bias(self, at: Poses, moving: Twists) -> arb:
        parts = (value.factor * value.bias(at, moving) for value in self.values)
        return sum(parts, ZERO)


Equation = Coincide | Perpendicular | Distance | Coupled


def joint_equations(joint: JointFrames, planar: bool) -> list[Equation]:
    """What a closed joint demands."""
    shape = joint_type(joint.kind)
    (a, b), (one, two), ends = joint.at, joint.axes, (joint.first, joint.second)
    found: list[Equation] = []
    if not shape.slides:
        found += [Coincide(*ends, a, b, axis) for axis in range(2 if planar else 3)]
    else:
        along, _ = shape.locks(planar)
        found += [Distance(*ends, a, b, one["xyz".index(name)]) for name in along]
    found += [
        Perpendicular(*ends, one["xyz".index(pair[0])], two["xyz".index(pair[1])])
        for pair in shape.locked_pairs(planar)
    ]
    return found


@dataclass(frozen=True, slots=True)
class Drive:
    """A joint whose values are prescribed: `places` of them, all of a spherical or free one.

    Velocities and accelerations are as of `dynamics.Motion`: a free joint's are its twist and the
    twist's rate, both in the axes of the second joint frame.
    """

    joint: JointFrames
    places: tuple[int, ...]

    def equations(self, q: Sequence[arb]) -> list[Equation]:
        """Equations that hold at the joint values q, one each."""
        shape = joint_type(self.joint.kind)
        single = len(shape.slides) if shape.is_ball else len(q)
        found = [self._equation(k, x) for k, x in zip(self.places[:single], q, strict=False)]
        return [*found, *self._spherical(q[single:])] if shape.is_ball else found

    def _equation(self, place: int, value: arb) -> Equation:
        joint = self.joint
        (x1, y1, z1), (x2, y2, z2) = joint.axes
        ends = (joint.first, joint.second)
        shape = joint_type(joint.kind)
        if place in shape.lengths:
            return Distance(*ends, *joint.at, (x1, y1, z1)[shape.directions[place]], value)
        sine, cosine = value.sin_cos()
        if shape.turns == "zz" and place == 1:
            w = add(scale(sine, x2), scale(cosine, y2))
            return Perpendicular(*ends, scale(-1, z1), w)
        u = minus(scale(cosine, y1), scale(sine, x1))
        return Perpendicular(*ends, u, z2 if shape.turns == "zz" else x2)

    def _spherical(self, q: Sequence[arb]) -> list[Equation]:
        turn = rotation((q[0], q[1], q[2]))
        first = transpose(self.joint.axes[0])  # columns x, y, z
        x, y, _ = transpose(product(first, turn))
        ends, (_, y2, z2) = (self.joint.first, self.joint.second), self.joint.axes[1]
        return [Perpendicular(*ends, u, w) for u, w in ((x, y2), (x, z2), (y, z2))]

    def modes(self, at: Poses, q: Sequence[arb]) -> list[list[arb]]:
        """Right sides (equation, value) of the rows at unit rates of the values."""
        n = len(self.places)
        if not joint_type(self.joint.kind).is_ball:
            return [[arb(int(i == j)) for j in range(n)] for i in range(n)]
        if joint_type(self.joint.kind).is_free:
            R = rotation((q[3], q[4], q[5]))
            turned = [self._turning(at, column) for column in transpose(R)]
            normals = self._normals(at, q[3:])
            spins = [[ZERO] * 3 + [-dot(m, column) for column in turned] for m in normals]
            return [*([*row, *[ZERO] * 3] for row in R), *spins]
        r: Vec = (q[0], q[1], q[2])
        columns = [self._turning(at, rates(r, e, ORIGIN)[1]) for e in UNITS]
        normals = self._normals(at, q)
        return [[-dot(m, column) for column in columns] for m in normals]

    def second(
        self,
        at: Poses,
        moving: Twists,
        q: Sequence[arb],
        q_dot: Sequence[arb],
        q_ddot: Sequence[arb],
    ) -> list[arb]:
        """Right sides of the rows for accelerations."""
        w1, w2 = moving.spin(self.joint.first), moving.spin(self.joint.second)
        if joint_type(self.joint.kind).is_free:
            return self._free_seconds(at, moving, q, q_dot, q_ddot)
        if joint_type(self.joint.kind).is_ball:
            r, r_dot, r_ddot = ((v[0], v[1], v[2]) for v in (q, q_dot, q_ddot))
            _, omega, change = rates(r, r_dot, r_ddot)
            total = add(self._turning(at, change), cross(w1, self._turning(at, omega)))
            return [-dot(n, total) for n in self._normals(at, q)]
        found = []
        for place, value, wanted in zip(self.places, q, q_ddot, strict=True):
            equation = self._equation(place, value)
            if isinstance(equation, Distance):
                found.append(wanted - equation.bias(at, moving))
                continue
            # (ω₂ − ω₁)·z is the rate; z stands in the first body, or in a universal's second.
            own = joint_type(self.joint.kind).turns == "zz" and place == 1
            body, z = (
                (self.joint.second, self.joint.axes[1][2])
                if own
                else (self.joint.first, self.joint.axes[0][2])
            )
            swing = cross(moving.spin(body), at.turned(body, z))
            found.append(wanted - dot(minus(w2, w1), swing))
        return found

    def _free_seconds(
        self,
        at: Poses,
        moving: Twists,
        q: Sequence[arb],
        twist: Sequence[arb],
        change: Sequence[arb],
    ) -> list[arb]:
        """`second` of a free joint: ẍ = R (v̇ + ω × v), and the rate of ω is Rω̇ in F1's axes."""
        (v, omega), (v_dot, omega_dot) = (
            ((x[0], x[1], x[2]), (x[3], x[4], x[5])) for x in (twist, change)
        )
        R = rotation((q[3], q[4], q[5]))
        wanted = times(R, add(v_dot, cross(omega, v)))
        slides = (self._equation(k, x) for k, x in zip(self.places[:3], q, strict=False))
        found = [x - e.bias(at, moving) for x, e in zip(wanted, slides, strict=True)]
        spin = self._turning(at, times(R, omega))
        turn = self._turning(at, times(R, omega_dot))
        total = add(turn, cross(moving.spin(self.joint.first), spin))
        return found + [-dot(n, total) for n in self._normals(at, q[3:])]

    def _turning(self, at: Poses, v: Vec) -> Vec:
        """A vector of the first joint frame in the world."""
        return at.turned(self.joint.first, times(transpose(self.joint.axes[0]), v))

    def _normals(self, at: Poses, q: Sequence[arb]) -> list[Vec]:
        found = []
        for equation in self._spherical(q):
            assert isinstance(equation, Perpendicular)
            u = at.turned(equation.first, equation.u)
            found.append(cross(u, at.turned(equation.second, equation.w)))
        return found
