"""What follows from a motion: accelerations, loads, reactions, and the numbers of a design.

One turn of many variants; arrays are (variant, node) on the nodes of `turning.Run`, the first
and the last of which are the same place of the turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from ..spatial import Array
from .dwells import longest
from .survey import Table
from .turning import Run, Turn


@dataclass(frozen=True)
class Motion:
    """One turn.

    Attributes
    ----------
    q
        (node,).
    time, speed, acceleration
        (variant, node), s, rad/s, rad/s² (or m).
    currents
        (motor, variant, node), A, of all motors.
    torques
        (motor, variant, node): on their joints, N m or N.
    reactions
        (reaction, variant, node), N or N m. They jump where a one-sided load does.
    """

    q: Array
    time: Array
    speed: Array
    acceleration: Array
    currents: Array
    torques: Array
    reactions: Array


def motion_of(table: Table, turn: Turn, run: Run, number: int = -1) -> Motion:
    """Accelerations, loads and reactions along one turn of a run.

    Parameters
    ----------
    table
        The one the turn was made of (`turning.close_up`).
    number
        Which turn; the last without.
    """
    pick = np.s_[..., ::2]
    w = run.speed[:, number]
    loads = table.loads
    theta = table.theta[pick]
    rates = table.rates[pick]  # (joint, coordinate, variant, node)
    rate = rates[:, 0] * w
    currents = np.zeros((len(loads.drives), *w.shape))
    for k, drive in enumerate(loads.drives):
        if k in turn.slow:
            currents[k] = run.currents[:, number, turn.slow.index(k)]
        else:
            back = drive.voltage[:, None] - drive.gain[:, None] * rate[drive.joint]
            currents[k] = back / drive.resistance[:, None]
    efforts = loads.per_variant().efforts(theta, rate, currents, np.sign(rate))
    bends = np.zeros_like(table.rates[:, 0])
    if loads.rotors:
        bends = CubicSpline(table.q, table.rates[:, 0], axis=-1)(table.q, 1)
    bends = bends[pick]
    m, half = table.m[pick], table.reduced.half_slope[:, 0][pick]
    for joint, inertia in loads.rotors:
        half = half + inertia[:, None] * rates[joint, 0] * bends[joint]
    force = (efforts * rates[:, 0]).sum(axis=0) - table.slope[pick]
    acceleration = (force - half * w**2) / m
    reactions = []
    for k in range(1, rates.shape[1]):
        found = table.reduced.inertia[:, k][pick] * acceleration
        found = found + table.reduced.half_slope[:, k][pick] * w**2
        found = found + table.virtual_slope[:, k - 1][pick]
        carried = efforts.copy()
        for joint, inertia in loads.rotors:
            turned = rates[joint, 0] * acceleration + bends[joint] * w**2
            carried[joint] -= inertia[:, None] * turned
        reactions.append(found - (carried * rates[:, k]).sum(axis=0))
    torques = np.array([d.gain[:, None] * currents[k] for k, d in enumerate(loads.drives)])
    return Motion(
        q=run.q,
        time=run.time[:, number],
        speed=w,
        acceleration=acceleration,
        currents=currents,
        torques=torques.reshape(-1, *w.shape),
        reactions=np.array(reactions).reshape(-1, *w.shape),
    )


def mean_over_time(motion: Motion, values: Array) -> Array:
    """Time average of what is sampled along a turn (…, variant, node).

    Summed over even q with dt = dq/w: of a steady turn both ends are alike, and the trapezoidal
    rule is as accurate as the samples.
    """
    span = motion.time[:, -1] - motion.time[:, 0]
    rate = values / motion.speed
    middle = (rate[..., 1:] + rate[..., :-1]) / 2
    found: Array = middle.sum(axis=-1) * (motion.q[1] - motion.q[0]) / span
    return found


def greatest(values: Array) -> Array:
    """Greatest value of a smooth periodic curve (…, node), by a parabola at its highest node."""
    x = values[..., :-1]
    place = x.argmax(axis=-1)[..., None]
    low, top, high = (
        np.take_along_axis(x, (place + k) % x.shape[-1], axis=-1)[..., 0] for k in (-1, 0, 1)
    )
    bend = 2 * top - low - high
    found: Array = top + (high - low) ** 2 / (8 * np.where(bend > 0, bend, np.inf))
    return found


def speed_fluctuation(motion: Motion) -> Array:
    """(greatest less least speed) over the mean speed of a steady turn, (variant,)."""
    span = motion.time[:, -1] - motion.time[:, 0]
    mean = (motion.q[-1] - motion.q[0]) / span
    found: Array = (greatest(motion.speed) + greatest(-motion.speed)) / mean
    return found


def energy_per_turn(table: Table, motion: Motion) -> Array:
    """What the motors take from their supplies in one turn, J: ∫ U i dt, (variant,)."""
    span = motion.time[:, -1] - motion.time[:, 0]
    drives = table.loads.drives
    parts = [
        drive.voltage * mean_over_time(motion, motion.currents[k]) * span
        for k, drive in enumerate(drives)
    ]
    return np.sum(parts, axis=0) if parts else np.zeros(len(span))


def dwell(q: Array, theta: Array, band: float | Array) -> Array:
    """Longest stretch of a turn on which a joint stays within a band: `dwells` without where."""
    return dwells(q, theta, band)[0]


def dwells(q: Array, theta: Array, band: float | Array) -> tuple[Array, Array]:
    """Longest stretch of a turn, in q, on which a joint stays within a band of this width.

    Parameters
    ----------
    q
        (node,) one turn, both ends.
    theta
        (variant, node), rad or m.
    band
        Greatest less least value allowed, of all or (variant,).

    Returns
    -------
    (variant,), rad, at most the turn, and q where it begins, within the turn (its end may lie in
    the next); between nodes by straight lines.
    """
    gained = theta[:, -1:] - theta[:, :1]  # a joint that turns on goes on from where it is
    twice = np.concatenate([theta[:, :-1], theta + gained], axis=1)
    found, begins = np.zeros((2, len(theta)))
    bands = np.array(np.broadcast_to(band, len(theta)), float)
    longest(twice, q.size - 1, bands, found, begins)
    step = q[1] - q[0]
    return found * step, q[0] + begins * step


def measures(table: Table, motion: Motion, names: Sequence[str] = ()) -> dict[str, Array]:
    """Metrics, each (variant,), SI, called as in sweeps; `names` of the reactions' peaks."""
    span = motion.time[:, -1] - motion.time[:, 0]
    found = {
        "period": span,
        "mean_speed": (motion.q[-1] - motion.q[0]) / span,
        "speed_fluctuation": speed_fluctuation(motion),
    }
    for k, drive in enumerate(table.loads.drives):
        for what, values in (("torque", motion.torques[k]), ("current", motion.currents[k])):
            peaks = greatest(values), greatest(-values)
            found[f"motor_{what}_peak({drive.name})"] = np.maximum(*peaks)
            found[f"motor_{what}_rms({drive.name})"] = np.sqrt(mean_over_time(motion, values**2))
    if table.loads.drives:
        found["energy_per_cycle"] = energy_per_turn(table, motion)
    for k, name in enumerate(names):
        found[name] = np.abs(motion.reactions[k]).max(axis=-1)
    return found
