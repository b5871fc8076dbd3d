"""Machines that turn one way, many at once: the equation of motion with q as the variable.

While q̇ = w > 0, the kinetic energy e = ½ m w² obeys de/dq = F(q, w), an equation without m′, on
nodes that are tabulated anyway: no interpolation. Work of forces that depend on q only is summed
exactly beforehand (`work`), e = ε + W₀(q), so that ε moves only with what depends on speed and
current. Fourth-order Runge-Kutta over pairs of intervals; time is one more integral.

Not for machines that stop or turn back: those are reported as stalled; see `forward`.
"""

from dataclasses import dataclass, replace

import numba
import numpy as np

from ..errors import UsageError
from ..spatial import Array
from .loads import Loads, Push, speed_terms
from .survey import Table
from .work import above, integrals, ways

#: What became of a variant.
TURNING, STALLED, NEUTRAL, NONE = 0, 1, 2, 3
STATES = ("turning", "stalled", "neutral", "no regime")
_COUNT = 60
#: Newton ends after a relative change below this: differences of 1e-6 cost it a millionth of its
#: convergence only.
_SAME = 1e-9
#: Work in and out of a turn is in balance when what is left is less than this share of its range:
#: cubics between 360 nodes sum ways to 1e-8.
_BALANCED = 1e-6


@dataclass(frozen=True)
class Turn:
    """One turn of many machines on even nodes; arrays are contiguous float64.

    Attributes
    ----------
    q
        (node,), an odd number: both ends of the turn.
    m, work, drag, fan
        (variant, node): reduced inertia; work of forces of q since the first node, J; F's
        coefficients of w and of w².
    pull
        (variant, motor, node): K n θ′, V per rad/s and N m per A.
    electric
        (variant, motor, 3): U, R, L of motors with inductance.
    slow
        Places of these motors among all; the others' currents follow at once.
    """

    q: Array
    m: Array
    work: Array
    drag: Array
    fan: Array
    pull: Array
    electric: Array
    slow: tuple[int, ...]

    @property
    def count(self) -> int:
        return len(self.m)


def close_up(table: Table, length: float) -> Table:
    """A closed motion's table with its first sample once more at its end."""
    r = table.reduced

    def wrapped(x: Array, grown: Array | float = 0.0) -> Array:
        return np.concatenate([x, x[..., :1] + np.asarray(grown)[..., None]], axis=-1)

    gained = table.rates[:, 0].mean(axis=-1) * length
    loss = table.slope.mean(axis=-1) * length
    path = replace(r.path, q=np.concatenate([r.path.q, r.path.q[..., :1]], axis=-1))
    reduced = replace(
        r,
        q=np.append(r.q, r.q[0] + length),
        inertia=wrapped(r.inertia),
        half_slope=wrapped(r.half_slope),
        potential_slope=wrapped(r.potential_slope),
        energy=wrapped(r.energy),
        potential=wrapped(r.potential),
        path=path,
    )
    return replace(
        table,
        reduced=reduced,
        m=wrapped(table.m),
        slope=wrapped(table.slope),
        virtual_slope=wrapped(table.virtual_slope),
        potential=wrapped(table.potential, loss),
        theta=wrapped(table.theta, gained),
        rates=wrapped(table.rates),
    )


