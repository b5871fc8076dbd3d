"""One turn of many machines as the kernels take it: m, work, and what depends on speed, on nodes.

Work of forces that depend on q only is summed here, split where it jumps (`work`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array

from .loads import Loads, Push, speed_terms, terms_about
from .survey import Table
from .work import above, integrals, ways

#: What became of a variant.
TURNING, STALLED, NEUTRAL, NONE = 0, 1, 2, 3
#: rad/s: speed about which torques of any law in speed are first replaced by parabolas.
ABOUT = 10.0


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
    about
        Where a torque is no polynomial of second degree in speed: the same turn with parabolas
        about given speeds (variant, node). `turning` repeats itself until they are those found.
    """

    q: Array
    m: Array
    work: Array
    drag: Array
    fan: Array
    pull: Array
    electric: Array
    slow: tuple[int, ...]
    about: "Callable[[Array], Turn] | None" = None

    @property
    def count(self) -> int:
        return len(self.m)

    @property
    def brakes(self) -> Array:
        """(variant,) bool: something depends on speed, and looks like a stall to long steps."""
        if self.slow:
            return np.ones(self.count, dtype=bool)
        return np.asarray(self.drag.any(axis=1) | self.fan.any(axis=1))


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


def turn_of(table: Table, about: Array | float = ABOUT) -> Turn:
    """Tables for the kernel; the nodes include both ends (`close_up`), an even count of intervals.

    `about` is the speed (variant, node) about which torques of any law in speed are expanded.
    """
    loads, q, plain = table.loads, table.q, True
    h = float(q[1] - q[0])
    gained = table.potential[:, :-1] - table.potential[:, 1:]
    drag, fan, work = np.zeros((3, *table.m.shape))
    rate = table.rates[:, 0]
    for r in loads.resistances:
        if r.coulomb.any():
            up, down = ways(table.theta[r.joint], rate[r.joint], h)
            gained = gained - r.coulomb[:, None] * (up + down)
        if r.offset.any():
            gained = gained - r.offset[:, None] * np.diff(table.theta[r.joint], axis=-1)
        if r.viscous.any():
            drag = drag - r.viscous[:, None] * rate[r.joint] ** 2
    for push in loads.pushes:
        if push.pieces:
            gained = gained + _pieces(table, push, h)
            continue
        if push.number is not None:
            gained = gained + push.number[:, None] * _way(push.way, table, push.joint, h)
            continue
        terms = speed_terms(push, _columns(loads), table.theta[push.joint])
        if terms is None:
            plain = False
            speed = rate[push.joint] * about
            terms = terms_about(push, _columns(loads), table.theta[push.joint], speed)
        active = _active(rate[push.joint], push.way)
        gained = gained + _by_position(push.way, terms[0], table, push.joint, h)
        drag = drag + terms[1] * rate[push.joint] ** 2 * active
        fan = fan + terms[2] * rate[push.joint] ** 3 * active
    slow = tuple(k for k, d in enumerate(loads.drives) if d.slow)
    for k, drive in enumerate(loads.drives):
        if k not in slow:
            pull = drive.gain[:, None] * rate[drive.joint]
            gained = gained + integrals(pull * (drive.voltage / drive.resistance)[:, None], q)
            drag = drag - pull**2 / drive.resistance[:, None]
    count = len(table.m)
    np.cumsum(gained, axis=1, out=work[:, 1:])
    pull = np.zeros((count, len(slow), q.size))
    electric = np.zeros((count, len(slow), 3))
    for place, k in enumerate(slow):
        drive = loads.drives[k]
        pull[:, place] = drive.gain[:, None] * rate[drive.joint]
        for column, x in enumerate((drive.voltage, drive.resistance, drive.inductance)):
            electric[:, place, column] = x
    again = None if plain else lambda speed: turn_of(table, speed)
    return Turn(q, np.ascontiguousarray(table.m), work, drag, fan, pull, electric, slow, again)


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
    rate = table.rates[joint, 0]
    if not np.ptp(effort, axis=-1).any():
        return effort[..., :1] * _way(way, table, joint, h)
    if way == 0:
        return integrals(effort * rate, table.q)
    middle = (effort[..., 1:] + effort[..., :-1]) / 2
    return middle * _way(way, table, joint, h)


def _way(way: int, table: Table, joint: int, h: float) -> Array:
    """Way of a joint per interval: all, or only up or, negative, down."""
    if way == 0:
        return np.diff(table.theta[joint], axis=-1)
    up, down = ways(table.theta[joint], table.rates[joint, 0], h)
    return up if way > 0 else -down


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
