"""What a mechanism is: bodies, joints between two bodies, geometry as symbols, motions.

Frozen values only: they hash, compare, pickle and print. `files/mechanism_file.py` makes them from
YAML and checks everything there is to check; whoever holds a `Mechanism` may trust it. Every
vector here is spatial: a planar mechanism lies in the plane z = 0 of its bodies' frames (a planar
revolute turns about +z; a planar prismatic joint has its `reference` along +z).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property

import numpy as np

from basepar_core.errors import MechanismError
from basepar_core.expressions import (
    LENGTH,
    ONE,
    UNITS,
    ZERO,
    Expression,
    Rows,
    Steps,
    evaluate,
    multiply,
    names,
    number,
    parse_unit,
)

from .body_forms import BodyForm, Line, line_of
from .joint_types import joint_type

Vector = tuple[Expression, Expression, Expression]

GROUND = "ground"
PLANAR_PARAMETERS = ("m", "mx", "my", "J")
SPATIAL_PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
_MOMENT_UNITS = {"m": "kg", "mx": "kg m", "my": "kg m", "mz": "kg m"}


def parameter_unit(name: str) -> str:
    """SI unit of an inertial parameter such as `crank.mx`, by its kind."""
    return _MOMENT_UNITS.get(name.rpartition(".")[2], "kg m^2")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of the geometry, or a constant.

    `value` and `bounds` are SI and free of names. `unit` is as written in the file ("" where
    dimensionless): what results are printed in. A geometry symbol with unit rad, deg or rev is an
    angle.
    """

    name: str
    value: Expression
    unit: str = ""
    bounds: tuple[Expression, Expression] | None = None

    @property
    def is_angle(self) -> bool:
        return self.unit in UNITS and UNITS[self.unit].is_angle

    @property
    def is_length(self) -> bool:
        return bool(self.unit) and parse_unit(self.unit).dimension == LENGTH


@dataclass(frozen=True)
class Relation:
    """An algebraic number: `polynomial` vanishes, and the symbol's value is the root itself.

    It is in its own symbol, numbers, constants and geometry symbols that are neither angles nor
    algebraic; where these are swept, `algebraic_roots.roots` follows. `coefficients` are those of
    its powers, from the constant term up, of the numerator where there are denominators.
    """

    symbol: str
    polynomial: Expression
    coefficients: tuple[Expression, ...]

    @cached_property
    def symbols(self) -> frozenset[str]:
        """What the polynomial names."""
        return names(self.polynomial)

    @cached_property
    def steps(self) -> Steps:
        """What computes the coefficients."""
        return Steps.of(self.coefficients)


@dataclass(frozen=True, slots=True)
class Body:
    """A rigid body; `parameters` about its frame's origin in the order of the field (SI).

    None where the file gives no inertia. Planar: m, mx, my, J; spatial: m, mx, my, mz, Ixx,
    Ixy, Ixz, Iyy, Iyz, Izz with Ixy = −∫xy dm. `form`: see `body_forms`.
    """

    name: str
    parameters: tuple[Expression, ...] | None = None
    number: int | None = None
    form: BodyForm = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A joint's frame in one of its bodies: origin, z-axis, x-axis before projection.

    `axis` and `reference` have any length; `reference` is not parallel to `axis`.
    """

    at: Vector
    axis: Vector
    reference: Vector


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two bodies (names; `ground` is the world).

    Its value is the motion of the second body's joint frame relative to the first's. `holds`: it
    holds the idle spin of a slender body in the place of a ball, in whatever way (decision 135);
    the ball's own frames.
    """

    name: str
    type: str
    bodies: tuple[str, str]
    frames: tuple[Frame, Frame]
    holds: tuple[Frame, Frame] | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """Names of its values: `A` where there is one, `A.1`, `A.2`, … where several."""
        count = joint_type(self.type).values
        if count == 1:
            return (self.name,)
        return tuple(f"{self.name}.{k}" for k in range(1, count + 1))


