"""W of variants along a motion whose loops are closed: lanes over samples, one variant at a time.

The plain path is `regressor._evaluate`. For each coordinate the virtual twists of all bodies;
the tree's regressor is never formed.
"""

import numpy as np

from .lanes import LANES, door, kernel, part
from .rates import block_ratios, drive, factor_blocks, solve_blocks
from .sizes import ALPHA, OMEGA, PULL, SPEED, SPIN, TERMS
from .spaces import (
    set_bodies,
    set_columns,
    set_gaps,
    set_ground,
    set_jacobian,
    set_mismatch,
    set_motion,
    set_poses,
)


@kernel
def lanes_of(G, v, table):
    """One variant's constants (item, 12, variant) in all lanes (item, 12 · LANES)."""
    for i in range(G.shape[0]):
        for k in range(G.shape[1]):
            x = G[i, k, v]
            for l in range(LANES):
                table[i, k * LANES + l] = x


@kernel
def put(samples, out, row):
    """A block of samples to a row of lanes."""
    for l in range(LANES):
        out[row, l] = samples[l]


@part
def unit_modes(plan, modes):
    """Each coordinate's own speed at unit rate."""
    modes[:] = 0.0
    for k in range(len(plan.free)):
        for l in range(LANES):
            modes[k, plan.free[k], l] = 1.0


@part
def set_speeds(plan, q, v, s0, u, u_dot, maps, work):
    """Configuration, coordinates' speeds, their rates and modes of one block of samples."""
    for p in range(q.shape[0]):
        put(q[p, v, s0 : s0 + LANES], work.q, p)
    for f in range(len(plan.free)):
        put(u[f, s0 : s0 + LANES], work.rates, plan.free[f])
        put(u_dot[f, s0 : s0 + LANES], work.rate_dots, plan.free[f])
        for k in range(len(maps)):  # empty where they are units
            put(maps[f, k, s0 : s0 + LANES], work.modes[k], plan.free[f])


@part
def set_modes(plan, work, rates):
    """Dependent speeds of all modes, and at the motion's rates of the coordinates."""
    for k in range(len(plan.free)):
        drive(plan, work.J, work.modes[k], work.right)
        solve_blocks(
            plan,
            work.A,
            work.diagonal,
            work.beta,
            work.right,
            -1.0,
            work.solving,
            work.work,
            work.modes[k],
        )
    for s in plan.block_speeds:
        for l in range(LANES):
            work.rates[s, l] = 0.0
            work.rate_dots[s, l] = 0.0
        for k in range(len(plan.free)):
            for l in range(LANES):
                work.rates[s, l] += work.modes[k, s, l] * rates[k, l]


@part
def close_accelerations(plan, work, everything):
    """Rates of the dependent speeds, and all accelerations with them."""
    set_mismatch(plan, work)
    solve_blocks(
        plan,
        work.A,
        work.diagonal,
        work.beta,
        work.right,
        -1.0,
        work.solving,
        work.work,
        work.rate_dots,
    )
    set_motion(plan, work, everything)


@part
def loop_errors(plan, work, found):
    """Residual, error and margin of one block of samples into found (3,): worst so far.

    error: displacement of the dependent joints by the gaps that are left, and rounding, times
    the condition of the loop equations (`regressor.Rates.error`).
    """
    for row in range(len(plan.rows)):
        for l in range(LANES):
            found[0] = max(found[0], abs(work.gap[row, l]))
    solve_blocks(
        plan, work.A, work.diagonal, work.beta, work.gap, 1.0, work.solving, work.work, work.x
    )
    for b in range(len(plan.blocks)):
        n, first = plan.blocks[b, 0], plan.blocks[b, 1]
        for l in range(LANES):
            shift = 0.0
            for j in range(first, first + n):
                shift = max(shift, abs(work.x[plan.block_speeds[j], l]))
            ratio = abs(work.ratios[b, l])
            found[1] = max(found[1], (shift + 2.220446049250313e-16) * n / ratio)
            found[2] = min(found[2], ratio)


@kernel
def add_terms(sizes, fresh, end):
    """Add one coordinate's squares of products to the sums, for samples not yet counted."""
    for l in range(LANES):
        counted = 1.0 if (l >= fresh) & (l < end) else 0.0
        pull, speed, spin = (
            np.sqrt(sizes[PULL, l]),
            np.sqrt(sizes[SPEED, l]),
            np.sqrt(sizes[SPIN, l]),
        )
        turning = np.sqrt(sizes[ALPHA, l]) + sizes[OMEGA, l]
        x, y, z = speed * pull, speed * turning + spin * pull, spin * turning
        sizes[TERMS, l] += counted * x * x
        sizes[TERMS + 1, l] += counted * y * y
        sizes[TERMS + 2, l] += counted * z * z


@door
def regress(plan, work, G, q, counted, q_dot, u, u_dot, maps, W, quality, terms):
    """W of all variants.

    Parameters
    ----------
    G
        (item, 12, variant), `dimensions.Dimensions.table`.
    q
        (position, variant, sample), loops closed; at least LANES samples.
    counted
        Number of samples that count in `terms`; those behind repeat the last.
    q_dot, u, u_dot
        (coordinate, sample): rates of the coordinates; their speeds and the speeds' rates.
    maps
        (coordinate, coordinate, sample): speeds of unit coordinate rates; empty: units.
    W
        (variant, parameter, coordinate, sample), zero on entry where links do not move.
    quality, terms
        (variant, 3) residual, error, margin; (variant, 3) sums of the terms' squares.
    """
    ground, samples = len(plan.elements), q.shape[2]
    everything = np.ones((1, ground + 1), dtype=np.int64)
    rates = np.empty((len(plan.free), LANES))
    set_ground(plan, work)
    unit_modes(plan, work.modes)
    for v in range(q.shape[1]):
        lanes_of(G, v, work.table)
        first = 1 if plan.planar == 1 else 3
        for l in range(3 * LANES):
            work.sizes[TERMS + l // LANES, l % LANES] = 0.0
        for i in range(3 - plan.planar):
            for l in range(LANES):
                work.motion[ground, (first + i) * LANES + l] = -work.table[
                    len(G) - 1, i * LANES + l
                ]
        quality[v, 0], quality[v, 1], quality[v, 2] = 0.0, 2.220446049250313e-16, 1.0
        done = 0
        while done < samples:
            s0 = min(done, samples - LANES)
            set_speeds(plan, q, v, s0, u, u_dot, maps, work)
            set_poses(plan, work)
            if len(plan.blocks) > 0:
                set_gaps(plan, work)
                set_jacobian(plan, work, work.J)
                factor_blocks(plan, work.J, work.A, work.diagonal, work.beta, work.work)
                block_ratios(
                    plan, work.J, work.A, work.diagonal, work.solving, work.work, work.ratios
                )
                loop_errors(plan, work, quality[v])
                for f in range(len(plan.free)):
                    put(q_dot[f, s0 : s0 + LANES], rates, f)
                set_modes(plan, work, rates)
            set_motion(plan, work, everything)
            if len(plan.blocks) > 0:
                close_accelerations(plan, work, everything)
            set_bodies(plan, work)
            for k in range(len(plan.free)):
                for row in range(SPEED, SPIN + 1):
                    for l in range(LANES):
                        work.sizes[row, l] = 0.0
                set_columns(plan, work, k, W, v, s0)
                add_terms(work.sizes, done - s0, counted - s0)
            done = s0 + LANES
        for i in range(3):
            total = 0.0
            for l in range(LANES):
                total += work.sizes[TERMS + i, l]
            terms[v, i] = total
