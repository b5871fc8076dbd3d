"""From a record to base parameters: smoothing, W, least squares, and diagnostics.

Gautier & Khalil, "Identification" in Dynamics of Serial Robotic Manipulators; for closed loops
Raza & al. as in `papers` (coordinate partitioning): the coordinates and their torques are
measured, everything else follows from closure.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import CLEAR, OPERATIONS, BaseParameters, extend, symbolic
from basepar_core.dynamics import Column, Model, Motion, Observation, as_twists
from basepar_core.errors import MotionError, UsageError
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import backward, select
from basepar_core.texts import plural

from .compare import file_values, in_place_of, likeness
from .contacts import contact_efforts
from .diagnostics import doubts
from .estimate import METHODS, Estimate, estimate
from .measurement import Measurement
from .motion_regressor import observe_motion
from .result import Identification, Prepared, Validation, unweighted_error
from .signals import Signals, signals_of
from .smoothing import Smoothed, rim, smooth
from .units_check import check_reach, check_units

#: Samples of W along which columns are counted.
COUNTED = 1000


def prepare_record(model: Model, record: Measurement, cutoff: float | None = None) -> Prepared:
    """Smooth a record where it needs it.

    Parameters
    ----------
    model
        The mechanism.
    record
        From `read_measurement`.
    cutoff
        Hz; None: rates as given, or the cut-off chosen from the data.

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
    motion = Motion(
        record.t,
        np.stack([row.value for row in rows]),
        np.stack([row.rate for row in rows]),
        np.stack([row.acceleration for row in rows]),
    )
    return as_twists(mechanism, motion), rows


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


def identify(
    model: Model,
    record: Measurement,
    *,
    columns: Sequence[Column] = (),
    wanted: Sequence[int] | None = None,
    base: BaseParameters | None = None,
    method: str = "weighted",
    cutoff: float | None = None,
    lowpass: float | None = None,
    known: Mapping[str, float] | None = None,
    essential: bool = False,
    second: Measurement | None = None,
) -> Identification:
    """Identify base parameters.

    Parameters
    ----------
    model
        The mechanism, prepared.
    record
        Motion and torque.
    columns
        Force-law columns (friction, springs, …).
    wanted
        φ₂ of the inertial base parameters, by index.
    base
        The inertial base parameters where they are known already.
    method
        ols, weighted or irls (`estimate`).
    cutoff
        Hz, of the positions' smoothing; None: chosen from the data, or twice `lowpass`.
    lowpass
        Hz, of the same filter on torque and on every column of W, whose rows are then as many as
        it leaves independent; None: rows as measured.
    known
        Base parameters (by φ₁'s name) that are known, SI: moved to the right-hand side.
    essential
        Keep only as many parameters as BIC finds worth it on this record.
    second
        A record for validation.

    Raises
    ------
    MotionError
        A motion that the mechanism cannot follow.
    UsageError
        A motion that does not tell the parameters apart; fewer rows than parameters; names that
        are no base parameters.
    """
    if method not in METHODS:
        raise UsageError(
            f"No such method: {method!r}. Methods are {', '.join(METHODS)}.", [method]
        )
    smoothing = 2 * lowpass if cutoff is None and lowpass else cutoff
    ready = prepare_record(model, record, smoothing)
    seen = observe_record(model, ready, tuple(columns))
    base = extend(model, base or symbolic(model, wanted), columns, _thinned(seen))
    given = dict(known or {})
    _check_known(base, given)
    signals = signals_of(seen, base, ready, lowpass)
    rows, right, groups = signals.regression()
    fixed = [k for k, name in enumerate(base.base_names) if name in given]
    right = right - rows[:, fixed] @ np.array([given[base.base_names[k]] for k in fixed])
    free = [k for k in range(base.rank) if k not in fixed]
    _check_rows(base, rows[:, free], free, float(seen.error[0]))
    fit = estimate(rows[:, free], right, groups, method)
    dropped: tuple[str, ...] = ()
    if essential:
        keep = _essential(rows[:, free], right, groups, fit, seen)
        dropped = tuple(base.base_names[free[k]] for k in range(len(free)) if k not in keep)
        free = [free[k] for k in keep]
        fit = estimate(rows[:, free], right, groups, method)
    names = tuple(base.base_names[k] for k in free)
    values = np.zeros(base.rank)
    values[free], values[fixed] = fit.values, [given[base.base_names[k]] for k in fixed]
    scale = 1.0 if method == "ols" else np.sqrt(fit.weights) / fit.sigma[groups]
    weights = np.ones(signals.rows.T.shape)
    weights[signals.rows.T] = fit.weights
    own = _predict(record.source, signals, values, fit.sigma, weights.T)
    found = Identification(
        model=model,
        base=base,
        columns=tuple(columns),
        method=method,
        names=names,
        estimate=fit,
        known=given,
        dropped=dropped,
        training=own,
        prepared=ready,
        stated=in_place_of(file_values(model.mechanism, base, columns), values, rows, free, scale),
        notes=record.notes,
    )
    counting = np.where(weights.T > 1 / 3, own.measured, np.nan)
    alike = likeness(model.mechanism, base, seen.W[0], values, counting)
    found = replace(found, notes=(*record.notes, *doubts(found, groups, alike)))
    return found if second is None else replace(found, validation=validate(found, second))


