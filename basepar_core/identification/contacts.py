"""Measured wrenches at a file's `points`: columns of a record, and what they do to coordinates.

With W φ = τ + Jᵀ w they are known forces beside the measured torques.
"""

from collections.abc import Mapping

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Motion, Outcome, kinematics, point_rates
from basepar_core.expressions import UNITS, Unit, evaluate
from basepar_core.mechanism import GROUND, Mechanism

from .motion_regressor import follow


def wrench_columns(mechanism: Mechanism) -> dict[str, dict[str, Unit]]:
    """Per point of a body its columns in the order of a wrench's components, and their units.

    Force on the body, then moment about the point, along the body's axes; in the plane x, y and
    the one moment.
    """
    force, moment = UNITS["N"], UNITS["N"] * UNITS["m"]
    axes = ("xy", "z") if mechanism.planar else ("xyz", "xyz")
    return {
        one.name: {f"force.{one.name}.{axis}": force for axis in axes[0]}
        | {f"moment.{one.name}.{axis}": moment for axis in axes[1]}
        for one in mechanism.points
        if one.body != GROUND
    }


def contact_efforts(model: Model, motion: Motion, wrenches: Mapping[str, Array]) -> Array:
    """Jᵀ w (coordinate, sample), N m or N: what measured wrenches do to the coordinates.

    Parameters
    ----------
    model
        The mechanism, prepared.
    motion
        Of the record.
    wrenches
        Per point (component, sample), SI; nan where not measured.

    Returns
    -------
    nan where a wrench was not measured; zero where the loops do not close, which is reported
    where W is made.
    """
    found = np.zeros(motion.q.shape)
    path = follow(model, motion.q) if wrenches else None
    if path is None or path.outcome[0] != Outcome.CLOSED:
        return found
    dims = kinematics.geometry(model.mechanism, {}).over_samples()
    for one in model.mechanism.points:
        if one.name in wrenches:
            at = [float(x) for x in evaluate(one.at, model.mechanism.nominal)]
            rates = point_rates(model, dims, path.q, motion, one.body, at)[0]
            found += np.einsum("skc,cs->ks", rates, wrenches[one.name])
    return found
