"""What stands around a torque function in its file, in Python and in C."""

import re
from collections.abc import Mapping
from typing import Any

from basepar_core.texts import c_comment, python_text

#: Dry friction needs it.
_SIGN = "sign("
_PYTHON_LOOPS = '''
def _factor(a):
    """LU with row exchanges, in place; raises ZeroDivisionError where singular."""
    n, order = len(a), list(range(len(a)))
    for k in range(n):
        best = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[best] = a[best], a[k]
        order[k], order[best] = order[best], order[k]
        pivot = a[k]
        for row in a[k + 1 :]:
            row[k] /= pivot[k]
            for j in range(k + 1, n):
                row[j] -= row[k] * pivot[j]
    return a, order


def _solve(factors, b):
    a, order = factors
    n, x = len(a), [b[i] for i in order]
    for i in range(n):
        for j in range(i):
            x[i] -= a[i][j] * x[j]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            x[i] -= a[i][j] * x[j]
        x[i] /= a[i][i]
    return x


def _solve_transposed(factors, b):
    a, order = factors
    n, y = len(a), list(b)
    for i in range(n):
        for j in range(i):
            y[i] -= a[j][i] * y[j]
        y[i] /= a[i][i]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            y[i] -= a[j][i] * y[j]
    x = [0.0] * n
    for place, i in enumerate(order):
        x[i] = y[place]
    return x

'''
_PYTHON_SIGN = """
def sign(x):
    return (x > 0) - (x < 0)

"""
_PYTHON_TURN = '''
def _turn(x, k, a, b, c):
    """The quaternion x[k:k+4] turned by a small rotation vector."""
    angle = sqrt(a * a + b * b + c * c)
    half = sin(angle / 2) / angle if angle > 1e-12 else 0.5
    p, q, r, s = cos(angle / 2), half * a, half * b, half * c
    w, u, v, t = x[k : k + 4]
    new = [
        p * w - q * u - r * v - s * t,
        p * u + q * w + r * t - s * v,
        p * v - q * t + r * w + s * u,
        p * t + q * v - r * u + s * w,
    ]
    size = sqrt(sum(n * n for n in new))
    x[k : k + 4] = [n / size for n in new]

'''
_PYTHON_CLOSE = '''
def _newton(q, x):
{newton}


def close(q, state):
    """Close the loops at q, in small steps from where `state` is; raises ValueError."""
    here = state[-{coordinates}:]
    ways = [abs(a - b) / step for a, b, step in zip(q, here, STEPS)]
    pieces = max(1, ceil(max(ways)))
    for k in range(1, pieces + 1):
        there = [b + (a - b) * k / pieces for a, b in zip(q, here)]
        for _ in range(25):
            if _newton(there, state) < 1e-9:
                break
        else:
            raise ValueError("the loops cannot be closed at q")
    state[-{coordinates}:] = q

'''
_PYTHON = '''"""Inverse dynamics of {mechanism}: torque from q, q', q'' (SI).

{about}
Operations of one torque, loops closed: {operations}
"""

from math import ceil, cos, sin, sqrt

COORDINATES = {coordinates!r}
PARAMETERS = {parameters!r}
VALUES = {values!r}
#: Joint values that the loops determine, then the coordinates, at the assembly.
START = {start!r}
STEPS = {steps!r}
OPERATIONS = {operations!r}
{runtime}

def _torque(q, qd, qdd, p, x):
{torque}


def torque(q, qd, qdd, p=VALUES, state=None):
    """Torques (forces) of COORDINATES; p: PARAMETERS.

    `state` is a list that begins as START and follows the motion from call to call; without
    one, every call comes from the assembly.
    """
    state = list(START) if state is None else state
{close}    return _torque(q, qd, qdd, p, state)


def acceleration(q, qd, tau, p=VALUES, state=None):
    """q'' from torques: forward dynamics with the same parameters."""
    state = list(START) if state is None else state
{close}    n = len(q)
    zero = [0.0] * n
    bias = _torque(q, qd, zero, p, state)
    a = []
    for k in range(n):
        unit = zero[:]
        unit[k] = 1.0
        column = _torque(q, qd, unit, p, state)
        a.append([x - y for x, y in zip(column, bias)])  # the mass matrix is symmetric
    return _solve(_factor(a), [x - y for x, y in zip(tau, bias)])
'''