def observe_record(model: Model, ready: Prepared, columns: tuple[Column, ...]) -> Observation:
    """W of a record; one that fits in other units or with other signs only is rejected.

    Raises
    ------
    MotionError
        A motion that the mechanism cannot follow.
    UsageError
        As `check_units`.
    """
    measured = np.where(ready.usable, ready.tau, np.nan)
    check_reach(model, ready.motion, measured)
    try:
        seen = observe_motion(model, ready.motion, columns)
    except MotionError:
        check_units(model, ready.motion, measured, None)
        raise
    check_units(model, ready.motion, measured, seen.W[0])
    return seen


def validate(found: Identification, second: Measurement) -> Validation:
    """The identified model's torque on another record; nothing is fitted again.

    Raises
    ------
    MotionError
        The mechanism cannot follow its motion.
    """
    cutoff, lowpass = max(found.prepared.cutoffs, default=None), found.training.lowpass
    ready = prepare_record(found.model, second, cutoff if second.rates is None else None)
    seen = observe_motion(found.model, ready.motion, found.columns)
    signals = signals_of(seen, found.base, ready, lowpass)
    return _predict(second.source, signals, found.base_values, found.estimate.sigma)


def _thinned(seen: Observation) -> Observation:
    """Every so many samples of W: enough to tell which columns depend on others."""
    every = max(1, seen.W.shape[1] // COUNTED)
    return replace(seen, W=seen.W[:, ::every], terms=seen.terms / np.sqrt(every))


def _check_known(base: BaseParameters, known: Mapping[str, float]) -> None:
    unknown = [name for name in known if name not in base.base_names]
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} no base parameter. They "
            f"are {', '.join(base.base_names)}; eliminated ones are given with `dependent=`.",
            unknown,
        )


def _check_rows(base: BaseParameters, rows: Array, free: Sequence[int], error: float) -> None:
    """Reject too few rows, and a motion that does not tell the parameters apart."""
    count, width = rows.shape
    if count <= width:
        raise UsageError(
            f"{plural(count, 'usable row')} cannot determine {plural(width, 'parameter')}. "
            f"Record more samples "
            f"(ten times as many rows as parameters, better a hundred).",
            ["samples"],
        )
    norms = np.sqrt((rows**2).sum(axis=0))
    silent = norms <= np.finfo(float).eps * norms.max(initial=0.0)
    unit = rows / np.where(silent, 1.0, norms)
    _, sizes, V = np.linalg.svd(unit, full_matrices=False)
    # Shares of a direction below this are rounding of W, a thousand times over.
    noise = CLEAR * OPERATIONS * np.sqrt(width) * max(error, np.finfo(float).eps)
    lost = V[sizes <= noise]
    if lost.size:
        shares = np.sqrt((lost**2).sum(axis=0))
        named = [base.base_names[free[int(k)]] for k in np.flatnonzero(shares > 0.05)]
        raise UsageError(
            f"This motion does not tell {len(lost)} of {width} parameters apart (singular values "
            f"of W with unit columns down to {sizes[-1]:.1e}, allowed {noise:.1e}); concerned are "
            f"{', '.join(named)}. Record a richer motion, or give some of them "
            f"with `known=`.",
            named,
        )


def _essential(
    rows: Array, right: Array, groups: Array, fit: Estimate, seen: Observation
) -> list[int]:
    """Parameters that BIC keeps on the backward path of the measured torque."""
    sigma = fit.sigma[groups] / np.sqrt(fit.weights)
    W = (rows / sigma[:, None])[None, :, None, :]
    path = backward(W, (right / sigma)[None, :, None], None, seen.error)
    chosen = select(path, ("bic",), len(rows), noise_known=True, measured=True)
    gone = path.removed[0, 1 : rows.shape[1] - int(chosen.size[0, 0]) + 1]
    return [k for k in range(rows.shape[1]) if k not in gone]


def _predict(
    source: str,
    signals: Signals,
    values: Array,
    sigma: Array,
    weights: Array | float = 1.0,
) -> Validation:
    measured, predicted = signals.tau, (signals.W @ values).T
    scale = weights / sigma[:, None]  # Huber's loss grows with the weighted residual only
    rest, torque = (measured - predicted) * scale, measured * scale
    rms = np.sqrt(np.nanmean((measured - predicted) ** 2, axis=1))
    size = float(np.nansum(torque**2))
    error = float(np.sqrt(np.nansum(rest**2) / size)) if size else 0.0
    raw = signals.unfiltered
    unfiltered = None if raw is None else unweighted_error(raw.tau, (raw.W @ values).T)
    return Validation(
        source, error, rms, signals.t, measured, predicted, signals.lowpass, unfiltered
    )
