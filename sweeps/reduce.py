"""Reduction of every variant of a chunk: the path, and where each criterion stops on it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from basepar_core.base.result import BaseParameters
from basepar_core.criteria import select
from basepar_core.kernels.paths import Torques, own_path
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import check_reducible, effective_samples, noise_levels

from .outputs import Arrays, Output
from .spec import Reduction


@dataclass(frozen=True)
class Reducer:
    """Reduces variants of one mechanism over its cycle; picklable, made by `prepare`.

    Attributes
    ----------
    kept
        Base parameters by index.
    criteria, tolerance, samples
        As asked; `samples` is n.
    noise
        σ by coordinate, N m or N; None where none is stated.
    """

    kept: tuple[int, ...]
    criteria: tuple[str, ...]
    tolerance: float
    samples: float
    noise: tuple[float, ...] | None = None

    @property
    def outputs(self) -> tuple[Output, ...]:
        path, chosen = ("variant", "step"), ("variant", "criterion")
        return (
            Output(
                "removed",
                path,
                "int16",
                long_name="base parameter, by index, that left to reach this step; -1 at step 0",
            ),
            Output("torque_error", path, long_name="relative torque error of the reduced model"),
            Output("selected_size", chosen, "int16", long_name="parameters the criterion keeps"),
            Output("selected_error", chosen, long_name="relative torque error of that model"),
        )

    @property
    def coords(self) -> dict[str, list[str] | list[int]]:
        return {"step": list(range(len(self.kept) + 1)), "criterion": list(self.criteria)}

    @property
    def attrs(self) -> dict[str, Any]:
        """What the numbers rest on."""
        return {
            "effective_samples": self.samples,
            "tolerance": self.tolerance,
            "noise": None if self.noise is None else list(self.noise),
        }

    def __call__(
        self, W: np.ndarray, phi: np.ndarray, error: np.ndarray, chosen: np.ndarray
    ) -> tuple[Arrays, Torques]:
        """Reduce variants; their results, and metrics of their torques.

        Parameters
        ----------
        W
            (variant, sample, coordinate, parameter) of the cycle, finite where chosen.
        phi
            (chosen, parameter), SI.
        error
            (chosen,): relative error of W.
        chosen
            Variants by index.
        """
        noise = None if self.noise is None else np.array(self.noise)
        path, torques = own_path(W, phi, self.kept, noise, error, chosen)
        found = select(
            path,
            self.criteria,
            self.samples,
            noise_known=noise is not None,
            tolerance=self.tolerance,
        )
        results = {
            "removed": path.removed,
            "torque_error": path.torque_error,
            "selected_size": found.size,
            "selected_error": found.error,
        }
        return results, torques


def prepare(mechanism: Mechanism, base: BaseParameters, asked: Reduction) -> Reducer:
    """What all variants share (the checks are `check_reducible`'s, and may come earlier).

    Raises
    ------
    MissingDataError
        The mechanism states no cycle, no inertias, or no noise where a criterion needs it.
    """
    check_reducible(mechanism, asked.criteria)
    noise = noise_levels(mechanism)
    return Reducer(
        kept=base.kept,
        criteria=asked.criteria,
        tolerance=asked.tolerance,
        samples=effective_samples(mechanism, asked.effective_samples),
        noise=None if noise is None else tuple(map(float, noise)),
    )