def python(facts: Mapping[str, Any]) -> str:
    """The whole module."""
    runtime = _PYTHON_LOOPS + (_PYTHON_SIGN if _SIGN in facts["torque"] else "")
    if facts["turns_freely"]:
        runtime += _PYTHON_TURN
    if facts["newton"]:
        count = len(facts["coordinates"])
        runtime += _PYTHON_CLOSE.format(newton=facts["newton"], coordinates=count)
    close = "    close(q, state)\n" if facts["newton"] else ""
    plain = {
        "mechanism": python_text(facts["mechanism"]),
        "about": "\n".join(map(python_text, facts["about"])),
    }
    return _PYTHON.format(**{**facts, **plain, "runtime": runtime, "close": close})


_C_LOOPS = """
/* LU with row exchanges, in place; 1 where singular. */
static int _factor(int n, double *a, int *order)
{
    for (int i = 0; i < n; i++) order[i] = i;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        if (!(fabs(a[best * n + k]) > 0)) return 1;
        if (best != k) {
            for (int j = 0; j < n; j++) {
                const double t = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = t;
            }
            const int t = order[k];
            order[k] = order[best];
            order[best] = t;
        }
        for (int i = k + 1; i < n; i++) {
            a[i * n + k] /= a[k * n + k];
            for (int j = k + 1; j < n; j++) a[i * n + j] -= a[i * n + k] * a[k * n + j];
        }
    }
    return 0;
}

static void _solve(int n, const double *a, const int *order, double *b)
{
    double x[LARGEST];
    for (int i = 0; i < n; i++) {
        x[i] = b[order[i]];
        for (int j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
        x[i] /= a[i * n + i];
    }
    for (int i = 0; i < n; i++) b[i] = x[i];
}
"""
_C_SIGN = """
static double sign(double x)
{
    return (x > 0) - (x < 0);
}
"""
_C_TRANSPOSED = """
static void _solve_transposed(int n, const double *a, const int *order, double *b)
{
    double y[LARGEST];
    for (int i = 0; i < n; i++) {
        y[i] = b[i];
        for (int j = 0; j < i; j++) y[i] -= a[j * n + i] * y[j];
        y[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) y[i] -= a[j * n + i] * y[j];
    for (int i = 0; i < n; i++) b[order[i]] = y[i];
}
"""
_C_TURN = """
/* The quaternion x[0..3] turned by a small rotation vector. */
static void _turn(double *x, double a, double b, double c)
{
    const double angle = sqrt(a * a + b * b + c * c);
    const double half = angle > 1e-12 ? sin(angle / 2) / angle : 0.5;
    const double p = cos(angle / 2), q = half * a, r = half * b, s = half * c;
    const double w = x[0], u = x[1], v = x[2], t = x[3];
    const double n0 = p * w - q * u - r * v - s * t, n1 = p * u + q * w + r * t - s * v;
    const double n2 = p * v - q * t + r * w + s * u, n3 = p * t + q * v - r * u + s * w;
    const double size = sqrt(n0 * n0 + n1 * n1 + n2 * n2 + n3 * n3);
    x[0] = n0 / size;
    x[1] = n1 / size;
    x[2] = n2 / size;
    x[3] = n3 / size;
}
"""
_C_CLOSE = """
static int _newton(const double *q, double *x, double *size)
{
@newton@
}

/* Close the loops at q, in small steps from where `state` is; 1 where that fails. */
int close_loops(const double q[N], double state[STATE])
{
    static const double steps[N] = {@steps@};
    double *here = state + STATE - N, there[N], way = 1.0;
    for (int k = 0; k < N; k++) way = fmax(way, fabs(q[k] - here[k]) / steps[k]);
    const int pieces = (int)ceil(way);
    for (int piece = 1; piece <= pieces; piece++) {
        double size = 1.0;
        for (int k = 0; k < N; k++) there[k] = here[k] + (q[k] - here[k]) * piece / pieces;
        for (int k = 0; k < 25 && !(size < 1e-9); k++)
            if (_newton(there, state, &size)) return 1;
        if (!(size < 1e-9)) return 1;
    }
    for (int k = 0; k < N; k++) here[k] = q[k];
    return 0;
}
"""
_C = """/* Inverse dynamics of @mechanism@: torque from q, q', q'' (SI).

@about@
Operations of one torque, loops closed: @operations@
Coordinates: @coordinate_names@. Parameters p: @parameter_names@. */
#include <math.h>

#define N @count@       /* coordinates */
#define K @width@       /* parameters */
#define STATE @state@   /* joint values that the loops determine, then the coordinates */
#define LARGEST @largest@

const double VALUES[K + 1] = {@values@};
const double START[STATE] = {@start@}; /* a state begins as this, and follows the motion */
@runtime@
static int _torque(const double *q, const double *qd, const double *qdd, const double *p,
                   const double *x, double *tau)
{
@unused@
@torque@
}

/* Torques (forces) of the coordinates; 0, or 1 where the loops cannot be closed. */
int torque(const double q[N], const double qd[N], const double qdd[N], const double *p,
           double state[STATE], double tau[N])
{
@close@    return _torque(q, qd, qdd, p, state, tau);
}

/* q'' from torques: forward dynamics with the same parameters. */
int acceleration(const double q[N], const double qd[N], const double tau[N], const double *p,
                 double state[STATE], double qdd[N])
{
    double unit[N] = {0}, bias[N], column[N], a[N * N];
    int order[N];
@close@    if (_torque(q, qd, unit, p, state, bias)) return 1;
    for (int k = 0; k < N; k++) {
        unit[k] = 1.0;
        if (_torque(q, qd, unit, p, state, column)) return 1;
        unit[k] = 0.0;
        for (int i = 0; i < N; i++) a[i * N + k] = column[i] - bias[i];
    }
    if (_factor(N, a, order)) return 1;
    for (int k = 0; k < N; k++) qdd[k] = tau[k] - bias[k];
    _solve(N, a, order, qdd);
    return 0;
}
"""


