"""Rates of momentum of closed variants: what shakes the frame."""

from collections.abc import Iterator

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import Model, Motion, Poses, Rates, cross, kinematics, spatial
from basepar_core.mechanism import PLANAR_PARAMETERS, SPATIAL_PARAMETERS, Mechanism


def momentum_rates(
    model: Model, motion: Motion, phi: Array, at: Poses, dims: kinematics.Geometry
) -> tuple[Array, Array]:
    """Rates (3, variant, sample) of momentum, and of angular momentum about the origin.

    Parameters
    ----------
    phi
        Inertial parameters (variant, parameter), SI.
    at, dims
        Poses along the motion, (…, variant, sample), and the geometry they are of.
    """
    graph, size = model.topology, (len(phi), motion.t.size)
    state = Rates(model, at, dims, motion, size)
    moving = kinematics.twists(graph, at, state.u)
    alpha, a = state.accelerations(moving)
    inertias = _inertias(model.mechanism, phi)
    force, moment = np.zeros((2, 3, *size), state.u.dtype)
    for body, (m, first, I) in enumerate(inertias):
        R = at.R[body]
        w, turn = (spatial.rotate_back(R, x) for x in (moving.omega[body], alpha[body]))
        pull = spatial.rotate_back(R, a[body] + state.gravity)  # `a` is less gravity
        push = m * pull + cross(turn, first) + cross(w, cross(w, first))
        twist = spatial.rotate(I, turn) + cross(w, spatial.rotate(I, w)) + cross(first, pull)
        push = spatial.rotate(R, push)
        force += push
        moment += spatial.rotate(R, twist) + cross(at.p[body], push)
    return force, moment


def _inertias(mechanism: Mechanism, phi: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Per body mass, first moment (3, …) and inertia (3, 3, …), with an axis for samples."""
    planar = mechanism.planar
    each = len(PLANAR_PARAMETERS if planar else SPATIAL_PARAMETERS)
    for body in range(len(mechanism.bodies)):
        entries = phi[:, body * each : (body + 1) * each].T[..., None]
        first = np.zeros((3, *entries.shape[1:]), phi.dtype)
        I = np.zeros((3, 3, *entries.shape[1:]), phi.dtype)
        if planar:
            first[:2], I[2, 2] = entries[1:3], entries[3]
        else:
            first[:] = entries[1:4]
            for entry, (i, j) in zip(entries[4:], _SIX, strict=True):
                I[i, j] = I[j, i] = entry
        yield entries[0], first, I


_SIX = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
