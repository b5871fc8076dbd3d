"""A spatial body's ten columns of W, in lanes: virtual work of its unit parameters.

The formulas of `regressor._spatial_columns`, with what does not depend on the coordinate taken
out: with B = [α]× + ω ωᵀ − ω², a point x of the body has acceleration a + B x.
"""

from .lanes import LANES, kernel
from .vectors import WIDTH, larger

#: Numbers of a body's state: ω, α, a (3 each), B (9), products of ω (6).
STATE = 24
_1, _2, _3, _4, _5, _6, _7, _8 = (k * LANES for k in range(1, 9))
_9, _10, _11, _12, _13, _14, _15, _16 = (k * LANES for k in range(9, 17))
_17, _18, _19, _20, _21, _22, _23 = (k * LANES for k in range(17, 24))


@kernel
def offset(axes, row, G, item, off, b):
    """World vector off[b] (3 · LANES) from a link's origin to its body's: −R o."""
    for i in range(3):
        r = 3 * i * LANES
        for l in range(0, LANES, WIDTH):
            x, y, z = G[item, _9 + l], G[item, _10 + l], G[item, _11 + l]
            off[b, i * LANES + l] = -(
                axes[row, r + l] * x + axes[row, r + _1 + l] * y + axes[row, r + _2 + l] * z
            )


@kernel
def shifted(vectors, e, off, b, out):
    """Angular vector, and linear one at the body's origin: a + w × off."""
    for l in range(0, LANES, WIDTH):
        x, y, z = off[b, l], off[b, _1 + l], off[b, _2 + l]
        p, q, r = vectors[e, l], vectors[e, _1 + l], vectors[e, _2 + l]
        out[0, l] = p
        out[0, _1 + l] = q
        out[0, _2 + l] = r
        out[0, _3 + l] = vectors[e, _3 + l] + q * z - r * y
        out[0, _4 + l] = vectors[e, _4 + l] + r * x - p * z
        out[0, _5 + l] = vectors[e, _5 + l] + p * y - q * x


@kernel
def centred(twist, e, off, b, out):
    """Add ω × (ω × off) to the linear acceleration in out[0]."""
    for l in range(0, LANES, WIDTH):
        x, y, z = off[b, l], off[b, _1 + l], off[b, _2 + l]
        p, q, r = twist[e, l], twist[e, _1 + l], twist[e, _2 + l]
        along, square = p * x + q * y + r * z, p * p + q * q + r * r
        out[0, _3 + l] += p * along - square * x
        out[0, _4 + l] += q * along - square * y
        out[0, _5 + l] += r * along - square * z


@kernel
def body_state(axes, row, twist, e, motion, m, states, b):
    """State of a body in its own axes, from its link's twist and its acceleration motion[m]."""
    for l in range(0, LANES, WIDTH):
        r0, r1, r2 = axes[row, l], axes[row, _1 + l], axes[row, _2 + l]
        r3, r4, r5 = axes[row, _3 + l], axes[row, _4 + l], axes[row, _5 + l]
        r6, r7, r8 = axes[row, _6 + l], axes[row, _7 + l], axes[row, _8 + l]
        wx, wy, wz = twist[e, l], twist[e, _1 + l], twist[e, _2 + l]
        x, y, z = (
            r0 * wx + r3 * wy + r6 * wz,
            r1 * wx + r4 * wy + r7 * wz,
            r2 * wx + r5 * wy + r8 * wz,
        )
        wx, wy, wz = motion[m, l], motion[m, _1 + l], motion[m, _2 + l]
        ax, ay, az = (
            r0 * wx + r3 * wy + r6 * wz,
            r1 * wx + r4 * wy + r7 * wz,
            r2 * wx + r5 * wy + r8 * wz,
        )
        wx, wy, wz = motion[m, _3 + l], motion[m, _4 + l], motion[m, _5 + l]
        states[b, _3 + l] = ax
        states[b, _4 + l] = ay
        states[b, _5 + l] = az
        states[b, _6 + l] = r0 * wx + r3 * wy + r6 * wz
        states[b, _7 + l] = r1 * wx + r4 * wy + r7 * wz
        states[b, _8 + l] = r2 * wx + r5 * wy + r8 * wz
        xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
        states[b, _9 + l] = -yy - zz
        states[b, _10 + l] = xy - az
        states[b, _11 + l] = xz + ay
        states[b, _12 + l] = xy + az
        states[b, _13 + l] = -xx - zz
        states[b, _14 + l] = yz - ax
        states[b, _15 + l] = xz - ay
        states[b, _16 + l] = yz + ax
        states[b, _17 + l] = -xx - yy
        states[b, _18 + l] = xx - yy
        states[b, _19 + l] = zz - xx
        states[b, _20 + l] = yy - zz
        states[b, _21 + l] = xy
        states[b, _22 + l] = xz
        states[b, _23 + l] = yz


