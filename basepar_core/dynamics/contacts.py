"""Points of bodies that others push: velocities of a point at unit velocity of each coordinate.

What a wrench there does to the coordinates is its virtual power (d'Alembert): Jᵀ w, in trees and
loops alike.
"""

from collections.abc import Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import UsageError

from . import kinematics, spatial
from .closure import Model
from .kinematics import Geometry
from .motion import Motion
from .regressor import Rates
from .spatial import cross


def point_rates(
    model: Model,
    dims: Geometry,
    q: Array,
    motion: Motion,
    body: str,
    at: Sequence[float],
) -> Array:
    """Jacobian of a body's point, where the loops are closed already.

    Parameters
    ----------
    model, dims, q, motion
        As in `regressor.evaluate`.
    body
        Name.
    at
        The point in the body's frame, m: three numbers, in the plane two.

    Returns
    -------
    (variant, sample, coordinate, component): velocity of the point along the body's axes x, y, z,
    m/s, then the body's angular velocity about them, rad/s, per unit velocity of the coordinate;
    in the plane x, y and the one angular velocity.

    Raises
    ------
    UsageError
        The body is slender: along which directions its axes are, no motion tells.
    """
    if model.mechanism.bodies[model.mechanism.body_index[body]].form == "slender":
        raise UsageError(
            f"{body!r} is slender and turns about its line as it likes, so that its axes x, y and "
            f"z, along which a wrench is given, are nowhere. Push the bodies at its ends.",
            [body],
        )
    graph, b = model.topology, model.mechanism.body_index[body]
    here = kinematics.poses(graph, dims, q)
    modes = Rates(model, here, dims, motion, q.shape[1:]).modes
    place = np.array([*at, 0.0][:3]).reshape(3, *(1,) * (q.ndim - 1))
    arm = spatial.rotate(here.R[b], place)
    found = np.empty((*q.shape[1:], len(motion.q), 3 if graph.planar else 6))
    for k in range(len(motion.q)):
        moving = kinematics.twists(graph, here, modes[:, k])
        v = spatial.rotate_back(here.R[b], moving.v[b] + cross(moving.omega[b], arm))
        omega = spatial.rotate_back(here.R[b], moving.omega[b])
        parts = (v[0], v[1], omega[2]) if graph.planar else (*v, *omega)
        for component, part in enumerate(parts):
            found[..., k, component] = part
    return found
