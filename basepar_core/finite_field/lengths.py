"""Closure at given orientations: one linear system in positions and unknown lengths.

The order of the unknowns decides what is solved for: positions, then symbols of ground points,
then other lengths; what does not become a pivot is free, or prescribed beforehand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import nmod, nmod_mat

from basepar_core.symbolic import add, scale, transpose

from .arithmetic import Draw, Matrix, Scalar, Vec, echelon
from .evaluation import Affine, combine
from .frames import AffineVec, JointFrames, locks

#: One equation: coefficients by (body, axis) for positions, by name for lengths, None: constant.
Row = dict[tuple[int, int] | str | None, Scalar]


def closure_rows(joints: Sequence[JointFrames], R: Sequence[Matrix], planar: bool) -> list[Row]:
    """Equations that close all joints at orientations R (the ground last)."""
    rows = []
    for joint in joints:
        across, _ = locks(joint.kind, planar)
        if across is None:
            units = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
            normals: list[Vec] = list(units[: 2 if planar else 3])
        else:
            axes = joint.axes[0]
            normals = [_turned(R[joint.bodies[0]], getattr(axes, name)) for name in across]
        rows += [_row(joint, R, normal) for normal in normals]
    return rows


def _turned(R: Matrix, v: Vec) -> Vec:
    columns = transpose(R)
    return add(add(scale(v[0], columns[0]), scale(v[1], columns[1])), scale(v[2], columns[2]))


def _row(joint: JointFrames, R: Sequence[Matrix], normal: Vec) -> Row:
    """normal · (second point − first point), points in the world."""
    row: Row = {}
    terms: list[tuple[Scalar, Affine]] = []
    for body, at, sign in zip(joint.bodies, joint.at, (-1, 1), strict=True):
        local = _turned(transpose(R[body]), normal)
        terms += [(sign * x, form) for x, form in zip(local, at, strict=True) if x != 0]
        if body >= 0:
            for k in range(3):
                if normal[k] != 0:
                    key = (body, k)
                    row[key] = row.get(key, 0) + sign * normal[k]
    for name, x in combine(terms).items():
        row[name] = x
    return row


@dataclass(frozen=True)
class Closed:
    """A solution: positions per body (the ground last), lengths, and what was free.

    `consistent` is False where the numbers do not close: the constant column is a pivot, and
    nothing else is filled in. `relations` are what the equations demand of lengths alone.
    """

    consistent: bool
    rank: int
    free: int
    positions: list[Vec]
    lengths: dict[str, nmod]
    relations: tuple[dict[str | None, nmod], ...] = ()


def solve(
    rows: Sequence[Row], bodies: int, planar: bool, unknowns: Sequence[str], draw: Draw
) -> Closed:
    """A random solution of the closure equations over GF(p)."""
    axes = 2 if planar else 3
    columns: list[tuple[int, int] | str] = [(b, k) for b in range(bodies) for k in range(axes)]
    columns += unknowns
    place: dict[tuple[int, int] | str | None, int] = {key: k for k, key in enumerate(columns)}
    place[None] = len(columns)
    matrix = nmod_mat(len(rows), len(place), draw.prime)
    for i, row in enumerate(rows):
        for key, x in row.items():
            matrix[i, place[key]] = x
    reduced, pivots = echelon(matrix)
    rank, zero = len(pivots), nmod(0, draw.prime)
    if place[None] in pivots:
        return Closed(False, rank, 0, [], {})
    solved = set(pivots)
    values = [zero if k in solved else draw() for k in range(len(columns))]
    values.append(nmod(1, draw.prime))
    demanded = reduced * nmod_mat(len(place), 1, values, draw.prime)
    for i, pivot in enumerate(pivots):
        values[pivot] = -demanded[i, 0]
    positions: list[Vec] = [
        (values[place[b, 0]], values[place[b, 1]], zero if planar else values[place[b, 2]])
        for b in range(bodies)
    ]
    positions.append((zero, zero, zero))
    lengths = {name: values[place[name]] for name in unknowns}
    relations = tuple(
        {name: reduced[i, place[name]] for name in (*unknowns, None)}
        for i, pivot in enumerate(pivots)
        if pivot >= axes * bodies
    )
    return Closed(True, rank, len(columns) - rank, positions, lengths, relations)


def numeric_rank(rows: Sequence[Row]) -> int:
    """Rank of a system with float coefficients, constants left out.

    Coefficients are components of rotations, of order one; a rank that depends on 1e-9 is that
    of a special pose.
    """
    keys = sorted({key for row in rows for key in row if key is not None}, key=str)
    if not keys:
        return 0
    matrix = np.array([[float(row.get(key, 0.0)) for key in keys] for row in rows])
    return int((np.linalg.svd(matrix, compute_uv=False) > 1e-9).sum())


def value_of(at: AffineVec, lengths: dict[str, nmod], zero: nmod) -> Vec:
    """A point once all lengths are known."""
    x, y, z = (
        sum(
            (c if name is None else c * lengths[name] for name, c in form.items()),
            zero,
        )
        for form in at
    )
    return (x, y, z)


def exact_number(prime: int) -> Callable[[Fraction], nmod]:
    """Rational numbers in GF(p).

    A denominator divisible by the prime raises ZeroDivisionError.
    """

    def number(value: Fraction) -> nmod:
        return nmod(value.numerator, prime) / nmod(value.denominator, prime)

    return number
