"""What is fitted to each other: torque, and the columns of W, through the same low-pass filter.

Measured torque has ripples, play and elasticity in it that no rigid model has. A filter on torque
alone would distort it against the model; the same one on both sides keeps τ = W φ as it is
(parallel filtering: Gautier, IEEE ICRA 1997). A Coulomb friction's sign is filtered too. After
it neighbouring samples say the same; as many rows are kept as are independent.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.dynamics import Observation
from basepar_core.errors import UsageError

from .result import Prepared
from .smoothing import low_pass

#: Rows per second that are kept, per Hz of the cut-off: what its noise is worth, 2 per Hz, and a
#: little for its slope.
KEPT = 2.5
#: Periods of the cut-off: a longer gap ends a stretch, and a shorter stretch is left out.
GAP, SHORTEST = 0.5, 2.0


@dataclass(frozen=True)
class Signals:
    """Torque and W's columns, filtered or as measured.

    Attributes
    ----------
    t
        (sample,), s.
    W
        (sample, coordinate, base).
    tau
        (coordinate, sample), N m or N; nan where unusable.
    rows
        (coordinate, sample) bool: which count in the regression.
    lowpass
        Hz; None: as measured.
    unfiltered
        Before the filter; None: these are.
    """

    t: Array
    W: Array
    tau: Array
    rows: Array
    lowpass: float | None = None
    unfiltered: "Signals | None" = None

    def regression(self) -> tuple[Array, Array, Array]:
        """Regression rows (row, base), right-hand sides, and each row's coordinate."""
        chosen = self.rows.T
        groups = np.broadcast_to(np.arange(len(self.tau)), chosen.shape)
        return self.W[chosen], self.tau.T[chosen], groups[chosen]


def signals_of(
    seen: Observation, base: BaseParameters, ready: Prepared, lowpass: float | None
) -> Signals:
    """A record's signals.

    Parameters
    ----------
    seen
        W along the record.
    base
        Base parameters, force-law columns among them.
    ready
        The record.
    lowpass
        Hz; None: as measured.

    Raises
    ------
    UsageError
        A cut-off that the sampling cannot carry, or that leaves no stretch of a coordinate.
    """
    t, W = ready.motion.t, seen.W[0][..., list(base.kept)]
    tau = np.where(ready.usable, ready.tau, np.nan)
    plain = Signals(t, W, tau, ready.usable)
    if lowpass is None:
        return plain
    rate = 1 / float(np.median(np.diff(t)))
    if not 0 < lowpass <= rate / 2:
        raise UsageError(
            f"A low-pass of {lowpass:g} Hz is not between 0 and {rate / 2:.4g} Hz (half the "
            f"sampling rate).",
            ["lowpass="],
        )
    every = max(1, int(rate / (KEPT * lowpass)))
    W, tau = W.copy(), np.full(tau.shape, np.nan)
    rows = np.zeros(tau.shape, dtype=bool)
    for k, usable in enumerate(ready.usable):
        for run in _stretches(t, usable, ready.starts, lowpass):
            both = low_pass(t[run], np.column_stack([W[run, k], ready.tau[k, run]]), lowpass)
            W[run, k], tau[k, run] = both[:, :-1], both[:, -1]
            rows[k, run[every // 2 :: every]] = True
    if not rows.any():
        raise UsageError(
            f"No stretch of the record is as long as {SHORTEST:g} periods of the low-pass of "
            f"{lowpass:g} Hz. Raise it.",
            ["lowpass="],
        )
    return Signals(t, W, tau, rows, lowpass, plain)


def _stretches(t: Array, usable: Array, starts: tuple[int, ...], lowpass: float) -> list[Array]:
    """Samples of each stretch of a coordinate that can be filtered as one."""
    found = []
    for first, last in itertools.pairwise([0, *starts, t.size]):
        places = first + np.flatnonzero(usable[first:last])
        gaps = np.flatnonzero(np.diff(t[places]) > GAP / lowpass) + 1
        found += np.split(places, gaps)
    return [run for run in found if run.size > 8 and np.ptp(t[run]) * lowpass >= SHORTEST]
