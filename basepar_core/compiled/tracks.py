"""Paths of points that bodies carry, and how well loops are closed: what needs no W.

Lanes over samples, one variant at a time, as in `regress.py`. The plain path is
`dynamics.places`.
"""

from numba.extending import overload

from basepar_core.compiled.simd import INNER, LANES, WIDTH, bundle, door, lanes

from .mechanism_tables import PlanarPlan
from .rates import block_ratios, factor_blocks
from .regress import finish_variant, loop_errors, put, start_variant
from .spaces import set_gaps, set_ground, set_jacobian, set_poses

_1, _2, _3, _4 = (k * LANES for k in range(1, 5))


def place(plan, pose, e, at, v, p, track, first, step):
    """A point of a link's frame in the world, to rows of samples of `track`."""


@overload(place, jit_options=INNER)
def _place(plan, pose, e, at, v, p, track, first, step):
    def plane(plan, pose, e, at, v, p, track, first, step):
        x, y = at[v, p, 0], at[v, p, 1]
        for l in range(0, LANES, WIDTH):
            c, s = pose[e, l], pose[e, _1 + l]
            track[v, first + l] = pose[e, _3 + l] + c * x - s * y
            track[v, first + step + l] = pose[e, _4 + l] + s * x + c * y

    def space(plan, pose, e, at, v, p, track, first, step):
        x, y, z = at[v, p, 0], at[v, p, 1], at[v, p, 2]
        for i in range(3):
            row = 3 * i * LANES
            for l in range(0, LANES, WIDTH):
                found = pose[e, (9 + i) * LANES + l] + pose[e, row + l] * x
                found += pose[e, row + _1 + l] * y + pose[e, row + _2 + l] * z
                track[v, first + i * step + l] = found

    return plane if plan.cls is PlanarPlan else space


@door
def follow(plan, work, G, q, links, at, loops, track, quality):
    """Points of all variants, and what is left open of their loops.

    Parameters
    ----------
    G, q
        As in `regress.regress`.
    links, at
        (point,) links that carry them; (variant, point, 3): where, in the links' frames.
    loops
        Whether `quality` is filled.
    track
        (variant, point, axis, sample): x and y, in space z too; the ground's frame.
    quality
        (variant, 3) residual, error, margin.
    """
    plan, work = bundle(plan), bundle(work)
    variants, samples, places = q.shape[1], q.shape[2], q.shape[0]
    axes, spare = track.shape[2], quality.copy()
    q, track = lanes(q), lanes(track)
    set_ground(plan, work)
    for v in range(variants):
        start_variant(plan, work, G, v)
        done = 0
        while done < samples:
            s0 = min(done, samples - LANES)  # blocks overlap at the end
            for p in range(places):
                put(q, p, v * samples + s0, work.q, p)
            set_poses(plan, work)
            if loops and len(plan.blocks) > 0:
                set_gaps(plan, work)
                set_jacobian(plan, work, work.J)
                factor_blocks(plan, work)
                block_ratios(plan, work)
                loop_errors(plan, work)
            for p in range(len(links)):
                first = p * axes * samples + s0
                place(plan, work.pose, links[p], at, v, p, track, first, samples)
            done = s0 + LANES
        if loops:
            finish_variant(work, v, quality, spare)
