"""A Watt II linkage by circle intersections, in mpmath: no Newton, no rates, no regressor.

A one-degree-of-freedom linkage driven at its crank: kinetic energy ½ M(q) q̇² and potential
energy U(q), both linear in the inertial parameters. W has the row space of the functions that
stand in M and U − U(q₀), so their rank is that of W.
"""

from collections.abc import Mapping

import mpmath
from mpmath import mpf

Point = mpmath.mpc


def _meet(a: Point, ra: mpf, b: Point, rb: mpf) -> Point:
    """Where circles about a and b meet, to the left of the way from a to b."""
    way = b - a
    distance = abs(way)
    along = (ra**2 - rb**2 + distance**2) / (2 * distance)
    return a + way / distance * (along + 1j * mpmath.sqrt(ra**2 - along**2))


def bodies(g: Mapping[str, mpf], q: mpf) -> list[tuple[Point, Point]]:
    """Origin and direction of x (complex numbers) of crank, coupler, bell crank, rod, rocker."""
    crank, D, G = mpmath.expj(q), Point(g["Dx"], g["Dy"]), Point(g["Gx"], g["Gy"])
    B = g["l1"] * crank
    C = _meet(B, g["l2"], D, g["l3"])
    bell = (C - D) / g["l3"]
    E = D + bell * Point(g["Ex"], g["Ey"])
    F = _meet(E, g["l4"], G, g["l5"])
    return [
        (Point(0), crank),
        (B, (C - B) / g["l2"]),
        (D, bell),
        (E, (F - E) / g["l4"]),
        (G, (F - G) / g["l5"]),
    ]


def functions(g: Mapping[str, mpf], q: mpf, gravity: mpf) -> tuple[list[mpf], list[mpf]]:
    """Factors of m, mx, my, J of every body in M(q) and in U(q); derivatives by differences."""
    h = mpf(10) ** (-mpmath.mp.dps // 5)
    # Five points: error h⁴, rounding 1/h.
    table = [bodies(g, q + k * h) for k in (-2, -1, 1, 2)]
    kinetic, potential = [], []
    for b, (origin, x) in enumerate(bodies(g, q)):
        a, c, d, e = ([t[b][0], t[b][1]] for t in table)
        v, x_dot = ((a[k] - 8 * c[k] + 8 * d[k] - e[k]) / (12 * h) for k in (0, 1))
        w = (x_dot / x).imag
        # |v + x'·(s + i t)|² = |v|² + 2 s Re(v̄ x') − 2 t Im(…) + …: per unit m, mx, my, J
        swing = mpmath.conj(v) * (1j * w * x)
        kinetic += [abs(v) ** 2, 2 * swing.real, -2 * swing.imag, w**2]
        potential += [gravity * origin.imag, gravity * x.imag, gravity * x.real, mpf(0)]
    return kinetic, potential


def energy_matrix(g: Mapping[str, mpf], start: mpf, half: mpf, count: int) -> mpmath.matrix:
    """Rows M(q) and U(q) − U(q₀) at `count` crank angles within `half` of `start`."""
    at = [start + half * (2 * mpf(k) / (count - 1) - 1) for k in range(count)]
    gravity = mpf("9.81")
    _, rest = functions(g, start, gravity)
    rows = []
    for q in at:
        kinetic, potential = functions(g, q, gravity)
        rows += [kinetic, [u - u0 for u, u0 in zip(potential, rest, strict=True)]]
    return mpmath.matrix(rows)
