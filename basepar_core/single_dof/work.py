"""Work of forces that depend on q only, exactly where they jump or have kinks.

Coulomb friction does T₀ times the way of its joint, a one-way torque its value times the way up:
sums of differences of θ, split where the joint turns back. So the kinks of |θ′| leave the
integrator's right-hand side (`turning`) and cost it no accuracy.
"""

import numpy as np

from basepar_core.arrays import Array

from .splines import cubic


def hermite(s: Array, h: float, y: tuple[Array, Array], slope: tuple[Array, Array]) -> Array:
    """Cubic with values `y` and slopes at both ends of an interval of length h, at share s."""
    a, b = y[1] - y[0] - h * slope[0], h * slope[1] - (y[1] - y[0])
    found: Array = y[0] + s * h * slope[0] + s**2 * (2 * a - b) + s**3 * (b - a)
    return found


def ways(theta: Array, rate: Array, h: float) -> tuple[Array, Array]:
    """How far a joint goes up, and down, in every interval.

    Parameters
    ----------
    theta, rate
        (…, node): value and dθ/dq.
    h
        Spacing of the nodes.

    Returns
    -------
    Each (…, interval), at least 0.
    """
    y, d = (theta[..., :-1], theta[..., 1:]), (rate[..., :-1], rate[..., 1:])
    step = y[1] - y[0]
    up, down = np.maximum(step, 0.0), np.maximum(-step, 0.0)
    turning = d[0] * d[1] < 0
    if turning.any():
        y, d = ((a[turning], b[turning]) for a, b in (y, d))
        top = hermite(_zero(h, y, d), h, y, d)
        ends = np.maximum(top - y[0], 0) + np.maximum(top - y[1], 0)
        rises = d[0] > 0  # up to the top, then down; else down first
        up[turning] = np.where(rises, np.maximum(top - y[0], 0), np.maximum(y[1] - top, 0))
        down[turning] = np.where(rises, ends - up[turning], np.maximum(y[0] - top, 0))
    return up, down


def _zero(h: float, y: tuple[Array, Array], d: tuple[Array, Array]) -> Array:
    """Share of the interval at which the cubic's slope vanishes; slopes at its ends differ."""
    s = d[0] / (d[0] - d[1])
    a, b = y[1] - y[0] - h * d[0], h * d[1] - (y[1] - y[0])
    for _ in range(4):  # Newton from the straight line: quadratic, and the cubic is nearly one
        value = h * d[0] + 2 * s * (2 * a - b) + 3 * s**2 * (b - a)
        bend = 2 * (2 * a - b) + 6 * s * (b - a)
        s = np.clip(s - value / bend, 0.0, 1.0)
    return s


def above(edge: float, along: tuple[Array, Array], own: tuple[Array, Array], h: float) -> Array:
    """∫ θ′ dq over every interval as far as another joint's value is above an edge.

    Parameters
    ----------
    along, own
        (value, rate) of the joint whose range counts, and of the joint that the force is on,
        each (…, node).
    """
    y, d = (along[0][..., :-1], along[0][..., 1:]), (along[1][..., :-1], along[1][..., 1:])
    step = np.diff(own[0], axis=-1)
    inside = (y[0] >= edge, y[1] >= edge)
    found = np.where(inside[0] & inside[1], step, 0.0)
    crossed = inside[0] != inside[1]
    if crossed.any():
        y, d = ((a[crossed], b[crossed]) for a, b in (y, d))
        s = (edge - y[0]) / (y[1] - y[0])
        for _ in range(4):
            near = (hermite(s + 1e-6, h, y, d) - hermite(s - 1e-6, h, y, d)) / 2e-6
            s = np.clip(s - (hermite(s, h, y, d) - edge) / near, 0.0, 1.0)
        theta = (own[0][..., :-1][crossed], own[0][..., 1:][crossed])
        rate = (own[1][..., :-1][crossed], own[1][..., 1:][crossed])
        here = hermite(s, h, theta, rate)
        found[crossed] = np.where(inside[1][crossed], theta[1] - here, here - theta[0])
    return found


def integrals(values: Array, q: Array) -> Array:
    """∫ over every interval of what is sampled at the nodes (…, node), by a cubic spline."""
    grown = cubic(q, values).antiderivative()(q)
    return np.diff(grown, axis=-1)
