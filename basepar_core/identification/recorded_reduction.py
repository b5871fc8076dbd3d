"""Reduction to what a measured record is worth.

The torques have noise in them, so criteria weigh it against parameters as statistics means it;
σ is the file's, or estimated from the record. The record is prepared as identification does.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.dynamics import Column, Model, Observation
from basepar_core.errors import MissingDataError, UsageError
from basepar_core.mechanism import Mechanism, noise_line
from basepar_core.reduction import (
    CRITERIA,
    METHODS,
    Pooling,
    ReducedMechanism,
    errors_on,
    noise_levels,
    reduce_measured,
)
from basepar_core.texts import plural

from .compare import likeness
from .diagnostics import of_the_torque
from .measurement import Measurement
from .notes import Note
from .observed import observe_record
from .omitted import Without, find_omitted, may_be_omitted, without_guesses
from .prediction import laws_of
from .preparation import prepare_record
from .regression import Part, Regression, Searches, fit
from .result import Prepared


def reduce_record(
    model: Model,
    base: BaseParameters,
    record: Measurement,
    method: str = "backward",
    criteria: Sequence[str] | None = None,
    tolerance: float = 0.01,
    samples: float | Literal["estimated"] | None = None,
    *,
    columns: Sequence[Column] = (),
    second: Measurement | None = None,
    pooling: Pooling = "joint",
    estimated: bool = False,
) -> ReducedMechanism:
    """Reduce a mechanism to the parameters that a record's torque is worth.

    Parameters
    ----------
    model, base
        The mechanism, prepared, and its base parameters (with `columns`).
    record, second
        Motion and torque (`identification.measurement.read_measurement`); models of the first
        are held against the second.
    method, criteria, tolerance, columns, pooling
        As in `reduce.reduce_mechanism`; criteria None: all.
    samples
        n; None: torques of the record; "estimated": `measured.effective_size`.
    estimated
        Whether σ is estimated from the record; else it is the file's.

    Raises
    ------
    MissingDataError
        No noise is stated, and it is not to be estimated.
    MotionError
        The mechanism cannot follow the motion.
    UsageError
        There are no more torques than parameters; the record fits in other units only.
    """
    if method not in METHODS:
        known = ", ".join(METHODS)
        raise UsageError(f"No such method: {method!r}. Methods are {known}.", [method])
    mechanism, criteria = model.mechanism, tuple(criteria or CRITERIA)
    noise = None if estimated else _stated_noise(mechanism, pooling)
    W, tau, error, of_columns = _observed(model, record, columns, base)
    record = replace(record, notes=(*of_columns, *record.notes))
    _check_torques(record, tau.size, base.rank)
    kept = list(base.kept)
    found = reduce_measured(
        W[..., kept],
        tau,
        criteria,
        noise=noise,
        pooling=pooling,
        samples=samples,
        method=method,
        tolerance=tolerance,
        error=error,
    )
    sigma, path = found.noise[0], found.path
    validation = None
    if second is not None:
        W_2, tau_2, *_ = _observed(model, second, columns)
        validation = errors_on(W_2[..., kept], tau_2, path.values, sigma)[0]
    return ReducedMechanism(
        mechanism=mechanism.name,
        method=method,
        path=path,
        selection=found.selection[0],
        samples=float(found.samples[0]),
        tolerance=tolerance,
        noise=tuple(zip(mechanism.coordinates, map(float, sigma), strict=True)),
        base=base,
        W=W[0],
        validation=validation,
        record=record.source,
        estimated=estimated,
        notes=_notes(mechanism, base, record, W[0], tau[0], path.values[0, 0], sigma),
    )


def _stated_noise(mechanism: Mechanism, pooling: Pooling) -> Array:
    noise = noise_levels(mechanism, pooling)
    if noise is None:
        raise MissingDataError(
            f"{mechanism.name!r} states no noise of its torques. State `{noise_line(mechanism)}`, "
            f"or have it estimated from the record: `estimate_noise=`.",
            ["noise"],
        )
    return noise


def _check_torques(record: Measurement, torques: int, rank: int) -> None:
    if torques <= rank:
        raise UsageError(
            f"{record.source}: {plural(torques, 'usable torque')} cannot judge "
            f"{plural(rank, 'parameter')}. "
            f"Record more samples (ten times as many torques as parameters, better a hundred).",
            ["samples"],
        )


def _notes(
    mechanism: Mechanism,
    base: BaseParameters,
    record: Measurement,
    W: Array,
    tau: Array,
    values: Array,
    sigma: Array,
) -> tuple[tuple[str, str], ...]:
    """Diagnostics of the record, and of the full model of it."""
    rest = tau - W[..., list(base.kept)] @ values
    error = float(np.linalg.norm(rest / sigma) / np.linalg.norm(tau / sigma))
    free = len(tau) * (1 - base.rank / tau.size)
    spread = np.sqrt((rest**2).sum(axis=0) / free)
    alike = likeness(mechanism, base, W, values, tau.T)
    of_torque = of_the_torque(mechanism, error, alike, spread)
    notes = (*record.notes, *without_guesses(record.notes, of_torque))
    return tuple((note.kind, note.text) for note in notes)


def _observed(
    model: Model,
    record: Measurement,
    columns: Sequence[Column],
    base: BaseParameters | None = None,
) -> tuple[Array, Array, Array, tuple[Note, ...]]:
    """W (1, sample, coordinate, parameter), τ and W's error, where all torques are measured.

    With a note where columns look exchanged; with `base` also where force laws are omitted.
    """
    ready = prepare_record(model, record)
    seen, notes = observe_record(model, record, ready, tuple(columns))
    if base is not None and not notes:
        omitted = _omitted(model, base, tuple(columns), ready, seen)
        notes = (omitted,) if omitted else ()
    fine = ready.usable.all(axis=0)
    return seen.W[:, fine], ready.tau.T[fine][None], seen.error, notes


def _omitted(
    model: Model,
    base: BaseParameters,
    columns: tuple[Column, ...],
    ready: Prepared,
    seen: Observation,
) -> Note | None:
    """As `find_omitted`, of the full model; None where there are too few torques to fit it."""
    part = Part(ready, seen.W[0][..., list(base.kept)])
    regression = Regression([part], laws_of(base, columns), None, Searches())
    if regression.groups.size <= base.rank or not may_be_omitted(model.mechanism, columns):
        return None
    free = tuple(range(base.rank))
    last = fit(regression, np.zeros(base.rank), free, "weighted")
    return find_omitted(Without(model, base, columns, seen, last, free, "weighted"))
