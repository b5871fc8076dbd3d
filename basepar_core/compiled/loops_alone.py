"""Where bodies carry points, and how loops are closed: what is asked of a motion without W."""

from collections.abc import Mapping, Sequence

import numpy as np

from basepar_core.arrays import Array, writable
from basepar_core.compiled.simd import LANES
from basepar_core.dynamics import Motion, Observation, Outcome, Trace, carried
from basepar_core.mechanism import Point

from .api import Kernels, Start, padded
from .tracks import follow, move


def close(kernels: Kernels, start: Start, motion: Motion) -> Observation:
    """As `Kernels.follow`, without W: it has no parameter, and the error is that of the loops."""
    motion, samples = padded(motion)
    path = kernels.trace(start, motion.q)
    _, quality = _pass(kernels, start.G, path.q, (), np.zeros((1, 0, 3)), True)
    margin = np.where(
        path.outcome == Outcome.CLOSED, np.minimum(path.margin, quality[:, 2]), path.margin
    )
    path = Trace(path.q[..., :samples], path.outcome, path.where, margin, path.branch)
    W = np.empty((len(margin), samples, len(motion.q), 0))
    return Observation(W, path, quality[:, 0], quality[:, 1], np.empty((len(margin), 0)))


def points(
    kernels: Kernels,
    start: Start,
    q: Array,
    wanted: Sequence[Point],
    known: Mapping[str, Array | float],
) -> Array:
    """Where bodies carry points: (variant, point, axis, sample), m, x and y, in space z too.

    Parameters
    ----------
    kernels, start
        The mechanism's, and its variants.
    q
        (position, variant, sample), loops closed.
    wanted, known
        The points, and every symbol's values.
    """
    samples = q.shape[2]
    local = np.moveaxis(carried(wanted, known), -1, 0)
    found, _ = _pass(kernels, start.G, _long(q), wanted, local, False)
    return found[..., :samples]


def movements(
    kernels: Kernels,
    start: Start,
    q: Array,
    motion: Motion,
    wanted: Sequence[Point],
    known: Mapping[str, Array | float],
) -> Array:
    """Points and their first two derivatives: (variant, point, order, axis, sample), SI.

    Parameters as in `points`; the motion is the one that `q` follows.
    """
    moving, samples = padded(motion)
    plan, axes = kernels.plan, 2 if kernels.plan.planar else 3
    local = np.moveaxis(carried(wanted, known), -1, 0)
    carriers, at = _carriers(kernels, start.G, wanted, local, q.shape[1])
    rates = (writable(moving.q_dot), *kernels.speeds(moving))
    track = np.empty((q.shape[1], len(carriers), 3 * axes, moving.t.size))
    move(plan, kernels.work, start.G, _long(q), *rates, carriers, at, track)
    return track.reshape(*track.shape[:2], 3, axes, -1)[..., :samples]


def _long(q: Array) -> Array:
    """At least LANES samples, the last one repeated."""
    short = max(0, LANES - q.shape[2])
    long = np.concatenate([q, np.repeat(q[..., -1:], short, -1)], -1) if short else q
    return writable(long)


def _carriers(
    kernels: Kernels, G: Array, wanted: Sequence[Point], local: Array, count: int
) -> tuple[Array, Array]:
    """Links (point,) that carry points, and (variant, point, 3) where in the links' frames."""
    plan, number = kernels.plan, kernels.model.mechanism.body_index
    bodies = [number[one.body] for one in wanted]
    links = [len(plan.elements) if b < 0 else int(plan.carries[b]) for b in bodies]
    at = writable(np.broadcast_to(local, (count, len(links), 3)))
    for p, b in enumerate(bodies):
        if not (plan.planar or b < 0 or plan.plain[b]):
            frame = G[len(plan.elements) + b]  # the link's, in its body
            axes, shift = frame[:9].reshape(3, 3, -1), at[:, p] - frame[9:].T
            at[:, p] = np.einsum("ijv,vi->vj", axes, shift)
    return np.array(links, dtype=np.int64), at


def _pass(
    kernels: Kernels, G: Array, q: Array, wanted: Sequence[Point], local: Array, loops: bool
) -> tuple[Array, Array]:
    """Points; and residual, error and margin (variant, 3) of the loops."""
    plan, (count, samples) = kernels.plan, q.shape[1:]
    carriers, at = _carriers(kernels, G, wanted, local, count)
    track = np.empty((count, len(carriers), 2 if plan.planar else 3, samples))
    quality = np.ones((count, 3))
    configuration = writable(q)
    follow(plan, kernels.work, G, configuration, carriers, at, loops, track, quality)
    return track, quality
