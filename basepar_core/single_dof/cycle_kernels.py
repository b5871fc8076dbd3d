"""Compiled: one turn, many turns, and the regime of many machines, variant after variant.

Arrays are those of `cycle_tables.Turn`; `cycle_integrator` has the equations.
"""

import numba
import numpy as np

from .cycle_tables import NEUTRAL, NONE, TURNING

_COUNT = 60
#: Newton ends after a relative change below this: differences of 1e-6 cost it a millionth of its
#: convergence only.
_SAME = 1e-9
#: Work in and out of a turn is in balance when what is left is less than this share of its range:
#: cubics between 360 nodes sum ways to 1e-8.
_BALANCED = 1e-6


@numba.njit(cache=True, error_model="numpy")
def _slopes(eps, i, m, work, drag, fan, pull, electric, di):
    """dε/dq, dt/dq and di/dq at one node; the speed."""
    w = np.sqrt(2.0 * (eps + work) / m)
    de = drag * w + fan * w * w
    for k in range(len(i)):
        de += pull[k] * i[k]
        di[k] = (electric[k, 0] - electric[k, 1] * i[k] - pull[k] * w) / (electric[k, 2] * w)
    return de, 1.0 / w, w


@numba.njit(cache=True, error_model="numpy")
def _one_turn(
    h, m, work, drag, fan, pull, electric, w0, i, scratch, speeds, times, currents, keep
):
    """One turn from speed w0 and currents i (changed); speed and time at its end.

    nan where the kinetic energy runs out.
    """
    motors = len(i)
    j, d1, d2, d3, d4 = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    eps, t = 0.5 * m[0] * w0 * w0 - work[0], 0.0
    H = 2.0 * h
    for n in range(0, len(m) - 2, 2):
        a, b = n + 1, n + 2
        e1, t1, w = _slopes(eps, i, m[n], work[n], drag[n], fan[n], pull[:, n], electric, d1)
        if keep:
            speeds[n // 2], times[n // 2] = w, t
            for k in range(motors):
                currents[k, n // 2] = i[k]
        for k in range(motors):
            j[k] = i[k] + h * d1[k]
        e2, t2, w = _slopes(
            eps + h * e1, j, m[a], work[a], drag[a], fan[a], pull[:, a], electric, d2
        )
        for k in range(motors):
            j[k] = i[k] + h * d2[k]
        e3, t3, w = _slopes(
            eps + h * e2, j, m[a], work[a], drag[a], fan[a], pull[:, a], electric, d3
        )
        for k in range(motors):
            j[k] = i[k] + H * d3[k]
        e4, t4, w = _slopes(
            eps + H * e3, j, m[b], work[b], drag[b], fan[b], pull[:, b], electric, d4
        )
        eps += H / 6.0 * (e1 + 2.0 * (e2 + e3) + e4)
        t += H / 6.0 * (t1 + 2.0 * (t2 + t3) + t4)
        for k in range(motors):
            i[k] += H / 6.0 * (d1[k] + 2.0 * (d2[k] + d3[k]) + d4[k])
    last = len(m) - 1
    w = np.sqrt(2.0 * (eps + work[last]) / m[last])
    if keep:
        speeds[last // 2], times[last // 2] = w, t
        for k in range(motors):
            currents[k, last // 2] = i[k]
    return w, t


@numba.njit(cache=True, error_model="numpy", nogil=True)
def run(h, m, work, drag, fan, pull, electric, w0, i0, turns, speeds, times, currents):
    """`turns` turns of every variant; results as in `Run`."""
    motors = i0.shape[1]
    scratch = np.empty((5, motors))
    i = np.empty(motors)
    for v in range(len(m)):
        w = w0[v]
        for k in range(motors):
            i[k] = i0[v, k]
        for n in range(turns):
            w, _ = _one_turn(
                h,
                m[v],
                work[v],
                drag[v],
                fan[v],
                pull[v],
                electric[v],
                w,
                i,
                scratch,
                speeds[v, n],
                times[v, n],
                currents[v, n],
                True,
            )


@numba.njit(cache=True, error_model="numpy")
def _solved(A, b):
    """A⁻¹ b by elimination with pivots in the column: two to four unknowns."""
    n = len(b)
    for k in range(n):
        p = k
        for r in range(k + 1, n):
            if abs(A[r, k]) > abs(A[p, k]):
                p = r
        for c in range(n):
            A[k, c], A[p, c] = A[p, c], A[k, c]
        b[k], b[p] = b[p], b[k]
        for r in range(k + 1, n):
            f = A[r, k] / A[k, k]
            for c in range(k, n):
                A[r, c] -= f * A[k, c]
            b[r] -= f * b[k]
    for k in range(n - 1, -1, -1):
        for c in range(k + 1, n):
            b[k] -= A[k, c] * b[c]
        b[k] /= A[k, k]
    return b


@numba.njit(cache=True, error_model="numpy", nogil=True)
def regimes(h, m, work, drag, fan, pull, electric, w0, i0, state, multiplier):
    """Newton on the map of one turn for every variant; w0, i0 are starts, then results."""
    motors = i0.shape[1]
    size = motors + 1
    scratch, none = np.empty((5, motors)), np.empty(0)
    nones = np.empty((motors, 0))
    for v in range(len(m)):
        state[v] = NONE
        x = np.empty(size)
        x[0] = w0[v]
        # Loops here and below: numba takes seconds to compile an assignment of arrays.
        for k in range(motors):
            x[1 + k] = i0[v, k]
        y, J = np.empty(size), np.empty((size, size))
        i = np.empty(motors)
        if motors == 0 and not drag[v].any() and not fan[v].any():
            # Nothing depends on speed: a turn's work vanishes at every speed, or at none.
            multiplier[v] = 1.0
            if abs(work[v, -1]) < _BALANCED * (work[v].max() - work[v].min()):
                state[v] = NEUTRAL
            continue
        for _ in range(_COUNT):
            for column in range(-1, size):
                start = x.copy()
                step = 0.0
                if column >= 0:
                    step = 1e-6 * max(abs(x[column]), 1e-3 * x[0])
                    start[column] += step
                for k in range(motors):
                    i[k] = start[1 + k]
                w, _t = _one_turn(
                    h,
                    m[v],
                    work[v],
                    drag[v],
                    fan[v],
                    pull[v],
                    electric[v],
                    start[0],
                    i,
                    scratch,
                    none,
                    none,
                    nones,
                    False,
                )
                if column < 0:
                    y[0] = w
                    for k in range(motors):
                        y[1 + k] = i[k]
                else:
                    J[0, column] = (w - y[0]) / step
                    for k in range(motors):
                        J[1 + k, column] = (i[k] - y[1 + k]) / step
            if not np.isfinite(y[0]):
                x[0] *= 2.0  # it stalls: start faster
                continue
            A = -J
            for k in range(size):
                A[k, k] += 1.0
            multiplier[v] = J[0, 0]
            gap = y - x
            change = _solved(A, gap)
            size_ = 0.0
            for k in range(size):
                size_ = max(size_, abs(change[k]) / max(abs(x[k]), 1e-3 * abs(x[0])))
            limit = min(1.0, 0.5 * x[0] / max(abs(change[0]), 1e-300))
            x = x + limit * change
            if not np.isfinite(size_):
                break
            if size_ < _SAME:
                state[v] = TURNING
                break
        w0[v] = x[0]
        for k in range(motors):
            i0[v, k] = x[1 + k]
