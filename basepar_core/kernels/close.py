"""Closing loops in lanes over variants: Newton as in `newton.py`, each variant as if alone.

A variant's numbers change only while it is moving itself, so its bits do not depend on which
others share its block. Factors of the Jacobian are kept for a second step where the first was
small: near the solution they are as good, and cost nothing.
"""

import numpy as np

from .lanes import LANES, door, kernel, part
from .plan import BALL, FIXED, KIND, POSITION, SPEED
from .rates import block_ratios, drive, factor_blocks, solve_blocks
from .spaces import set_gaps, set_ground, set_jacobian, set_poses

#: As in `newton.NEWTON_STEPS`, and two more for steps with kept factors.
STEPS = 14
#: After an update below this (rad or m) the next one may use the same factors; and again where
#: it shrank by GOOD.
KEEP, GOOD = 1e-4, 1e-3
#: A step with kept factors leaves up to KEEP of itself open: it must be this much smaller.
KEPT = 1e-3
#: Blocks this near to singular are judged by a Jacobian of the very pose.
NEAR = 1e-2
SINGULAR = 1e-7
CLOSED, UNASSEMBLABLE, LOST, SINGULAR_POSE = 1, 3, 4, 5


@kernel
def any_of(mask):
    """Whether any lane of an int64 mask is set."""
    total = 0
    for l in range(LANES):
        total += mask[l]
    return total > 0


@kernel
def load(G, q, v0, table, here):
    """Constants and configuration of the variants from v0 on; missing lanes repeat the last."""
    last = G.shape[2] - 1
    for i in range(G.shape[0]):
        for k in range(12):
            for l in range(LANES):
                table[i, k * LANES + l] = G[i, k, min(v0 + l, last)]
    for p in range(q.shape[0]):
        for l in range(LANES):
            here[p, l] = q[p, min(v0 + l, last)]


@kernel
def merge(kept, new, lanes):
    """Rows of `new` over those kept, in some lanes."""
    for i in range(kept.shape[0]):
        for l in range(LANES):
            x, y = kept[i, l], new[i, l]
            kept[i, l] = y if lanes[l] != 0 else x


@part
def refresh(plan, work, fresh, J):
    """Take the Jacobian of these lanes at their pose; J is scratch; factor all."""
    set_jacobian(plan, work, J)
    merge(work.J, J, fresh)
    factor_blocks(plan, work.J, work.A, work.diagonal, work.beta, work.work)


@kernel
def roll(q, place, x, speed, moving):
    """Turn a ball's quaternion by a small rotation vector, in the first body's axes."""
    for l in range(LANES):
        a, b, c = x[speed, l], x[speed + 1, l], x[speed + 2, l]
        square = a * a + b * b + c * c
        angle = np.sqrt(square)
        s = 0.5 - square / 48 if angle < 1e-4 else np.sin(0.5 * angle) / angle
        w, a, b, c = np.cos(0.5 * angle), s * a, s * b, s * c
        p, i, j, k = q[place, l], q[place + 1, l], q[place + 2, l], q[place + 3, l]
        nw = w * p - (a * i + b * j + c * k)
        ni = w * i + p * a + (b * k - c * j)
        nj = w * j + p * b + (c * i - a * k)
        nk = w * k + p * c + (a * j - b * i)
        size = np.sqrt(nw * nw + ni * ni + nj * nj + nk * nk)
        q[place, l] = nw / size if moving[l] != 0 else p
        q[place + 1, l] = ni / size if moving[l] != 0 else i
        q[place + 2, l] = nj / size if moving[l] != 0 else j
        q[place + 3, l] = nk / size if moving[l] != 0 else k


