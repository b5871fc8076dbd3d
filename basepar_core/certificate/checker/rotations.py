"""Rotations over any field, as three columns (the axes) each."""

from collections.abc import Sequence
from typing import Any

from .natural import Mechanism, cross, dot, plus, sized

Columns = Sequence[Sequence[Any]]


def columns_of(mechanism: Mechanism, x: Sequence[Any], body: int) -> Columns:
    """A body's axes from (1, unknowns)."""
    one, zero = x[0], 0 * x[0]
    if body < 0:
        return [[one, zero, zero], [zero, one, zero], [zero, zero, one]]
    o = 1 + mechanism.width * body
    if mechanism.planar:
        c, s = x[o + 2], x[o + 3]
        return [[c, s, zero], [-s, c, zero], [zero, zero, one]]
    return [x[o + 3 : o + 6], x[o + 6 : o + 9], x[o + 9 : o + 12]]


def turned(columns: Columns, v: Sequence[Any]) -> list[Any]:
    """R v."""
    return plus(plus(sized(v[0], columns[0]), sized(v[1], columns[1])), sized(v[2], columns[2]))


def after(A: Columns, B: Columns) -> Columns:
    """A B."""
    return [turned(A, column) for column in B]


def back(A: Columns) -> Columns:
    """The inverse."""
    return [list(row) for row in zip(*A, strict=True)]


def about(u: Sequence[Any], a: Any, b: Any) -> Columns:
    """Rotation about u by the quaternion (a, b u)."""
    norm = a * a + b * b * dot(u, u)
    found = []
    for k in range(3):
        e = [int(i == k) + 0 * a for i in range(3)]
        once = cross(u, e)
        twice = sized(b * b, cross(u, once))
        found.append(plus(e, sized(2 / norm, plus(sized(a * b, once), twice))))
    return found


def half_turn(v: Sequence[Any]) -> Columns:
    """By π about v."""
    factor = 2 / dot(v, v)
    return [[factor * v[j] * v[i] - int(i == j) for i in range(3)] for j in range(3)]


def bringing(w: Sequence[Any], u: Sequence[Any]) -> Columns:
    """A rotation that takes w to u, equally long."""
    middle = plus(u, w)
    if all(x == 0 for x in middle):
        one = 1 + 0 * u[0]
        units = [[one, 0 * one, 0 * one], [0 * one, one, 0 * one]]
        middle = next(v for v in (cross(u, e) for e in units) if any(x != 0 for x in v))
    return half_turn(middle)
