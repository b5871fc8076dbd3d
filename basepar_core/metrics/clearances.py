"""Clearance between bodies, and of points from bodies: least signed distance over the cycle.

Below zero shapes overlap, by the least shift that would part them.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import ZERO
from basepar_core.mechanism import Mechanism, Point, Shape

from .analytic import length, size
from .closed_cycle import ClosedCycle
from .cycle_metric import CycleMetric
from .targets import Target

WORDS = ("clearance",)


def metrics(mechanism: Mechanism, _: Sequence[Target]) -> dict[str, CycleMetric]:
    """By name: of bodies that have shapes, the ground among them, and of points."""
    found = {}
    for first, second in _pairs(mechanism):
        words = f"least distance between {first} and {second} over the cycle; below 0: overlap"
        value = partial(_clearance, first=first, second=second)
        found[f"clearance({first},{second})"] = CycleMetric(value, "m", words)
    return found


def _pairs(mechanism: Mechanism) -> Iterator[tuple[str, str]]:
    bodies = list(dict.fromkeys(shape.body for shape in mechanism.shapes))
    for first, second in combinations(bodies, 2):
        yield first, second
        yield second, first
    for point in mechanism.points:
        yield from ((point.name, body) for body in bodies if body != point.body)


def _shapes(mechanism: Mechanism, name: str) -> list[Shape]:
    own = [shape for shape in mechanism.shapes if shape.body == name]
    points = [one for one in mechanism.points if one.name == name]
    return own or [Shape(one.body, (one.at,), ZERO) for one in points]


def _clearance(cycle: ClosedCycle, first: str, second: str) -> Array:
    mechanism = cycle.model.mechanism
    found = [
        _between(cycle, one, other)
        for one in _shapes(mechanism, first)
        for other in _shapes(mechanism, second)
    ]
    return np.stack(found).min(axis=0)


def _between(cycle: ClosedCycle, one: Shape, other: Shape) -> Array:
    from basepar_core.compiled import least_apart

    points = [Point("", shape.body, at) for shape in (one, other) for at in shape.corners]
    tracks = cycle._places(points)  # (variant, corner, axis, sample)
    parts = np.split(tracks, [len(one.corners)], axis=1)
    least, where = np.empty(cycle.count), np.empty(cycle.count, np.int64)
    least_apart(*(np.ascontiguousarray(np.real(part)) for part in parts), least, where)
    if np.iscomplexobj(tracks):
        rows = np.arange(cycle.count)
        least = separation(*(part[rows, :, :, where] for part in parts))
    radii = size(cycle._of_symbols([one.radius, other.radius]))
    return least - radii.sum(axis=1)


def separation(A: Array, B: Array) -> Array:
    """Signed distance (case,) of hulls of corners (case, corner, axis); analytic."""
    if A.shape[2] == 3:
        return _between_lines(A, B)
    gaps = [*_gaps(A, B), *_gaps(B, A)]
    away = np.stack([*_apart(A, B), *_apart(B, A)]).min(axis=0)
    if not gaps:
        return np.sqrt(away)
    widest = np.stack(gaps).max(axis=0)
    beyond = np.real(widest) > 0
    return np.where(beyond, np.sqrt(np.where(beyond, away, 1.0)), widest)


def _sides(A: Array) -> Iterator[tuple[Array, Array]]:
    count = A.shape[1]
    for i in range(count if count > 2 else max(1, count - 1)):
        yield A[:, i], A[:, (i + 1) % count]


def _apart(A: Array, B: Array) -> Iterator[Array]:
    """Distances² of corners of B from sides of A."""
    for start, end in _sides(A):
        along = end - start
        square = (along * along).sum(axis=1)
        for corner in np.moveaxis(B, 1, 0):
            share = ((corner - start) * along).sum(axis=1) / np.where(square == 0, 1.0, square)
            share = np.where(np.real(share) < 0, 0.0, np.where(np.real(share) > 1, 1.0, share))
            away = corner - start - share[:, None] * along
            yield (away * away).sum(axis=1)


def _gaps(A: Array, B: Array) -> Iterator[Array]:
    """Gaps along the normals of A's sides; of a line also along itself."""
    if A.shape[1] < 2:
        return
    for start, end in _sides(A):
        along = (end - start) / length(end - start, axis=1)[:, None]
        normal = np.stack([along[:, 1], -along[:, 0]], axis=1)
        for direction in (normal, -normal, *((along, -along) if A.shape[1] == 2 else ())):
            high = (A * direction[:, None]).sum(axis=2).max(axis=1)
            yield (B * direction[:, None]).sum(axis=2).min(axis=1) - high


def _between_lines(A: Array, B: Array) -> Array:
    """Distance of two lines in space: of places on them that are nearest, which stand still."""
    u, w, r = A[:, -1] - A[:, 0], B[:, -1] - B[:, 0], A[:, 0] - B[:, 0]
    p, t = np.array([_nearest(*x) for x in zip(*(np.real(y) for y in (u, w, r)), strict=True)]).T
    return length(r + p[:, None] * u - t[:, None] * w, axis=1)


def _nearest(u: Array, w: Array, r: Array) -> tuple[float, float]:
    """Shares of two lines at which they are nearest (Ericson, Real-Time Collision Detection)."""
    a, b, c, d, e = u @ u, u @ w, w @ w, u @ r, w @ r
    det = a * c - b * b
    p = float(np.clip((b * e - c * d) / det, 0, 1)) if det > 1e-14 * a * c else 0.0
    t = float((b * p + e) / c) if c > 0 else 0.0
    if t < 0 or c == 0:
        t, p = 0.0, float(np.clip(-d / a, 0, 1)) if a > 0 else 0.0
    elif t > 1:
        t, p = 1.0, float(np.clip((b - d) / a, 0, 1)) if a > 0 else 0.0
    return p, t