@dataclass(frozen=True, slots=True)
class JointValue:
    """One value of a joint: which joint (and its number), which of its values (from 0)."""

    joint: Joint
    number: int
    place: int

    @property
    def is_length(self) -> bool:
        return self.place in joint_type(self.joint.type).lengths

    @property
    def is_angle(self) -> bool:
        """Whether it is an angle about one axis, and not an entry of a rotation vector."""
        return not (self.is_length or joint_type(self.joint.type).is_ball)

    @property
    def unit(self) -> str:
        """Its own SI unit, m or rad."""
        return "m" if self.is_length else "rad"

    @property
    def effort_unit(self) -> str:
        """SI unit of the force or torque that works on it."""
        return "N" if self.is_length else "N m"


@dataclass(frozen=True, slots=True)
class Coupling:
    """A linear relation of joint values: Σ coefficient · value = offset.

    `terms`: names of joint values (angles about one axis, or lengths) with their coefficients,
    free of joint values. Where some value is a length the relation is in m, and coefficients of
    angles are in m/rad; else it is in rad.
    """

    name: str
    terms: tuple[tuple[str, Expression], ...]
    offset: Expression = ZERO


@dataclass(frozen=True, slots=True)
class Point:
    """A point that a body carries, `at` in its frame; one of the ground stands still."""

    name: str
    body: str
    at: Vector


@dataclass(frozen=True, slots=True)
class Shape:
    """What clearances are measured from: all within `radius` (m) of the hull of some corners.

    A disc or ball has one corner, a capsule two, a convex polygon more, in order.
    """

    body: str
    corners: tuple[Vector, ...]
    radius: Expression


@dataclass(frozen=True, slots=True)
class Pose:
    """An approximate pose of a body in the world: position (m), rotation vector (rad)."""

    body: str
    at: Vector
    rotation: Vector


@dataclass(frozen=True, slots=True)
class Assembly:
    """Approximate joint values (by value name) and body poses that pick the branch."""

    values: tuple[tuple[str, Expression], ...] = ()
    poses: tuple[Pose, ...] = ()


# Motions. Per-coordinate tuples are in the order of `Mechanism.coordinates`. Every expression is
# free of geometry symbols, exact, SI.


@dataclass(frozen=True, slots=True)
class Fourier:
    """Random Fourier series about the assembly (docs/mechanism-files.md: excitation `fourier`)."""

    harmonics: int
    base_frequency: Expression
    amplitude: tuple[Expression, ...]
    samples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Sines:
    """q = Σ a sin(ω t + φ), absolute; `terms` per coordinate, each (a, ω, φ)."""

    duration: Expression
    terms: tuple[tuple[tuple[Expression, Expression, Expression], ...], ...]
    samples: int


@dataclass(frozen=True, slots=True)
class States:
    """Random states about the assembly (docs/mechanism-files.md: excitation `states`)."""

    amplitude: tuple[Expression, ...]
    frequency: Expression
    samples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Data:
    """Measured or computed motion: `values[sample][coordinate]` = (q, q̇, q̈), exact decimals."""

    times: tuple[Expression, ...]
    values: tuple[tuple[tuple[Expression, Expression, Expression], ...], ...]

    @property
    def samples(self) -> int:
        return len(self.times)


@dataclass(frozen=True, slots=True)
class ConstantSpeed:
    """Starts at the assembly; T = `duration`, or 2π·turns/speed where that is None."""

    speed: Expression
    turns: Expression | None = None
    duration: Expression | None = None


@dataclass(frozen=True, slots=True)
class SineSum:
    """One coordinate's Σ a sin(ω t + φ), absolute, over `duration`."""

    terms: tuple[tuple[Expression, Expression, Expression], ...]
    duration: Expression


@dataclass(frozen=True, slots=True)
class RestToRest:
    """From the assembly to `to` in `duration`, quintic, at rest at both ends."""

    to: Expression
    duration: Expression


@dataclass(frozen=True, slots=True)
class Cycle:
    """What the machine does: one law per coordinate, or data for all.

    `effective_samples` replaces samples × coordinates in the criteria of reduction.
    """

    laws: tuple[ConstantSpeed | SineSum | RestToRest, ...] | Data
    samples: int
    effective_samples: Expression | None = None


Excitation = Fourier | Sines | States | Data


