"""A random point of a family over GF(p): geometry, orientations, positions.

Symbols that enter axes get random values, orientations are drawn along the forest, and the rest
is linear (decision 8).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from flint import nmod, nmod_poly

from basepar_core.errors import FamilyError
from basepar_core.expressions import names
from basepar_core.mechanism import Line, joint_type
from basepar_core.symbolic import add, dot, line, minus, times

from .arithmetic import PRIME_BITS, Draw, Matrix, Vec, random_prime
from .couplings import PlacedCoupling, may_have_pi, place_couplings
from .evaluation import PI, Evaluator
from .family import Family, Root, Signature
from .frames import Axes, JointFrames, joint_frames
from .lengths import Closed, closure_rows, exact_number, solve, value_of
from .orientations import Orientation, RedrawError

#: Draws until a point must have been found. Half of them fail per square root.
ATTEMPTS = 400


@dataclass(frozen=True)
class PlacedJoint:
    """A joint at a point of the family; everything in its bodies' frames."""

    kind: str
    bodies: tuple[int, int]
    axes: tuple[Axes, Axes]
    at: tuple[Vec, Vec]


@dataclass(frozen=True)
class Point:
    """A member of the family over GF(p), assembled.

    Attributes
    ----------
    values, angles
        Every symbol and constant; angles as (cosine, sine).
    R, p
        Orientations and positions, the ground last.
    dimension
        Independent parameters that the point was drawn from.
    length_rank
        Rank of the closure equations at these orientations.
    held
        How many of their relations between lengths alone hold at the nominal lengths, exactly:
        in an over-constrained linkage those that do not depend on the orientations.
    relations
        These relations: coefficients by symbol, the constant under None.
    further
        Constraints besides those of the joints' frames.
    massless, lines
        Bodies without mass, and a point and a direction of slender ones' lines, by number.
    """

    prime: int
    values: Mapping[str, nmod]
    angles: Mapping[str, tuple[nmod, nmod]]
    gravity: Vec
    joints: tuple[PlacedJoint, ...]
    R: tuple[Matrix, ...]
    p: tuple[Vec, ...]
    dimension: int
    length_rank: int
    held: int
    relations: tuple[Mapping[str | None, nmod], ...] = ()
    further: tuple[PlacedCoupling, ...] = ()
    massless: tuple[int, ...] = ()
    lines: Mapping[int, tuple[Vec, Vec]] = field(default_factory=dict)


class InconsistentError(Exception):
    """The numbers of the family do not close its loops at random orientations."""


def field_for(family: Family, rng: np.random.Generator, bits: int = PRIME_BITS) -> Draw:
    """A random prime over which the geometry's algebraic numbers exist.

    r² = 3 has a root modulo half of the primes only; numbers whose equation has other symbols in
    it have one for a share of these symbols' values, and are left to drawing points.
    """
    while True:
        prime = random_prime(rng, bits)
        number = exact_number(prime)
        values = {name: number(value) for name, value in family.constants.items()}
        evaluator = Evaluator(number, values, {})
        fixed = [
            root
            for root in family.roots
            if all(names(c) <= values.keys() for c in root.coefficients)
        ]
        if all(_roots(root, evaluator, prime) for root in fixed):
            return Draw(rng, prime)


def _roots(root: Root, evaluator: Evaluator, prime: int) -> list[nmod]:
    polynomial = nmod_poly([evaluator.scalar(c) for c in root.coefficients], prime)
    return [nmod(int(r), prime) for r, _ in polynomial.roots()]


def draw_point(family: Family, draw: Draw) -> Point:
    """A random point of a family.

    Raises
    ------
    FamilyError
        None was found: an algebraic number without a root in this field, or a loop whose
        orientations do not close.
    InconsistentError
        See there.
    """
    for _ in range(ATTEMPTS):
        try:
            point = _attempt(family, draw)
        except (RedrawError, ZeroDivisionError):
            continue
        except InconsistentError:
            if family.signature is None:
                raise
            continue  # the other component
        if family.signature in (None, signature(family, point)):
            return point
    raise FamilyError(
        f"No point of the family of {family.mechanism.name!r} was found in {ATTEMPTS} draws over "
        f"one finite field: some orientation or algebraic number has no root there."
    )


def signature(family: Family, point: Point) -> Signature:
    """What tells components with different closures apart: see `Family.signature`."""
    zeros = frozenset(name for name in family.unknowns if point.values[name] == 0)
    return point.length_rank, zeros, point.held


