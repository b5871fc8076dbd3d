"""Passes over a planar tree and its loops, in lanes: as `spatial.py` and `spatial_loops.py`.

pose: cos, sin and angle of a link's body, its origin (2), the joint (2), its slide (2).
twist and motion: angular, and linear (2) of the origin. A link's frame is its body's.
G: per element angle, joint in the parent (2), slide in the parent (2), joint in the link (2);
per cut its points (2 each), angle, sign of the normal, axes x and y (2 each), the angle's
cosine and sine.
"""

from basepar_core.compiled.simd import LANES, WIDTH, kernel, sine_cosine, spread, stream

from .mechanism_tables import (
    ALONG,
    FIRST,
    KIND,
    PARENT,
    PATH,
    PATH_END,
    POSITION,
    ROW,
    ROW_END,
    SECOND,
    SIGN,
    SLIDE,
    SPEED,
    TURN,
)

POSE, TWIST = 9, 3
_1, _2, _3, _4, _5, _6, _7, _8 = (k * LANES for k in range(1, 9))


@kernel
def set_ground(pose, ground):
    """Set the last link to the world."""
    for l in range(0, POSE * LANES, WIDTH):
        pose[ground, l] = 0.0
    for l in range(0, LANES, WIDTH):
        pose[ground, l] = 1.0


@kernel
def poses(elements, G, q, pose, angle, sine, cosine):
    """Poses of all links at configuration q (position, LANES); angle (1, LANES) is scratch."""
    for e in range(len(elements)):
        kind, place, up = elements[e, KIND], elements[e, POSITION], elements[e, PARENT]
        sign = float(elements[e, SIGN])
        turn = sign if kind == TURN else 0.0
        slide = sign if kind == SLIDE else 0.0
        if kind == TURN:
            for l in range(0, LANES, WIDTH):
                angle[0, l] = pose[up, _2 + l] + G[e, l] + turn * q[place, l]
        else:
            for l in range(0, LANES, WIDTH):
                angle[0, l] = pose[up, _2 + l] + G[e, l]
        sine_cosine(angle, 0, sine, cosine)
        for l in range(0, LANES, WIDTH):
            c, s = pose[up, l], pose[up, _1 + l]
            dx, dy = G[e, _3 + l], G[e, _4 + l]
            dx, dy = c * dx - s * dy, s * dx + c * dy
            x, y = G[e, _1 + l], G[e, _2 + l]
            x, y = pose[up, _3 + l] + c * x - s * y, pose[up, _4 + l] + s * x + c * y
            pose[e, _7 + l] = dx
            pose[e, _8 + l] = dy
            pose[e, _5 + l] = x
            pose[e, _6 + l] = y
        if kind == SLIDE:
            for l in range(0, LANES, WIDTH):
                move = slide * q[place, l]
                pose[e, _5 + l] += move * pose[e, _7 + l]
                pose[e, _6 + l] += move * pose[e, _8 + l]
        for l in range(0, LANES, WIDTH):
            c, s = cosine[l], sine[l]
            x, y = G[e, _5 + l], G[e, _6 + l]
            pose[e, l] = c
            pose[e, _1 + l] = s
            pose[e, _2 + l] = angle[0, l]
            pose[e, _3 + l] = pose[e, _5 + l] - (c * x - s * y)
            pose[e, _4 + l] = pose[e, _6 + l] - (s * x + c * y)


@kernel
def twists(elements, pose, rates, moved, rated, k, twist):
    """Twists of the links that move with coordinate k, at `rates`; others stay as they are."""
    still = len(elements)
    for e in range(still):
        if moved[k, e] == 0:
            continue
        up, kind, speed = elements[e, PARENT], elements[e, KIND], elements[e, SPEED]
        under = up if moved[k, up] == 1 else still
        own = float(elements[e, SIGN]) if rated[k, e] == 1 else 0.0
        turn = own if kind == TURN else 0.0
        slide = own if kind == SLIDE else 0.0
        if turn == 0.0 and slide == 0.0:
            for l in range(0, LANES, WIDTH):
                w = twist[under, l]
                twist[e, l] = w
                twist[e, _1 + l] = twist[under, _1 + l] - w * (pose[e, _4 + l] - pose[up, _4 + l])
                twist[e, _2 + l] = twist[under, _2 + l] + w * (pose[e, _3 + l] - pose[up, _3 + l])
            continue
        for l in range(0, LANES, WIDTH):
            rate = rates[speed, l]
            before = twist[under, l]
            w = before + turn * rate
            x, y = pose[e, _5 + l], pose[e, _6 + l]
            move = slide * rate
            twist[e, l] = w
            twist[e, _1 + l] = (
                twist[under, _1 + l]
                - before * (y - pose[up, _4 + l])
                - w * (pose[e, _4 + l] - y)
                + move * pose[e, _7 + l]
            )
            twist[e, _2 + l] = (
                twist[under, _2 + l]
                + before * (x - pose[up, _3 + l])
                + w * (pose[e, _3 + l] - x)
                + move * pose[e, _8 + l]
            )


