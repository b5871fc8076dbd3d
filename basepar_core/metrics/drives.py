"""Metrics of the drives' torques and forces over the samples of a cycle.

Each is an analytic function of efforts; sweeps have the same numbers from kernels
(`compiled.paths`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Motion
from basepar_core.mechanism import Mechanism

from .analytic import size
from .path_error import returns


@dataclass(frozen=True, slots=True)
class DriveMetric:
    """A number per variant of one drive.

    Attributes
    ----------
    value
        Of efforts (variant, sample), N m or N, the coordinate's rates (sample,) and the samples'
        shares of time (sample,), s.
    words
        What it is.
    """

    value: Callable[[Array, Array, Array], Array]
    words: str


def _rms(effort: Array, *_: Array) -> Array:
    return np.sqrt((effort * effort).mean(axis=1))


def _peak(effort: Array, *_: Array) -> Array:
    return size(effort).max(axis=1)


def _ripple(effort: Array, *_: Array) -> Array:
    return np.ptp(effort, axis=1)


def _power(effort: Array, rate: Array, _: Array) -> Array:
    return size(effort * rate).max(axis=1)


def _energy(effort: Array, rate: Array, share: Array) -> Array:
    power = effort * rate
    return (np.where(np.real(power) > 0, power, 0.0) * share).sum(axis=1)


#: By the metric's word.
DRIVE_METRICS: Mapping[str, DriveMetric] = {
    "torque_rms": DriveMetric(_rms, "root mean square of the drive over the cycle"),
    "torque_peak": DriveMetric(_peak, "largest absolute value of the drive over the cycle"),
    "torque_ripple": DriveMetric(_ripple, "greatest less least value of the drive over the cycle"),
    "power_peak": DriveMetric(_power, "largest absolute power of the drive over the cycle"),
    "drive_energy": DriveMetric(
        _energy, "work that the drive does in a cycle, none of it got back"
    ),
}


def shares(mechanism: Mechanism, motion: Motion) -> Array:
    """Time (sample,), s, for which each sample of a cycle stands.

    Of a cycle that comes back each sample has one step; of others the ends have half of one.
    """
    steps = np.diff(motion.t)
    if returns(mechanism, motion):
        return np.append(steps, steps[:1])
    ends = np.concatenate([[0.0], steps, [0.0]])
    found: Array = (ends[1:] + ends[:-1]) / 2
    return found
