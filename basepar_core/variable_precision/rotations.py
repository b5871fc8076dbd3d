"""Rotation vectors: the rotation, its rate map and that one's rate, by power series.

The series in θ² converge for every angle and never divide by it, so that small angles need no
case of their own. Below, with x = θ² and K = r×:

    exp(r) = 1 + f₁ K + f₂ K²,   ω = J(r) ṙ,   J = 1 + f₂ K + f₃ K²,
    f_k(x) = Σ (−x)ⁿ / (2n + k)!
"""

import math

from flint import arb, ctx

from basepar_core.symbolic import add, cross, dot, scale, transpose

from .arithmetic import ONE, UNITS, ZERO, Matrix, Vec, ball, log2_size


def _series(x: arb, k: int) -> tuple[arb, arb]:
    """f_k and its derivative by x."""
    value, slope, power, factorial, n = ZERO, ZERO, ONE, 1, 0
    for i in range(2, k + 1):
        factorial *= i
    smallest = arb(2) ** -(ctx.prec + 8)
    while True:
        term = power / factorial
        value = value + term
        factorial *= (2 * n + k + 1) * (2 * n + k + 2)
        n += 1
        slope = slope - n * power / factorial
        power = -power * x
        following = abs(power / factorial) * (n + 1)
        # Once n passes the angle each term is less than half the one before (slope's included),
        # so that all that follow are together less than twice the next.
        if n > max(4.0, math.sqrt(float(x.upper()))) and following < smallest:
            rest = ball(log2_size(following) + 1)
            return value + rest, slope + rest


def rotation(r: Vec) -> Matrix:
    """exp(r) for a rotation vector (rad)."""
    x = dot(r, r)
    f1, f2 = _series(x, 1)[0], _series(x, 2)[0]
    return _columns(r, f1, f2)


def _columns(r: Vec, one: arb, two: arb) -> Matrix:
    """1 + one K + two K²."""
    columns = []
    for e in UNITS:
        turned = cross(r, e)
        columns.append(add(e, add(scale(one, turned), scale(two, cross(r, turned)))))
    return transpose((columns[0], columns[1], columns[2]))


def rates(r: Vec, r_dot: Vec, r_ddot: Vec) -> tuple[Matrix, Vec, Vec]:
    """J(r), ω = J ṙ and dω/dt = J r̈ + J̇ ṙ, in the fixed frame."""
    x, x_dot = dot(r, r), 2 * dot(r, r_dot)
    (f2, f2_dash), (f3, f3_dash) = _series(x, 2), _series(x, 3)
    J = _columns(r, f2, f3)
    omega = tuple(dot(row, r_dot) for row in J)
    turned = cross(r, r_dot)
    twice = cross(r, turned)
    # d/dt of f₂ r×ṙ + f₃ r×(r×ṙ) with ṙ held; ṙ×ṙ = 0.
    moving = add(
        scale(x_dot, add(scale(f2_dash, turned), scale(f3_dash, twice))),
        scale(f3, cross(r_dot, turned)),
    )
    steady = tuple(dot(row, r_ddot) for row in J)
    return J, omega, add(steady, moving)
