"""W of a motion, how near its loops come to singular, and the derivatives of both by its states.

A sample's rows of W depend on that sample's q, q̇ and q̈ alone: 4n + 1 evaluations of all samples
give the derivatives by any parameters that a trajectory of n coordinates has, however many.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LAST_UPDATE,
    SINGULAR,
    Closer,
    Column,
    Lanes,
    Model,
    Motion,
    Outcome,
    Trace,
    as_twists,
    coordinate_configuration,
    kinematics,
    tracks,
    with_columns,
)

from .motion_regressor import along, follow

#: Step of the positions, rad or m: one-sided differences err by this and by 1e-16 of it.
STEP = 1e-6
#: Step of the speeds as a share of the greatest: W is a quadratic function of them, for which
#: central differences are exact; small, because a Coulomb friction's sign is none.
SHARE = 1e-4


@dataclass(frozen=True)
class Course:
    """A motion that the mechanism can follow.

    Attributes
    ----------
    motion
        Of the coordinates; its velocities are all derivatives of q.
    q
        (position, sample): configurations.
    W
        (sample, coordinate, parameter), the columns asked for.
    regularity
        (block, sample): |distance from singularity| of each loop's equations, 0 to 1.
    values
        (value, sample): joint values asked for, m or rad.
    """

    motion: Motion
    q: Array
    W: Array
    regularity: Array
    values: Array


@dataclass(frozen=True)
class Slopes:
    """Derivatives of a course.

    Attributes
    ----------
    W
        (3, coordinate, sample, coordinate, parameter): by q, q̇ and q̈ of each coordinate.
    regularity, values
        (coordinate, block or value, sample): by q.
    """

    W: Array
    regularity: Array
    values: Array


class Follower:
    """Follows motions of one mechanism at nominal geometry.

    Parameters
    ----------
    model
        The mechanism, prepared.
    kept
        Columns of W that are wanted, by index; further ones count behind the inertial ones.
    columns
        Force-law columns.
    watched
        Names of joint values to watch.
    """

    def __init__(
        self,
        model: Model,
        kept: Sequence[int],
        columns: Sequence[Column] = (),
        watched: Sequence[str] = (),
    ):
        self.model, self.kept, self.columns = model, list(kept), tuple(columns)
        self.watched = tuple(watched)
        self.closer = Closer(model.topology, model.loops, LAST_UPDATE)
        self.dims = kinematics.geometry(model.mechanism, {})
        start = self.closer.start(model.assembled.q, 1)
        self.closer.close(self.dims, start)
        ratios = self.closer.ratios(start)
        self.signs, self.assembled = np.sign(ratios), float(np.abs(ratios).min())

    def at(self, motion: Motion, near: Array | None = None) -> Course | None:
        """A motion's course, closed from configurations `near` it; None where it cannot be."""
        if near is None:
            path = follow(self.model, motion.q)
            if path.outcome[0] != Outcome.CLOSED:
                return None
            near = path.q[:, 0]
        q, regularity = self._closed(motion.q, near)
        if regularity is None:
            return None
        return Course(motion, q, self._rows(motion, q), regularity, self._values(q))

    def slopes(self, course: Course) -> Slopes | None:
        """Derivatives; None where a motion as near as `STEP` is not followed."""
        q, v, a = course.motion.q, course.motion.q_dot, course.motion.q_ddot
        count, samples = q.shape
        each = np.eye(count)[:, :, None]  # (moved, coordinate, 1)
        targets = (q + STEP * each).transpose(1, 0, 2).reshape(count, -1)
        moved, regularity = self._closed(targets, np.tile(course.q, count))
        if regularity is None:
            return None
        dv = SHARE * (np.abs(v).max(axis=1) + np.finfo(float).tiny)
        da = np.abs(a).max(axis=1) + 1.0
        zero = np.zeros_like(each)
        shifts = [
            np.concatenate(parts)
            for parts in (
                [STEP * each, zero, zero, zero],
                [zero, dv[:, None, None] * each, -dv[:, None, None] * each, zero],
                [zero, zero, zero, da[:, None, None] * each],
            )
        ]
        q_, v_, a_ = (
            (x + shift).transpose(1, 0, 2).reshape(count, -1)
            for x, shift in zip((q, v, a), shifts, strict=True)
        )
        states = Motion(np.tile(course.motion.t, 4 * count), q_, v_, a_)
        found = self._rows(states, np.concatenate([moved, np.tile(course.q, 3 * count)], axis=1))
        parts = found.reshape(4, count, *course.W.shape)
        wide = (slice(None), *[None] * 3)
        by_state = np.stack(
            [
                (parts[0] - course.W) / STEP,
                (parts[1] - parts[2]) / (2 * dv[wide]),
                (parts[3] - course.W) / da[wide],
            ]
        )
        by_q = regularity.reshape(-1, count, samples).transpose(1, 0, 2)
        values = np.stack([self._values(one) for one in np.split(moved, count, axis=1)])
        return Slopes(by_state, (by_q - course.regularity) / STEP, (values - course.values) / STEP)

    def _closed(self, targets: Array, near: Array) -> tuple[Array, Array | None]:
        """Configurations with the coordinates at `targets`, and how regular; None: not closed."""
        rows = len(self.model.loops.rows) + len(self.model.loops.redundant)
        count = targets.shape[1]
        lanes = Lanes(
            near.copy(),
            np.ones(count, dtype=bool),
            np.zeros((rows, self.model.topology.speeds, count)),
        )
        for place, setting in coordinate_configuration(self.model.topology, targets):
            lanes.q[place] = setting
        with np.errstate(all="ignore"):  # a lane that fails is found by `live`
            self.closer.close(self.dims, lanes)
            ratios = self.closer.ratios(lanes)
        sizes = np.abs(ratios)
        fine = (
            lanes.live.all() and (np.sign(ratios) == self.signs).all() and sizes.min() > SINGULAR
        )
        return lanes.q, sizes if fine else None

    def _rows(self, motion: Motion, q: Array) -> Array:
        closed = np.full(1, Outcome.CLOSED, dtype=np.int8)
        one = np.ones(1)
        path = Trace(q[:, None], closed, np.nan * one, one, np.zeros(1, dtype=int))
        motion = as_twists(self.model.mechanism, motion)
        seen = with_columns(self.model, {}, motion, along(self.model, motion, path), self.columns)
        return seen.W[0][..., self.kept]

    def _values(self, q: Array) -> Array:
        found = tracks(self.model, {}, q[:, None], self.watched)
        return np.array([track[0] for _, track in found]).reshape(len(self.watched), q.shape[1])
