"""Closing loops in lanes over variants: Newton as in `loop_newton.py`, each variant as if alone.

A variant's numbers change only while it is moving itself, so its bits do not depend on which
others share its block. Factors of the Jacobian are kept for a second step where the first was
small: near the solution they are as good, and cost nothing. Masks are 1 or 0 per lane.
"""

from basepar_core.compiled.simd import (
    LANES,
    LINE,
    ORDER,
    WIDTH,
    bundle,
    door,
    inlined,
    kernel,
    lanes,
    larger,
    number,
    set_number,
    sine_cosine,
    size_of,
    smaller,
    some,
    spread,
    sqrt,
    where,
)
from basepar_core.dynamics import SMALL

from .mechanism_tables import BALL, FIXED, KIND, POSITION, SPEED
from .rates import block_ratios, drive, factor_blocks, solve_blocks
from .spaces import set_gaps, set_ground, set_jacobian, set_poses

#: As in `loop_newton.NEWTON_STEPS`, and two more for steps with kept factors.
STEPS = 14
#: After an update below this (rad or m) the next one may use the same factors; and again where
#: it shrank by GOOD.
KEEP, GOOD = 1e-4, 1e-3
#: A step with kept factors leaves up to KEEP of itself open: it must be this much smaller.
KEPT = 1e-3
#: Stands for the length of a step beyond its limit.
WILD = 1e300
#: Blocks this near to singular are judged by a Jacobian of the very pose.
NEAR = 1e-2
SINGULAR = 1e-7
CLOSED, UNASSEMBLABLE, LOST, SINGULAR_POSE = 1, 3, 4, 5


@kernel
def any_of(mask):
    """Whether any lane of a mask is set."""
    for l in range(0, LANES, WIDTH):  # noqa: SIM110 - kernels know no generators
        if some(mask[l] > 0):
            return True
    return False


@inlined
def all_of(mask):
    """Whether every lane of a mask is set."""
    for l in range(0, LANES, WIDTH):  # noqa: SIM110 - kernels know no generators
        if some(mask[l] <= 0):
            return False
    return True


@kernel
def copy(source, target):
    """All lanes of all rows."""
    for i in range(len(source)):
        for l in range(0, LANES, WIDTH):
            target[i, l] = source[i, l]


@inlined
def fill(mask, x):
    """One number in all lanes of one row."""
    for l in range(0, LANES, WIDTH):
        mask[l] = x


@kernel
def merge(kept, new, mask):
    """Rows of `new` over those kept, in some lanes."""
    for i in range(len(kept)):
        for l in range(0, LANES, WIDTH):
            kept[i, l] = where(mask[l] > 0, new[i, l], kept[i, l])


@kernel
def load_constants(work, G, v0):
    """Constants of the variants from v0 on; the last fills up."""
    count, last, whole = G.shape[2], G.shape[2] - 1, lanes(G)
    for i in range(G.shape[0]):
        for k in range(12):
            if v0 + LANES <= count:
                for l in range(0, LANES, WIDTH):
                    work.table[i, k * LANES + l] = whole[i, k * count + v0 + l]
            else:
                for l in range(LANES):
                    set_number(work.table, i, k * LANES + l, G[i, k, min(v0 + l, last)])


@kernel
def load(work, q, v0, live):
    """Configuration and mask of the variants from v0 on; the last fills up."""
    last = q.shape[1] - 1
    for l in range(LANES):
        v = min(v0 + l, last)
        set_number(work.live, 0, l, float(live[v]))
        for p in range(q.shape[0]):
            set_number(work.q, p, l, q[p, v])


@kernel
def refresh(plan, work, fresh):
    """Take the Jacobian of these lanes at their pose; factor all."""
    if all_of(fresh):
        set_jacobian(plan, work, work.J)
    else:
        set_jacobian(plan, work, work.J2)
        merge(work.J, work.J2, fresh)
    factor_blocks(plan, work)


