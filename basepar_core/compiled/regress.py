"""W of variants along a motion whose loops are closed: lanes over samples, one variant at a time.

The plain path is `regressor._evaluate`. For each coordinate the virtual twists of all bodies;
the tree's regressor is never formed.
"""

from basepar_core.compiled.simd import (
    LANES,
    WIDTH,
    below,
    bundle,
    door,
    fence,
    inlined,
    kernel,
    lanes,
    larger,
    number,
    set_number,
    size_of,
    smaller,
    spread,
)

from .error_scales import TERMS, add_terms, clear, finish_common
from .rates import block_ratios, drive, drive_one, factor_blocks, solve_blocks
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

_EPS = 2.220446049250313e-16


@inlined
def lanes_of(G, v, table):
    """One variant's constants (item, 12, variant) in all lanes (item, 12 · LANES)."""
    for i in range(G.shape[0]):
        for k in range(G.shape[1]):
            x = spread(G[i, k, v])
            for l in range(0, LANES, WIDTH):
                table[i, k * LANES + l] = x


@kernel
def put(samples, line, start, out, row):
    """A block of samples, samples[line] from `start` on, to a row of lanes."""
    for l in range(0, LANES, WIDTH):
        out[row, l] = samples[line, start + l]


@kernel
def unit_modes(plan, modes):
    """Each coordinate's own speed at unit rate."""
    speeds = len(plan.limit)
    for k in range(len(plan.free)):
        for l in range(0, LANES, WIDTH):
            for s in range(speeds):
                modes[k * speeds + s, l] = 0.0
            modes[k * speeds + plan.free[k], l] = 1.0


@kernel
def set_speeds(plan, work, s0, q_dot, u, u_dot, maps):
    """Coordinates' rates, speeds, the speeds' rates, and modes of one block of samples."""
    for k in range(len(plan.free)):
        speed = plan.free[k]
        put(q_dot, k, s0, work.given, k)
        put(u, k, s0, work.rates, speed)
        put(u_dot, k, s0, work.rate_dots, speed)
    for n in range(len(maps)):  # the other entries of modes stay units
        j, k = plan.mixed[n, 0], plan.mixed[n, 1]
        put(maps, n, s0, work.modes, j * len(plan.limit) + plan.free[k])


@inlined
def set_modes(plan, work, units):
    """Dependent speeds of all modes, and at the motion's rates; units: modes are unit speeds."""
    speeds = len(plan.limit)
    for k in range(len(plan.free)):
        modes = below(work.modes, k * speeds)
        if units:
            drive_one(plan, work, plan.free[k])
        else:
            drive(plan, work, modes)
        solve_blocks(plan, work, work.right, -1.0, modes)
    for j in range(len(plan.block_speeds)):
        s = plan.block_speeds[j]
        for l in range(0, LANES, WIDTH):
            rate = spread(0.0)
            for k in range(len(plan.free)):
                rate += work.modes[k * speeds + s, l] * work.given[k, l]
            work.rates[s, l] = rate
            work.rate_dots[s, l] = 0.0


@kernel
def close_motion(plan, work):
    """Twists and accelerations of all links, those that rates of dependent speeds give."""
    if len(plan.blocks) > 0:
        if len(plan.cuts) > 0:  # couplings alone need no link's acceleration
            set_motion(plan, work)
        set_mismatch(plan, work)
        solve_blocks(plan, work, work.right, -1.0, work.rate_dots)
    set_motion(plan, work)


@kernel
def loop_errors(plan, work):
    """Residual, error and margin, worst of each lane so far, into work.worst (3, LANES).

    error: displacement of the dependent joints by the gaps that are left, and rounding, times
    the condition of the loop equations (`regressor.Rates.error`).
    """
    gap, x, worst = work.gap, work.x, work.worst
    solve_blocks(plan, work, gap, 1.0, x)
    for l in range(0, LANES, WIDTH):
        for row in range(len(plan.rows)):
            worst[0, l] = larger(size_of(gap[row, l]), worst[0, l])
        for b in range(len(plan.blocks)):
            n, first = plan.blocks[b, 0], plan.blocks[b, 1]
            shift = spread(0.0)
            for j in range(first, first + n):
                shift = larger(size_of(x[plan.block_speeds[j], l]), shift)
            ratio = size_of(work.ratios[b, l])
            condition = n / (ratio * plan.full[b])
            worst[1, l] = larger((shift + _EPS) * condition, worst[1, l])
            worst[2, l] = smaller(ratio, worst[2, l])


