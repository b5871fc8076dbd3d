"""Rows of W and of the energies, linear in the parameters, from balls of one closed sample."""

from collections.abc import Sequence

from flint import arb

from basepar_core.symbolic import add, cross, dot, minus, scale, slender, times, transpose

from .arithmetic import ORIGIN, UNITS, Vec
from .configurations import Closed
from .constraints import Twists
from .exact_geometry import Geometry

#: Which of the ten parameters of a body a planar one has: m, mx, my, J.
IN_PLANE = (0, 1, 2, 9)


def inverse_dynamics_rows(
    planar: bool, closed: Closed, twists: Twists, accelerations: Twists, dims: Geometry
) -> list[list[arb]]:
    """Rows of W (coordinate, parameter) at one sample.

    The Newton–Euler regressor of free bodies about their frames' origins, on the virtual motions
    at unit rates (d'Alembert).
    """
    rows: list[list[arb]] = [[] for _ in closed.modes]
    kept = IN_PLANE if planar else tuple(range(10))
    for b, R in enumerate(closed.poses.R):
        into_body = transpose(R)
        w = times(into_body, twists.omega[b])
        w_dot = times(into_body, accelerations.omega[b])
        a = times(into_body, minus(accelerations.v[b], dims.gravity))
        moments, forces = _body_regressor(w, w_dot, a)
        for row, mode in zip(rows, closed.modes, strict=True):
            turn, slide = times(into_body, mode.omega[b]), times(into_body, mode.v[b])
            row += _of_form(dims, b, [_power(turn, moments[k], slide, forces[k]) for k in kept])
    return rows


def _of_form(dims: Geometry, body: int, entries: list[arb]) -> list[arb]:
    """Entries of a body's parameters, as its stated form leaves them."""
    if body in dims.massless:
        return [arb(0)] * len(entries)
    return slender(entries, *dims.lines[body]) if body in dims.lines else entries


def _power(turn: Vec, moment: Vec, slide: Vec, force: Vec) -> arb:
    if force is ORIGIN:
        return dot(turn, moment)
    return dot(slide, force) if moment is ORIGIN else dot(turn, moment) + dot(slide, force)


def _body_regressor(w: Vec, w_dot: Vec, a: Vec) -> tuple[list[Vec], list[Vec]]:
    """Moment about the origin and force that move a body, per unit parameter; body axes.

    `a` is the origin's acceleration less gravity (Atkeson, An & Hollerbach, Int. J. Robotics
    Research 5(3), 1986).
    """
    moments, forces = [ORIGIN], [a]
    for k in range(3):  # a first moment along axis k
        e = UNITS[k]
        moments.append(cross(e, a))
        forces.append(add(cross(w_dot, e), cross(w, cross(w, e))))
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        spun = cross(w, _entry(w, i, j))
        moments.append(add(_entry(w_dot, i, j), spun))
        forces.append(ORIGIN)
    return moments, forces


def _entry(v: Vec, i: int, j: int) -> Vec:
    """I v for the inertia matrix with ones at (i, j) and (j, i)."""
    one = scale(v[j], UNITS[i])
    return one if i == j else add(one, scale(v[i], UNITS[j]))


def energy_rows(planar: bool, closed: Closed, dims: Geometry) -> tuple[list[list[arb]], list[arb]]:
    """Bilinear kinetic energies (pair of coordinates, parameter), and the potential energy.

    Notes
    -----
    Of a body with velocities (ω, v) of its origin, in its own axes, T = ½ m v·v + d·(v×ω) +
    ½ ω·Iω; for two motions a, b: m v_a·v_b + d·(v_a×ω_b + v_b×ω_a) + ω_a·Iω_b.
    """
    kept = IN_PLANE if planar else tuple(range(10))
    potential: list[arb] = []
    for b, (R, p) in enumerate(zip(closed.poses.R, closed.poses.p, strict=True)):
        pull = times(transpose(R), dims.gravity)
        weights = [-dot(dims.gravity, p), *(-x for x in pull), *[arb(0)] * 6]
        potential += _of_form(dims, b, [weights[k] for k in kept])
    return _kinetic_rows(planar, closed, dims), potential


def mode_rows(planar: bool, closed: Closed, dims: Geometry) -> list[list[arb]]:
    """Bilinear kinetic energies, and gravity's power along every mode, by the parameters.

    Notes
    -----
    Gravity's power on a body is m g·v + d·(g×ω), in the body's axes: the slope of the potential,
    so that no sample is compared with another, and each gives a row for each coordinate.
    """
    kept = IN_PLANE if planar else tuple(range(10))
    gravity: list[list[arb]] = [[] for _ in closed.modes]
    for b, R in enumerate(closed.poses.R):
        into_body = transpose(R)
        pull = times(into_body, dims.gravity)
        for row, mode in zip(gravity, closed.modes, strict=True):
            w, v = times(into_body, mode.omega[b]), times(into_body, mode.v[b])
            power = [dot(pull, v), *cross(pull, w), *[arb(0)] * 6]
            row += _of_form(dims, b, [power[k] for k in kept])
    return [*_kinetic_rows(planar, closed, dims), *gravity]


def _kinetic_rows(planar: bool, closed: Closed, dims: Geometry) -> list[list[arb]]:
    count = len(closed.modes)
    pairs = [(i, j) for i in range(count) for j in range(i, count)]
    kinetic: list[list[arb]] = [[] for _ in pairs]
    kept = IN_PLANE if planar else tuple(range(10))
    for b, R in enumerate(closed.poses.R):
        into_body = transpose(R)
        w = [times(into_body, mode.omega[b]) for mode in closed.modes]
        v = [times(into_body, mode.v[b]) for mode in closed.modes]
        for row, (i, j) in zip(kinetic, pairs, strict=True):
            entries = _bilinear(w[i], v[i], w[j], v[j])
            row += _of_form(dims, b, [entries[k] for k in kept])
    return kinetic


def _bilinear(w1: Vec, v1: Vec, w2: Vec, v2: Vec) -> Sequence[arb]:
    first = add(cross(v1, w2), cross(v2, w1))
    mixed = [w1[i] * w2[j] + w1[j] * w2[i] for i, j in ((0, 1), (0, 2), (1, 2))]
    squares = [x * y for x, y in zip(w1, w2, strict=True)]
    inertia = (squares[0], mixed[0], mixed[1], squares[1], mixed[2], squares[2])
    return (dot(v1, v2), *first, *inertia)