@dataclass(frozen=True, slots=True)
class Friction:
    """A column of a joint value: viscous, coulomb, offset or rotor; `value` (SI) if known."""

    coordinate: str
    kind: str
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class Spring:
    """A stiffness column: on a joint value (`coordinate`), or between two bodies' points."""

    name: str
    rest: Expression
    coordinate: str | None = None
    bodies: tuple[str, str] | None = None
    points: tuple[Vector, Vector] | None = None
    stiffness: Expression | None = None


@dataclass(frozen=True, slots=True)
class Damper:
    """A damping column between two bodies' points; one on a joint value is viscous friction."""

    name: str
    bodies: tuple[str, str]
    points: tuple[Vector, Vector]
    damping: Expression | None = None


@dataclass(frozen=True, slots=True)
class Motor:
    """A DC motor on a joint value: U = R i + L di/dt + K n θ̇, torque n K i on the joint.

    SI. `ratio` n is the motor's turns per turn of the joint (rad/m where it slides); `rotor` is
    the inertia at the motor's shaft. Without `inductance` the current follows at once.
    """

    name: str
    coordinate: str
    voltage: Expression
    resistance: Expression
    constant: Expression
    ratio: Expression = ONE
    inductance: Expression | None = None
    rotor: Expression | None = None


@dataclass(frozen=True, slots=True)
class Torque:
    """A torque or force on a joint value, positive where it drives the value up.

    `value` is in symbols and, by name, the joint's own `position` and `speed`; or there are
    `pieces` (from, to, value) over ranges of the joint value `along`, none elsewhere. `when` is
    "rising" or "falling" where a value acts only while the joint's own value does so.
    """

    name: str
    coordinate: str
    value: Expression = ZERO
    when: str = ""
    along: str = ""
    pieces: tuple[tuple[Expression, Expression, Expression], ...] = ()


