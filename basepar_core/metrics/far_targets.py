"""Targets that lie far beyond a mechanism: most often their numbers are in another unit."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import carried, kinematics, places, prepare
from basepar_core.errors import BaseparError
from basepar_core.mechanism import Mechanism

from .boxes import corners
from .targets import Target

#: So many times as far as anything of the mechanism, as it is assembled, no path comes.
FAR = 30.0


def far_off(target: Target, mechanism: Mechanism) -> tuple[float, float] | None:
    """How far a target lies from the ground's origin, and the mechanism at its assembly.

    Where the position is fitted, how far from their middles.

    Returns
    -------
    Both in m; None where the target is near enough, its size is fitted or it is no path, or the
    mechanism cannot be assembled.
    """
    if target.is_function or "scale" in target.fit:
        return None
    try:
        held = _assembled(mechanism)
    except BaseparError:  # reported where it is used
        return None
    wanted = np.array(target.points, float)
    if "position" in target.fit:
        wanted, held = (one - one.mean(axis=0) for one in (wanted, held))
    far, near = (float(np.linalg.norm(one, axis=1).max()) for one in (wanted, held))
    return (far, near) if far > FAR * near > 0 else None


def _assembled(mechanism: Mechanism) -> Array:
    """Joints, points and shapes (place, axis) in the ground's frame, m."""
    model = prepare(mechanism)
    points = [point for point, _ in corners(mechanism)]
    local = carried(points, mechanism.nominal)[..., None]
    dims = kinematics.geometry(mechanism, {}).over_samples()
    return places(model, dims, model.assembled.q[:, None, None], points, local)[..., 0, 0]
