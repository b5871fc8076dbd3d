"""Instant centres: where two bodies of a planar mechanism have the same velocity."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import GROUND, joint_type

from . import kinematics
from .closure import Model
from .kinematics import Geometry
from .motion import Motion
from .regressor import Rates

#: Bodies that turn about each other by less than this share of the fastest turn only shift.
SHIFTS = 1e-10


def instant_centres(model: Model, dims: Geometry, q: Array, motion: Motion) -> Array:
    """Instant centres (body, body, 2, variant, sample), the ground before the bodies, m.

    Parameters as in `movements`. Of bodies that share a pin it is the pin. Otherwise nan where two
    bodies do not turn about each other: their centre is at infinity, or every point is one. Only
    the ratio of the coordinates' rates matters.
    """
    graph, size = model.topology, q.shape[1:]
    at = kinematics.poses(graph, dims, q)
    moving = kinematics.twists(graph, at, Rates(model, at, dims, motion, size).u)
    count = 1 + len(model.mechanism.bodies)
    turn, shift = np.zeros((count, *size)), np.zeros((count, 2, *size))
    for b in range(1, count):
        v, omega, p = moving.v[b - 1], moving.omega[b - 1], at.p[b - 1]
        turn[b] = omega[2]
        # The velocity of what the body carries at the ground's origin.
        shift[b, 0], shift[b, 1] = v[0] + omega[2] * p[1], v[1] - omega[2] * p[0]
    turns = turn[:, None] - turn
    shifts = shift[:, None] - shift
    fixed = np.abs(turns) <= SHIFTS * np.abs(turn).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.stack([-shifts[:, :, 1] / turns, shifts[:, :, 0] / turns], axis=2)
    found = np.where(fixed[:, :, None], np.nan, found)
    names = [GROUND, *(body.name for body in model.mechanism.bodies)]
    for joint, pin in zip(model.mechanism.joints, at.P1, strict=True):
        if joint_type(joint.type).is_pin:  # it is the centre where they stand still, too
            i, j = (names.index(body) for body in joint.bodies)
            found[i, j] = found[j, i] = np.broadcast_to(pin[:2], (2, *size))
    return found
