"""Rows of the energy form: kinetic energy of two modes, and work of gravity along one.

Modes that are treated alike stand side by side in one series: a product is then one of long
polynomials instead of many of short ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flint import nmod

from .arithmetic import Vec
from .placed_rows import Layout, Poses
from .series import Series, SeriesVec, Truncated, coefficients, side_by_side

#: Velocity of a body's origin and angular velocity.
Twist: TypeAlias = tuple[SeriesVec, SeriesVec]


@dataclass(frozen=True)
class Rows:
    """Rows side by side: `count` of them, each with its terms from k · `stride` on.

    `entries` are series by parameter.
    """

    count: int
    stride: int
    entries: Sequence[Series]


def body_velocities(
    layout: Layout, ring: Truncated, at: Poses, column: Sequence[Series]
) -> dict[int, Twist]:
    """By body that moves: velocity of the origin and angular velocity, in the body's axes."""
    found = {}
    for body in range(layout.bodies):
        v, w = layout.twist(column, body)
        if _moves(v, w):
            R = at.R[body]
            found[body] = ring.across(R, v), w if layout.planar else ring.across(R, w)
    return found


def kinetic_rows(
    layout: Layout,
    ring: Truncated,
    velocities: Sequence[Mapping[int, Twist]],
    partners: Sequence[Sequence[int]],
) -> list[Rows]:
    """Of every mode with each of its partners."""
    stride = 2 * ring.order - 1  # products of neighbours do not meet
    terms = [
        {body: [coefficients(x, ring.order) for x in (*v, *w)] for body, (v, w) in one.items()}
        for one in velocities
    ]
    still = [[nmod(0, ring.prime)]] * 6
    beside: dict[tuple[int, ...], dict[int, Twist]] = {}
    rows = []
    for modes, two in zip(partners, velocities, strict=True):
        one = beside.setdefault(tuple(modes), {})
        for body in two.keys() - one.keys():
            parts = zip(*(terms[mode].get(body, still) for mode in modes), strict=True)
            x, y, z, *w = (side_by_side(part, stride, ring.prime) for part in parts)
            one[body] = (x, y, z), (w[0], w[1], w[2])
        long = Truncated(ring.prime, stride * len(modes))
        rows.append(Rows(len(modes), stride, kinetic_row(layout, long, one, two)))
    return rows


def kinetic_row(
    layout: Layout, ring: Truncated, one: Mapping[int, Twist], two: Mapping[int, Twist]
) -> list[Series]:
    """Of two modes' velocities by body."""
    row: list[Series] = [0] * (layout.bodies * layout.parameters)
    for b in one.keys() & two.keys():
        place = b * layout.parameters
        row[place : place + layout.parameters] = _kinetic(layout, ring, one[b], two[b])
    return row


def _kinetic(layout: Layout, ring: Truncated, one: Twist, two: Twist) -> list[Series]:
    """Bilinear kinetic energy of two velocities, by the parameters of one body."""
    (v1, w1), (v2, w2) = one, two
    first = ring.add(ring.cross(v1, w2), ring.cross(v2, w1))
    mass = ring.dot(v1, v2)
    if layout.planar:
        return [mass, first[0], first[1], ring.times(w1[2], w2[2])]
    x, y, z = (tuple(ring.times(w1[i], w2[j]) for j in range(3)) for i in range(3))
    second = [x[0], x[1] + y[0], x[2] + z[0], y[1], y[2] + z[1], z[2]]
    return [mass, *first, *second]


def gravity_rows(
    layout: Layout,
    ring: Truncated,
    at: Poses,
    terms: Sequence[Sequence[Sequence[nmod]]],
    gravity: Vec,
) -> Rows:
    """Work of gravity along all modes; `terms` of their twists, by mode and place."""
    stride, count = 2 * ring.order - 1, len(terms)
    column = [side_by_side(parts, stride, ring.prime) for parts in zip(*terms, strict=True)]
    long = Truncated(ring.prime, stride * count)
    return Rows(count, stride, gravity_row(layout, long, at, column, gravity))


def gravity_row(
    layout: Layout, ring: Truncated, at: Poses, column: Sequence[Series], gravity: Vec
) -> list[Series]:
    """Work of gravity along a mode's twists, by the parameters."""
    g: SeriesVec = tuple(0 if x == 0 else ring.constant(x) for x in gravity)  # type: ignore[assignment]
    row: list[Series] = []
    for body in range(layout.bodies):
        v, w = layout.twist(column, body)
        if not _moves(v, w):
            row += [0] * layout.parameters
            continue
        first = ring.across(at.R[body], ring.cross(g, w))
        row += [ring.dot(g, v), *(first[:2] if layout.planar else first)]
        row += [0] * (1 if layout.planar else 6)
    return row


def _moves(v: SeriesVec, w: SeriesVec) -> bool:
    """Whether a velocity or an angular one is not the structure's zero."""
    return any(type(x) is not int or x != 0 for x in (*v, *w))
