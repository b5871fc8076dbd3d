"""Mechanisms in natural coordinates: origin and axes of every body, all equations quadratic.

A body's point s is at p + x s₁ + y s₂ + z s₃, with p, x, y, z unknown vectors; in the plane with
p and x only. What joints and rigidity demand are then quadratic forms in (1, unknowns), the same
over balls, prime fields or floats; rates and accelerations need their matrices only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .expressions import Numbers
from .joints import KINDS

#: An affine form: coefficients by unknown, 0 being the constant; a quadratic one by pairs.
Affine = dict[int, Any]
Quadratic = dict[tuple[int, int], Any]
Three = Sequence[Any]

LABELS = {
    True: ("at.x", "at.y", "x.x", "x.y"),
    False: tuple(f"{v}.{k}" for v in ("at", "x", "y", "z") for k in "xyz"),
}
PARAMETERS = {
    True: ("m", "mx", "my", "J"),
    False: ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz"),
}


def dot(a: Three, b: Three) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Three, b: Three) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def sized(k: Any, a: Three) -> list[Any]:
    return [k * x for x in a]


def plus(a: Three, b: Three) -> list[Any]:
    return [x + y for x, y in zip(a, b, strict=True)]


def less(a: Three, b: Three) -> list[Any]:
    return [x - y for x, y in zip(a, b, strict=True)]


@dataclass(frozen=True)
class Joint:
    """A joint's points and axes (x, y, z; of any length) in its two bodies; −1 is the ground."""

    name: str
    kind: str
    bodies: tuple[int, int]
    at: tuple[Three, Three]
    axes: tuple[Mapping[str, Three], Mapping[str, Three]]


@dataclass(frozen=True)
class Mechanism:
    """The document's mechanism, its expressions still text."""

    planar: bool
    bodies: tuple[str, ...]
    joints: tuple[Mapping[str, Any], ...]
    gravity: tuple[str, ...]
    columns: tuple[Mapping[str, Any], ...] = ()
    couplings: tuple[Mapping[str, Any], ...] = ()
    forms: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> "Mechanism":
        return cls(
            {"planar": True, "spatial": False}[given["space"]],
            tuple(given["bodies"]),
            tuple(given["joints"]),
            tuple(given["gravity"]),
            tuple(given.get("columns", ())),
            tuple(given.get("couplings", ())),
            dict(given.get("forms", {})),
        )

    @property
    def width(self) -> int:
        """Unknowns of one body."""
        return len(LABELS[self.planar])

    @property
    def unknowns(self) -> int:
        return self.width * len(self.bodies)

    @property
    def labels(self) -> list[str]:
        """Names of the unknowns; their numbers start from 1."""
        return [f"{body}.{label}" for body in self.bodies for label in LABELS[self.planar]]

    @property
    def parameters(self) -> list[str]:
        """Inertial ones, then those of force-law columns."""
        kinds = PARAMETERS[self.planar]
        inertial = [f"{body}.{kind}" for body in self.bodies for kind in kinds]
        return [*inertial, *(column["name"] for column in self.columns)]

    def locks(self, kind: str) -> tuple[bool, str]:
        """Whether a joint's points coincide, and along which axes of the first they stay."""
        return KINDS[kind].locks(self.planar)[:2]

    def number(self, body: str) -> int:
        return -1 if body == "ground" else self.bodies.index(body)

    def frames(self, numbers: Numbers) -> list[Joint]:
        """All joints in these numbers; axes are made perpendicular without roots."""
        found = []
        for given in self.joints:
            axes, at = [], []
            for side in (0, 1):
                z, towards, point = (
                    [numbers.of(text) for text in given[slot][side]]
                    for slot in ("axis", "reference", "at")
                )
                x = less(sized(dot(z, z), towards), sized(dot(towards, z), z))
                axes.append({"x": x, "y": cross(z, x), "z": z})
                at.append(point)
            first, second = (self.number(body) for body in given["bodies"])
            found.append(
                Joint(
                    given["name"],
                    given["type"],
                    (first, second),
                    (at[0], at[1]),
                    (axes[0], axes[1]),
                )
            )
        return found

    # Affine forms of a body's points and directions.

    def place(self, body: int, s: Three, free: bool = False) -> list[Affine]:
        """World components of a body's point s; `free`: of its direction s."""
        if body < 0:
            return [{0: x} for x in s]
        o = 1 + self.width * body
        if self.planar:
            x, y = {o + 2: s[0], o + 3: -s[1]}, {o + 2: s[1], o + 3: s[0]}
            forms: list[Affine] = [x, y, {0: s[2]}]
        else:
            forms = [{o + 3 + 3 * j + k: s[j] for j in range(3)} for k in range(3)]
        if not free:
            for k in range(2 if self.planar else 3):
                forms[k] = {o + k: 1, **forms[k]}
        return forms

    def equations(self, joints: Sequence[Joint]) -> list[Quadratic]:
        """Everything that must vanish: rigidity of the bodies, then the joints in their order."""
        found = [form for body in range(len(self.bodies)) for form in self._rigid(body)]
        for joint in joints:
            found += self._closed(joint)
        return found

    def _rigid(self, body: int) -> Iterator[Quadratic]:
        o = 1 + self.width * body
        if self.planar:
            yield {(o + 2, o + 2): 1, (o + 3, o + 3): 1, (0, 0): -1}
            return
        for i in range(3):
            for j in range(i, 3):
                form: Quadratic = {(o + 3 + 3 * i + k, o + 3 + 3 * j + k): 1 for k in range(3)}
                if i == j:
                    form[0, 0] = -1
                yield form

    def _closed(self, joint: Joint) -> Iterator[Quadratic]:
        first, second = joint.bodies
        points, along, about = KINDS[joint.kind].locks(self.planar)
        there = self.place(second, joint.at[1])
        gap = difference(there, self.place(first, joint.at[0]))
        if points:
            for form in gap[: 2 if self.planar else 3]:
                yield {(0, i): c for i, c in form.items()}
        for name in along:
            yield product(self.place(first, joint.axes[0][name], True), gap)
        for pair in about:
            u = self.place(first, joint.axes[0][pair[0]], True)
            yield product(u, self.place(second, joint.axes[1][pair[1]], True))


