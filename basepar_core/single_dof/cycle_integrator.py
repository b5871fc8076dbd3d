"""Machines that turn one way, many at once: the equation of motion with q as the variable.

While q̇ = w > 0, the kinetic energy e = ½ m w² obeys de/dq = F(q, w), an equation without m′, on
nodes that are tabulated anyway: no interpolation. Work of forces that depend on q only is summed
exactly beforehand (`turn`), e = ε + W₀(q), so that ε moves only with what depends on speed and
current. Fourth-order Runge-Kutta over pairs of intervals; time is one more integral.

Not for machines that stop or turn back: those are reported as stalled; see `forward`.
"""

from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array

from .cycle_tables import ABOUT
from .cycle_tables import NEUTRAL as NEUTRAL
from .cycle_tables import NONE as NONE
from .cycle_tables import STALLED as STALLED
from .cycle_tables import TURNING as TURNING
from .cycle_tables import Turn as Turn
from .cycle_tables import close_up as close_up
from .cycle_tables import turn_of as turn_of
from .splines import cubic

#: Torques of any law in speed are parabolas about the speeds of the run before, which converges
#: like Newton's method: to this share of the speed, or not at all.
_SETTLED, _REPEATS = 1e-8, 30
#: Turns that a machine is run in where Newton does not find its regime from the guess.
_RUN_IN = (2, 10, 40)
#: Words of the states, in the order of their codes.
STATES = ("turning", "stalled", "neutral", "no regime")


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
    w = np.array(np.broadcast_to(speed, (turn.count,)), float)
    i = np.zeros((turn.count, len(turn.slow))) if currents is None else currents
    if turn.about is None:
        return _run(turn, w, i, turns)
    parts = []
    for _ in range(turns):
        parts.append(_settled(turn, w, i))
        w, i = parts[-1].speed[:, -1, -1], parts[-1].currents[:, -1, :, -1]
    joined = (
        np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("speed", "time", "currents")
    )
    return Run(turn.q[::2], *joined)


def _settled(turn: Turn, speed: Array, currents: Array) -> Run:
    """One turn, repeated until its torques are expanded about its own speeds."""
    assert turn.about is not None
    found = _run(turn, speed, currents, 1)
    for _ in range(_REPEATS):
        before = found.speed
        found = _run(turn.about(_on_nodes(turn, found)), speed, currents, 1)
        if _same(before, found.speed).all():
            break
    return found


def _on_nodes(turn: Turn, found: Run) -> Array:
    """Speeds on every node of the last turn (variant, node); `ABOUT` where it stalled."""
    speed = np.nan_to_num(found.speed[:, -1], nan=ABOUT)
    nodes: Array = cubic(found.q, speed)(turn.q)
    return nodes


def _same(before: Array, after: Array) -> Array:
    """(variant,): the speeds have not moved, or there are none."""
    ends = tuple(range(1, after.ndim))
    lost = ~np.isfinite(after).all(axis=ends)
    with np.errstate(invalid="ignore"):
        same: Array = np.abs(after - before).max(axis=ends) < _SETTLED * after.max(axis=ends)
    return same | lost


def _run(turn: Turn, w: Array, i: Array, turns: int) -> Run:
    count, motors, nodes = turn.count, len(turn.slow), (turn.q.size + 1) // 2
    speeds, times = np.empty((count, turns, nodes)), np.empty((count, turns, nodes))
    flows = np.empty((count, turns, motors, nodes))
    from . import cycle_kernels as kernels  # the compiler: who prepares a sweep needs none

    kernels.run(  # type: ignore[call-arg]
        float(turn.q[1] - turn.q[0]),
        *_arrays(turn),
        np.ascontiguousarray(w),
        np.ascontiguousarray(i),
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
    w = np.array(np.broadcast_to(guess, (turn.count,)), float)
    if turn.about is not None:
        return _settled_regimes(turn, w)
    return _regimes(turn, w, period)


def _settled_regimes(turn: Turn, guess: Array) -> Regimes:
    """Regimes, repeated until torques are expanded about the regimes' own speeds.

    Where this does not settle from a guess the machine is run in, and it is tried from there.
    """
    ran = _settled(turn, guess, np.zeros((turn.count, len(turn.slow))))
    found = _newton(turn, _on_nodes(turn, ran))
    for turns in _RUN_IN:
        if (found.state == TURNING).all():
            break
        for _ in range(turns):
            ran = _settled(turn, ran.speed[:, -1, -1], ran.currents[:, -1, :, -1])
        other = _newton(turn, _on_nodes(turn, ran))
        done = found.state == TURNING
        found = Regimes(
            np.where(done, found.speed, other.speed),
            np.where(done[:, None], found.currents, other.currents),
            np.where(done, found.state, other.state),
            np.where(done, found.multiplier, other.multiplier),
        )
    return found


def _newton(turn: Turn, about: Array) -> Regimes:
    """Regimes near given speeds (variant, node); none where the repetitions do not settle."""
    assert turn.about is not None
    for _ in range(_REPEATS):
        here = turn.about(about)
        found = _regimes(here, about[:, 0], None)
        good = found.state == TURNING
        if not good.any():
            return found
        ran = _run(here, np.where(good, found.speed, np.nan), found.currents, 1)
        before, about = about, np.where(good[:, None], _on_nodes(turn, ran), about)
        same = _same(before, about)
        if same.all():
            break
    return replace(found, state=np.where(same, found.state, NONE))


def _regimes(turn: Turn, w: Array, period: float | None) -> Regimes:
    count, motors = turn.count, len(turn.slow)
    w, i = w.copy(), np.zeros((count, motors))
    state, multiplier = np.empty(count, np.int64), np.full(count, np.nan)
    h = float(turn.q[1] - turn.q[0])
    from . import cycle_kernels as kernels

    kernels.regimes(h, *_arrays(turn), w, i, state, multiplier)  # type: ignore[call-arg]
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