def turn_of(table: Table) -> Turn:
    """Tables for the kernel; the nodes include both ends (`close_up`), an even count of intervals.

    Raises
    ------
    UsageError
        A torque that is no polynomial of second degree in its joint's speed.
    """
    loads, q = table.loads, table.q
    h = float(q[1] - q[0])
    gained = -np.diff(table.potential, axis=-1)
    drag, fan = np.zeros_like(table.m), np.zeros_like(table.m)
    rate = table.rates[:, 0]
    for r in loads.resistances:
        up, down = ways(table.theta[r.joint], rate[r.joint], h)
        gained = gained - r.coulomb[:, None] * (up + down)
        gained = gained - r.offset[:, None] * np.diff(table.theta[r.joint], axis=-1)
        drag = drag - r.viscous[:, None] * rate[r.joint] ** 2
    for push in loads.pushes:
        if push.pieces:
            gained = gained + _pieces(table, push, h)
            continue
        terms = speed_terms(push, _columns(loads), table.theta[push.joint])
        if terms is None:
            raise UsageError(
                "A torque depends on its joint's speed other than as a + b·speed + c·speed². Run "
                "it in time (--from), or write it so.",
                ["torques"],
            )
        active = _active(rate[push.joint], push.way)
        gained = gained + _by_position(push.way, terms[0], table, push.joint, h)
        drag = drag + terms[1] * rate[push.joint] ** 2 * active
        fan = fan + terms[2] * rate[push.joint] ** 3 * active
    slow = tuple(k for k, d in enumerate(loads.drives) if d.inductance.all())
    for k, drive in enumerate(loads.drives):
        if k not in slow:
            pull = drive.gain[:, None] * rate[drive.joint]
            gained = gained + integrals(pull * (drive.voltage / drive.resistance)[:, None], q)
            drag = drag - pull**2 / drive.resistance[:, None]
    count = len(table.m)
    work = np.zeros_like(table.m)
    work[:, 1:] = np.cumsum(np.broadcast_to(gained, (count, q.size - 1)), axis=1)
    pull = np.zeros((count, len(slow), q.size))
    electric = np.zeros((count, len(slow), 3))
    for place, k in enumerate(slow):
        drive = loads.drives[k]
        pull[:, place] = drive.gain[:, None] * rate[drive.joint]
        for column, x in enumerate((drive.voltage, drive.resistance, drive.inductance)):
            electric[:, place, column] = x
    return Turn(q, np.ascontiguousarray(table.m), work, drag, fan, pull, electric, slow)


def _columns(loads: Loads) -> dict[str, Array]:
    """Symbols with a node axis."""
    return {
        name: x[:, None] if np.ndim(x) == 1 and np.size(x) > 1 else x
        for name, x in loads.symbols.items()
    }


def _active(rate: Array, way: int) -> Array:
    return np.ones_like(rate) if way == 0 else (rate * way > 0).astype(float)


def _by_position(way: int, effort: Array, table: Table, joint: int, h: float) -> Array:
    """Work per interval of an effort that depends on position."""
    theta, rate = table.theta[joint], table.rates[joint, 0]
    constant = not np.ptp(effort, axis=-1).any()
    if way == 0:
        step = np.diff(theta, axis=-1)
        return effort[..., :1] * step if constant else integrals(effort * rate, table.q)
    up, down = ways(theta, rate, h)
    middle = (effort[..., 1:] + effort[..., :-1]) / 2
    return middle * (up if way > 0 else -down)


def _pieces(table: Table, push: Push, h: float) -> Array:
    growth = table.loads.growth.get(push.along, 0.0)
    own = (table.theta[push.joint], table.rates[push.joint, 0])
    along = (table.theta[push.along], table.rates[push.along, 0])
    found = np.zeros((len(table.m), table.q.size - 1))
    for low, high, value in push.pieces:
        turns = [0.0]
        if growth:
            ends = (along[0].min() - high, along[0].max() - low)
            turns = [k * abs(growth) for k in range(*_whole(ends, abs(growth)))]
        for turn in turns:
            inside = above(low + turn, along, own, h) - above(high + turn, along, own, h)
            found += value[:, None] * inside
    return found


def _whole(ends: tuple[float, float], growth: float) -> tuple[int, int]:
    return int(np.floor(ends[0] / growth)), int(np.ceil(ends[1] / growth)) + 1


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
def _run(h, m, work, drag, fan, pull, electric, w0, i0, turns, speeds, times, currents):
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
def _regimes(h, m, work, drag, fan, pull, electric, w0, i0, state, multiplier):
    """Newton on the map of one turn for every variant; w0, i0 are starts, then results."""
    motors = i0.shape[1]
    size = motors + 1
    scratch, none = np.empty((5, motors)), np.empty(0)
    nones = np.empty((motors, 0))
    for v in range(len(m)):
        state[v] = NONE
        x = np.empty(size)
        x[0] = w0[v]
        x[1:] = i0[v]
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
                i[:] = start[1:]
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
                    y[1:] = i
                else:
                    J[0, column] = (w - y[0]) / step
                    J[1:, column] = (i - y[1:]) / step
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
        i0[v] = x[1:]


