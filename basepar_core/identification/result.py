"""What an identification returns: the record made ready, the estimate, how well it predicts."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from basepar_core.base import BaseParameters
from basepar_core.dynamics import Column, Model, Motion

from ..arrays import Array
from .estimate import Estimate
from .notes import Note


@dataclass(frozen=True)
class Prepared:
    """A record ready for regression.

    Attributes
    ----------
    motion
        Smoothed, or as given.
    tau
        (coordinate, sample), N m or N: measured torques, with what measured wrenches do.
    usable
        (coordinate, sample) bool: rows that count.
    cutoffs
        Hz per coordinate; empty where rates were given.
    position_noise
        What smoothing removed, per coordinate, rad or m; empty likewise.
    starts
        Samples at which a new run begins.
    """

    motion: Motion
    tau: Array
    usable: Array
    cutoffs: tuple[float, ...]
    position_noise: tuple[float, ...]
    starts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Validation:
    """A model's torque on a second record.

    Attributes
    ----------
    source
        The record.
    relative_error
        ‖τ − W φ‖/‖τ‖, weighted by the noise (and as irls weighs the rows it is made from).
    rms
        (coordinate,): of τ − W φ, N m or N.
    t, measured, predicted
        Samples; torques are (coordinate, sample), measured ones nan where unusable; both
        low-passed where the identification was.
    lowpass
        Hz; None: as measured.
    unfiltered_error
        ‖τ − W φ‖₂/‖τ‖₂ as measured, before the low-pass.
    """

    source: str
    relative_error: float
    rms: Array
    t: Array
    measured: Array
    predicted: Array
    lowpass: float | None = None
    unfiltered_error: float | None = None

    @property
    def error(self) -> float:
        """‖τ − W φ‖₂/‖τ‖₂ over all coordinates and samples, unweighted."""
        return unweighted_error(self.measured, self.predicted)

    @property
    def errors(self) -> Array:
        """(coordinate,): the same of each; nan where nothing was measured."""
        pairs = zip(self.measured, self.predicted, strict=True)
        return np.array([unweighted_error(one, other) for one, other in pairs])


def unweighted_error(measured: Array, predicted: Array) -> float:
    """‖τ − τ̂‖₂/‖τ‖₂ where torques were measured; nan where none was, or all are zero."""
    size = float(np.nansum(measured**2))
    return float(np.sqrt(np.nansum((measured - predicted) ** 2) / size)) if size else np.nan


@dataclass(frozen=True)
class Identification:
    """Base parameters of a mechanism from a record.

    Attributes
    ----------
    model, base, columns, method
        What was identified, and how.
    names
        Identified base parameters: all of `base`, less known ones and those that are not
        essential where that was asked for.
    estimate
        Their values, covariance, the torque noise, residuals.
    known
        Base parameters by name that were given; dropped ones are 0.
    training
        The model on its own record.
    prepared
        The record.
    stated
        (identified,): what the file's parameters would give in their place; nan without. Where
        others are dropped, or known to be other than in the file, their part is shared out as
        least squares would.
    notes
        Diagnostics.
    validation
        The model on a second record; None without one.
    """

    model: Model
    base: BaseParameters
    columns: tuple[Column, ...]
    method: str
    names: tuple[str, ...]
    estimate: Estimate
    known: Mapping[str, float]
    dropped: tuple[str, ...]
    training: Validation
    prepared: Prepared
    stated: Array
    notes: tuple[Note, ...]
    validation: Validation | None = None

    @property
    def base_values(self) -> Array:
        """(base,): all base parameters, known ones as given, dropped ones 0."""
        found = dict(zip(self.names, map(float, self.estimate.values), strict=True))
        everything = {**self.known, **found}
        return np.array([everything.get(name, 0.0) for name in self.base.base_names])