@kernel
def columns(axes, row, virtual, e, moved, off, states, b, W, v, at, line, step, spans):
    """Ten columns of body b for the virtual twists of its link, of every coordinate that moves it.

    virtual (coordinate · links + link, 6 · LANES); W[v]: numbers from `at` on, `line` to the
    next coordinate, `step` to the next column. spans (2 · coordinate, LANES): squares of the
    longest virtual speed and, behind it, spin. All coordinates of a body at once: what they
    share stays in registers.
    """
    links = len(virtual) // len(moved)
    for l in range(0, LANES, WIDTH):
        r0, r1, r2 = axes[row, l], axes[row, _1 + l], axes[row, _2 + l]
        r3, r4, r5 = axes[row, _3 + l], axes[row, _4 + l], axes[row, _5 + l]
        r6, r7, r8 = axes[row, _6 + l], axes[row, _7 + l], axes[row, _8 + l]
        ox, oy, oz = off[b, l], off[b, _1 + l], off[b, _2 + l]
        for k in range(len(moved)):
            if moved[k, e] == 0:
                continue
            t, to = k * links + e, at + k * line + l
            p, q, r = virtual[t, l], virtual[t, _1 + l], virtual[t, _2 + l]
            x = virtual[t, _3 + l] + q * oz - r * oy
            y = virtual[t, _4 + l] + r * ox - p * oz
            z = virtual[t, _5 + l] + p * oy - q * ox
            spans[2 * k, l] = larger(spans[2 * k, l], x * x + y * y + z * z)
            spans[2 * k + 1, l] = larger(spans[2 * k + 1, l], p * p + q * q + r * r)
            dx, dy, dz = (
                r0 * p + r3 * q + r6 * r,
                r1 * p + r4 * q + r7 * r,
                r2 * p + r5 * q + r8 * r,
            )
            vx, vy, vz = (
                r0 * x + r3 * y + r6 * z,
                r1 * x + r4 * y + r7 * z,
                r2 * x + r5 * y + r8 * z,
            )
            ax, ay, az = states[b, _6 + l], states[b, _7 + l], states[b, _8 + l]
            W[v, to] = vx * ax + vy * ay + vz * az
            W[v, to + step] = (
                states[b, _9 + l] * vx + states[b, _12 + l] * vy + states[b, _15 + l] * vz
            ) + (ay * dz - az * dy)
            W[v, to + 2 * step] = (
                states[b, _10 + l] * vx + states[b, _13 + l] * vy + states[b, _16 + l] * vz
            ) + (az * dx - ax * dz)
            W[v, to + 3 * step] = (
                states[b, _11 + l] * vx + states[b, _14 + l] * vy + states[b, _17 + l] * vz
            ) + (ax * dy - ay * dx)
            ax, ay, az = states[b, _3 + l], states[b, _4 + l], states[b, _5 + l]
            xy, xz, yz = states[b, _21 + l], states[b, _22 + l], states[b, _23 + l]
            W[v, to + 4 * step] = dx * ax + dy * xz - dz * xy
            W[v, to + 5 * step] = dx * (ay - xz) + dy * (ax + yz) + dz * states[b, _18 + l]
            W[v, to + 6 * step] = dx * (az + xy) + dy * states[b, _19 + l] + dz * (ax - yz)
            W[v, to + 7 * step] = dy * ay + dz * xy - dx * yz
            W[v, to + 8 * step] = dx * states[b, _20 + l] + dy * (az - xy) + dz * (ay + xz)
            W[v, to + 9 * step] = dz * az + dx * yz - dy * xz