def _attempt(family: Family, draw: Draw) -> Point:
    evaluator = symbol_values(family, draw)
    joints = joint_frames(family.mechanism, evaluator)
    fixed = [
        tuple(tuple(map(evaluator.number, row)) for row in relation.rotation)
        if relation.rotation
        else tuple(evaluator.vector(axis) for axis in relation.axes or ())
        for relation in family.relations
    ]
    planar = family.mechanism.planar
    turned = Orientation(family.forest, joints, fixed, draw, planar, family.closing)  # type: ignore[arg-type]
    bodies = len(family.mechanism.bodies)
    rows = closure_rows(joints, turned.R, planar)
    closed = solve(rows, bodies, planar, family.unknowns, draw)
    if not closed.consistent:
        raise InconsistentError
    return _point(family, draw.prime, evaluator, joints, turned, closed)


def _point(
    family: Family,
    prime: int,
    evaluator: Evaluator,
    joints: list[JointFrames],
    turned: Orientation,
    closed: Closed,
) -> Point:
    zero = nmod(0, prime)
    placed = tuple(
        PlacedJoint(
            joint.kind,
            joint.bodies,
            joint.axes,
            (
                value_of(joint.at[0], closed.lengths, zero),
                value_of(joint.at[1], closed.lengths, zero),
            ),
        )
        for joint in joints
    )
    return Point(
        prime=prime,
        values={**evaluator.values, **closed.lengths},
        angles=evaluator.angles,
        gravity=evaluator.vector(family.mechanism.gravity),
        joints=placed,
        R=tuple(turned.R),
        p=tuple(closed.positions),
        dimension=len(family.directions) + len(family.angles) + turned.freedoms + closed.free,
        length_rank=closed.rank,
        held=_held(family, closed, evaluator),
        relations=closed.relations,
        further=place_couplings(family.mechanism, evaluator),
        massless=family.mechanism.massless,
        lines={body: _line(placed, one) for body, one in family.mechanism.lines.items()},
    )


def _line(joints: tuple[PlacedJoint, ...], one: Line) -> tuple[Vec, Vec]:
    (first, near), (second, far) = one.start, one.end
    end = joints[second].axes[far].z if one.slides else joints[second].at[far]
    return line(joints[first].at[near], end, one.slides)


def _held(family: Family, closed: Closed, evaluator: Evaluator) -> int:
    nominal = {name: evaluator.number(value) for name, value in family.nominal.items()}
    if any(name not in nominal for name in family.unknowns):
        return 0
    return sum(
        sum((x * (1 if name is None else nominal[name]) for name, x in row.items()), 0) == 0
        for row in closed.relations
    )


def symbol_values(family: Family, draw: Draw) -> Evaluator:
    """Random values of everything that is not solved for by closure.

    Raises
    ------
    RedrawError
        An algebraic number has no root here.
    """
    number = exact_number(draw.prime)
    values = {name: number(value) for name, value in family.constants.items()}
    values |= {name: draw() for name in family.directions}
    if may_have_pi(family.mechanism):
        values[PI] = draw()
    halves = {name: draw() for name in family.angles}
    given = (*family.mechanism.geometry, *family.mechanism.constants)
    halves |= {s.name: values.pop(s.name) for s in given if s.is_angle and s.name in values}
    angles = {name: _on_the_circle(half) for name, half in halves.items()}
    evaluator = Evaluator(number, values, angles)
    for root in family.roots:
        roots = _roots(root, evaluator, draw.prime)
        if not roots:
            raise RedrawError
        values[root.symbol] = roots[int(draw()) % len(roots)]
    known = {*values, *angles, *family.unknowns}
    idle = (*family.mechanism.geometry, *family.mechanism.constants)
    for symbol in (s for s in idle if s.name not in known):  # in the file, and nowhere in it
        if symbol.is_angle:
            angles[symbol.name] = _on_the_circle(draw())
        else:
            values[symbol.name] = draw()
    return evaluator


def _on_the_circle(half: nmod) -> tuple[nmod, nmod]:
    """Cosine and sine of an angle by the tangent of its half."""
    square = half * half
    return (1 - square) / (1 + square), 2 * half / (1 + square)


def travels(point: Point) -> dict[int, list[nmod]]:
    """Slides of joints that have some, in units of their axes' lengths, by joint."""
    found = {}
    for k, joint in enumerate(point.joints):
        shape = joint_type(joint.kind)
        if shape.slides:
            first, second = joint.bodies
            start = add(point.p[first], times(point.R[first], joint.at[0]))
            way = minus(add(point.p[second], times(point.R[second], joint.at[1])), start)
            axes = joint.axes[0]
            along = [(axes.x, axes.y, axes.z)[k] for k in shape.directions]
            found[k] = [dot(times(point.R[first], axis), way) for axis in along]
    return found
