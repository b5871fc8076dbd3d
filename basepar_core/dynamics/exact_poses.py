"""Bars that guide a body exactly through five poses in the plane: Burmester's points.

A pin a of the body and a pin g of the ground keep their distance in all poses p, R:

    |pₖ + Rₖ a − g|² = |p₀ + R₀ a − g|²,  k = 1 … 4.

|a|² and |g|² drop out, and what is left is linear in (g, 1) with entries linear in a = (x, y):
four rows M₀ + x M₁ + y M₂ that have a null vector v (L. Burmester, Lehrbuch der Kinematik, 1888:
at most four bars). Rows times 1, y and y², of v, y v, y² v and y³ v, are a square pencil in x.
"""

import numpy as np
from scipy.linalg import eig

from basepar_core.arrays import Array

#: Bars through five poses; with fewer there are infinitely many.
POSES = 5
#: A solution is real and one at all where Newton's method from it comes to this share of the size.
_ROUNDING = 1e-9
#: Two solutions are one where they are this close.
_SAME = 1e-6
_STEPS = 30


def exact_bars(places: Array, angles: Array) -> tuple[Array, Array]:
    """Pins of all bars that keep their length while a body takes five poses.

    Parameters
    ----------
    places
        (5, 2), m: where the body's origin is.
    angles
        (5,), rad.

    Returns
    -------
    (bar, 2) the pin on the ground, m, and (bar, 2) the pin in the body's frame, m: 0, 2 or 4 bars,
    the shortest first.
    """
    middle = places.mean(axis=0)
    size = np.sqrt(((places - middle) ** 2).sum(axis=1).max())
    p = (places - middle) / size
    R = np.array([[[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]] for t in angles])
    M = _rows(p, R)
    found: list[Array] = []
    for start in _starts(M):
        one = _polished(start, p, R)
        if one is not None and all(np.abs(one - other).max() > _SAME for other in found):
            found.append(one)
    found.sort(key=lambda one: float(np.linalg.norm(_pin(one, p, R)[0] - one[:2])))
    bars = np.array(found).reshape(-1, 4) * size
    return bars[:, :2] + middle, bars[:, 2:]


def _rows(p: Array, R: Array) -> Array:
    """M₀, M₁, M₂ (3, row, entry) of (g, 1)."""
    M = np.zeros((3, len(p) - 1, 3))
    local = np.einsum("kji,kj->ki", R, p)  # Rᵀ p
    M[0, :, :2] = -(p[1:] - p[0])
    M[0, :, 2] = ((p[1:] ** 2).sum(axis=1) - (p[0] ** 2).sum()) / 2
    for axis in range(2):
        M[1 + axis, :, :2] = -(R[1:, :, axis] - R[0, :, axis])
        M[1 + axis, :, 2] = local[1:, axis] - local[0, axis]
    return M


def _starts(M: Array) -> list[Array]:
    """(g, a) of the pencil's finite solutions; complex ones by their real parts."""
    A, B = np.zeros((2, 12, 12))
    for power in range(3):
        rows, here = slice(4 * power, 4 * power + 4), slice(3 * power, 3 * power + 3)
        A[rows, here], B[rows, here] = M[0], M[1]
        A[rows, 3 * power + 3 : 3 * power + 6] = M[2]
    values, vectors = eig(A, -B)
    found = []
    for x, w in zip(values, vectors.T, strict=True):
        v, yv = w[:3], w[3:6]
        large = np.abs(v).argmax()
        if np.isfinite(x) and v[2] != 0:
            y = yv[large] / v[large]
            found.append(np.real([v[0] / v[2], v[1] / v[2], x, y]))
    return [one for one in found if np.isfinite(one).all()]


def _pin(one: Array, p: Array, R: Array) -> Array:
    """(pose, 2) where the body's pin is."""
    pins: Array = p + R @ one[2:]
    return pins


def _polished(one: Array, p: Array, R: Array) -> Array | None:
    """By Newton's method; None where there is no solution near."""
    for _ in range(_STEPS):
        away = _pin(one, p, R) - one[:2]
        gaps = ((away[1:] ** 2).sum(axis=1) - (away[0] ** 2).sum()) / 2
        by_g = -(away[1:] - away[0])
        turned = np.einsum("kji,kj->ki", R, away)
        step = np.linalg.lstsq(np.hstack([by_g, turned[1:] - turned[0]]), gaps, rcond=None)[0]
        one = one - step
        scale = 1.0 + np.abs(one).max()
        if not np.isfinite(one).all() or scale > 1 / _SAME:
            return None
        if np.abs(step).max() < _ROUNDING * scale and np.abs(gaps).max() < _ROUNDING * scale**2:
            return one
    return None