@kernel
def roll(work, place, speed, moving):
    """Turn a ball's quaternion by a small rotation vector, in the first body's axes."""
    q, x, half = work.q, work.x, work.angle
    for l in range(0, LANES, WIDTH):
        a, b, c = x[speed, l], x[speed + 1, l], x[speed + 2, l]
        half[l] = 0.5 * sqrt(a * a + b * b + c * c)
    sine_cosine(half, 0, work.sine, work.cosine)
    for l in range(0, LANES, WIDTH):
        h, w = half[l], work.cosine[l]
        s = where(h < 5e-5, 0.5 - h * h / 12, 0.5 * work.sine[l] / h)
        a, b, c = s * x[speed, l], s * x[speed + 1, l], s * x[speed + 2, l]
        p, i, j, k = q[place, l], q[place + 1, l], q[place + 2, l], q[place + 3, l]
        nw = w * p - (a * i + b * j + c * k)
        ni = w * i + p * a + (b * k - c * j)
        nj = w * j + p * b + (c * i - a * k)
        nk = w * k + p * c + (a * j - b * i)
        share = 1 / sqrt(nw * nw + ni * ni + nj * nj + nk * nk)
        on = moving[l] > 0
        q[place, l] = where(on, nw * share, p)
        q[place + 1, l] = where(on, ni * share, i)
        q[place + 2, l] = where(on, nj * share, j)
        q[place + 3, l] = where(on, nk * share, k)


@kernel
def clip(plan, work):
    """Limit the step work.x of the dependent speeds; work.size: how long it was, or WILD."""
    x, size = work.x, work.size
    for l in range(0, LANES, WIDTH):
        longest = spread(0.0)
        for j in range(len(plan.block_speeds)):
            s = plan.block_speeds[j]
            limit, step = plan.limit[s], x[s, l]
            far = size_of(step)
            # nan compares false: its lane must not look converged, nor move.
            longest = where((far <= longest) | (longest != longest), longest, far)
            longest = where(far > limit, WILD, longest)
            x[s, l] = where(far < 1e300, smaller(larger(step, -limit), limit), 0.0)
        size[l] = longest


@kernel
def advance(plan, work, moving):
    """Take the step work.x of the dependent speeds, clipped, in moving lanes."""
    clip(plan, work)
    q, x = work.q, work.x
    for e in range(len(plan.elements)):
        kind, place = plan.elements[e, KIND], plan.elements[e, POSITION]
        speed = plan.elements[e, SPEED]
        if kind == FIXED or work.depends[speed] == 0:
            continue
        if kind == BALL:
            roll(work, place, speed, moving)
        else:
            for l in range(0, LANES, WIDTH):
                q[place, l] += where(moving[l] > 0, x[speed, l], 0.0)


@kernel
def bend(plan, work, moving):
    """Add this step of Newton's to what the predictor was short of."""
    for j in range(len(plan.block_speeds)):
        s = plan.block_speeds[j]
        for l in range(0, LANES, WIDTH):
            work.curve[s, l] += where(moving[l] > 0, work.x[s, l], 0.0)


@kernel
def newton(plan, work, live, last_update):
    """Close the loops of the live lanes; those that do not converge, or wander, die.

    The Jacobian left behind is of a pose within KEEP of the last.
    """
    moving, fresh, before = work.moving, work.fresh, work.before
    for l in range(0, LANES, WIDTH):
        moving[l] = live[l]
        fresh[l] = live[l]
        before[l] = WILD
    for _ in range(STEPS):
        if not any_of(moving):
            return
        set_poses(plan, work)
        set_gaps(plan, work)
        if any_of(fresh):
            refresh(plan, work, fresh)
        solve_blocks(plan, work, work.gap, -1.0, work.x)
        advance(plan, work, moving)
        bend(plan, work, moving)
        for l in range(0, LANES, WIDTH):
            size, new = work.size[l], fresh[l] > 0
            # As in `loop_newton.Closer.close`: who wanders dies, and goes in smaller steps.
            sound = (size < WILD) & ((size <= before[l]) | (size <= SMALL))
            lives = where(sound, live[l], where(moving[l] > 0, 0.0, live[l]))
            live[l] = lives
            keep = (size < KEEP) & (new | (size < GOOD * before[l]))
            enough = where(new, last_update, KEPT * last_update)
            moving[l] = where(size < enough, 0.0, where(lives > 0, moving[l], 0.0))
            fresh[l] = where(keep, 0.0, moving[l])
            before[l] = size
    for l in range(0, LANES, WIDTH):
        live[l] = where(moving[l] > 0, 0.0, live[l])


