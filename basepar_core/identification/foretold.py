"""The torque that a mechanism's file gives for a motion: of its inertias and its force laws."""

from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Motion
from basepar_core.expressions import ZERO, evaluate

from .motion_regressor import observe_motion

#: Samples looked at where a record is held against the file.
LOOKED_AT = 300


@dataclass(frozen=True)
class FileTorque:
    """What the file says of torques: its inertias, and the values of force laws that count."""

    model: Model
    columns: tuple[Column, ...]

    def observe(self, motion: Motion) -> Array:
        """W (sample, coordinate, parameter), force laws last."""
        W: Array = observe_motion(self.model, motion, self.columns).W[0]
        return W

    def foretold(self, W: Array) -> Array:
        """(coordinate, sample): torque of the file's values, N m or N."""
        nominal = self.model.mechanism.nominal
        laws = [ZERO if one.value is None else one.value for one in self.columns]
        inertial = self.model.mechanism.inertial_parameters(nominal)
        phi = np.concatenate([inertial, np.array(evaluate(laws, nominal), float)])
        found: Array = (W[..., : phi.size] @ phi).T
        return found

    def unknown(self, W: Array) -> Array:
        """(sample, coordinate, column): of force laws to which the file gives no value."""
        first = W.shape[-1] - len(self.columns)
        places = [first + k for k, one in enumerate(self.columns) if one.value is None]
        found: Array = W[..., places]
        return found

    def compare(self, W: Array, tau: Array) -> tuple[float, float]:
        """Correlation of measured and foretold torque, and the factor between them."""
        foretold = self.foretold(W)
        both = float((tau * foretold).sum())
        sizes = float((tau**2).sum()), float((foretold**2).sum())
        if min(sizes) == 0:
            return 0.0, 1.0
        return both / np.sqrt(sizes[0] * sizes[1]), both / sizes[1]


def spread(tau: Array) -> Array:
    """Places of some `LOOKED_AT` samples in which all torques (coordinate, sample) are known."""
    known = np.flatnonzero(np.isfinite(tau).all(axis=0))
    return known[:: max(1, known.size // LOOKED_AT)]


def at(motion: Motion, samples: Array) -> Motion:
    """A motion's samples at some places."""
    q, q_dot, q_ddot = (x[:, samples] for x in (motion.q, motion.q_dot, motion.q_ddot))
    return Motion(motion.t[samples], q, q_dot, q_ddot)
