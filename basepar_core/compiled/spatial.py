"""Passes over a spatial tree, in lanes, world axes: poses, twists, accelerations.

Arrays are (link, number · LANES); the ground is the last link. Functions take whole arrays and
the link's number: a view per link would cost more than the arithmetic of a block of lanes.
pose: link axes X (9), origin P (3), and a ball's axes of rotation N (9).
twist: angular velocity W (3), velocity V of the link's origin (3). motion: alike, accelerations.
"""

from basepar_core.compiled.simd import LANES, WIDTH, inlined, kernel, sine_cosine

from .mechanism_tables import BALL, KIND, PARENT, POSITION, SAME, SIGN, SLIDE, SPEED, TURN

X, P, N, POSE = 0, 9, 12, 21
W, V, TWIST = 0, 3, 6
# Offsets of single numbers; numba folds module constants.
_P0, _P1, _P2 = P * LANES, (P + 1) * LANES, (P + 2) * LANES
_1, _2, _3, _4, _5, _6, _7, _8 = (k * LANES for k in range(1, 9))


@kernel
def set_ground(pose, ground):
    """Set the last link to the world."""
    for l in range(0, POSE * LANES, WIDTH):
        pose[ground, l] = 0.0
    for l in range(0, LANES, WIDTH):
        pose[ground, l] = 1.0
        pose[ground, _4 + l] = 1.0
        pose[ground, _8 + l] = 1.0


@inlined
def _joined(G, pose, e, up, same):
    """Link axes and origin at a constant place on the parent."""
    for l in range(0, LANES, WIDTH):
        x, y, z = G[e, 9 * LANES + l], G[e, 10 * LANES + l], G[e, 11 * LANES + l]
        pose[e, _P0 + l] = pose[up, _P0 + l] + (
            pose[up, l] * x + pose[up, _1 + l] * y + pose[up, _2 + l] * z
        )
        pose[e, _P1 + l] = pose[up, _P1 + l] + (
            pose[up, _3 + l] * x + pose[up, _4 + l] * y + pose[up, _5 + l] * z
        )
        pose[e, _P2 + l] = pose[up, _P2 + l] + (
            pose[up, _6 + l] * x + pose[up, _7 + l] * y + pose[up, _8 + l] * z
        )
    if same:
        for l in range(0, 9 * LANES, WIDTH):
            pose[e, l] = pose[up, l]
        return
    for i in range(3):
        row = 3 * i * LANES
        for l in range(0, LANES, WIDTH):
            a, b, c = pose[up, row + l], pose[up, row + _1 + l], pose[up, row + _2 + l]
            pose[e, row + l] = a * G[e, l] + b * G[e, _3 + l] + c * G[e, _6 + l]
            pose[e, row + _1 + l] = a * G[e, _1 + l] + b * G[e, _4 + l] + c * G[e, _7 + l]
            pose[e, row + _2 + l] = a * G[e, _2 + l] + b * G[e, _5 + l] + c * G[e, _8 + l]


@inlined
def _turned(pose, e, sine, cosine, sign):
    """Turn link axes about their z."""
    for l in range(0, LANES, WIDTH):
        c, s = cosine[l], sign * sine[l]
        x, y = pose[e, l], pose[e, _1 + l]
        pose[e, l] = c * x + s * y
        pose[e, _1 + l] = c * y - s * x
        x, y = pose[e, _3 + l], pose[e, _4 + l]
        pose[e, _3 + l] = c * x + s * y
        pose[e, _4 + l] = c * y - s * x
        x, y = pose[e, _6 + l], pose[e, _7 + l]
        pose[e, _6 + l] = c * x + s * y
        pose[e, _7 + l] = c * y - s * x


@inlined
def _slid(pose, e, q, place, sign):
    """Move a link's origin along its z."""
    for l in range(0, LANES, WIDTH):
        x = sign * q[place, l]
        pose[e, _P0 + l] += x * pose[e, _2 + l]
        pose[e, _P1 + l] += x * pose[e, _5 + l]
        pose[e, _P2 + l] += x * pose[e, _8 + l]


