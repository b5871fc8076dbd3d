"""What is fitted to each other: torque, and the columns of W, through the same low-pass filter.

Measured torque has ripples, play and elasticity in it that no rigid model has. A filter on torque
alone would distort it against the model; the same one on both sides keeps τ = W φ as it is
(parallel filtering: Gautier, IEEE ICRA 1997). A Coulomb friction's sign is filtered too. After
it neighbouring samples say the same; as many rows are kept as are independent.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from basepar_core.arrays import Array
from basepar_core.errors import UsageError

from .smoothing import LowPass

#: Rows per second that are kept, per Hz of the cut-off: what its noise is worth, 2 per Hz, and a
#: little for its slope.
KEPT = 2.5
#: Periods of the cut-off: a longer gap ends a stretch, and a shorter stretch is left out.
GAP, SHORTEST = 0.5, 2.0


@dataclass(frozen=True)
class _Stretch:
    """Samples of a channel that are filtered as one, and those of them that are kept as rows."""

    channel: int
    places: Array
    kept: Array
    motion: LowPass
    torque: LowPass


class Sampler:
    """Takes signals of a record to rows of the regression.

    Parameters
    ----------
    t
        (sample,), s.
    usable
        (channel, sample) bool: where the torque of a coordinate or a drive counts.
    starts
        Samples at which a new run begins.
    lowpass
        Hz; None: rows are samples as measured.
    delay
        s by which the measured torque follows the motion.

    Attributes
    ----------
    groups, times
        (row,): channel and time of each row.

    Raises
    ------
    UsageError
        A cut-off that the sampling cannot carry, or that leaves no stretch of a channel.
    """

    def __init__(
        self,
        t: Array,
        usable: Array,
        starts: tuple[int, ...] = (),
        lowpass: float | None = None,
        delay: float = 0.0,
    ):
        self.t, self.usable, self.lowpass, self.delay = t, usable, lowpass, delay
        self.stretches: list[_Stretch] = []
        if lowpass is None:
            if delay:
                raise UsageError("`delay=` needs a low-pass, `lowpass=`.", ["delay="])
            self.groups, places = np.nonzero(usable)
            self.times = t[places]
            return
        rate = 1 / float(np.median(np.diff(t)))
        if not 0 < lowpass <= rate / 2:
            raise UsageError(
                f"A low-pass of {lowpass:g} Hz is not between 0 and {rate / 2:.4g} Hz (half the "
                f"sampling rate).",
                ["lowpass="],
            )
        every = max(1, int(rate / (KEPT * lowpass)))
        filters: dict[bytes, tuple[LowPass, LowPass]] = {}  # channels often share their samples
        for channel, there in enumerate(usable):
            for run in _stretches(t, there, starts, lowpass):
                if (key := run.tobytes()) not in filters:
                    one = LowPass(t[run], lowpass)
                    filters[key] = one, one if not delay else LowPass(t[run] - delay, lowpass)
                kept = run[every // 2 :: every]
                self.stretches.append(_Stretch(channel, run, kept, *filters[key]))
        if not self.stretches:
            raise UsageError(
                f"No stretch of the record is as long as {SHORTEST:g} periods of the low-pass of "
                f"{lowpass:g} Hz. Raise it.",
                ["lowpass="],
            )
        self.groups = np.concatenate(
            [np.full(one.kept.size, one.channel) for one in self.stretches]
        )
        self.times = np.concatenate([t[one.kept] for one in self.stretches])

    def rows(self, W: Array) -> Array:
        """(row, column) of columns (sample, channel, column)."""
        if self.lowpass is None:
            return W.transpose(1, 0, 2)[self.usable]
        parts = []
        for one in self.stretches:
            there = W[one.places, one.channel]
            nothing = np.zeros((one.kept.size, there.shape[1]))  # a law of another drive
            parts.append(one.motion.of(there, self.t[one.kept]) if there.any() else nothing)
        return np.concatenate(parts)

    def torques(self, tau: Array) -> Array:
        """(row,) of torques (channel, sample)."""
        if self.lowpass is None:
            return tau[self.usable]
        parts = [
            one.torque.of(tau[one.channel, one.places], self.t[one.kept]) for one in self.stretches
        ]
        return np.concatenate(parts)

    def smoothed(self, tau: Array, predicted: Array) -> tuple[Array, Array]:
        """Measured and predicted torque (channel, sample) through the filter; nan elsewhere."""
        if self.lowpass is None:
            return np.where(self.usable, tau, np.nan), predicted
        measured, model = np.full(tau.shape, np.nan), np.full(tau.shape, np.nan)
        for one in self.stretches:
            at = one.channel, one.places
            measured[at] = one.torque.of(tau[at], self.t[one.places])
            model[at] = one.motion.of(predicted[at])
        return measured, model

    def late(self, predicted: Array) -> Array:
        """Predicted torque (channel, sample) when it is measured."""
        if not self.delay:
            return predicted
        at = np.clip(self.t - self.delay, self.t[0], self.t[-1])
        return np.asarray(CubicSpline(self.t, predicted, axis=1)(at))


def _stretches(t: Array, usable: Array, starts: tuple[int, ...], lowpass: float) -> list[Array]:
    """Samples of each stretch of a channel that can be filtered as one."""
    found = []
    for first, last in itertools.pairwise([0, *starts, t.size]):
        places = first + np.flatnonzero(usable[first:last])
        gaps = np.flatnonzero(np.diff(t[places]) > GAP / lowpass) + 1
        found += np.split(places, gaps)
    return [run for run in found if run.size > 8 and np.ptp(t[run]) * lowpass >= SHORTEST]
