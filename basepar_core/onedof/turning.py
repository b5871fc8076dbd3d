"""Machines that turn one way, many at once: the equation of motion with q as the variable.

While q̇ = w > 0, the kinetic energy e = ½ m w² obeys de/dq = F(q, w), an equation without m′, on
nodes that are tabulated anyway: no interpolation. Work of forces that depend on q only is summed
exactly beforehand (`turn`), e = ε + W₀(q), so that ε moves only with what depends on speed and
current. Fourth-order Runge-Kutta over pairs of intervals; time is one more integral.

Not for machines that stop or turn back: those are reported as stalled; see `forward`.
"""

from dataclasses import dataclass

import numpy as np

from ..spatial import Array
from . import turning_kernels as kernels
from .turn import Turn as Turn
from .turn import close_up as close_up
from .turn import turn_of as turn_of
from .turning_kernels import NEUTRAL as NEUTRAL
from .turning_kernels import NONE as NONE
from .turning_kernels import STALLED as STALLED
from .turning_kernels import TURNING as TURNING

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
    count, motors, nodes = turn.count, len(turn.slow), (turn.q.size + 1) // 2
    speeds, times = np.empty((count, turns, nodes)), np.empty((count, turns, nodes))
    flows = np.empty((count, turns, motors, nodes))
    start = np.zeros((count, motors)) if currents is None else currents
    kernels.run(  # type: ignore[call-arg]
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