@dataclass(frozen=True)
class Run:
    """Motion over turns, on every second node.

    Attributes
    ----------
    q
        (node,) of one turn.
    speed, time
        (variant, turn, node): rad/s or m/s; s since the turn's beginning. nan once stalled.
    currents
        (variant, turn, motor, node), A, of motors with inductance.
    """

    q: Array
    speed: Array
    time: Array
    currents: Array

    @property
    def state(self) -> Array:
        """(variant,): `TURNING` or `STALLED`."""
        return np.where(np.isfinite(self.speed).all(axis=(1, 2)), TURNING, STALLED)


def run(turn: Turn, speed: Array, currents: Array | None = None, turns: int = 1) -> Run:
    """Forward dynamics of all variants over a number of turns.

    Parameters
    ----------
    speed
        (variant,) at the first node, positive.
    currents
        (variant, motor) of motors with inductance; 0 without.
    """
    count, motors, nodes = turn.count, len(turn.slow), (turn.q.size + 1) // 2
    speeds, times = np.empty((count, turns, nodes)), np.empty((count, turns, nodes))
    flows = np.empty((count, turns, motors, nodes))
    start = np.zeros((count, motors)) if currents is None else currents
    _run(  # type: ignore[call-arg]
        float(turn.q[1] - turn.q[0]),
        *_arrays(turn),
        np.array(np.broadcast_to(speed, (count,)), float),
        np.ascontiguousarray(start),
        turns,
        speeds,
        times,
        flows,
    )
    return Run(turn.q[::2], speeds, times, flows)


def _arrays(turn: Turn) -> tuple[Array, ...]:
    found = (turn.m, turn.work, turn.drag, turn.fan, turn.pull, turn.electric)
    return tuple(np.ascontiguousarray(x) for x in found)


@dataclass(frozen=True)
class Regimes:
    """Steady regimes: state at the first node, and what became of every variant.

    `multiplier` is what a turn multiplies a small change of speed by: 1 is neutral.
    """

    speed: Array
    currents: Array
    state: Array
    multiplier: Array


def regimes(turn: Turn, guess: Array, period: float | None = None) -> Regimes:
    """Periodic motions found directly, by Newton on the map of one turn.

    Parameters
    ----------
    guess
        (variant,) speed at the first node, from which Newton starts.
    period
        s per turn: the condition that a neutral regime needs. Others have their own speed and
        ignore it.
    """
    count, motors = turn.count, len(turn.slow)
    w, i = np.array(np.broadcast_to(guess, (count,)), float), np.zeros((count, motors))
    state, multiplier = np.empty(count, np.int64), np.full(count, np.nan)
    h = float(turn.q[1] - turn.q[0])
    _regimes(h, *_arrays(turn), w, i, state, multiplier)  # type: ignore[call-arg]
    if period is not None and (state == NEUTRAL).any():
        w = np.where(state == NEUTRAL, _of_period(turn, w, i, period), w)
    return Regimes(w, i, state, multiplier)


def _of_period(turn: Turn, w: Array, i: Array, period: float) -> Array:
    """Speeds at the first node with which a turn takes this long, by the secant."""
    length = float(turn.q[-1] - turn.q[0])
    low = np.full(turn.count, length / period)
    last = low * 1.01
    t_low = run(turn, low, i).time[:, 0, -1]
    for _ in range(30):
        t = run(turn, last, i).time[:, 0, -1]
        with np.errstate(all="ignore"):
            step = (period - t) * (last - low) / (t - t_low)
        low, t_low = last, t
        last = last + np.where(np.isfinite(step), step, 0.0)
        if np.nanmax(np.abs(step / last), initial=0.0) < 1e-14:
            break
    return last
