"""Null vectors that follow from one joint, decided exactly for every geometry.

A vector is null when the kinetic energy that it adds vanishes identically and its potential is
constant. Between two bodies it is enough that no relative twist of the joint carries momentum
with the second part, that this part looks the same after any such motion, and that, seen from
the first body, it is the first part's negative. On a body that a joint ties to the ground the
energies themselves are looked at. Nothing of the maker's table of rules is used; that a vector
is the very one that its reason names is checked on top, so that no entry can be another one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .exact import Field, Ratio
from .forms import Forms
from .joints import KINDS
from .natural import PARAMETERS, Joint, Mechanism, cross, dot, less, plus, sized

#: Mass, first moment (3), inertia matrix (xx, xy, xz, yy, yz, zz) of a body.
Ten = list[Any]
Twist = tuple[Sequence[Any], Sequence[Any]]
_PLACES = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


class JointRules:
    """Joint rules of one mechanism."""

    def __init__(self, mechanism: Mechanism, field: Field):
        self.mechanism, self.field = mechanism, field
        self.joints = {joint.name: joint for joint in mechanism.frames(field.numbers)}
        self.forms = Forms(mechanism, list(self.joints.values()))
        self.gravity = [field.numbers.of(text) for text in mechanism.gravity]
        zero, one = field.numbers.of("0"), field.numbers.of("1")
        self.zero = [zero, zero, zero]
        self.units = [[one, zero, zero], [zero, one, zero], [zero, zero, one]]

    def fault(self, name: str, entries: Mapping[str, str], reason: str) -> str:
        """What is wrong with a vector claimed to follow from a joint; empty if nothing."""
        joint = self.joints[name]
        first, second = joint.bodies
        if min(first, second) < 0:
            side = 0 if second < 0 else 1
            parts = self._parts(entries, (joint.bodies[side],))
            if parts is None:
                return "it has entries of other bodies"
            wrong = self.forms.fault({joint.bodies[side]: parts[0]})
            wrong = wrong or self._on_ground(joint, side, parts[0])
        else:
            side, parts = 0, self._parts(entries, joint.bodies)
            if parts is None:
                return "it has entries of other bodies"
            wrong = self.forms.fault(dict(zip(joint.bodies, parts, strict=True)))
            wrong = wrong or self._between(joint, parts[0], parts[1])
        where = self._where(joint)
        names = [f"{what} {where}" for what in self._kinds(joint, side, parts[0])]
        if wrong or reason in names:
            return wrong
        is_ = f"it is “{names[0]}”" if names else "its entries are of no kind that a joint moves"
        return f"{is_}, not what its reason says"

    def _parts(self, entries: Mapping[str, str], bodies: Sequence[int]) -> list[Ten] | None:
        planar = self.mechanism.planar
        kept = (0, 1, 2, 9) if planar else range(10)
        found = []
        left = dict(entries)
        for body in bodies:
            ten: Ten = [self.field.numbers.of("0") for _ in range(10)]
            for place, kind in zip(kept, PARAMETERS[planar], strict=True):
                text = left.pop(f"{self.mechanism.bodies[body]}.{kind}", None)
                if text is not None:
                    ten[place] = self.field.numbers.of(text)
            found.append(ten)
        return None if left else found

    # Energies.

    def bilinear(self, ten: Ten, one: Twist, two: Twist) -> Ratio:
        """Kinetic energy of two twists (ω, velocity of the origin), body axes."""
        (w1, v1), (w2, v2) = one, two
        first = plus(cross(v1, w2), cross(v2, w1))
        total = ten[0] * dot(v1, v2) + dot(ten[1:4], first)
        for (i, j), x in zip(_PLACES, ten[4:], strict=True):
            total = total + x * (w1[i] * w2[j] if i == j else w1[i] * w2[j] + w1[j] * w2[i])
        return total

    def _all_twists(self) -> list[Twist]:
        if self.mechanism.planar:
            return [(self.units[2], self.zero), *((self.zero, e) for e in self.units[:2])]
        return [(e, self.zero) for e in self.units] + [(self.zero, e) for e in self.units]

    def twists(self, joint: Joint, side: int) -> list[Twist]:
        """What the joint allows at all its values together, in one body's axes."""
        a, axes = joint.at[side], joint.axes[side]
        planar = self.mechanism.planar

        def about(u: Sequence[Any]) -> Twist:
            return u, cross(a, u)

        def along(u: Sequence[Any]) -> Twist:
            return self.zero, u

        kind = KINDS[joint.kind]
        if kind.free > 1:
            return [*map(about, self.units), *(along(axes[name]) for name in kind.allowed)]
        turns = [about(self.units[2] if planar else axes["z"])] * kind.free
        return [*turns, *(along(axes[name]) for name in kind.allowed)]

    def _rotation(self, joint: Joint, side: int) -> list[list[Any]]:
        """Rows of a rotation, from one body to the other, that a closed joint may have."""
        one, two = joint.axes[1 - side], joint.axes[side]
        if KINDS[joint.kind].free > 1 or self._only_in_plane(joint):
            return self.units
        if KINDS[joint.kind].free == 0:
            return self._frame_to_frame(one, two)
        if _equal(one["z"], two["z"]):
            return self.units
        middle = plus(one["z"], two["z"])
        if all(x.is_zero() for x in middle):
            middle = next(
                v
                for v in (cross(one["z"], e) for e in self.units)
                if not all(x.is_zero() for x in v)
            )
        # Half a turn about the bisector takes one axis to the other, both being equally long.
        return self._half_turn(middle)

    def _only_in_plane(self, joint: Joint) -> bool:
        return self.mechanism.planar and KINDS[joint.kind].free == 1

    def _half_turn(self, v: Sequence[Any]) -> list[list[Any]]:
        square = dot(v, v)
        return [
            [2 * v[i] * v[j] / square - (1 if i == j else 0) for j in range(3)] for i in range(3)
        ]

    def _frame_to_frame(
        self, one: Mapping[str, Sequence[Any]], two: Mapping[str, Sequence[Any]]
    ) -> list[list[Any]]:
        return [
            [
                sum(
                    (one[k][i] * two[k][j] / dot(one[k], one[k]) for k in "xyz"),
                    self.field.numbers.of("0"),
                )
                for j in range(3)
            ]
            for i in range(3)
        ]

    def _is_rotation(self, R: Sequence[Sequence[Any]]) -> bool:
        return all(
            (dot(R[i], R[j]) - (1 if i == j else 0)).is_zero() for i in range(3) for j in range(3)
        )

    # The two kinds of vector.

    def _between(self, joint: Joint, one: Ten, two: Ten) -> str:
        every, twists = self._all_twists(), self.twists(joint, 1)
        R = self._rotation(joint, 1)
        if not self._is_rotation(R) or not self._axes_fit(joint):
            return "the joint's axes are not equally long in both bodies"
        for S in twists:
            if not all(self.bilinear(two, S, x).is_zero() for x in every):
                return "a motion of the joint carries momentum with it"
            for i, x in enumerate(every):
                for y in every[i:]:
                    turned = self.bilinear(two, _bracket(S, x), y) + self.bilinear(
                        two, x, _bracket(S, y)
                    )
                    if not turned.is_zero():
                        return "a motion of the joint changes it"

        def seen(twist: Twist) -> Twist:
            """A twist of the first body, in the second's axes about the second's origin."""
            w, v = twist
            columns = list(zip(*R, strict=True))
            omega = [dot(c, w) for c in columns]
            # The second's origin lies at a − R b in the first.
            arm = less(joint.at[0], [dot(row, joint.at[1]) for row in R])
            moved = plus(v, cross(w, arm))
            return omega, [dot(c, moved) for c in columns]

        there = [seen(x) for x in every]
        for i, x in enumerate(every):
            for j, y in enumerate(every[i:], start=i):
                here = self.bilinear(one, x, y)
                if not (here + self.bilinear(two, there[i], there[j])).is_zero():
                    return "what one body gains is not what the other loses"
        return ""

    def _axes_fit(self, joint: Joint) -> bool:
        if KINDS[joint.kind].free > 1 or self._only_in_plane(joint):
            return True
        one, two = (joint.axes[k]["z"] for k in (0, 1))
        return bool((dot(one, one) - dot(two, two)).is_zero())

    def _on_ground(self, joint: Joint, side: int, ten: Ten) -> str:
        twists = self.twists(joint, side)
        for i, x in enumerate(twists):
            for y in twists[i:]:
                if not self.bilinear(ten, x, y).is_zero():
                    return "the body's kinetic energy depends on it"
        return self.potential_fault(joint, side, ten)

    def potential_fault(self, joint: Joint, side: int, ten: Ten) -> str:
        """Whether gravity does work on a part of a body on the ground; empty if it does none."""
        twists = self.twists(joint, side)
        if all(x.is_zero() for x in self.gravity):
            return ""
        if KINDS[joint.kind].free == 2:
            return self._universal_potential(joint, side, ten)
        R = self._rotation(joint, side)
        if not self._is_rotation(R) or not self._axes_fit(joint):
            return "the joint's axes are not equally long in body and ground"
        down = [dot(column, self.gravity) for column in zip(*R, strict=True)]
        turns = [w for w, _ in twists if not all(x.is_zero() for x in w)]
        for w, v in twists:
            rates = [plus(sized(ten[0], v), cross(w, ten[1:4]))]
            for _ in range(2):  # turned by all that the joint allows, to any angle
                rates += [cross(turn, rate) for turn in turns for rate in rates]
            if not all(dot(down, rate).is_zero() for rate in rates):
                return "the potential depends on it"
        return ""

    def _universal_potential(self, joint: Joint, side: int, ten: Ten) -> str:
        off = less(ten[1:4], sized(ten[0], joint.at[side]))
        if all(x.is_zero() for x in off):
            return ""
        own, ground = joint.axes[side]["z"], joint.axes[1 - side]["z"]
        level = [*cross(off, own), *cross(self.gravity, ground)]
        return "" if all(x.is_zero() for x in level) else "the potential depends on it"

    # Which vector it is.

    def _where(self, joint: Joint) -> str:
        names = [self.mechanism.bodies[k] if k >= 0 else "ground" for k in joint.bodies]
        through = f"through {joint.kind} {joint.name}"
        if "ground" in names:
            (body,) = (name for name in names if name != "ground")
            return f"of {body} into the ground {through}"
        return f"between {names[0]} and {names[1]} {through}"

    def _kinds(self, joint: Joint, side: int, ten: Ten) -> list[str]:
        """Names of what a part is, where it is exactly that, its scale included."""
        z, ground = joint.axes[side]["z"], min(joint.bodies) < 0
        kind = KINDS[joint.kind]
        slides = bool(kind.lengths) and not kind.free
        a = self.zero if slides else joint.at[side]
        m, h = ten[0], ten[1:4]
        if not m.is_zero():
            return ["mass"] if self._same(ten, self._moments(m, a, m, a)) and m == 1 else []
        if not all(x.is_zero() for x in h):
            if not self._same(ten, self._moments(m, h, 1, a, h)):
                return []
            sideways = [cross(z, e) for e in self.units] if ground else []
            free = not (kind.lengths and kind.free)
            candidates: list[tuple[str, list[Any]]] = [
                ("first moment along the axis", [z]),
                ("first moment across the axis", sideways),
                ("first moment", self.units if free else []),
            ]
            return [what for what, some in candidates if any(_equal(h, d) for d in some)]
        return self._second_kinds(z, ten, ground)

    def _second_kinds(self, z: Sequence[Any], ten: Ten, ground: bool) -> list[str]:
        found = []
        if not ground and self._same(ten, self._moments(ten[0], ten[1:4], 1, z, None)):
            found.append("second moment along the axis")
        here = [k for k in range(6) if not ten[4 + k].is_zero()]
        if len(here) == 1 and ten[4 + here[0]] == 1:
            found.append("second moment")
        if ground:
            seen = [z[i] * z[j] * (1 if i == j else 2) for i, j in _PLACES]
            for k in here:
                for base in range(6):
                    if base == k or seen[base].is_zero():
                        continue
                    expected = [ten[4 + j] - ten[4 + j] for j in range(6)]
                    expected[k], expected[base] = seen[base], -seen[k]
                    if _equal(ten[4:], expected):
                        return [*found, "unnoticed second moment"]
        return found

    def _moments(
        self, m: Any, h: Sequence[Any], k: Any, a: Sequence[Any], d: Sequence[Any] | None = None
    ) -> Ten:
        """Mass, first moment, and the inertia of second moments k a aᵀ, or a dᵀ + d aᵀ."""
        S: Callable[[int, int], Any] = (
            (lambda i, j: k * a[i] * a[j])
            if d is None
            else (lambda i, j: a[i] * d[j] + d[i] * a[j])
        )
        trace = S(0, 0) + S(1, 1) + S(2, 2)
        return [m, *h, *((trace if i == j else 0) - S(i, j) for i, j in _PLACES)]

    def _same(self, one: Ten, two: Ten) -> bool:
        kept = (0, 1, 2, 9) if self.mechanism.planar else range(10)
        return all((one[k] - two[k]).is_zero() for k in kept)


def _equal(one: Sequence[Any], two: Sequence[Any]) -> bool:
    return all((x - y).is_zero() for x, y in zip(one, two, strict=True))


def _bracket(one: Twist, two: Twist) -> Twist:
    """Lie bracket of two twists."""
    (w1, v1), (w2, v2) = one, two
    return cross(w1, w2), plus(cross(w1, v2), cross(v1, w2))