@kernel
def judge(plan, work, signs, near):
    """Whether lanes are on their branch and away from its ends; least ratio of their blocks."""
    fresh, regular, least = work.fresh, work.regular, work.least
    block_ratios(plan, work)
    for l in range(0, LANES, WIDTH):
        again = spread(0.0)
        for b in range(len(plan.blocks)):
            again = where(size_of(work.ratios[b, l]) > near, again, 1.0)
        fresh[l] = again
    if any_of(fresh):
        set_poses(plan, work)
        set_gaps(plan, work)
        refresh(plan, work, fresh)
        block_ratios(plan, work)
    for l in range(0, LANES, WIDTH):
        good, margin = spread(1.0), spread(1.0)
        for b in range(len(plan.blocks)):
            ratio = work.ratios[b, l]
            ratio = size_of(ratio) if signs[b] == 0.0 else signs[b] * ratio
            good = where(ratio > SINGULAR, good, 0.0)
            margin = smaller(size_of(ratio), margin)
        regular[l] = good
        least[l] = margin


@kernel
def step(plan, work, settings, places, travel, bends, i, going, last_update):
    """Drive the coordinates of going lanes to setting i, and close.

    Predicted from the tangent and from what the tangents of the last steps were short of:
    bends[i] times these. Near dead points these grow faster than any polynomial foresees, so
    that what is predicted is held to a multiple of the last one.
    """
    speeds = len(plan.limit)
    for f in range(len(plan.free)):
        for l in range(0, LANES, WIDTH):
            work.rates[plan.free[f], l] = travel[i, f]
    drive(plan, work, work.rates)
    solve_blocks(plan, work, work.right, -1.0, work.x)
    for j in range(len(plan.block_speeds)):
        s = plan.block_speeds[j]
        for l in range(0, LANES, WIDTH):
            more, last = spread(0.0), work.curve[s, l]
            on, most = going[l] > 0, size_of(bends[i, ORDER] * last)
            for k in range(ORDER):
                here = work.curve[k * speeds + s, l]
                here = where(here == 0.0, last, here)  # no step that long ago
                more += bends[i, k] * here
                if k > 0:
                    work.curve[k * speeds + s, l] = where(on, last, here)
                last = here
            more = smaller(larger(more, -most), most)
            work.curve[s, l] = where(on, more, work.curve[s, l])
            work.x[s, l] += more
    advance(plan, work, going)
    for k in range(len(places)):
        for l in range(0, LANES, WIDTH):
            work.q[places[k], l] = where(going[l] > 0, settings[i, k], work.q[places[k], l])
    newton(plan, work, going, last_update)


@inlined
def go_back(plan, work, failed):
    """Put failed lanes back to where the leg began."""
    merge(work.q, work.q0, failed)
    set_poses(plan, work)
    set_gaps(plan, work)
    refresh(plan, work, failed)


