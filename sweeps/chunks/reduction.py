"""Reduction of every variant of a chunk: the path, and where each criterion stops on it.

On request also the generalised base parameters of each criterion's model, and the errors of the
path's models on a second trajectory, the excitation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from basepar_core.base import BaseParameters, beside
from basepar_core.dynamics import Column, Model, Motion, Observation, excitation, unit
from basepar_core.mechanism import Mechanism, parameter_unit
from basepar_core.reduction import (
    Path,
    along,
    check_reducible,
    effective_samples,
    errors_on,
    noise_levels,
    select,
)
from sweeps.spec import Reduction
from sweeps.store import Arrays, Output

if TYPE_CHECKING:
    from basepar_core.compiled import Torques


def parameter_units(
    base: BaseParameters, mechanism: Mechanism, further: Sequence[Column] = ()
) -> tuple[str, ...]:
    """Unit of every base parameter, its parameter's; `further` are the last of them."""
    inertial = base.base_names[: len(base.base_names) - len(further)]
    return (*map(parameter_unit, inertial), *(unit(mechanism, one) for one in further))


@dataclass(frozen=True)
class Chosen:
    """Variants that are reduced.

    Attributes
    ----------
    rows
        By index in the arrays of their observation.
    phi
        (chosen, parameter), SI; force-law columns last.
    entries
        (entry, chosen): of β; not finite where a pivot vanishes.
    error
        (chosen,): relative error of W.
    along
        Observes them (and no others) along another motion.
    """

    rows: np.ndarray
    phi: np.ndarray
    entries: np.ndarray
    error: np.ndarray
    along: Callable[[Motion], Observation]


@dataclass(frozen=True)
class Reducer:
    """Reduces variants of one mechanism over its cycle; picklable, made by `prepare`.

    Attributes
    ----------
    base
        The base parameters, force-law columns among them (`base.beside`).
    units
        Theirs.
    asked
        What the specification asks for.
    samples
        n of the criteria.
    noise
        σ by coordinate, N m or N; None where none is stated.
    second
        The trajectory of the validation, where that is asked for.
    """

    base: BaseParameters
    units: tuple[str, ...]
    asked: Reduction
    samples: float
    noise: tuple[float, ...] | None = None
    second: Motion | None = field(default=None, repr=False)

    @property
    def outputs(self) -> tuple[Output, ...]:
        path, chosen = ("variant", "step"), ("variant", "criterion")
        found = [
            Output(
                "removed",
                path,
                "int16",
                long_name="base parameter, by index, that left to reach this step; -1 at step 0",
            ),
            Output("torque_error", path, long_name="relative torque error of the reduced model"),
            Output("selected_size", chosen, "int16", long_name="parameters the criterion keeps"),
            Output("selected_error", chosen, long_name="relative torque error of that model"),
        ]
        if "generalised" in self.asked.arrays:
            words = "generalised base parameters of the criterion's model, SI; nan: dropped"
            dims = (*chosen, "base_parameter")
            found.append(Output("generalised", dims, unit="", units=self.units, long_name=words))
        if self.second is not None:
            words = "relative torque error of the reduced model on the excitation"
            found.append(Output("validation_error", path, long_name=words))
        return tuple(found)

    @property
    def coords(self) -> dict[str, list[str] | list[int]]:
        return {
            "step": list(range(len(self.base.kept) + 1)),
            "criterion": list(self.asked.criteria),
        }

    @property
    def attrs(self) -> dict[str, Any]:
        """What the numbers rest on."""
        return {
            "method": self.asked.method,
            "effective_samples": self.samples,
            "tolerance": self.asked.tolerance,
            "noise": None if self.noise is None else list(self.noise),
            "pooling": self.asked.noise,
        }

    def __call__(self, W: np.ndarray, chosen: Chosen) -> "tuple[Arrays, Torques]":
        """Reduce variants; their results, and metrics of their torques.

        Parameters
        ----------
        W
            (variant, sample, coordinate, parameter) of the cycle, finite where chosen.
        """
        from basepar_core.compiled import own_path  # the compiler: for those who evaluate

        noise = None if self.noise is None else np.array(self.noise)
        path, torques = own_path(
            W, chosen.phi, self.base.kept, noise, chosen.error, chosen.rows, self.asked.method
        )
        found = select(
            path,
            self.asked.criteria,
            self.samples,
            noise_known=noise is not None,
            tolerance=self.asked.tolerance,
        )
        results = {
            "removed": path.removed,
            "torque_error": path.torque_error,
            "selected_size": found.size,
            "selected_error": found.error,
        }
        if self.asked.arrays:
            W_b = W[chosen.rows][..., list(self.base.kept)]
            values = along(path, W_b, self._base_values(chosen), noise)
            if "generalised" in self.asked.arrays:
                results["generalised"] = _of_sizes(path, values, found.size)
            if self.second is not None:
                results["validation_error"] = self._validation(values, chosen, noise)
        return results, torques

    def _base_values(self, chosen: Chosen) -> np.ndarray:
        """(chosen, base): base parameters, nan where a pivot of β vanishes."""
        whole = np.isfinite(chosen.entries).all(axis=0)
        found = self.base.combine(chosen.phi, np.where(whole, chosen.entries, 0.0))
        return np.where(whole[:, None], found, np.nan)

    def _validation(
        self, values: np.ndarray, chosen: Chosen, noise: np.ndarray | None
    ) -> np.ndarray:
        """(chosen, step); nan where the second trajectory cannot be followed."""
        assert self.second is not None
        seen = chosen.along(self.second)
        found = np.full(values.shape[:2], np.nan)
        good = np.flatnonzero(seen.closed & np.isfinite(seen.W).all(axis=(1, 2, 3)))
        W = seen.W[good]
        tau = np.einsum("vscp,vp->vsc", W, chosen.phi[good])
        found[good] = errors_on(W[..., list(self.base.kept)], tau, values[good], noise)
        return found


def _of_sizes(path: Path, values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Parameters (variant, criterion, base) of the models of some sizes; nan where they left."""
    step = len(path.sizes) - 1 - sizes
    lanes = np.arange(len(values))[:, None]
    # When each parameter leaves: the inverse of the order in which they do.
    leaves = np.argsort(path.removed[:, 1:], axis=1) + 1
    return np.where(leaves[:, None] > step[..., None], values[lanes, step], np.nan)


def prepare(
    model: Model, base: BaseParameters, asked: Reduction, further: Sequence[Column] = ()
) -> Reducer:
    """What all variants share (the checks are `check_reducible`'s, and may come earlier).

    Raises
    ------
    MissingDataError
        The mechanism states no cycle, no inertias, no noise where a criterion needs it, or no
        excitation where a validation does.
    UsageError
        Noise of forces and of torques is to be pooled.
    """
    mechanism = model.mechanism
    check_reducible(mechanism, asked.criteria)
    noise = noise_levels(mechanism, asked.noise)
    return Reducer(
        base=beside(base, further),
        units=parameter_units(beside(base, further), mechanism, further),
        asked=asked,
        samples=effective_samples(mechanism, asked.effective_samples),
        noise=None if noise is None else tuple(map(float, noise)),
        second=excitation(mechanism, model.assembled.coordinates)
        if "validation" in asked.arrays
        else None,
    )
