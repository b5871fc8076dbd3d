"""Variants on their way from the nominal geometry to their own, in lanes.

As `closure.trace` goes it: in equal steps, loops closed at each. What is found on the way is only
where the next step starts from, and is closed to rounding at the last one alone.
"""

from basepar_core.compiled.simd import (
    LANES,
    WIDTH,
    bundle,
    door,
    inlined,
    kernel,
    lanes,
    number,
    set_number,
    size_of,
    spread,
    where,
)

from .loop_closure import copy, judge, load, load_constants, newton
from .spaces import set_ground

#: Last update of Newton on the way: quadratic, so that 1e-10 is left open.
ON_THE_WAY = 1e-5


@inlined
def set_constants(work, rows, way, k, v0):
    """Put step k's values of the constants that change into the table."""
    count, whole = way.shape[2], lanes(way)
    for r in range(len(rows)):
        i, at = rows[r] // 12, rows[r] % 12 * LANES
        if v0 + LANES <= count:
            for l in range(0, LANES, WIDTH):
                work.table[i, at + l] = whole[r, k * count + v0 + l]
        else:
            for l in range(LANES):
                set_number(work.table, i, at + l, way[r, k, min(v0 + l, count - 1)])


@kernel
def go_on(work, k):
    """Start step k as far on as the last one went, and as much bent where that is little."""
    q, last, before = work.q, work.q0, work.q1
    for p in range(len(q)):
        for l in range(0, LANES, WIDTH):
            here, old, older = q[p, l], last[p, l], before[p, l]
            going, moved = here - old, old - older
            bend = going - moved if k > 1 else spread(0.0)
            bend = where(size_of(bend) < 0.25 * size_of(going), bend, 0.0)
            before[p, l] = old
            last[p, l] = here
            q[p, l] = where(work.live[l] > 0, here + (going + bend), here)


@door
def approach(plan, work, G, rows, way, q, live, regular, margin, signs, last_update):
    """Assemble variants in steps from the nominal geometry.

    Parameters
    ----------
    G
        (item, 12, variant), constants of the variants themselves: of the last step.
    rows, way
        (row,) int64 item · 12 + number of the constants that change, and their values
        (row, step, variant) in all steps before the last.
    q
        (position, variant), the nominal configuration on entry.
    live, regular, margin
        (variant,) int64, int64 and float, found: whether loops closed in all steps, and whether
        the last pose is on the nominal branch; its least ratio.
    signs
        (block,) signs that ratios keep; 0 where either will do.
    """
    plan, work = bundle(plan), bundle(work)
    set_ground(plan, work)
    count, steps, infinite = q.shape[1], way.shape[1], 1e300
    for v0 in range(0, count, LANES):
        load_constants(work, G, v0)
        load(work, q, v0, live)
        copy(work.q, work.q0)
        copy(work.q, work.q1)
        for k in range(steps + 1):
            if k < steps:
                set_constants(work, rows, way, k, v0)
            else:
                load_constants(work, G, v0)
            go_on(work, k)
            newton(
                plan, work, work.live, max(ON_THE_WAY, last_update) if k < steps else last_update
            )
        judge(plan, work, signs, infinite)
        for l in range(min(LANES, count - v0)):
            for p in range(q.shape[0]):
                q[p, v0 + l] = number(work.q, p, l)
            live[v0 + l] = 1 if number(work.live, 0, l) > 0 else 0
            regular[v0 + l] = 1 if number(work.regular, 0, l) > 0 else 0
            margin[v0 + l] = number(work.least, 0, l)
