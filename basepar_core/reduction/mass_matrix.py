"""What a reduced model is worth in forward dynamics: its mass matrix against the full one's.

Inverse dynamics forgives a joint without inertia; forward dynamics divides by it. A reduction
that leaves torques nearly as they were can leave a mass matrix that is singular, or not positive,
and then its parameters are of no use for simulating. M(q) is the regressor's part that is linear
in q̈, so it is had from W at rest: M e_j = (W(q, 0, e_j) − W(q, 0, 0)) φ.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Column, Model, Motion, observe, with_columns

#: Inertia off by no more than this factor in any direction: accelerations are of the right size.
FACTOR = 2.0


def mass_columns(model: Model, motion: Motion, further: Sequence[Column] = ()) -> Array:
    """(sample, coordinate, coordinate, parameter): M(q) = columns @ φ at nominal geometry.

    `further` columns stand behind the inertial ones; of these rotors have inertia.
    """
    still = replace(motion, q_dot=0 * motion.q, q_ddot=0 * motion.q)
    seen = observe(model, {}, still)

    def rows(moving: Motion) -> Array:
        found = observe(model, {}, moving, path=seen.trace)
        return with_columns(model, {}, moving, found, further).W[0]

    rest = with_columns(model, {}, still, seen, further).W[0]
    found = []
    for j in range(len(motion.q)):
        q_ddot = 0 * motion.q
        q_ddot[j] = 1.0
        found.append(rows(replace(still, q_ddot=q_ddot)) - rest)
    return np.stack(found, axis=2)


def inertia_ratio(columns: Array, reduced: Array, full: Array) -> tuple[float, float]:
    """Least and most inertia of a reduced model over the full model's, in any direction.

    Parameters
    ----------
    columns
        From `mass_columns`.
    reduced, full
        φ (parameter,), SI; the full model's mass matrix is positive.

    Returns
    -------
    Extreme eigenvalues of M⁻¹ M_reduced over the motion; (1, 1) is no difference.
    """
    L = np.linalg.cholesky(columns @ full)
    half = np.linalg.solve(L, columns @ reduced)
    ratio = np.linalg.eigvalsh(np.linalg.solve(L, np.swapaxes(half, 1, 2)))
    return float(ratio.min()), float(ratio.max())


def is_usable(ratio: tuple[float, float]) -> bool:
    """Whether simulations with a reduced model make sense (`FACTOR`)."""
    return ratio[0] >= 1 / FACTOR and ratio[1] <= FACTOR
