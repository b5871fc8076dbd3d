"""Where bodies carry points, and how loops are closed: what is asked of a motion without W."""

from collections.abc import Mapping, Sequence

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled.simd import LANES
from basepar_core.dynamics import Motion, Observation, Outcome, Trace, carried
from basepar_core.mechanism import Point

from .api import Kernels, Start, padded
from .tracks import follow


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
    if samples < LANES:
        q = np.concatenate([q, np.repeat(q[..., -1:], LANES - samples, -1)], -1)
    local = np.moveaxis(carried(wanted, known), -1, 0)
    found, _ = _pass(kernels, start.G, q, wanted, local, False)
    return found[..., :samples]


def _pass(
    kernels: Kernels, G: Array, q: Array, wanted: Sequence[Point], local: Array, loops: bool
) -> tuple[Array, Array]:
    """Points; and residual, error and margin (variant, 3) of the loops."""
    plan, number = kernels.plan, kernels.model.mechanism.body_index
    count, samples = q.shape[1:]
    bodies = [number[one.body] for one in wanted]
    links = [len(plan.elements) if b < 0 else int(plan.carries[b]) for b in bodies]
    at = np.array(np.broadcast_to(local, (count, len(links), 3)))
    for p, b in enumerate(bodies):
        if not (plan.planar or b < 0 or plan.plain[b]):
            frame = G[len(plan.elements) + b]  # the link's, in its body
            axes, shift = frame[:9].reshape(3, 3, -1), at[:, p] - frame[9:].T
            at[:, p] = np.einsum("ijv,vi->vj", axes, shift)
    track = np.empty((count, len(links), 2 if plan.planar else 3, samples))
    quality = np.ones((count, 3))
    carriers = np.array(links, dtype=np.int64)
    configuration = np.ascontiguousarray(q)
    follow(plan, kernels.work, G, configuration, carriers, at, loops, track, quality)
    return track, quality