@kernel
def start_variant(plan, work, G, v):
    """A variant's constants; nothing is summed up yet."""
    ground, worst = len(plan.elements), work.worst
    lanes_of(G, v, work.table)
    clear(work.sizes, TERMS, TERMS + 2)
    first = 1 if plan.planar == 1 else 3
    for l in range(0, LANES, WIDTH):
        for i in range(3 - plan.planar):
            work.motion[ground, (first + i) * LANES + l] = -work.table[len(G) - 1, i * LANES + l]
        worst[0, l] = 0.0
        worst[1, l] = _EPS
        worst[2, l] = 1.0


@kernel
def set_loops(plan, work, units):
    """Factors and errors of the loop equations at the poses, and the modes they give."""
    set_gaps(plan, work)
    set_jacobian(plan, work, work.J)
    factor_blocks(plan, work)
    block_ratios(plan, work)
    loop_errors(plan, work)
    set_modes(plan, work, units)


@kernel
def finish_variant(work, v, quality, terms):
    """What a variant's lanes have summed up."""
    residual, error, margin = 0.0, _EPS, 1.0
    for l in range(LANES):
        residual = max(residual, number(work.worst, 0, l))
        error = max(error, number(work.worst, 1, l))
        margin = min(margin, number(work.worst, 2, l))
    quality[v, 0], quality[v, 1], quality[v, 2] = residual, error, margin
    for i in range(3):
        total = 0.0
        for l in range(LANES):
            total += number(work.sizes, TERMS + i, l)
        terms[v, i] = total


@door
def regress(plan, work, G, q, counted, q_dot, u, u_dot, maps, W, streamed, quality, terms):
    """W of all variants.

    Parameters
    ----------
    G
        (item, 12, variant), `geometry_tables.Dimensions.table`.
    q
        (position, variant, sample), loops closed; at least LANES samples.
    counted
        Number of samples that count in `terms`; those behind repeat the last.
    q_dot, u, u_dot
        (coordinate, sample): rates of the coordinates; their speeds and the speeds' rates.
    maps
        (entry, sample): speeds at unit rates of coordinates, for the entries `plan.mixed`.
    W
        (variant, parameter, coordinate, sample), zero on entry where links do not move.
    streamed
        Whether W goes past the cache, zeros too: its rows of samples begin lines of the cache.
    quality, terms
        (variant, 3) residual, error, margin; (variant, 3) sums of the terms' squares.
    """
    plan, work = bundle(plan), bundle(work)
    variants, samples, free = q.shape[1], q.shape[2], len(plan.free)
    places, q, W, maps = q.shape[0], lanes(q), lanes(W), lanes(maps)
    q_dot, u, u_dot = lanes(q_dot), lanes(u), lanes(u_dot)
    set_ground(plan, work)
    unit_modes(plan, work.modes)
    for v in range(variants):
        start_variant(plan, work, G, v)
        done = 0
        while done < samples:
            s0 = min(done, samples - LANES)  # blocks overlap at the end
            for l in range(LANES):
                counts = 1.0 if (l >= done - s0) & (l < counted - s0) else 0.0
                set_number(work.fresh, 0, l, counts)
            for p in range(places):
                put(q, p, v * samples + s0, work.q, p)
            set_speeds(plan, work, s0, q_dot, u, u_dot, maps)
            set_poses(plan, work)
            if len(plan.blocks) > 0:
                set_loops(plan, work, len(maps) == 0)
            close_motion(plan, work)
            set_bodies(plan, work)
            set_columns(plan, work, W, v, s0, samples, free * samples, streamed)
            finish_common(work.sizes)
            for k in range(free):
                add_terms(work.sizes, work.spans, k, work.fresh)
            done = s0 + LANES
        finish_variant(work, v, quality, terms)
    if streamed:
        fence()
