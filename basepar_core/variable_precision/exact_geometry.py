"""Symbol values, joint frames and gravity of one variant, as balls that hold the true values.

Nothing passes through a float on the way: numbers of the file are rationals, a swept value is
the binary rational that its float64 is, π and roots are enclosed here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain

from flint import arb, ctx

from basepar_core.expressions import evaluate
from basepar_core.mechanism import Line, Mechanism, Relation
from basepar_core.symbolic import cross, dot, line, minus, newton, roots, scale

from .arithmetic import ARB, Matrix, Vec, ball, exact, log2_size, unit
from .krawczyk import NotClosedError


@dataclass(frozen=True, slots=True)
class JointFrames:
    """A joint in its two bodies: numbers (−1: ground), origins (m) and axes x, y, z."""

    kind: str
    first: int
    second: int
    at: tuple[Vec, Vec]
    axes: tuple[Matrix, Matrix]


@dataclass(frozen=True, slots=True)
class Geometry:
    """One variant's dimensions; gravity in m/s², world. Joints as in the mechanism.

    `constants`: values of `Mechanism.constraint_constants`. `massless`, `lines`: bodies
    without mass, and a point and a direction of slender ones' lines, by number.
    """

    joints: tuple[JointFrames, ...]
    gravity: Vec
    constants: tuple[tuple[arb, ...], ...] = ()
    massless: tuple[int, ...] = ()
    lines: Mapping[int, tuple[Vec, Vec]] = field(default_factory=dict)


def symbol_values(mechanism: Mechanism, values: Mapping[str, float]) -> dict[str, arb]:
    """Every symbol and constant (SI), some of them swept."""
    symbols = (*mechanism.geometry, *mechanism.constants)
    nominal = evaluate([symbol.value for symbol in symbols], {}, ARB)
    known = {symbol.name: value for symbol, value in zip(symbols, nominal, strict=True)}
    known |= {name: exact(float(value)) for name, value in values.items()}
    starts = roots(mechanism, values)
    for relation in mechanism.relations:
        near = starts.get(relation.symbol, mechanism.nominal[relation.symbol])
        known[relation.symbol] = _root(relation, known, float(near))
    return known


def _root(relation: Relation, known: Mapping[str, arb], near: float) -> arb:
    """The root of a relation next to a float: Newton's method, then its interval form.

    Raises
    ------
    NotClosedError
        No simple root can be proved there.
    """
    coefficients = evaluate(relation.coefficients, known, ARB)
    root = exact(near)
    # The digits double from 15 on; two steps more than that needs are for the last bits.
    for _ in range((ctx.prec // 48).bit_length() + 2):
        root = newton(coefficients, root).mid()
    value, slope = _polynomial(coefficients, root)
    wide = root + ball(log2_size(value / slope) + 1)
    shrunk = root - value / _polynomial(coefficients, wide)[1]
    # Newton's operator maps the interval into itself: one root lies there, and no other.
    if not (shrunk.is_finite() and wide.contains(shrunk)):
        raise NotClosedError(f"no root of the relation of {relation.symbol!r} can be enclosed")
    return shrunk


def _polynomial(coefficients: Sequence[arb], at: arb) -> tuple[arb, arb]:
    """Σ cₖ rᵏ and its derivative."""
    value, slope = coefficients[-1], 0 * coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        slope = slope * at + value
        value = value * at + coefficient
    return value, slope


def geometry(mechanism: Mechanism, known: Mapping[str, arb]) -> Geometry:
    """Joint frames and gravity at given symbol values."""
    number = mechanism.body_index
    flat = [*chain(*mechanism.frame_vectors)]
    numbers = [*map(_held, evaluate(flat, known, ARB))]
    vectors: list[Vec] = [
        (numbers[k], numbers[k + 1], numbers[k + 2]) for k in range(0, len(numbers), 3)
    ]
    joints = []
    for k, joint in enumerate(mechanism.joints):
        at1, axis1, x1, at2, axis2, x2 = vectors[6 * k : 6 * k + 6]
        first, second = (number[name] for name in joint.bodies)
        axes = (_axes(axis1, x1), _axes(axis2, x2))
        joints.append(JointFrames(joint.type, first, second, (at1, at2), axes))
    x, y, z = evaluate(mechanism.gravity, known, ARB)
    further = [evaluate(row, known, ARB) for row in mechanism.constraint_constants]
    return Geometry(
        tuple(joints),
        (x, y, z),
        tuple(tuple(map(_held, one)) for one in further),
        mechanism.massless,
        {body: _line(joints, one) for body, one in mechanism.lines.items()},
    )


def _line(joints: Sequence[JointFrames], one: Line) -> tuple[Vec, Vec]:
    (first, near), (second, far) = one.start, one.end
    end = joints[second].axes[far][2] if one.slides else joints[second].at[far]
    return line(joints[first].at[near], end, one.slides)


def _held(number: arb | Fraction) -> arb:
    return number if isinstance(number, arb) else exact(number)


def _axes(axis: Vec, reference: Vec) -> Matrix:
    """x, y, z of a joint frame: z along the axis, x the reference made perpendicular to it."""
    z = unit(axis)
    x = unit(minus(reference, scale(dot(reference, z), z)))
    return (x, cross(z, x), z)
