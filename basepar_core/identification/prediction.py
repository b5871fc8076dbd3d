"""The torque of an identified model along a record."""

from collections.abc import Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import BaseParameters
from basepar_core.dynamics import Column, DriveLaw

from .estimate import Estimate
from .regression import Regression, on_drives
from .result import Validation, unweighted_error
from .sampling import Sampler


def laws_of(base: BaseParameters, columns: Sequence[Column]) -> list[DriveLaw | None]:
    """(base,): the law of a drive that a base parameter is; None of others."""
    first = len(base.parameters) - len(columns)
    sources = [columns[k - first].source if k >= first else None for k in base.kept]
    return [source if isinstance(source, DriveLaw) else None for source in sources]


def predict(
    source: str, regression: Regression, values: Array, fit: Estimate, number: int = 0
) -> Validation:
    """A model's torque on one record of a regression.

    Parameters
    ----------
    source
        The record's name.
    regression
        Rows of records, delay and gains as they were found.
    values
        (parameter,).
    fit
        Whose noise weighs the rows, and whose weights where they are its own.
    number
        Which record.
    """
    part, sampler = regression.parts[number], regression.samplers[number]
    ready, W = part.ready, regression.columns(part.W, values, part.ready.tau)
    predicted = (W @ values).T
    groups = sampler.groups
    weights = fit.weights if fit.weights.size == groups.size else 1.0
    y = sampler.torques(on_drives(ready, ready.tau))
    p = sampler.rows(on_drives(ready, predicted).T[..., None])[:, 0]
    scale = weights / fit.sigma[groups]  # Huber's loss grows with the weighted residual only
    size = float(((y * scale) ** 2).sum())
    joints = Sampler(ready.motion.t, ready.usable, ready.starts, regression.lowpass, sampler.delay)
    measured, smooth = joints.smoothed(ready.tau, predicted)
    raw = None
    if regression.lowpass is not None:
        raw = unweighted_error(np.where(ready.usable, ready.tau, np.nan), joints.late(predicted))
    drives = None
    if ready.motor_to_joint is not None:
        u, model = on_drives(ready, ready.tau), on_drives(ready, predicted)
        drives = np.stack(sampler.smoothed(u, model))
    return Validation(
        source,
        float(np.sqrt((((y - p) * scale) ** 2).sum() / size)) if size else 0.0,
        np.sqrt(np.nanmean((measured - smooth) ** 2, axis=1)),
        ready.motion.t,
        measured,
        smooth,
        regression.lowpass,
        raw,
        drives,
    )
