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
    from . import sample_kernels as kernels  # the compiler: who prepares a sweep needs none

    found = np.empty((2, *theta.shape[:-1], theta.shape[-1] - 1))
    rows = (np.ascontiguousarray(x).reshape(-1, x.shape[-1]) for x in (theta, rate))
    kernels.ways(*rows, h, found.reshape(2, -1, found.shape[-1]))  # type: ignore[call-arg]
    return found[0], found[1]


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