@dataclass(frozen=True)
class Mechanism:
    """A mechanism as its file states it (docs/mechanism-files.md).

    `source` is the file's text: provenance, and what a sweep's store keeps to rerun itself.
    """

    name: str
    planar: bool
    gravity: Vector
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...]
    coordinates: tuple[str, ...]
    couplings: tuple[Coupling, ...] = ()
    geometry: tuple[Symbol, ...] = ()
    constants: tuple[Symbol, ...] = ()
    relations: tuple[Relation, ...] = ()
    actuated: tuple[str, ...] = ()
    assembly: Assembly = Assembly()
    excitation: Excitation | None = None
    cycle: Cycle | None = None
    noise: tuple[tuple[str, Expression], ...] = ()
    friction: tuple[Friction, ...] = ()
    springs: tuple[Spring, ...] = ()
    dampers: tuple[Damper, ...] = ()
    motors: tuple[Motor, ...] = ()
    torques: tuple[Torque, ...] = ()
    points: tuple[Point, ...] = ()
    shapes: tuple[Shape, ...] = ()
    description: str = ""
    source: str = ""

    def __repr__(self) -> str:
        return f"Mechanism({self.name[:80]!r})"

    @property
    def in_full(self) -> str:
        """Every field: what tells two mechanisms without a file apart."""
        parts = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self))
        return f"Mechanism({', '.join(parts)})"

    @cached_property
    def parameter_names(self) -> tuple[str, ...]:
        """`crank.m`, `crank.mx`, … in file order."""
        kinds = PLANAR_PARAMETERS if self.planar else SPATIAL_PARAMETERS
        return tuple(f"{body.name}.{kind}" for body in self.bodies for kind in kinds)

    @cached_property
    def parameter_aliases(self) -> Mapping[str, str]:
        """Short names that also work in input: `mx1` for parameter mx of body number 1."""
        kinds = PLANAR_PARAMETERS if self.planar else SPATIAL_PARAMETERS
        return {
            f"{kind}{body.number}": f"{body.name}.{kind}"
            for body in self.bodies
            if body.number is not None
            for kind in kinds
        }

    @cached_property
    def massless(self) -> tuple[int, ...]:
        """Bodies that have no mass by statement, by number."""
        return tuple(k for k, body in enumerate(self.bodies) if body.form == "massless")

    @property
    def uncounted(self) -> int:
        """How many parameters do not count: those of massless bodies."""
        kinds = PLANAR_PARAMETERS if self.planar else SPATIAL_PARAMETERS
        return len(kinds) * len(self.massless)

    @cached_property
    def lines(self) -> Mapping[int, Line]:
        """Lines of slender bodies, by the bodies' numbers."""
        joints = [(one.name, one.type, one.bodies) for one in self.joints]
        slender = {body.name for body in self.bodies if body.form == "slender"}
        return {
            k: line_of(body.name, joints, slender)
            for k, body in enumerate(self.bodies)
            if body.form == "slender"
        }

    @cached_property
    def roots(self) -> frozenset[str]:
        """Names of the symbols that follow from a relation."""
        return frozenset(relation.symbol for relation in self.relations)

    @property
    def is_tied(self) -> bool:
        """Whether more than joints ties it: couplings, or symbols that follow from others."""
        return bool(self.couplings or self.relations)

    @cached_property
    def body_index(self) -> Mapping[str, int]:
        """Bodies' places by name; −1 for the ground, which stands last where it stands."""
        return {GROUND: -1} | {body.name: k for k, body in enumerate(self.bodies)}

    @cached_property
    def _values(self) -> Mapping[str, JointValue]:
        return {
            name: JointValue(joint, number, place)
            for number, joint in reversed([*enumerate(self.joints)])
            for place, name in enumerate(joint.values)
        }

    def value(self, name: str) -> JointValue:
        """The joint value of a name, such as `A` or `B.2`.

        Raises
        ------
        MechanismError
            No joint has a value of this name.
        """
        if name not in self._values:
            raise MechanismError(f"No joint has a value named {name!r}.", [name])
        return self._values[name]

    @cached_property
    def nominal(self) -> Mapping[str, float]:
        """Value of every symbol and constant, SI."""
        symbols = self.geometry + self.constants
        return dict(
            zip(
                (symbol.name for symbol in symbols),
                map(float, evaluate([symbol.value for symbol in symbols], {})),
                strict=True,
            )
        )

    @cached_property
    def frame_vectors(self) -> tuple[Vector, ...]:
        """Origin, z-axis and x-axis of every joint's frame in its first, then its second body."""
        return tuple(
            vector
            for joint in self.joints
            for side in joint.frames
            for vector in (side.at, side.axis, side.reference)
        )

    @cached_property
    def constraint_constants(self) -> tuple[tuple[Expression, ...], ...]:
        """What constraints have besides joints' frames: a row of expressions each.

        Of a coupling its coefficients, then its offset, over a power of two.

        By it the largest coefficient, of lengths where there are some, is near one at the nominal
        geometry: a row's gap is then in m or rad of a value, as those of cut joints are.
        """
        found = []
        for one in self.couplings:
            sizes = np.abs(evaluate([x for _, x in one.terms], self.nominal)).astype(float)
            lengths = np.array([self.value(name).is_length for name, _ in one.terms])
            size = sizes[lengths].max(initial=0.0) or sizes.max()
            exponent = round(float(np.log2(size))) if size else 0
            share = number(Fraction(2) ** -exponent)
            row = (*(x for _, x in one.terms), one.offset)
            found.append(tuple(multiply(share, x) if exponent else x for x in row))
        return tuple(found)

    @cached_property
    def has_inertias(self) -> bool:
        """Whether every body states its inertial parameters."""
        return all(body.parameters is not None for body in self.bodies)

    def inertial_parameters(self, values: Mapping[str, np.ndarray | float]) -> np.ndarray:
        """φ at given symbol values (SI): shape (variant, parameter), or (parameter,)."""
        rows, nominal = self._inertial, self.nominal
        moving = {name for name in rows.names if values[name] is not nominal[name]}
        found = rows.at_values(values, moving)
        alone = all(np.ndim(values[name]) == 0 for name in moving)
        return found[:, 0].copy() if alone else np.ascontiguousarray(found.T)

    @cached_property
    def _inertial(self) -> Rows:
        entries = tuple(entry for body in self.bodies for entry in body.parameters or ())
        return Rows(entries, self.nominal)