@kernel
def leg(plan, work, settings, places, travel, bends, legs, s, signs, last_update):
    """One leg of the way for the live lanes; whoever fails repeats it in finer steps.

    Afterwards work.alive says who still converges, work.regular who is on the branch.
    """
    going, alive, retry = work.going, work.alive, work.retry
    copy(work.q, work.q0)
    for l in range(0, LANES, WIDTH):
        going[l] = work.live[l]
        alive[l] = work.live[l]
        retry[l] = work.live[l]
    for level in range(len(legs)):
        for i in range(legs[level, s], legs[level, s + 1]):
            if any_of(going):
                step(plan, work, settings, places, travel, bends, i, going, last_update)
        judge(plan, work, signs, NEAR)
        for l in range(0, LANES, WIDTH):
            again = retry[l] > 0
            alive[l] = where(again, going[l], alive[l])
            done = (going[l] > 0) & (work.regular[l] > 0)
            left = where(done, 0.0, retry[l])
            retry[l] = left
            going[l] = left
            lost = again if level > 0 else left > 0
            for j in range(len(work.curve)):  # steps of another length come next
                work.curve[j, l] = where(lost, 0.0, work.curve[j, l])
        if level + 1 == len(legs) or not any_of(retry):
            return
        go_back(plan, work, retry)


@inlined
def note(work, v0, here, s, outcome, where_):
    """Who failed in this leg, and how; they live no longer."""
    for l in range(here):
        if number(work.live, 0, l) > 0:
            if not number(work.alive, 0, l) > 0:
                outcome[v0 + l], where_[v0 + l] = LOST, s
            elif not number(work.regular, 0, l) > 0:
                outcome[v0 + l], where_[v0 + l] = SINGULAR_POSE, s
    for l in range(0, LANES, WIDTH):
        work.live[l] = work.live[l] * work.alive[l] * work.regular[l]


@inlined
def keep(work, s, samples, path, v0, here):
    """Note the configuration; whole lines of the cache go to the path, (position, variant, …).

    Variants are often a multiple of 1024 bytes apart, and then share few places in the cache.
    """
    for p in range(len(work.q)):
        for l in range(0, LANES, WIDTH):
            work.track[p * LINE + s % LINE, l] = work.q[p, l]
    if s % LINE < LINE - 1 and s < samples - 1:
        return
    for p in range(len(work.q)):
        for l in range(here):
            for k in range(s - s % LINE, s + 1):
                path[p, v0 + l, k] = number(work.track, p * LINE + k % LINE, l)


@door
def walk(
    plan,
    work,
    G,
    q,
    live,
    settings,
    places,
    travel,
    bends,
    legs,
    signs,
    last_update,
    path,
    outcome,
    where_,
):
    """Follow a motion with all variants.

    Parameters
    ----------
    G, q, live
        (item, 12, variant), (position, variant), (variant,) int64: constants, and where the
        variants are and whether they are.
    settings, places, travel
        (step, place) and (step, coordinate): what the configuration's `places` are set to in
        every step, and the coordinates' travel; for all levels of fineness one after the other.
    bends
        (step, ORDER + 1): shares of what the tangents of the last steps were short of, the latest
        first, of what this one's will be, and the largest share of the latest; 0 where unknown.
    legs
        (level, sample + 1): first step of every leg.
    signs
        (block,) signs that ratios keep; 0 where either will do.
    path
        (position, variant, sample), found.
    outcome, where_
        (variant,) found; as `closure.Trace`. outcome is given for variants that do not live.
    """
    plan, work = bundle(plan), bundle(work)
    set_ground(plan, work)
    count, samples = q.shape[1], path.shape[2]
    for v0 in range(0, count, LANES):
        load_constants(work, G, v0)
        load(work, q, v0, live)
        fill(work.fresh, 1.0)
        for s in range(len(work.curve)):
            for l in range(0, LANES, WIDTH):
                work.curve[s, l] = 0.0
        set_poses(plan, work)
        set_gaps(plan, work)
        refresh(plan, work, work.fresh)
        here = min(LANES, count - v0)
        for s in range(samples):
            if any_of(work.live):
                leg(plan, work, settings, places, travel, bends, legs, s, signs, last_update)
                note(work, v0, here, s, outcome, where_)
            keep(work, s, samples, path, v0, here)
