"""Paths of points that bodies carry, and how well loops are closed: what needs no W.

Lanes over samples, one variant at a time, as in `regress.py`. The plain path is
`dynamics.places`, and `dynamics.movements` where velocities and accelerations are wanted too.
"""

from numba.extending import overload

from basepar_core.compiled.simd import INNER, LANES, WIDTH, bundle, door, lanes

from .mechanism_tables import PlanarPlan
from .rates import block_ratios, factor_blocks
from .regress import (
    close_motion,
    finish_variant,
    loop_errors,
    put,
    set_loops,
    set_speeds,
    start_variant,
    unit_modes,
)
from .spaces import set_gaps, set_ground, set_jacobian, set_poses

_1, _2, _3, _4, _5, _6, _7, _8 = (k * LANES for k in range(1, 9))


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


def carry(plan, work, e, at, v, p, track, first, step):
    """Velocity and acceleration of a point of a link's frame, to the rows behind its place."""


@overload(carry, jit_options=INNER)
def _carry(plan, work, e, at, v, p, track, first, step):
    def plane(plan, work, e, at, v, p, track, first, step):
        x, y, ground = at[v, p, 0], at[v, p, 1], len(plan.elements)
        pose, twist, motion = work.pose, work.twist, work.motion
        for l in range(0, LANES, WIDTH):
            c, s = pose[e, l], pose[e, _1 + l]
            rx, ry = c * x - s * y, s * x + c * y
            w, turn = twist[e, l], motion[e, l]
            gx, gy = motion[ground, _1 + l], motion[ground, _2 + l]
            at0 = first + l
            track[v, at0] = twist[e, _1 + l] - w * ry
            track[v, at0 + step] = twist[e, _2 + l] + w * rx
            track[v, at0 + 2 * step] = motion[e, _1 + l] - gx - turn * ry - w * w * rx
            track[v, at0 + 3 * step] = motion[e, _2 + l] - gy + turn * rx - w * w * ry

    def space(plan, work, e, at, v, p, track, first, step):
        x, y, z, ground = at[v, p, 0], at[v, p, 1], at[v, p, 2], len(plan.elements)
        pose, twist, motion = work.pose, work.twist, work.motion
        for l in range(0, LANES, WIDTH):
            rx = pose[e, l] * x + pose[e, _1 + l] * y + pose[e, _2 + l] * z
            ry = pose[e, _3 + l] * x + pose[e, _4 + l] * y + pose[e, _5 + l] * z
            rz = pose[e, _6 + l] * x + pose[e, _7 + l] * y + pose[e, _8 + l] * z
            p0, p1, p2 = twist[e, l], twist[e, _1 + l], twist[e, _2 + l]
            vx, vy, vz = p1 * rz - p2 * ry, p2 * rx - p0 * rz, p0 * ry - p1 * rx
            t0, t1, t2 = motion[e, l], motion[e, _1 + l], motion[e, _2 + l]
            gx, gy, gz = motion[ground, _3 + l], motion[ground, _4 + l], motion[ground, _5 + l]
            at0 = first + l
            track[v, at0] = twist[e, _3 + l] + vx
            track[v, at0 + step] = twist[e, _4 + l] + vy
            track[v, at0 + 2 * step] = twist[e, _5 + l] + vz
            ax, ay, az = t1 * rz - t2 * ry, t2 * rx - t0 * rz, t0 * ry - t1 * rx
            ax, ay, az = ax + p1 * vz - p2 * vy, ay + p2 * vx - p0 * vz, az + p0 * vy - p1 * vx
            track[v, at0 + 3 * step] = motion[e, _3 + l] - gx + ax
            track[v, at0 + 4 * step] = motion[e, _4 + l] - gy + ay
            track[v, at0 + 5 * step] = motion[e, _5 + l] - gz + az

    return plane if plan.cls is PlanarPlan else space


@door
def move(plan, work, G, q, q_dot, u, u_dot, maps, links, at, track):
    """Points of all variants with their velocities and accelerations.

    Parameters
    ----------
    G, q, q_dot, u, u_dot, maps
        As in `regress.regress`.
    links, at
        As in `follow`.
    track
        (variant, point, 3 · axis, sample): places, velocities, accelerations; the ground's frame.
    """
    plan, work = bundle(plan), bundle(work)
    variants, samples, places = q.shape[1], q.shape[2], q.shape[0]
    axes, q, track, maps = track.shape[2] // 3, lanes(q), lanes(track), lanes(maps)
    q_dot, u, u_dot = lanes(q_dot), lanes(u), lanes(u_dot)
    set_ground(plan, work)
    unit_modes(plan, work.modes)
    for v in range(variants):
        start_variant(plan, work, G, v)
        done = 0
        while done < samples:
            s0 = min(done, samples - LANES)  # blocks overlap at the end
            for p in range(places):
                put(q, p, v * samples + s0, work.q, p)
            set_speeds(plan, work, s0, q_dot, u, u_dot, maps)
            set_poses(plan, work)
            if len(plan.blocks) > 0:
                set_loops(plan, work, len(maps) == 0)
            close_motion(plan, work)
            for p in range(len(links)):
                first = 3 * p * axes * samples + s0
                place(plan, work.pose, links[p], at, v, p, track, first, samples)
                behind = first + axes * samples
                carry(plan, work, links[p], at, v, p, track, behind, samples)
            done = s0 + LANES


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
