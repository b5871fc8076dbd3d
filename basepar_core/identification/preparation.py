"""A record made ready for regression: smoothed positions and their rates, rows that count."""

import itertools
from collections.abc import Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Motion, as_twists
from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism

from .contacts import contact_efforts
from .measurement import Measurement
from .result import Prepared
from .smoothing import Smoothed, rim, smooth


def prepare_record(
    model: Model, record: Measurement, cutoff: float | None = None, halves: bool = False
) -> Prepared:
    """Smooth a record where it needs it.

    Parameters
    ----------
    model
        The mechanism.
    record
        From `read_measurement`.
    cutoff
        Hz; None: rates as given, or the cut-off chosen from the data.
    halves
        Whether the motion is also made of every other sample, and of those between.

    Raises
    ------
    UsageError
        Positions do not move, or a cut-off that the sampling cannot carry.
    """
    if not (np.nan_to_num(record.tau).any() or record.wrenches):
        raise UsageError(
            f"{record.source}: the torque is zero or missing in every sample, so nothing can be "
            f"told from it. Record it, or say with `columns=` which column it is.",
            ["tau"],
        )
    still = [
        name
        for name, row in zip(model.mechanism.coordinates, record.q, strict=True)
        if np.nanmax(row) == np.nanmin(row)
    ]
    if len(still) == len(record.q):
        raise UsageError(
            f"{record.source}: {', '.join(still)} does not move at all, so nothing can be told "
            f"from its torque. Record a motion that accelerates.",
            still,
        )
    motion, rows = recorded_motion(model.mechanism, record, cutoff)
    fine = np.asarray(np.isfinite([motion.q, motion.q_dot, motion.q_ddot]).all(axis=(0, 1)))
    both = _halves(model.mechanism, record, rows) if halves else ()
    motion = _only(motion, fine)
    wrenches = {name: wrench[:, fine] for name, wrench in record.wrenches.items()}
    tau = record.tau[:, fine] + contact_efforts(model, motion, wrenches)
    usable = np.isfinite(tau)
    for row, q in zip(rows, record.q, strict=False):  # none where rates are given
        usable &= np.isfinite(q) & ~rim(record.t, row.cutoff, np.isfinite(q))
    return Prepared(
        motion,
        tau,
        usable,
        tuple(row.cutoff for row in rows),
        tuple(row.noise for row in rows),
        tuple(int(k) for k in np.searchsorted(np.flatnonzero(fine), record.starts)),
        tuple(_only(half, fine) for half in both),
        record.motor_to_joint,
    )


def recorded_motion(
    mechanism: Mechanism, record: Measurement, cutoff: float | None = None
) -> tuple[Motion, tuple[Smoothed, ...]]:
    """The motion of a record, and how its coordinates were smoothed: none if rates are given.

    Parameters
    ----------
    mechanism
        Whose coordinates they are: velocities of a free joint's are its twist.
    record
        From `read_measurement`.
    cutoff
        Hz; None: rates as given (nan where not), or the cut-off chosen from the data.

    Raises
    ------
    UsageError
        A cut-off that the sampling cannot carry.
    """
    if record.rates is not None and cutoff is None:
        return Motion(record.t, record.q, *record.rates), ()
    _check_cutoff(record, cutoff)
    rows = tuple(_smoothed(record, q, cutoff) for q in record.q)
    return _motion(mechanism, record, rows), rows


def _motion(mechanism: Mechanism, record: Measurement, rows: Sequence[Smoothed]) -> Motion:
    motion = Motion(
        record.t,
        np.stack([row.value for row in rows]),
        np.stack([row.rate for row in rows]),
        np.stack([row.acceleration for row in rows]),
    )
    return as_twists(mechanism, motion)


def _halves(
    mechanism: Mechanism, record: Measurement, whole: Sequence[Smoothed]
) -> tuple[Motion, Motion]:
    """The motion of samples with even numbers, and of those with odd ones.

    Raises
    ------
    UsageError
        Rates are given; a cut-off that every other sample cannot carry.
    """
    if not whole:
        raise UsageError(
            "Instruments are made of positions: leave given rates out with `cutoff=`, or choose "
            "another `method=`.",
            ["method=", "cutoff="],
        )
    highest = max(row.cutoff for row in whole)
    rate = 1 / float(np.median(np.diff(record.t)))
    if highest > rate / 4:
        raise UsageError(
            f"Positions are smoothed at {highest:.3g} Hz, and every other sample carries "
            f"{rate / 4:.3g} Hz at most: lower `cutoff=`, or choose another `method=`.",
            ["cutoff=", "method="],
        )
    even = np.arange(record.t.size) % 2 == 0
    parts = [
        [_smoothed(record, np.where(there, q, np.nan), row.cutoff) for q, row in pairs]
        for there in (even, ~even)
        if (pairs := list(zip(record.q, whole, strict=True)))
    ]
    return _motion(mechanism, record, parts[0]), _motion(mechanism, record, parts[1])


def _smoothed(record: Measurement, q: Array, cutoff: float | None) -> Smoothed:
    """One coordinate, smoothed run by run."""
    ends = [0, *record.starts, q.size]
    runs = [slice(*pair) for pair in itertools.pairwise(ends)]
    parts = [smooth(record.t[run], q[run], cutoff, np.isfinite(q[run])) for run in runs]
    value, rate, acceleration = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("value", "rate", "acceleration")
    )
    lowest = min(part.cutoff for part in parts)
    noise = float(np.sqrt(np.mean([part.noise**2 for part in parts])))
    return Smoothed(value, rate, acceleration, lowest, noise)


def _check_cutoff(record: Measurement, cutoff: float | None) -> None:
    rate = 1 / float(np.median(np.diff(record.t)))
    lowest = 1 / float(record.t[-1] - record.t[0])
    if cutoff is not None and not lowest <= cutoff <= rate / 2:
        raise UsageError(
            f"A cut-off of {cutoff:g} Hz is not between {lowest:.3g} Hz (one period in the "
            f"record) and {rate / 2:.4g} Hz (half the sampling rate).",
            ["cutoff="],
        )


def _only(motion: Motion, fine: Array) -> Motion:
    return Motion(motion.t[fine], *(x[:, fine] for x in (motion.q, motion.q_dot, motion.q_ddot)))