@kernel
def accelerations(elements, pose, twist, u, u_dot, motion):
    """Accelerations of all links less gravity; the ground's is set."""
    for e in range(len(elements)):
        up, kind, speed = elements[e, PARENT], elements[e, KIND], elements[e, SPEED]
        sign = float(elements[e, SIGN])
        turn = sign if kind == TURN else 0.0
        slide = sign if kind == SLIDE else 0.0
        if turn == 0.0 and slide == 0.0:
            speed = 0  # fixed: any, times zero
        for l in range(0, LANES, WIDTH):
            w, before = twist[e, l], twist[up, l]
            alpha = motion[up, l]
            after = alpha + turn * u_dot[speed, l]
            x, y = pose[e, _5 + l] - pose[up, _3 + l], pose[e, _6 + l] - pose[up, _4 + l]
            rx, ry = pose[e, _3 + l] - pose[e, _5 + l], pose[e, _4 + l] - pose[e, _6 + l]
            coriolis, move = 2 * before * slide * u[speed, l], slide * u_dot[speed, l]
            dx, dy = pose[e, _7 + l], pose[e, _8 + l]
            motion[e, l] = after
            motion[e, _1 + l] = (
                motion[up, _1 + l]
                - alpha * y
                - before * before * x
                + move * dx
                - coriolis * dy
                - after * ry
                - w * w * rx
            )
            motion[e, _2 + l] = (
                motion[up, _2 + l]
                + alpha * x
                - before * before * y
                + move * dy
                + coriolis * dx
                + after * rx
                - w * w * ry
            )


@kernel
def gaps(cuts, rows, G, item, pose, cut, normal, gap):
    """Points, normals and gaps; cut (cut, 4 · LANES): offset, second point."""
    for c in range(len(cuts)):
        first, second, g = cuts[c, FIRST], cuts[c, SECOND], item + c
        for l in range(0, LANES, WIDTH):
            x, y = G[g, _2 + l], G[g, _3 + l]
            co, si = pose[second, l], pose[second, _1 + l]
            x, y = pose[second, _3 + l] + co * x - si * y, pose[second, _4 + l] + si * x + co * y
            p, q = G[g, l], G[g, _1 + l]
            co, si = pose[first, l], pose[first, _1 + l]
            p, q = pose[first, _3 + l] + co * p - si * q, pose[first, _4 + l] + si * p + co * q
            cut[c, l] = x - p
            cut[c, _1 + l] = y - q
            cut[c, _2 + l] = x
            cut[c, _3 + l] = y
        for row in range(cuts[c, ROW], cuts[c, ROW_END]):
            how, axis = rows[row, 0], rows[row, 1]
            if how == ALONG:
                a = (6 + 2 * axis) * LANES
                for l in range(0, LANES, WIDTH):
                    p, q = G[g, a + l], G[g, a + _1 + l]
                    co, si = pose[first, l], pose[first, _1 + l]
                    x, y = co * p - si * q, si * p + co * q
                    normal[row, l] = x
                    normal[row, _1 + l] = y
                    gap[row, l] = x * cut[c, l] + y * cut[c, _1 + l]
            else:
                for l in range(0, LANES, WIDTH):
                    normal[row, l] = G[g, _5 + l]
                    c1, s1 = pose[first, l], pose[first, _1 + l]
                    c2, s2 = pose[second, l], pose[second, _1 + l]
                    sine, cosine = s2 * c1 - c2 * s1, c2 * c1 + s2 * s1
                    gap[row, l] = G[g, _5 + l] * (
                        sine * G[g, 10 * LANES + l] + cosine * G[g, 11 * LANES + l]
                    )