def difference(a: Sequence[Affine], b: Sequence[Affine]) -> list[Affine]:
    """Of two affine vectors."""
    found = []
    for one, two in zip(a, b, strict=True):
        total = dict(one)
        for i, c in two.items():
            total[i] = total[i] - c if i in total else -c
        found.append(total)
    return found


def product(a: Sequence[Affine], b: Sequence[Affine]) -> Quadratic:
    """Scalar product of two affine vectors."""
    total: Quadratic = {}
    for one, two in zip(a, b, strict=True):
        for i, c in one.items():
            for j, d in two.items():
                key, x = (min(i, j), max(i, j)), c * d
                total[key] = total[key] + x if key in total else x
    return total


@dataclass(frozen=True)
class Form:
    """The equation that a quadratic form vanishes; others have the same methods."""

    form: Quadratic

    def gap(self, x: Sequence[Any]) -> Any:
        """By how much it is missed at (1, unknowns)."""
        return value(self.form, x)

    def slope(self, x: Sequence[Any]) -> dict[int, Any]:
        """Derivatives of the gap, by unknown from 1."""
        return slope(self.form, x)

    def bend(self, x: Sequence[Any], v: Sequence[Any]) -> Any:
        """What rates v (unknowns from 1; v[0] is 0) add to the gap's second derivative."""
        return bend(self.form, v)

    def fault(self, x: Sequence[Any], values: Mapping[str, Any]) -> str:
        """What is wrong with joint values that are stated of a closed pose; empty if nothing."""
        return ""


def value(form: Quadratic, x: Sequence[Any]) -> Any:
    """Of a quadratic form at (1, unknowns)."""
    return sum(((c * x[i]) * x[j] for (i, j), c in form.items()), 0 * x[0])


def slope(form: Quadratic, x: Sequence[Any]) -> dict[int, Any]:
    """Its derivatives there, by unknown from 1."""
    row: dict[int, Any] = {}
    for (i, j), c in form.items():
        for one, two in ((i, j), (j, i)):
            if one:
                term = c * x[two]
                row[one] = row[one] + term if one in row else term
    return row


def bend(form: Quadratic, v: Sequence[Any]) -> Any:
    """What rates v (unknowns from 1; v[0] is 0) add to its second derivative in time."""
    return 2 * value({key: c for key, c in form.items() if key[0]}, v)


def power_row(planar: bool, virtual: Sequence[Any], moved: Sequence[Any]) -> list[Any]:
    """What one body's parameters do along a virtual motion, `moved` being accelerations.

    ∫ δr·a dm is linear in mass, first and second moments, since r = p + x s₁ + y s₂ + z s₃ at
    every instant; both arguments are the body's natural coordinates (rates, accelerations less
    gravity). With two virtual motions: the kinetic energy's bilinear form.
    """
    if planar:
        d, a = (_plane(v) for v in (virtual, moved))
        m = d[0][0] * a[0][0] + d[0][1] * a[0][1]
        first = [_two(d[0], a[j]) + _two(d[j], a[0]) for j in (1, 2)]
        return [m, *first, _two(d[1], a[1])]
    d, a = ([v[k : k + 3] for k in (0, 3, 6, 9)] for v in (virtual, moved))
    first = [dot(d[0], a[j]) + dot(d[j], a[0]) for j in (1, 2, 3)]
    xx, yy, zz = (dot(d[j], a[j]) for j in (1, 2, 3))
    xy, xz, yz = (dot(d[i], a[j]) + dot(d[j], a[i]) for i, j in ((1, 2), (1, 3), (2, 3)))
    # ∫ s sᵀ dm = ½ tr(I) 1 − I.
    return [
        dot(d[0], a[0]),
        *first,
        (yy + zz - xx) / 2,
        -xy,
        -xz,
        (xx + zz - yy) / 2,
        -yz,
        (xx + yy - zz) / 2,
    ]


def _plane(v: Sequence[Any]) -> list[Sequence[Any]]:
    return [v[:2], v[2:], (-v[3], v[2])]


def _two(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return a[0] * b[0] + a[1] * b[1]


def weight_row(planar: bool, virtual: Sequence[Any], gravity: Three) -> list[Any]:
    """Power of gravity along a virtual motion of one body, by its parameters."""
    zero = 0 * virtual[0]
    size = 2 if planar else 3
    moved = [*gravity[:size], *[zero] * (len(virtual) - size)]
    return power_row(planar, virtual, moved)