@inlined
def _rolled(pose, e, q, place, sign):
    """Turn link axes by a unit quaternion, or back; keep the first body's axes in N."""
    for i in range(3):
        row, kept = 3 * i * LANES, (N + 3 * i) * LANES
        for l in range(0, LANES, WIDTH):
            w, x = q[place, l], sign * q[place + 1, l]
            y, z = sign * q[place + 2, l], sign * q[place + 3, l]
            a, b, c = pose[e, row + l], pose[e, row + _1 + l], pose[e, row + _2 + l]
            pose[e, kept + l] = a
            pose[e, kept + _1 + l] = b
            pose[e, kept + _2 + l] = c
            pose[e, row + l] = (
                a * (1 - 2 * (y * y + z * z)) + 2 * b * (x * y + w * z) + 2 * c * (x * z - w * y)
            )
            pose[e, row + _1 + l] = (
                2 * a * (x * y - w * z) + b * (1 - 2 * (x * x + z * z)) + 2 * c * (y * z + w * x)
            )
            pose[e, row + _2 + l] = (
                2 * a * (x * z + w * y) + 2 * b * (y * z - w * x) + c * (1 - 2 * (x * x + y * y))
            )
    if sign < 0:
        for l in range(0, 9 * LANES, WIDTH):
            pose[e, N * LANES + l] = pose[e, l]


@kernel
def poses(elements, G, q, pose, sine, cosine):
    """Poses of all links at configuration q (position, LANES); G (item, 12 · LANES)."""
    for e in range(len(elements)):
        kind, place, sign = elements[e, KIND], elements[e, POSITION], float(elements[e, SIGN])
        _joined(G, pose, e, elements[e, PARENT], elements[e, SAME] == 1)
        if kind == TURN:
            sine_cosine(q, place, sine, cosine)
            _turned(pose, e, sine, cosine, sign)
        elif kind == SLIDE:
            _slid(pose, e, q, place, sign)
        elif kind == BALL:
            _rolled(pose, e, q, place, sign)


@kernel
def _along_z(out, e, first, pose, rates, speed, sign):
    """Add a rate along the link's z to the three numbers from `first` on."""
    f = first * LANES
    for l in range(0, LANES, WIDTH):
        r = sign * rates[speed, l]
        out[e, f + l] += r * pose[e, _2 + l]
        out[e, f + _1 + l] += r * pose[e, _5 + l]
        out[e, f + _2 + l] += r * pose[e, _8 + l]


@kernel
def _about_ball(out, e, pose, rates, speed, sign):
    """Add a ball's angular velocity."""
    for i in range(3):
        row = (N + 3 * i) * LANES
        for l in range(0, LANES, WIDTH):
            out[e, i * LANES + l] += sign * (
                pose[e, row + l] * rates[speed, l]
                + pose[e, row + _1 + l] * rates[speed + 1, l]
                + pose[e, row + _2 + l] * rates[speed + 2, l]
            )


@inlined
def _own_rate(elements, e, pose, rates, out):
    """Add a joint's own motion at `rates` (speed, LANES) to its link's twist."""
    kind, speed, sign = elements[e, KIND], elements[e, SPEED], float(elements[e, SIGN])
    if kind == TURN:
        _along_z(out, e, W, pose, rates, speed, sign)
    elif kind == SLIDE:
        _along_z(out, e, V, pose, rates, speed, sign)
    elif kind == BALL:
        _about_ball(out, e, pose, rates, speed, sign)


@inlined
def _carried(out, e, under, pose, up):
    """A link's twist were it rigidly on its parent `up`, whose twist stands at `under`."""
    for l in range(0, LANES, WIDTH):
        x = pose[e, _P0 + l] - pose[up, _P0 + l]
        y = pose[e, _P1 + l] - pose[up, _P1 + l]
        z = pose[e, _P2 + l] - pose[up, _P2 + l]
        a, b, c = out[under, l], out[under, _1 + l], out[under, _2 + l]
        out[e, l] = a
        out[e, _1 + l] = b
        out[e, _2 + l] = c
        out[e, _3 + l] = out[under, _3 + l] + b * z - c * y
        out[e, _4 + l] = out[under, _4 + l] + c * x - a * z
        out[e, _5 + l] = out[under, _5 + l] + a * y - b * x


@kernel
def twists(elements, pose, rates, moved, rated, k, twist):
    """Twists of the links that move with coordinate k, at `rates`; others stay as they are.

    moved, rated (coordinate, link) as in `Plan`; the ground's twist is zero.
    """
    still = len(elements)
    for e in range(still):
        if moved[k, e] == 0:
            continue
        up = elements[e, PARENT]
        under = up if moved[k, up] == 1 else still
        _carried(twist, e, under, pose, up)
        if rated[k, e] == 1:
            _own_rate(elements, e, pose, rates, twist)