def c(facts: Mapping[str, Any]) -> str:
    """The whole file."""
    numbers = {
        **{name: ", ".join(map(repr, facts[name])) for name in ("start", "steps")},
        "values": ", ".join(map(repr, [*facts["values"], 0.0])),
        "mechanism": c_comment(facts["mechanism"]),
        "about": "\n".join(map(c_comment, facts["about"])),
        "operations": ", ".join(f"{n} {name}" for name, n in facts["operations"].items()),
        "coordinate_names": c_comment(", ".join(facts["coordinates"])),
        "parameter_names": c_comment(", ".join(facts["parameters"])) or "none",
        "count": str(len(facts["coordinates"])),
        "width": str(len(facts["values"])),
        "state": str(len(facts["start"])),
        "largest": str(max(facts["largest"], len(facts["coordinates"]))),
        "torque": facts["torque"],
        "newton": facts["newton"],
        "unused": "    (void)q, (void)qd, (void)qdd, (void)p, (void)x;",
        "close": "    if (close_loops(q, state)) return 1;\n" if facts["newton"] else "",
    }
    loops = [_C_TURN] * facts["turns_freely"] + [_C_CLOSE] if facts["newton"] else []
    signs = [_C_SIGN] if _SIGN in facts["torque"] else []
    runtime = "".join([_C_LOOPS, *signs, *([_C_TRANSPOSED] if facts["newton"] else []), *loops])
    return _filled(_C.replace("@runtime@", runtime), numbers)


def _filled(text: str, numbers: Mapping[str, str]) -> str:
    # In one pass: a value that holds a mark of ours is not filled in itself.
    marks = "|".join(map(re.escape, numbers))
    return re.sub(f"@({marks})@", lambda hit: numbers[hit[1]], text)