@kernel
def jacobian(elements, cuts, rows, paths, pose, cut, normal, J, speeds):
    """Entries of the solved rows."""
    for c in range(len(cuts)):
        for i in range(cuts[c, PATH], cuts[c, PATH_END]):
            e = paths[i, 0]
            kind, sign = elements[e, KIND], float(paths[i, 1] * elements[e, SIGN])
            if kind != TURN and kind != SLIDE:
                continue
            for row in range(cuts[c, ROW], cuts[c, ROW_END]):
                if rows[row, 2] == 0:
                    continue
                entry = row * speeds + elements[e, SPEED]
                if rows[row, 0] != ALONG:
                    turn = sign if kind == TURN else 0.0
                    for l in range(0, LANES, WIDTH):
                        J[entry, l] = turn * normal[row, l]
                elif kind == TURN:
                    for l in range(0, LANES, WIDTH):
                        x, y = cut[c, _2 + l] - pose[e, _5 + l], cut[c, _3 + l] - pose[e, _6 + l]
                        J[entry, l] = sign * (normal[row, _1 + l] * x - normal[row, l] * y)
                else:
                    for l in range(0, LANES, WIDTH):
                        J[entry, l] = sign * (
                            normal[row, l] * pose[e, _7 + l]
                            + normal[row, _1 + l] * pose[e, _8 + l]
                        )


@kernel
def mismatch(cuts, rows, pose, twist, motion, cut, normal, right):
    """Second derivatives (row, LANES) of the solved gaps."""
    for c in range(len(cuts)):
        first, second = cuts[c, FIRST], cuts[c, SECOND]
        for row in range(cuts[c, ROW], cuts[c, ROW_END]):
            if rows[row, 2] == 0:
                continue
            if rows[row, 0] != ALONG:
                for l in range(0, LANES, WIDTH):
                    right[row, l] = normal[row, l] * (motion[second, l] - motion[first, l])
                continue
            for l in range(0, LANES, WIDTH):
                x, y = cut[c, _2 + l] - pose[second, _3 + l], cut[c, _3 + l] - pose[second, _4 + l]
                w, alpha = twist[second, l], motion[second, l]
                vx, vy = twist[second, _1 + l] - w * y, twist[second, _2 + l] + w * x
                ax = motion[second, _1 + l] - alpha * y - w * w * x
                ay = motion[second, _2 + l] + alpha * x - w * w * y
                x, y = cut[c, _2 + l] - pose[first, _3 + l], cut[c, _3 + l] - pose[first, _4 + l]
                w, alpha = twist[first, l], motion[first, l]
                vx, vy = vx - twist[first, _1 + l] + w * y, vy - twist[first, _2 + l] - w * x
                ax -= motion[first, _1 + l] - alpha * y - w * w * x - 2 * w * vy
                ay -= motion[first, _2 + l] + alpha * x - w * w * y + 2 * w * vx
                right[row, l] = normal[row, l] * ax + normal[row, _1 + l] * ay


@kernel
def stream_zeros(W, v, at, step):
    """Columns of a body that a coordinate does not move, past the cache."""
    for l in range(0, LANES, WIDTH):
        for i in range(4):
            stream(W, v, at + i * step + l, spread(0.0))


@kernel
def columns(pose, twist, virtual, motion, e, W, v, at, step, streamed):
    """m, mx, my, J of a body as `regressor._planar_columns`: W[v] from `at` on, by `step`.

    Past the cache if streamed.
    """
    for l in range(0, LANES, WIDTH):
        c, s = pose[e, l], pose[e, _1 + l]
        x, y = motion[e, _1 + l], motion[e, _2 + l]
        ax, ay = c * x + s * y, c * y - s * x
        x, y = virtual[e, _1 + l], virtual[e, _2 + l]
        vx, vy = c * x + s * y, c * y - s * x
        turn, alpha, w = virtual[e, l], motion[e, l], twist[e, l]
        w0 = vx * ax + vy * ay
        w1 = turn * ay + vy * alpha - w * w * vx
        w2 = -turn * ax - vx * alpha - w * w * vy
        w3 = turn * alpha
        if streamed:
            stream(W, v, at + l, w0)
            stream(W, v, at + step + l, w1)
            stream(W, v, at + 2 * step + l, w2)
            stream(W, v, at + 3 * step + l, w3)
        else:
            W[v, at + l] = w0
            W[v, at + step + l] = w1
            W[v, at + 2 * step + l] = w2
            W[v, at + 3 * step + l] = w3