@part
def advance(plan, work, moving, size):
    """Take the step work.x of the dependent speeds, clipped, in moving lanes; its size."""
    for l in range(LANES):
        size[l] = 0.0
    for s in plan.block_speeds:
        limit = plan.limit[s]
        for l in range(LANES):
            x = work.x[s, l]
            far = abs(x)
            # nan compares false: its lane must not look converged, nor move.
            size[l] = size[l] if (far <= size[l]) | (size[l] != size[l]) else far
            work.x[s, l] = min(max(x, -limit), limit) if far < 1e300 else 0.0
    for e in range(len(plan.elements)):
        kind, place, speed = (
            plan.elements[e, KIND],
            plan.elements[e, POSITION],
            plan.elements[e, SPEED],
        )
        if kind == FIXED:
            continue
        if kind == BALL:
            if work.depends[speed] == 1:
                roll(work.q, place, work.x, speed, moving)
        elif work.depends[speed] == 1:
            for l in range(LANES):
                step = work.x[speed, l] if moving[l] != 0 else 0.0
                work.q[place, l] += step


@part
def newton(plan, work, live, last_update):
    """Close the loops of the live lanes; those that do not converge die.

    Lane masks are int64. The Jacobian left behind is of a pose within KEEP of the last.
    """
    moving, fresh = work.moving, work.fresh
    for l in range(LANES):
        moving[l] = live[l]
        fresh[l] = live[l]
        work.before[l] = 1.0
    for _ in range(STEPS):
        if not any_of(moving):
            return
        set_poses(plan, work)
        set_gaps(plan, work)
        if any_of(fresh):
            refresh(plan, work, fresh, work.J2)
        solve_blocks(
            plan, work.A, work.diagonal, work.beta, work.gap, -1.0, work.solving, work.work, work.x
        )
        advance(plan, work, moving, work.size)
        for l in range(LANES):
            size = work.size[l]
            shrank = size < GOOD * work.before[l]
            keep = (size < KEEP) & ((fresh[l] != 0) | shrank)
            enough = last_update if fresh[l] != 0 else KEPT * last_update
            moving[l] = moving[l] & (0 if size < enough else 1)
            fresh[l] = moving[l] & (0 if keep else 1)
            work.before[l] = size
    for l in range(LANES):
        live[l] = live[l] & (1 - moving[l])


@part
def judge(plan, work, signs, near, regular, margin):
    """Whether lanes are on their branch and away from its ends; least ratio of their blocks."""
    block_ratios(plan, work.J, work.A, work.diagonal, work.solving, work.work, work.ratios)
    for l in range(LANES):
        work.fresh[l] = 0
    for b in range(len(plan.blocks)):
        for l in range(LANES):
            again = 0 if abs(work.ratios[b, l]) > near else 1
            work.fresh[l] = work.fresh[l] | again
    if any_of(work.fresh):
        set_poses(plan, work)
        set_gaps(plan, work)
        refresh(plan, work, work.fresh, work.J2)
        block_ratios(plan, work.J, work.A, work.diagonal, work.solving, work.work, work.ratios)
    for l in range(LANES):
        regular[l] = 1
        margin[l] = 1.0
    for b in range(len(plan.blocks)):
        for l in range(LANES):
            ratio = signs[b] * work.ratios[b, l]
            regular[l] = regular[l] & (1 if ratio > SINGULAR else 0)
            margin[l] = min(margin[l], abs(ratio))


@door
def close_all(plan, work, G, q, live, signs, near, regular, margin, last_update):
    """Close the loops of all variants where they are.

    Parameters
    ----------
    G, q
        (item, 12, variant), (position, variant); q is moved.
    live, regular, margin
        (variant,) int64, int64 and float: live is given and taken; the others are found.
    signs, near
        (block,) signs of the nominal ratios; ratios below `near` are found at the very pose.
    """
    set_ground(plan, work)
    count = q.shape[1]
    for v0 in range(0, count, LANES):
        load(G, q, v0, work.table, work.q)
        for l in range(LANES):
            work.live[l] = live[min(v0 + l, count - 1)]
        newton(plan, work, work.live, last_update)
        judge(plan, work, signs, near, work.regular, work.least)
        for l in range(min(LANES, count - v0)):
            for p in range(q.shape[0]):
                q[p, v0 + l] = work.q[p, l]
            live[v0 + l] = work.live[l]
            regular[v0 + l] = work.regular[l]
            margin[v0 + l] = work.least[l]


