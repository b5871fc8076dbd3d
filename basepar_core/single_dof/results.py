"""What follows from a motion: accelerations, loads, reactions, and the numbers of a design.

One turn of many variants; arrays are (variant, node) on the nodes of `cycle_integrator.Run`, the
first and the last of which are the same place of the turn.
"""

from collections.abc import Sequence

import numpy as np

from basepar_core.arrays import Array

from .cycle_integrator import Run, Turn
from .cycle_motion import Motion
from .force_balance import currents_of, forces, functions_of
from .load_jumps import greatest, jumps_of
from .survey import Table


def motion_of(table: Table, turn: Turn, run: Run, number: int = -1) -> Motion:
    """Accelerations, loads and reactions along one turn of a run.

    Parameters
    ----------
    table
        The one the turn was made of (`cycle_integrator.close_up`).
    number
        Which turn; the last without.
    """
    w = run.speed[:, number]
    functions = functions_of(table).mapped(lambda x: x[..., ::2])
    loads = table.loads.per_variant()
    slow = np.zeros((len(loads.drives), *w.shape))
    for place, k in enumerate(turn.slow):
        slow[k] = run.currents[:, number, place]
    currents = currents_of(loads, functions.rates[:, 0] * w, slow)
    acceleration, reactions = forces(functions, loads, w, currents)
    torques = np.array([d.gain * currents[k] for k, d in enumerate(loads.drives)])
    return Motion(
        q=run.q,
        time=run.time[:, number],
        speed=w,
        acceleration=acceleration,
        currents=currents,
        torques=torques.reshape(-1, *w.shape),
        reactions=reactions,
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
    from .dwell_times import longest  # the compiler

    longest(twice, q.size - 1, bands, found, begins)
    step = q[1] - q[0]
    return found * step, q[0] + begins * step


def measures(table: Table, motion: Motion, names: Sequence[str] = ()) -> dict[str, Array]:
    """Metrics, each (variant,), SI, called as in sweeps; `names` of the reactions' peaks."""
    span = motion.time[:, -1] - motion.time[:, 0]
    mean = (motion.q[-1] - motion.q[0]) / span
    at = jumps_of(table, motion)

    def top(values: Array, sides: Array) -> Array:
        return greatest(values, motion.q, at, np.broadcast_to(sides, (2, at.q.size)))

    def peak(values: Array, sides: Array) -> Array:
        return np.maximum(top(values, sides), top(-values, -sides))

    found = {
        "period": span,
        "mean_speed": mean,
        "speed_fluctuation": (top(motion.speed, at.speed) + top(-motion.speed, -at.speed)) / mean,
    }
    for k, drive in enumerate(table.loads.drives):
        currents = motion.currents[k]
        current = peak(currents, at.currents[k])
        found[f"motor_torque_peak({drive.name})"] = np.abs(drive.gain) * current
        found[f"motor_torque_rms({drive.name})"] = np.sqrt(
            mean_over_time(motion, motion.torques[k] ** 2)
        )
        found[f"motor_current_peak({drive.name})"] = current
        found[f"motor_current_rms({drive.name})"] = np.sqrt(mean_over_time(motion, currents**2))
    if table.loads.drives:
        found["energy_per_cycle"] = energy_per_turn(table, motion)
    for k, name in enumerate(names):
        found[name] = peak(motion.reactions[k], at.reactions[:, k])
    return found
