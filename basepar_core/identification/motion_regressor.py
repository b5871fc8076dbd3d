"""W along a long measured motion: loops closed at all samples at once.

`closure.trace` goes from sample to sample, which takes 11 s for a slider-crank's 8 000. Here it
goes only as far apart as it steps anyway (0.1 rad); every other sample starts from the nearest of
these, all as lanes of one Newton iteration. One coordinate is followed once over its range, not
as often as the motion runs through it: between singular positions the configuration is a function
of it. Where a lane does not close or leaves the branch, the whole way is gone sample by sample,
and that answer counts.
"""

from dataclasses import replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.dynamics import (
    LANES,
    LAST_UPDATE,
    SINGULAR,
    Closer,
    Column,
    Lanes,
    Model,
    Motion,
    Observation,
    Outcome,
    Trace,
    coordinate_configuration,
    evaluate,
    kinematics,
    trace,
    with_columns,
)
from basepar_core.errors import MotionError


def observe_motion(model: Model, motion: Motion, columns: tuple[Column, ...] = ()) -> Observation:
    """W (1, sample, coordinate, parameter) at nominal geometry, force-law columns last.

    Raises
    ------
    MotionError
        The mechanism cannot follow the motion.
    """
    path = follow(model, motion.q)
    if path.outcome[0] != Outcome.CLOSED:
        sample = int(path.where[0]) if np.isfinite(path.where[0]) else 0
        reached = ", ".join(
            f"{name} = {value:.4g}"
            for name, value in zip(model.mechanism.coordinates, motion.q[:, sample], strict=True)
        )
        what = "is singular" if path.outcome[0] == Outcome.SINGULAR else "cannot be closed"
        raise MotionError(
            f"{model.mechanism.name!r} {what} at t = {motion.t[sample]:.6g} s of the motion "
            f"({reached}, rad or m). Check units and zero of the measured positions, and the "
            f"geometry.",
            [f"sample {sample}"],
        )
    return with_columns(model, {}, motion, along(model, motion, path), columns)


def follow(model: Model, targets: Array) -> Trace:
    """As `closure.trace` for one nominal variant; targets are (coordinate, sample)."""
    stations, nearest = _stations(targets, model.loops.step)
    if not model.loops.blocks or 2 * stations.shape[1] > targets.shape[1]:
        return trace(model, {}, targets)
    coarse = trace(model, {}, stations)
    if coarse.outcome[0] != Outcome.CLOSED:
        return trace(model, {}, targets)
    closer = Closer(model.topology, model.loops, LAST_UPDATE)
    rows = len(model.loops.rows) + len(model.loops.redundant)
    lanes = Lanes(
        kinematics.pick(coarse.q[:, 0], nearest),
        np.ones(nearest.size, dtype=bool),
        np.zeros((rows, model.topology.speeds, nearest.size)),
    )
    for place, setting in coordinate_configuration(model.topology, targets):
        lanes.q[place] = setting
    with np.errstate(all="ignore"):  # a lane that fails is found by `live`
        closer.close(kinematics.geometry(model.mechanism, {}), lanes)
        ratios = closer.ratios(lanes)
    one_way = (np.sign(ratios) == np.sign(ratios[:, :1])).all()
    if not (lanes.live.all() and one_way and (np.abs(ratios) > SINGULAR).all()):
        return trace(model, {}, targets)
    margin = np.minimum(coarse.margin, np.abs(ratios).min())
    return replace(coarse, q=lanes.q[:, None], margin=margin)


def _stations(targets: Array, step: Array) -> tuple[Array, Array]:
    """Where to follow the loops to (coordinate, station), and each sample's station.

    Stations are no further apart than the steps in which loops are followed.
    """
    if len(targets) == 1:
        low, high = targets.min(), targets.max()
        pieces = int(np.ceil((high - low) / step[0]))
        places = np.linspace(low, high, pieces + 1)
        nearest = np.rint((targets[0] - low) * (pieces / max(high - low, np.finfo(float).tiny)))
        return places[None], nearest.astype(int)
    chosen = [0]
    for sample in range(1, targets.shape[1]):
        here = np.abs(targets[:, sample] - targets[:, chosen[-1]])
        if (here > step).any():
            chosen.append(max(sample - 1, chosen[-1] + 1))
    nearest = np.searchsorted(chosen, np.arange(targets.shape[1]), side="right") - 1
    return targets[:, chosen], nearest


def along(model: Model, motion: Motion, path: Trace) -> Observation:
    """W where the loops are closed already, some samples at a time."""
    dims = kinematics.geometry(model.mechanism, {}).over_samples()
    parts = []
    for start in range(0, motion.t.size, LANES):
        part = slice(start, start + LANES)
        some = Motion(
            motion.t[part], motion.q[:, part], motion.q_dot[:, part], motion.q_ddot[:, part]
        )
        parts.append(evaluate(model, dims, path.q[:, :, part], some))
    W, residual, error, terms = zip(*parts, strict=True)
    return Observation(
        np.concatenate(W, axis=1),
        path,
        np.max(residual, axis=0),
        np.max(error, axis=0),
        np.sqrt(np.sum(np.square(terms), axis=0)),
    )
