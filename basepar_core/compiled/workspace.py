"""Scratch arrays of the kernels: made once, some hundred kilobytes, and passed along."""

import math
from typing import NamedTuple

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled.simd import LANES, LINE, ORDER, WIDTH

from .mechanism_tables import Plan

#: Bytes of a vector, and of a line of the cache.
_LINE = 8 * WIDTH
#: Bytes that a core's share of the caches does not hold.
_LARGE = 1 << 25


class Work(NamedTuple):
    """Lane arrays; what they hold stands where they are filled.

    table: constants; q: configuration; pose, twist, motion, own: per link; virtual (coordinate ·
    links + link): twists; spans (2 · coordinate): squares of their longest vectors; cut, normal,
    gap: per cut and row; J, A, diagonal, beta, ratios: the loop equations; right (row), x, curve
    (speed), solving: right sides, solutions, what tangents were short of (ORDER steps), scratch
    of the solver; track (position · LINE + sample): configurations not yet noted;
    rates, rate_dots, modes (coordinate · speeds + speed): speeds; given: rates of coordinates;
    axes, origins (accelerations), offsets: per body; worst: of `regress.loop_errors`; J2, q0,
    q1, before, size: scratch of the doors; live to retry and regular: masks, 1 or 0; depends
    (speed,): whether loops determine it; everything (1, link): ones; angle, out, sine, cosine.
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
    curve: Array
    track: Array
    solving: Array
    rates: Array
    rate_dots: Array
    modes: Array
    given: Array
    axes: Array
    origins: Array
    offsets: Array
    angle: Array
    out: Array
    sizes: Array
    spans: Array
    worst: Array
    sine: Array
    cosine: Array
    J2: Array
    q0: Array
    q1: Array
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
    everything: Array


def aligned(shape: tuple[int, ...]) -> Array:
    """Room that begins with a line of the cache: a vector across two costs twice."""
    size = 8 * math.prod(shape)
    raw = np.empty(size + _LINE, dtype=np.uint8)
    first = -raw.ctypes.data % _LINE
    return raw[first : first + size].view(float).reshape(shape)


def is_aligned(array: Array) -> bool:
    """Whether an array lies as one that `aligned` makes."""
    return array.flags.c_contiguous and array.ctypes.data % _LINE == 0


def is_streamed(W: Array) -> bool:
    """Whether kernels write W (variant, parameter, coordinate, sample) past the cache."""
    return W.nbytes >= _LARGE and W.shape[-1] % LINE == 0 and is_aligned(W)


def zeros(shape: tuple[int, ...]) -> Array:
    """Zeros, aligned."""
    room = aligned(shape)
    room[:] = 0.0
    return room


def workspace(plan: Plan, items: int, positions: int) -> Work:
    """Scratch for one mechanism."""
    links, bodies = len(plan.elements) + 1, len(plan.carries)
    rows, speeds, free = len(plan.rows), len(plan.limit), len(plan.free)
    sizes = plan.blocks[:, 0]
    steps = len(plan.steps)

    def lanes(count: int, numbers: int = 1) -> Array:
        return zeros((max(count, 1), numbers * LANES))

    masks = {name: lanes(1) for name in ("live", "moving", "fresh", "going", "alive", "retry")}

    return Work(
        table=lanes(items, 12),
        q=lanes(positions),
        pose=lanes(links, 21),
        twist=lanes(links, 6),
        motion=lanes(links, 6),
        own=lanes(links, 3),
        virtual=lanes(free * links, 6),
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
        curve=lanes(ORDER * speeds),
        track=lanes(LINE * positions),
        solving=lanes(2 * int(sizes.max(initial=1)) + 1),
        rates=lanes(speeds),
        rate_dots=lanes(speeds),
        modes=lanes(free * speeds),
        given=lanes(free),
        axes=lanes(bodies, 9),
        origins=lanes(bodies, 6),
        offsets=lanes(bodies, 3),
        angle=lanes(1),
        out=lanes(1, 9),
        sizes=lanes(6),
        spans=lanes(2 * free),
        worst=lanes(3),
        sine=lanes(1),
        cosine=lanes(1),
        J2=lanes(rows * speeds),
        q0=lanes(positions),
        q1=lanes(positions),
        before=lanes(1),
        size=lanes(1),
        least=lanes(1),
        regular=lanes(1),
        **masks,
        depends=np.isin(np.arange(speeds), plan.block_speeds).astype(np.int64),
        everything=np.ones((1, links), dtype=np.int64),
    )
