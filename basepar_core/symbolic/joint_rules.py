"""Null vectors of W that a mechanism's joints imply, exact in the geometry symbols.

A joint lets a point mass (monopole), a first moment (dipole) or a second moment (quadrupole) be
moved from one body to the other, or into the ground, without any joint force noticing: each
admissible transfer is a column n with W n = 0 for every motion, hence a theorem, not a
measurement. Low-mobility paper, §4 and Table 3; rules for universal and cylindrical joints on
the ground, for planar joints, and for gravity along an axis or absent are ours.

A transfer is +vector at the point a in the first body and −vector at the same point b in the
second; u and w are the same physical direction in both (equal lengths, any length).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, assert_never

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import ExpressionError
from basepar_core.expressions import evaluate
from basepar_core.mechanism import (
    GROUND,
    PLANAR_PARAMETERS,
    SPATIAL_PARAMETERS,
    Joint,
    Mechanism,
    joint_type,
)

from .field import GeometryField
from .vectors import cross, dot, minus, scale, times

#: An element of the geometry field; sympy's own annotations of it are partial.
Exact: TypeAlias = Any
ExactVector = tuple[Exact, Exact, Exact]
ExactMatrix = tuple[ExactVector, ExactVector, ExactVector]

#: Places of the six second moments Ixx, Ixy, Ixz, Iyy, Iyz, Izz in the inertia matrix.
SECOND_MOMENTS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))

#: Largest denominator of a rotation that is guessed to be the same for every geometry.
SIMPLE = 1000


@dataclass(frozen=True)
class NullVector:
    """A column n of N(λ) with W n = 0: entries by parameter, with grade and reason.

    `grade` is theorem, identity, probability or numerical (docs/certificate.md).
    """

    entries: dict[int, Exact]
    grade: str
    reason: str


@dataclass(frozen=True)
class ExactFrame:
    """A joint frame in exact arithmetic: origin, z, x perpendicular to z; any lengths."""

    at: ExactVector
    z: ExactVector
    x: ExactVector


class Transfers:
    """Everything that can be moved over a mechanism's joints."""

    def __init__(self, mechanism: Mechanism, field: GeometryField):
        self.mechanism, self.field = mechanism, field
        self.number = {body.name: k for k, body in enumerate(mechanism.bodies)}
        self.kinds = PLANAR_PARAMETERS if mechanism.planar else SPATIAL_PARAMETERS
        zero, one = field.zero, field.one
        self.units: tuple[ExactVector, ...] = (
            (one, zero, zero),
            (zero, one, zero),
            (zero, zero, one),
        )
        self.origin: ExactVector = (zero, zero, zero)
        self.gravity = self.exact(mechanism.gravity)

    def exact(self, expressions: Sequence[Any]) -> ExactVector:
        """A vector of expressions in the geometry field."""
        x, y, z = (self.field.element(entry) for entry in expressions)
        return (x, y, z)

    def frame(self, joint: Joint, side: int) -> ExactFrame:
        """A joint's frame in exact arithmetic; x is scaled by |z|² to stay free of divisions."""
        raw = joint.frames[side]
        z, reference = self.exact(raw.axis), self.exact(raw.reference)
        x = minus(scale(dot(z, z), reference), scale(dot(reference, z), z))
        return ExactFrame(self.exact(raw.at), z, x)

    # Vectors on one body, all ten entries (m; mx my mz; Ixx Ixy Ixz Iyy Iyz Izz).

    def _ten(self, m: Exact, first: ExactVector, second: ExactMatrix) -> list[Exact]:
        return [m, *first, *(second[i][j] for i, j in SECOND_MOMENTS)]

    def monopole(self, a: ExactVector) -> list[Exact]:
        """A unit mass at a."""
        square = dot(a, a)
        second = [[(square if i == j else 0) - a[i] * a[j] for j in range(3)] for i in range(3)]
        return self._ten(self.field.one, a, second)  # type: ignore[arg-type]

    def dipole(self, a: ExactVector, u: ExactVector) -> list[Exact]:
        """A unit first moment along u at a."""
        trace = 2 * dot(a, u)
        second = [
            [(trace if i == j else 0) - a[i] * u[j] - u[i] * a[j] for j in range(3)]
            for i in range(3)
        ]
        return self._ten(self.field.zero, u, second)  # type: ignore[arg-type]

    def quadrupole(self, u: ExactVector) -> list[Exact]:
        """A second moment about axes across u."""
        square = dot(u, u)
        second = [[(square if i == j else 0) - u[i] * u[j] for j in range(3)] for i in range(3)]
        return self._ten(self.field.zero, self.origin, second)  # type: ignore[arg-type]

    def second_moment(self, E: ExactMatrix) -> list[Exact]:
        """An inertia matrix alone."""
        return self._ten(self.field.zero, self.origin, E)

    def six(self) -> Iterator[ExactMatrix]:
        """A basis of symmetric matrices."""
        zero, one = self.field.zero, self.field.one
        for i, j in SECOND_MOMENTS:
            yield tuple(  # type: ignore[misc]
                tuple(one if {(r, c)} & {(i, j), (j, i)} else zero for c in range(3))
                for r in range(3)
            )

    def across(self, u: ExactVector) -> list[ExactVector]:
        """Two independent directions perpendicular to u."""
        k = next(k for k in (2, 1, 0) if self.field.reduce(u[k]) != 0)
        return [cross(u, self.units[i]) for i in range(3) if i != k]

    def unnoticed_inertia(self, u: ExactVector) -> list[list[Exact]]:
        """The five second moments with uᵀ I u = 0: rotation about u does not notice them."""
        basis = list(self.six())
        seen = [self.field.reduce(dot(u, times(E, u))) for E in basis]
        k0 = next(k for k in range(6) if seen[k] != 0)
        found = []
        for k, E in enumerate(basis):
            if k != k0:
                rows = zip(E, basis[k0], strict=True)
                mixed = tuple(minus(scale(seen[k0], r), scale(seen[k], r0)) for r, r0 in rows)
                found.append(self.second_moment(mixed))  # type: ignore[arg-type]
        return found

    def vector(
        self, parts: Sequence[tuple[str, int, list[Exact]]], grade: str, reason: str
    ) -> NullVector:
        """A null vector from signed parts on bodies; the ground's part is dropped."""
        # In the plane m, mx, my and Izz = J are what there is.
        kept = (0, 1, 2, 9) if self.mechanism.planar else range(10)
        entries: dict[int, Exact] = {}
        for body, sign, ten in parts:
            if body == GROUND:
                continue
            top = self.number[body] * len(self.kinds)
            for place, k in enumerate(kept):
                value = self.field.reduce(sign * ten[k])
                if value != 0:
                    entries[top + place] = value
        return NullVector(entries, grade, reason)

    # Joint rules.

    def over(self, joint: Joint) -> list[NullVector]:
        """All transfers over one joint."""
        if GROUND in joint.bodies:
            body = 1 - joint.bodies.index(GROUND)
            name, frames = (
                joint.bodies[body],
                (self.frame(joint, body), self.frame(joint, 1 - body)),
            )
            transfers = [
                ([(name, 1, ten)], what) for ten, what in self._into_ground(joint, *frames)
            ]
            where = f"of {name} into the ground"
        else:
            one, two = joint.bodies
            transfers = [
                ([(one, 1, a), (two, -1, b)], what) for (a, b), what in self._between(joint)
            ]
            where = f"between {one} and {two}"
        vectors = [
            self.vector(parts, "theorem", f"{what} {where} through {joint.type} {joint.name}")
            for parts, what in transfers
        ]
        return [vector for vector in vectors if vector.entries]

    def _between(self, joint: Joint) -> list[tuple[tuple[list[Exact], list[Exact]], str]]:
        one, two = self.frame(joint, 0), self.frame(joint, 1)
        mass = ((self.monopole(one.at), self.monopole(two.at)), "mass")
        first = (
            (self.dipole(one.at, one.z), self.dipole(two.at, two.z)),
            "first moment along the axis",
        )
        second = ((self.quadrupole(one.z), self.quadrupole(two.z)), "second moment along the axis")
        shape = joint_type(joint.type)
        meet = not shape.slides  # the bodies share a point
        match shape.turns:
            case "":  # and every direction
                R = self.relative(one, two)
                points = [mass, *self.equal_points(one.at, two.at, R)] if meet else []
                ends = {self.number[name] for name in joint.bodies}
                along = [second] if shape.is_slide and ends & self.mechanism.lines.keys() else []
                return [*points, *self.equal_rotation(R), *along]
            case "z":  # and that of z, which in the plane has no first or second moments
                if self.mechanism.planar:
                    return [mass] if meet else []
                return [mass, first, second] if meet else [second]
            case "zz" | "any":
                return [mass] if meet else []
        assert_never(shape.turns)

    def relative(self, one: ExactFrame, two: ExactFrame) -> ExactMatrix:
        """Rotation R with x_first = R x_second for joints that fix orientation; rational.

        Needs equal lengths of both axes and of both projected references, which the file
        reader has checked.
        """
        if (fixed := self._fixed_rotation(one, two)) is not None:
            return fixed
        z2, x2 = dot(one.z, one.z), dot(one.x, one.x)
        y_one, y_two = cross(one.z, one.x), cross(two.z, two.x)
        return tuple(  # type: ignore[return-value]
            tuple(
                self.field.reduce(
                    one.z[i] * two.z[j] / z2
                    + one.x[i] * two.x[j] / x2
                    + y_one[i] * y_two[j] / (z2 * x2)
                )
                for j in range(3)
            )
            for i in range(3)
        )

    def _fixed_rotation(self, one: ExactFrame, two: ExactFrame) -> ExactMatrix | None:
        """R where it is the same for every geometry, guessed at one and then decided; else None.

        Bodies drawn in parallel frames have R = 1; by the formula of `relative` it would be that
        only after quotients of long polynomials: of axes between points of six symbols, minutes.
        """
        guess = self._nominal(one).T @ self._nominal(two)
        simple = [self._rational(Fraction(x).limit_denominator(SIMPLE)) for x in guess.flat]
        R: ExactMatrix = (tuple(simple[:3]), tuple(simple[3:6]), tuple(simple[6:]))
        ends = ((one.z, two.z), (one.x, two.x))
        fits = all(self._same(times(R, second), first) for first, second in ends)
        # Of two frames, both right-handed, with axes of equal lengths.
        fits = fits and all(
            dot(R[i], R[j]) == (1 if i == j else 0) for i in range(3) for j in range(3)
        )
        return R if fits else None

    def _nominal(self, frame: ExactFrame) -> Array:
        """Unit axes x, y, z of a frame at the file's own geometry, as rows."""
        trees = [self.field.to_expression(entry) for entry in (*frame.x, *frame.z)]
        x, z = np.array(evaluate(trees, self.mechanism.nominal), dtype=float).reshape(2, 3)
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        return np.array([x, np.cross(z, x), z])

    def _rational(self, value: Fraction) -> Exact:
        return self.field.one * value.numerator / value.denominator

    def _same(self, one: ExactVector, two: ExactVector) -> bool:
        return all(self.field.reduce(x) == 0 for x in minus(one, two))

    def equal_rotation(self, R: ExactMatrix) -> list[tuple[tuple[list[Exact], list[Exact]], str]]:
        """Second moments between bodies that turn alike: E on the first, Rᵀ E R on the second."""
        if self.mechanism.planar:
            E = list(self.six())[-1]
            return [((self.second_moment(E), self.second_moment(E)), "second moment")]
        columns = tuple(zip(*R, strict=True))
        found = []
        for E in self.six():
            ER = tuple(times(E, column) for column in columns)
            turned = tuple(tuple(dot(a, b) for b in ER) for a in columns)
            found.append(
                ((self.second_moment(E), self.second_moment(turned)), "second moment")  # type: ignore[arg-type]
            )
        return found

    def equal_points(
        self, a: ExactVector, b: ExactVector, R: ExactMatrix
    ) -> list[tuple[tuple[list[Exact], list[Exact]], str]]:
        """First moments between bodies that turn alike and share the velocity of a point."""
        columns = tuple(zip(*R, strict=True))
        axes = self.units[:2] if self.mechanism.planar else self.units
        return [
            (
                (self.dipole(a, u), self.dipole(b, tuple(dot(c, u) for c in columns))),
                "first moment",
            )
            for u in axes
        ]

    def _into_ground(
        self, joint: Joint, body: ExactFrame, ground: ExactFrame
    ) -> list[tuple[list[Exact], str]]:
        a, u = body.at, body.z
        weightless = all(entry == 0 for entry in self.gravity)
        along = weightless or all(
            self.field.reduce(entry) == 0 for entry in cross(self.gravity, ground.z)
        )
        mass = (self.monopole(a), "mass")
        axial = (self.dipole(a, u), "first moment along the axis")
        sideways = [(self.dipole(a, v), "first moment across the axis") for v in self.across(u)]
        still = [(ten, "unnoticed second moment") for ten in self.unnoticed_inertia(u)]
        shape = joint_type(joint.type)
        stays = not shape.slides  # a point of the body does
        point = [mass] if stays else []
        match shape.turns:
            case "":
                return [*point, *self.dipoles(a if stays else self.origin), *self.inertias()]
            case "z" if self.mechanism.planar:
                return [*point, *(self.dipoles(a) if stays and weightless else [])]
            case "z":
                upright = along and set(shape.slides) <= {"z"}
                return [*point, axial, *still, *(sideways if upright else [])]
            case "zz":
                leaning = self.dipoles(a) if weightless else [axial] if along else []
                return [*point, *(leaning if stays else [])]
            case "any":
                return [*point, *(self.dipoles(a) if stays and weightless else [])]
        assert_never(shape.turns)

    def dipoles(self, a: ExactVector) -> list[tuple[list[Exact], str]]:
        axes = self.units[:2] if self.mechanism.planar else self.units
        return [(self.dipole(a, u), "first moment") for u in axes]

    def inertias(self) -> list[tuple[list[Exact], str]]:
        basis = list(self.six())
        return [
            (self.second_moment(E), "second moment")
            for E in (basis[-1:] if self.mechanism.planar else basis)
        ]


def joint_vectors(transfers: Transfers) -> list[NullVector]:
    """Null vectors of all joints of a mechanism, in file order.

    Raises
    ------
    ExpressionError
        A joint frame is not rational in the symbols.
    """
    vectors = []
    for joint in transfers.mechanism.joints:
        try:
            vectors += transfers.over(joint)
        except ExpressionError as error:
            raise ExpressionError(
                f"Joint {joint.name!r}: {error.message}", [f"joints.{joint.name}"]
            ) from error
    return vectors