@inlined
def _swung(motion, e, twist, pose, up):
    """A link's acceleration were it rigidly on its parent: a + α × r + ω × (ω × r)."""
    for l in range(0, LANES, WIDTH):
        x = pose[e, _P0 + l] - pose[up, _P0 + l]
        y = pose[e, _P1 + l] - pose[up, _P1 + l]
        z = pose[e, _P2 + l] - pose[up, _P2 + l]
        a, b, c = twist[up, l], twist[up, _1 + l], twist[up, _2 + l]
        i, j, k = b * z - c * y, c * x - a * z, a * y - b * x
        p, q, r = motion[up, l], motion[up, _1 + l], motion[up, _2 + l]
        motion[e, l] = p
        motion[e, _1 + l] = q
        motion[e, _2 + l] = r
        # Two cross products: where r lies along ω, ω (ω · r) − ω² r is rounding of ω².
        motion[e, _3 + l] = motion[up, _3 + l] + (q * z - r * y) + (b * k - c * j)
        motion[e, _4 + l] = motion[up, _4 + l] + (r * x - p * z) + (c * i - a * k)
        motion[e, _5 + l] = motion[up, _5 + l] + (p * y - q * x) + (a * j - b * i)


@kernel
def _driven(motion, e, first, pose, twist, up, u, u_dot, speed, sign, twice):
    """Add a joint's own acceleration along its z, and `twice` · ω × its rate, ω of the parent."""
    f = first * LANES
    for l in range(0, LANES, WIDTH):
        rate, change = twice * sign * u[speed, l], sign * u_dot[speed, l]
        x, y, z = pose[e, _2 + l], pose[e, _5 + l], pose[e, _8 + l]
        a, b, c = twist[up, l], twist[up, _1 + l], twist[up, _2 + l]
        motion[e, f + l] += change * x + rate * (b * z - c * y)
        motion[e, f + _1 + l] += change * y + rate * (c * x - a * z)
        motion[e, f + _2 + l] += change * z + rate * (a * y - b * x)


@inlined
def _driven_ball(motion, e, pose, twist, up, u, u_dot, speed, sign, own):
    """Add a ball's own acceleration, and ω × its rate; own is scratch."""
    _about_ball(motion, e, pose, u_dot, speed, sign)
    for l in range(0, 3 * LANES, WIDTH):
        own[e, l] = 0.0
    _about_ball(own, e, pose, u, speed, sign)
    for l in range(0, LANES, WIDTH):
        a, b, c = twist[up, l], twist[up, _1 + l], twist[up, _2 + l]
        x, y, z = own[e, l], own[e, _1 + l], own[e, _2 + l]
        motion[e, l] += b * z - c * y
        motion[e, _1 + l] += c * x - a * z
        motion[e, _2 + l] += a * y - b * x


@kernel
def accelerations(elements, pose, twist, u, u_dot, motion, own):
    """Accelerations of all links less gravity; the ground's is set. own (link, 3 · LANES)."""
    for e in range(len(elements)):
        up, kind, speed = elements[e, PARENT], elements[e, KIND], elements[e, SPEED]
        sign = float(elements[e, SIGN])
        _swung(motion, e, twist, pose, up)
        if kind == TURN:
            _driven(motion, e, W, pose, twist, up, u, u_dot, speed, sign, 1.0)
        elif kind == SLIDE:
            _driven(motion, e, V, pose, twist, up, u, u_dot, speed, sign, 2.0)
        elif kind == BALL:
            _driven_ball(motion, e, pose, twist, up, u, u_dot, speed, sign, own)


@kernel
def body_frame(G, item, pose, e, axes, body):
    """Axes (body, 9 · LANES) of a body in the world; its frame in the link is G[item]."""
    for i in range(3):
        row = 3 * i * LANES
        for l in range(0, LANES, WIDTH):
            a, b, c = pose[e, row + l], pose[e, row + _1 + l], pose[e, row + _2 + l]
            axes[body, row + l] = a * G[item, l] + b * G[item, _1 + l] + c * G[item, _2 + l]
            axes[body, row + _1 + l] = (
                a * G[item, _3 + l] + b * G[item, _4 + l] + c * G[item, _5 + l]
            )
            axes[body, row + _2 + l] = (
                a * G[item, _6 + l] + b * G[item, _7 + l] + c * G[item, _8 + l]
            )
