"""Scratch arrays of the kernels: made once, some hundred kilobytes, and passed along."""

from typing import NamedTuple

import numpy as np

from ..spatial import Array
from .lanes import LANES
from .plan import Plan


class Work(NamedTuple):
    """Lane arrays; what they hold is said where they are filled.

    table: constants; q: configuration; pose, twist, motion, own, virtual: per link; cut, normal,
    gap: per cut and row; J, A, diagonal, beta, ratios: the loop equations; right (row), x
    (speed), solving: right sides, solutions and scratch of the solver; rates, rate_dots, modes:
    speeds; axes, states, offsets: per body; J2 to cosine
    and before to regular: scratch of the doors; depends (speed,): whether loops determine it;
    angle, out, tile, scratch, work, sine, cosine.
    """

    table: Array
    q: Array
    pose: Array
    twist: Array
    motion: Array
    own: Array
    virtual: Array
    cut: Array
    normal: Array
    gap: Array
    J: Array
    A: Array
    diagonal: Array
    beta: Array
    ratios: Array
    right: Array
    x: Array
    solving: Array
    rates: Array
    rate_dots: Array
    modes: Array
    axes: Array
    states: Array
    offsets: Array
    angle: Array
    out: Array
    tile: Array
    scratch: Array
    sizes: Array
    work: Array
    sine: Array
    cosine: Array
    J2: Array
    before: Array
    size: Array
    least: Array
    live: Array
    moving: Array
    fresh: Array
    going: Array
    alive: Array
    retry: Array
    regular: Array
    depends: Array


def workspace(plan: Plan, items: int, positions: int) -> Work:
    """Scratch for one mechanism."""
    links, bodies = len(plan.elements) + 1, len(plan.carries)
    rows, speeds, free = len(plan.rows), len(plan.limit), len(plan.free)
    sizes = plan.blocks[:, 0]
    steps = len(plan.steps)

    def lanes(count: int, numbers: int = 1) -> Array:
        return np.zeros((max(count, 1), numbers * LANES))

    return Work(
        table=lanes(items, 12),
        q=lanes(positions),
        pose=lanes(links, 21),
        twist=lanes(links, 6),
        motion=lanes(links, 6),
        own=lanes(links, 6),
        virtual=lanes(links, 6),
        cut=lanes(len(plan.cuts), 24),
        normal=lanes(rows, 3),
        gap=lanes(rows),
        J=lanes(rows * speeds),
        A=lanes(int((sizes**2).sum())),
        diagonal=lanes(steps),
        beta=lanes(steps),
        ratios=lanes(len(sizes)),
        right=lanes(rows),
        x=lanes(speeds),
        solving=lanes(2 * int(sizes.max(initial=1)) + 1),
        rates=lanes(speeds),
        rate_dots=lanes(speeds),
        modes=np.zeros((free, speeds, LANES)),
        axes=lanes(bodies, 9),
        states=lanes(bodies, 24),
        offsets=lanes(bodies, 3),
        angle=lanes(1),
        out=lanes(1, 9),
        tile=lanes(1, 10),
        scratch=lanes(1, 6),
        sizes=lanes(8),
        work=np.zeros(LANES),
        sine=np.zeros(LANES),
        cosine=np.zeros(LANES),
        J2=lanes(rows * speeds),
        before=np.zeros(LANES),
        size=np.zeros(LANES),
        least=np.zeros(LANES),
        live=np.zeros(LANES, dtype=np.int64),
        moving=np.zeros(LANES, dtype=np.int64),
        fresh=np.zeros(LANES, dtype=np.int64),
        going=np.zeros(LANES, dtype=np.int64),
        alive=np.zeros(LANES, dtype=np.int64),
        retry=np.zeros(LANES, dtype=np.int64),
        regular=np.zeros(LANES, dtype=np.int64),
        depends=np.isin(np.arange(speeds), plan.block_speeds).astype(np.int64),
    )
