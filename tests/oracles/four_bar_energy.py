"""The shipped four-bar's torque and energy from Lagrange's equation, in thirty digits.

Three uniform bars between points found by intersecting circles; velocities, m'(q) and V'(q) are
mpmath's differences. No frames, loops, regressors or rigid-body algorithms.
"""

from collections.abc import Mapping

import mpmath
from mpmath import mp, mpf

GRAVITY = mpf("9.81")
NOMINAL = {"lx1": 0.3, "lx2": 0.7, "ly2": 1.1, "lx3": 1.3, "Dx": 1.0, "Dy": 0.1}
DENSITY = mpf("2.7")


def pins(v: Mapping[str, float], q: mpf) -> list[tuple[mpf, mpf]]:
    """A, B, C and D in the world; C on the branch of the assembly, left of the way from B to D."""
    bx, by = v["lx1"] * mp.cos(q), v["lx1"] * mp.sin(q)
    dx, dy = v["Dx"] - bx, v["Dy"] - by
    two, three, far = mp.hypot(v["lx2"], v["ly2"]), mpf(v["lx3"]), mp.hypot(dx, dy)
    along = (two**2 - three**2 + far**2) / (2 * far)
    across = mp.sqrt(two**2 - along**2)
    c = (bx + (along * dx - across * dy) / far, by + (along * dy + across * dx) / far)
    return [(mpf(0), mpf(0)), (bx, by), c, (mpf(v["Dx"]), mpf(v["Dy"]))]


def inertia_and_potential(v: Mapping[str, float], q: mpf) -> tuple[mpf, mpf]:
    """m(q), the kinetic energy's double at unit crank rate (kg m²), and V(q) (J)."""
    here = pins(v, q)
    rates = [
        tuple(mpmath.diff(lambda x, k=k, i=i: pins(v, x)[k][i], q) for i in (0, 1))
        for k in range(4)
    ]
    inertia, potential = mpf(0), mpf(0)
    for one, two in ((0, 1), (1, 2), (2, 3)):
        mass = DENSITY * mp.hypot(here[two][0] - here[one][0], here[two][1] - here[one][1])
        # A uniform bar's kinetic energy by the speeds a, b of its ends: m (a·a + a·b + b·b)/6.
        inertia += (
            mass
            / 3
            * sum(
                rates[one][i] ** 2 + rates[one][i] * rates[two][i] + rates[two][i] ** 2
                for i in (0, 1)
            )
        )
        potential += mass * GRAVITY * (here[one][1] + here[two][1]) / 2
    return inertia, potential


def torque(values: Mapping[str, float], q: float, qd: float, qdd: float) -> float:
    """τ = m q̈ + m′ q̇²/2 + V′, N m."""
    with mp.workdps(30):
        v = {**NOMINAL, **values}
        inertia, _ = inertia_and_potential(v, mpf(q))
        slope = mpmath.diff(lambda x: inertia_and_potential(v, x)[0], mpf(q))
        pull = mpmath.diff(lambda x: inertia_and_potential(v, x)[1], mpf(q))
        return float(inertia * qdd + slope * mpf(qd) ** 2 / 2 + pull)


def energy(values: Mapping[str, float], q: float, qd: float) -> float:
    """Kinetic and potential energy, J."""
    with mp.workdps(30):
        inertia, potential = inertia_and_potential({**NOMINAL, **values}, mpf(q))
        return float(inertia * mpf(qd) ** 2 / 2 + potential)
