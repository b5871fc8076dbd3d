"""Where loads jump within a turn, and the motion on both sides of every jump.

Coulomb friction and one-way torques jump where their joint turns back, pieces where a joint passes
their edges. Speed and currents have kinks there, accelerations and reactions jump, so their peaks
lie at jumps as a rule, and between nodes. The places are roots of the tables' local interpolation;
the state comes from the node before by the trapezoidal rule, whose interval holds no jump.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from basepar_core.arrays import Array

from .force_balance import currents_of, forces, functions_of
from .loads import Loads, kinked
from .survey import Table

if TYPE_CHECKING:
    from .cycle_motion import Motion

#: Nodes of the local interpolation: its error, h⁶, is far below the steps' own.
STENCIL = 6
#: Which side of a jump one is on: this share of an interval beside it.
BESIDE = 1e-6
#: Halvings of an interval in search of a root, far below `BESIDE`; repeats of the implicit
#: trapezoidal rule, each of which gains the share of the speed that changes in one step.
_HALVINGS, _REPEATS = 36, 4


@dataclass(frozen=True)
class Jumps:
    """Jumps of many variants, ordered by variant and place.

    Attributes
    ----------
    variant, q
        (jump,).
    node
        (jump,) of the motion, at or before it.
    speed
        (jump,), rad/s.
    currents
        (motor, jump), A.
    reactions
        (side, reaction, jump): before and after.
    """

    variant: Array
    q: Array
    node: Array
    speed: Array
    currents: Array
    reactions: Array


def places(table: Table) -> tuple[Array, Array]:
    """Variant and q of every jump, ordered."""
    loads, found = table.loads, [np.zeros((2, 0))]
    for joint in kinked(loads):
        found.append(_crossings(table.q, table.rates[joint, 0], 0.0))
    for push in loads.pushes:
        growth = abs(loads.growth.get(push.along, 0.0))
        for edge in {x for low, high, _ in push.pieces for x in (low, high)}:
            found.append(_crossings(table.q, table.theta[push.along], edge, growth))
    variant, q = np.concatenate(found, axis=1)
    order = np.lexsort((q, variant))
    return variant[order].astype(np.int64), q[order]


def _crossings(q: Array, values: Array, level: float, growth: float = 0.0) -> Array:
    """Variants and places where values (variant, node) pass a level, or it plus whole `growth`."""
    above = np.floor((values - level) / growth) if growth else (values >= level).astype(float)
    variant, k = np.nonzero(above[:, 1:] != above[:, :-1])
    reached = np.maximum(above[variant, k], above[variant, k + 1])
    target = level + growth * reached
    step = q[1] - q[0]
    low, high = np.zeros(k.size), np.ones(k.size)
    rises = above[variant, k + 1] > above[variant, k]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        here = _Local(q, variant, q[k] + middle * step).of(values)
        beyond = (here >= target) == rises
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.stack([variant.astype(float), q[k] + high * step])


class _Local:
    """Interpolation of tables at places of variants, (…, variant, node) to (…, place)."""

    def __init__(self, q: Array, variant: Array, at: Array):
        share = (at - q[0]) / (q[1] - q[0])
        first = np.clip(np.floor(share).astype(np.int64) - STENCIL // 2 + 1, 0, q.size - STENCIL)
        self.variant, self.nodes = variant[:, None], first[:, None] + np.arange(STENCIL)
        self.weights = np.ones((at.size, STENCIL))
        for k in range(STENCIL):
            for other in range(STENCIL):
                if other != k:
                    self.weights[:, k] *= (share - first - other) / (k - other)

    def of(self, values: Array) -> Array:
        found: Array = (values[..., self.variant, self.nodes] * self.weights).sum(axis=-1)
        return found


def jumps_of(table: Table, motion: "Motion") -> Jumps:
    """The motion at all jumps of a turn; `table` is the one that the motion was made of."""
    variant, at = places(table)
    q = motion.q
    node = np.clip(((at - q[0]) / (q[1] - q[0])).astype(np.int64), 0, q.size - 2)
    loads = table.loads.mapped(lambda x: x[variant] if x.size > 1 else x)
    functions = functions_of(table)
    here = functions.mapped(_Local(table.q, variant, at).of)
    step = BESIDE * float(table.q[1] - table.q[0])
    sides = []
    for beside in (at - step, at + step):
        near = _Local(table.q, variant, beside)
        sides.append((np.sign(near.of(table.rates[:, 0])), near.of(table.theta)))

    def evaluated(side: int, x: Array) -> tuple[Array, Array, Array]:
        """Slopes of speed and currents in q, currents, reactions, beside every jump."""
        rate = here.rates[:, 0] * x[0]
        currents = currents_of(loads, rate, x[1:])
        acceleration, reactions = forces(here, loads, x[0], currents, *sides[side])
        rates = np.concatenate([acceleration[None], _flows(loads, rate, currents)])
        return rates / x[0], currents, reactions

    x0 = np.concatenate([motion.speed[variant, node][None], motion.currents[:, variant, node]])
    rate = table.rates[:, 0, variant, 2 * node] * x0[0]
    begin = motion.acceleration[variant, node]
    slope0 = np.concatenate([begin[None], _flows(loads, rate, x0[1:])]) / x0[0]
    x, since, rank = x0.copy(), at - q[node], _ranks(variant, node)
    for number in range(int(rank.max(initial=0)) + 1):
        now = rank == number
        if number:  # from the jump before, in the same interval
            before = np.flatnonzero(now) - 1
            x0[:, now], slope0[:, now] = x[:, before], evaluated(1, x)[0][:, before]
            since[now] = at[now] - at[before]
        for _ in range(_REPEATS):
            moved = x0 + since / 2 * (slope0 + evaluated(0, x)[0])
            x[:, now] = moved[:, now]
    (_, currents, ahead), (_, _, after) = evaluated(0, x), evaluated(1, x)
    return Jumps(variant, at, node, x[0], currents, np.stack([ahead, after]))


def _flows(loads: Loads, rate: Array, currents: Array) -> Array:
    """(motor, …) di/dt of motors with inductance, 0 of others."""
    found = np.zeros_like(currents)
    for k, drive in enumerate(loads.drives):
        if drive.slow:
            left = drive.voltage - drive.resistance * currents[k] - drive.gain * rate[drive.joint]
            found[k] = left / drive.inductance
    return found


def _ranks(variant: Array, node: Array) -> Array:
    """How many jumps lie before each in its interval."""
    found = np.zeros(variant.size, dtype=np.int64)
    for k in range(1, variant.size):
        if variant[k] == variant[k - 1] and node[k] == node[k - 1]:
            found[k] = found[k - 1] + 1
    return found


def greatest(values: Array, q: Array, jumps: Jumps, sides: Array) -> Array:
    """Greatest value of curves (variant, node) that are smooth between jumps, (variant,).

    Parabolas through three neighbours of one smooth piece; both ends of every piece count.

    Parameters
    ----------
    values, q
        Of a turn: both ends are the same place.
    jumps, sides
        And the curves' values before and after each, (side, jump).
    """
    count, nodes = values.shape
    x = np.tile(np.append(q, q[-1] + q[1] - q[0]), (count, 1))
    y = np.concatenate([values, values[:, 1:2]], axis=1)  # on into the next turn
    starts = np.zeros(y.shape, dtype=bool)
    starts[:, 0] = True
    starts[jumps.variant[jumps.node == 0], -1] = True
    place = np.repeat(jumps.variant * (nodes + 1) + jumps.node + 1, 2)
    x_ = np.insert(x.ravel(), place, np.repeat(jumps.q, 2))
    y_ = np.insert(y.ravel(), place, sides.T.ravel())
    new = np.insert(starts.ravel(), place, np.tile([False, True], jumps.q.size))
    top = np.maximum(y_, _vertices(x_, y_, new))
    first = np.arange(count) * (nodes + 1) + 2 * np.searchsorted(jumps.variant, np.arange(count))
    found: Array = np.maximum.reduceat(top, first)
    return found


def _vertices(x: Array, y: Array, new: Array) -> Array:
    """Height of the parabola about each point, where its top lies among its neighbours of the
    same piece; −inf elsewhere."""
    found = np.full(x.size, -np.inf)
    gap = np.diff(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.diff(y) / gap
        bend = np.diff(slope) / (gap[1:] + gap[:-1])
        at = (x[:-2] + x[1:-1] - slope[:-1] / bend) / 2
        height = y[:-2] + slope[:-1] * (at - x[:-2]) + bend * (at - x[:-2]) * (at - x[1:-1])
        good = (bend < 0) & (at >= x[:-2]) & (at <= x[2:]) & ~new[1:-1] & ~new[2:]
        good &= np.minimum(gap[1:], gap[:-1]) > 1e-3 * np.maximum(gap[1:], gap[:-1])
    found[1:-1][good] = height[good]
    return found
