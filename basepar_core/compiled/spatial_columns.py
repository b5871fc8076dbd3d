"""A spatial body's ten columns of W, in lanes: virtual work of its unit parameters.

The formulas of `regressor._spatial_columns`, with what does not depend on the coordinate taken
out: with B = [α]× + ω ωᵀ − ω², a point x of the body has acceleration a + B x.
"""

from basepar_core.compiled.simd import LANES, WIDTH, kernel, larger, spread, stream

from .error_scales import ALPHA, OMEGA, PULL

_1, _2, _3, _4, _5, _6, _7, _8 = (k * LANES for k in range(1, 9))
_9, _10, _11 = (k * LANES for k in range(9, 12))


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
def at_origin(twist, motion, e, off, b, out):
    """Acceleration out[b] at a body's origin: α, and a + α × off + ω × (ω × off)."""
    for l in range(0, LANES, WIDTH):
        x, y, z = off[b, l], off[b, _1 + l], off[b, _2 + l]
        p, q, r = motion[e, l], motion[e, _1 + l], motion[e, _2 + l]
        out[b, l] = p
        out[b, _1 + l] = q
        out[b, _2 + l] = r
        u, v, w = twist[e, l], twist[e, _1 + l], twist[e, _2 + l]
        # Not ω (ω · off) − ω² off: along the axis of a fast screw that is rounding of ω².
        i, j, k = v * z - w * y, w * x - u * z, u * y - v * x
        out[b, _3 + l] = motion[e, _3 + l] + (q * z - r * y) + (v * k - w * j)
        out[b, _4 + l] = motion[e, _4 + l] + (r * x - p * z) + (w * i - u * k)
        out[b, _5 + l] = motion[e, _5 + l] + (p * y - q * x) + (u * j - v * i)


@kernel
def columns(
    axes,
    row,
    twist,
    motion,
    m,
    sizes,
    virtual,
    e,
    moved,
    off,
    b,
    W,
    v,
    at,
    line,
    step,
    streamed,
    spans,
):
    """Ten columns of body b for the virtual twists of its link, of every coordinate that moves it.

    motion[m]: acceleration at the body's origin; sizes: kept the longest of all bodies' vectors.
    virtual (coordinate · links + link, 6 · LANES); W[v]: numbers from `at` on, `line` to the
    next coordinate, `step` to the next column, past the cache if streamed, zeros of coordinates
    that do not move the body too. spans (2 · coordinate, LANES): squares of the
    longest virtual speed and, behind it, spin. All coordinates of a body at once: what they
    share stays in registers, or near by.
    """
    links = len(virtual) // len(moved)
    for l in range(0, LANES, WIDTH):
        r0, r1, r2 = axes[row, l], axes[row, _1 + l], axes[row, _2 + l]
        r3, r4, r5 = axes[row, _3 + l], axes[row, _4 + l], axes[row, _5 + l]
        r6, r7, r8 = axes[row, _6 + l], axes[row, _7 + l], axes[row, _8 + l]
        ox, oy, oz = off[b, l], off[b, _1 + l], off[b, _2 + l]
        p, q, r = twist[e, l], twist[e, _1 + l], twist[e, _2 + l]
        wx, wy, wz = r0 * p + r3 * q + r6 * r, r1 * p + r4 * q + r7 * r, r2 * p + r5 * q + r8 * r
        sizes[OMEGA, l] = larger(sizes[OMEGA, l], p * p + q * q + r * r)
        p, q, r = motion[m, l], motion[m, _1 + l], motion[m, _2 + l]
        ax, ay, az = r0 * p + r3 * q + r6 * r, r1 * p + r4 * q + r7 * r, r2 * p + r5 * q + r8 * r
        sizes[ALPHA, l] = larger(sizes[ALPHA, l], p * p + q * q + r * r)
        p, q, r = motion[m, _3 + l], motion[m, _4 + l], motion[m, _5 + l]
        fx, fy, fz = r0 * p + r3 * q + r6 * r, r1 * p + r4 * q + r7 * r, r2 * p + r5 * q + r8 * r
        sizes[PULL, l] = larger(sizes[PULL, l], p * p + q * q + r * r)
        xx, yy, zz, xy, xz, yz = wx * wx, wy * wy, wz * wz, wx * wy, wx * wz, wy * wz
        b00, b11, b22 = -yy - zz, -xx - zz, -xx - yy
        b01, b02, b12 = xy - az, xz + ay, yz - ax
        b10, b20, b21 = xy + az, xz - ay, yz + ax
        for k in range(len(moved)):
            to = at + k * line + l
            if moved[k, e] == 0:
                if streamed:
                    for i in range(10):
                        stream(W, v, to + i * step, spread(0.0))
                continue
            t = k * links + e
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
            w0 = vx * fx + vy * fy + vz * fz
            w1 = (b00 * vx + b10 * vy + b20 * vz) + (fy * dz - fz * dy)
            w2 = (b01 * vx + b11 * vy + b21 * vz) + (fz * dx - fx * dz)
            w3 = (b02 * vx + b12 * vy + b22 * vz) + (fx * dy - fy * dx)
            # (b01, b10) = xy ∓ az, and alike: sums and differences of α and products of ω.
            w4 = dx * ax + dy * xz - dz * xy
            w5 = dx * -b20 + dy * b21 + dz * (xx - yy)
            w6 = dx * b10 + dy * (zz - xx) - dz * b12
            w7 = dy * ay + dz * xy - dx * yz
            w8 = dx * (yy - zz) - dy * b01 + dz * b02
            w9 = dz * az + dx * yz - dy * xz
            if streamed:
                stream(W, v, to, w0)
                stream(W, v, to + step, w1)
                stream(W, v, to + 2 * step, w2)
                stream(W, v, to + 3 * step, w3)
                stream(W, v, to + 4 * step, w4)
                stream(W, v, to + 5 * step, w5)
                stream(W, v, to + 6 * step, w6)
                stream(W, v, to + 7 * step, w7)
                stream(W, v, to + 8 * step, w8)
                stream(W, v, to + 9 * step, w9)
            else:
                W[v, to] = w0
                W[v, to + step] = w1
                W[v, to + 2 * step] = w2
                W[v, to + 3 * step] = w3
                W[v, to + 4 * step] = w4
                W[v, to + 5 * step] = w5
                W[v, to + 6 * step] = w6
                W[v, to + 7 * step] = w7
                W[v, to + 8 * step] = w8
                W[v, to + 9 * step] = w9