@part
def step(plan, work, settings, places, travel, i, going, last_update):
    """Drive the coordinates of going lanes to setting i, from the tangent, and close."""
    for f in range(len(plan.free)):
        x = travel[i, f]
        for l in range(LANES):
            work.rates[plan.free[f], l] = x
    drive(plan, work.J, work.rates, work.right)
    solve_blocks(
        plan, work.A, work.diagonal, work.beta, work.right, -1.0, work.solving, work.work, work.x
    )
    advance(plan, work, going, work.size)
    for k in range(len(places)):
        x = settings[i, k]
        for l in range(LANES):
            work.q[places[k], l] = x if going[l] != 0 else work.q[places[k], l]
    newton(plan, work, going, last_update)


@part
def keep(work, J0, q0):
    """Note where the lanes are."""
    J0[:, :] = work.J
    q0[:, :] = work.q


@part
def go_back(plan, work, J0, q0, failed):
    """Put failed lanes back to where they were."""
    merge(work.J, J0, failed)
    merge(work.q, q0, failed)
    factor_blocks(plan, work.J, work.A, work.diagonal, work.beta, work.work)


@part
def leg(plan, work, settings, places, travel, legs, s, signs, last_update, J0, q0):
    """One leg of the way for the live lanes; whoever fails repeats it in finer steps.

    Afterwards work.alive says who still converges, work.regular who is on the branch.
    """
    keep(work, J0, q0)
    for l in range(LANES):
        work.going[l] = work.live[l]
        work.alive[l] = work.live[l]
        work.retry[l] = work.live[l]
    for level in range(len(legs)):
        for i in range(legs[level, s], legs[level, s + 1]):
            if any_of(work.going):
                step(plan, work, settings, places, travel, i, work.going, last_update)
        judge(plan, work, signs, NEAR, work.regular, work.least)
        for l in range(LANES):
            again = work.retry[l]
            work.alive[l] = work.going[l] if again != 0 else work.alive[l]
            work.retry[l] = again & (1 - (work.going[l] & work.regular[l]))
            work.going[l] = work.retry[l]
        if level + 1 == len(legs) or not any_of(work.retry):
            return
        go_back(plan, work, J0, q0, work.retry)


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
    legs,
    signs,
    last_update,
    path,
    outcome,
    where,
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
    legs
        (level, sample + 1): first step of every leg.
    signs
        (block,) signs of the nominal ratios.
    path
        (position, variant, sample), found.
    outcome, where
        (variant,) found; as `closure.Trace`. outcome is given for variants that do not live.
    """
    set_ground(plan, work)
    count, samples = q.shape[1], path.shape[2]
    J0, q0 = np.zeros_like(work.J), np.zeros_like(work.q)
    for v0 in range(0, count, LANES):
        load(G, q, v0, work.table, work.q)
        for l in range(LANES):
            work.live[l] = live[min(v0 + l, count - 1)]
            work.fresh[l] = 1
        set_poses(plan, work)
        set_gaps(plan, work)
        refresh(plan, work, work.fresh, work.J2)
        here = min(LANES, count - v0)
        for s in range(samples):
            if any_of(work.live):
                leg(plan, work, settings, places, travel, legs, s, signs, last_update, J0, q0)
            for l in range(here):
                v = v0 + l
                if work.live[l] == 1:
                    if work.alive[l] == 0:
                        outcome[v], where[v] = LOST, s
                    elif work.regular[l] == 0:
                        outcome[v], where[v] = SINGULAR_POSE, s
            for l in range(LANES):
                work.live[l] = work.live[l] & work.alive[l] & work.regular[l]
            for p in range(q.shape[0]):
                for l in range(here):
                    path[p, v0 + l, s] = work.q[p, l]
