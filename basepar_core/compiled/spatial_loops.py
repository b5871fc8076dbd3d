"""Cut joints of spatial loops, in lanes: gaps, their Jacobian, their accelerations.

Arrays: cut (cut, 24 · LANES) holds the frames X1, X2 (9 each), the offset of the points (3) and
the second point (3), world; normal (row, 3 · LANES) the direction each row locks; gap (row,
LANES); J (row · speeds + speed, LANES), zero where a speed does not occur. As `joints.gaps` and
`constraint_rows.loop_jacobian` have them.
"""

from basepar_core.compiled.simd import LANES, WIDTH, inlined, kernel

from .mechanism_tables import (
    ABOUT_WHOLE,
    ALONG,
    BALL,
    FIRST,
    FIXED,
    KIND,
    NORMAL,
    PATH,
    PATH_END,
    ROW,
    ROW_END,
    SECOND,
    SIGN,
    SLIDE,
    SPEED,
    SPOT,
    WORLD,
)

X1, X2, OFF, PT, CUT = 0, 9, 18, 21, 24
_P0, _P1, _P2 = 9 * LANES, 10 * LANES, 11 * LANES
_1, _2, _3, _4, _5, _6, _7, _8 = (k * LANES for k in range(1, 9))
_O0, _O1, _O2 = OFF * LANES, (OFF + 1) * LANES, (OFF + 2) * LANES
_T0, _T1, _T2 = PT * LANES, (PT + 1) * LANES, (PT + 2) * LANES
_X2 = X2 * LANES


@kernel
def _axes(G, item, pose, e, cut, c, first):
    """A cut joint's frame in the world, to the nine numbers from `first` on."""
    for i in range(3):
        row, to = 3 * i * LANES, (first + 3 * i) * LANES
        for l in range(0, LANES, WIDTH):
            x, y, z = pose[e, row + l], pose[e, row + _1 + l], pose[e, row + _2 + l]
            cut[c, to + l] = x * G[item, l] + y * G[item, _3 + l] + z * G[item, _6 + l]
            cut[c, to + _1 + l] = x * G[item, _1 + l] + y * G[item, _4 + l] + z * G[item, _7 + l]
            cut[c, to + _2 + l] = x * G[item, _2 + l] + y * G[item, _5 + l] + z * G[item, _8 + l]


@inlined
def _points(G, item, pose, first, second, cut, c):
    """The cut's second point, and its offset from the first."""
    for i in range(3):
        row, p = 3 * i * LANES, _P0 + i * LANES
        o, t = _O0 + i * LANES, _T0 + i * LANES
        for l in range(0, LANES, WIDTH):
            x = pose[second, p + l] + (
                pose[second, row + l] * G[item + 1, _P0 + l]
                + pose[second, row + _1 + l] * G[item + 1, _P1 + l]
                + pose[second, row + _2 + l] * G[item + 1, _P2 + l]
            )
            y = pose[first, p + l] + (
                pose[first, row + l] * G[item, _P0 + l]
                + pose[first, row + _1 + l] * G[item, _P1 + l]
                + pose[first, row + _2 + l] * G[item, _P2 + l]
            )
            cut[c, t + l] = x
            cut[c, o + l] = x - y


@inlined
def _locked(cut, c, how, axis, normal, row, gap):
    """One row that is not of the world's axes: what it locks, and its gap."""
    a = axis * LANES
    for l in range(0, LANES, WIDTH):
        zx, zy, zz = cut[c, _2 + l], cut[c, _5 + l], cut[c, _8 + l]
        wx, wy, wz = cut[c, _X2 + _2 + l], cut[c, _X2 + _5 + l], cut[c, _X2 + _8 + l]
        tx, ty, tz = zy * wz - zz * wy, zz * wx - zx * wz, zx * wy - zy * wx
        if how == NORMAL:
            normal[row, l] = tx
            normal[row, _1 + l] = ty
            normal[row, _2 + l] = tz
            gap[row, l] = -(zx * wx + zy * wy + zz * wz)
        else:
            nx, ny, nz = cut[c, a + l], cut[c, a + _3 + l], cut[c, a + _6 + l]
            if how == ALONG:
                tx, ty, tz = cut[c, _O0 + l], cut[c, _O1 + l], cut[c, _O2 + l]
            normal[row, l] = nx
            normal[row, _1 + l] = ny
            normal[row, _2 + l] = nz
            gap[row, l] = nx * tx + ny * ty + nz * tz


@inlined
def _whole_turn(cut, c, normal, row, gap):
    """Complete an ABOUT row to half of the cross products of all three axes."""
    for l in range(0, LANES, WIDTH):
        total = gap[row, l]
        for k in range(2):
            f, s = k * LANES, _X2 + k * LANES
            ax, ay, az = cut[c, f + l], cut[c, f + _3 + l], cut[c, f + _6 + l]
            bx, by, bz = cut[c, s + l], cut[c, s + _3 + l], cut[c, s + _6 + l]
            total += (
                normal[row, l] * (ay * bz - az * by)
                + normal[row, _1 + l] * (az * bx - ax * bz)
                + normal[row, _2 + l] * (ax * by - ay * bx)
            )
        gap[row, l] = 0.5 * total


@kernel
def gaps(cuts, rows, G, item, pose, cut, normal, gap):
    """Frames, normals and gaps of all cuts; their constants stand in G from `item` on."""
    for c in range(len(cuts)):
        first, second = cuts[c, FIRST], cuts[c, SECOND]
        _points(G, item + 2 * c, pose, first, second, cut, c)
        if cuts[c, SPOT] == 0:
            _axes(G, item + 2 * c, pose, first, cut, c, X1)
            _axes(G, item + 2 * c + 1, pose, second, cut, c, X2)
        for row in range(cuts[c, ROW], cuts[c, ROW_END]):
            how, axis = rows[row, 0], rows[row, 1]
            if how == WORLD:
                for l in range(0, LANES, WIDTH):
                    gap[row, l] = cut[c, _O0 + axis * LANES + l]
                    normal[row, l] = 1.0 if axis == 0 else 0.0
                    normal[row, _1 + l] = 1.0 if axis == 1 else 0.0
                    normal[row, _2 + l] = 1.0 if axis == 2 else 0.0
            else:
                _locked(cut, c, how, axis, normal, row, gap)
                if how == ABOUT_WHOLE:
                    _whole_turn(cut, c, normal, row, gap)


@inlined
def _point_velocity(pose, e, column, cut, c, sign, out):
    """Velocity of the cut's point when the link turns at unit rate about its column's axis."""
    r = column * LANES
    for l in range(0, LANES, WIDTH):
        a, b, d = sign * pose[e, r + l], sign * pose[e, r + _3 + l], sign * pose[e, r + _6 + l]
        x = cut[c, _T0 + l] - pose[e, _P0 + l]
        y = cut[c, _T1 + l] - pose[e, _P1 + l]
        z = cut[c, _T2 + l] - pose[e, _P2 + l]
        out[0, l] = b * z - d * y
        out[0, _1 + l] = d * x - a * z
        out[0, _2 + l] = a * y - b * x


@kernel
def _axis(pose, e, column, sign, out, to):
    r, t = column * LANES, to * LANES
    for l in range(0, LANES, WIDTH):
        out[0, t + l] = sign * pose[e, r + l]
        out[0, t + _1 + l] = sign * pose[e, r + _3 + l]
        out[0, t + _2 + l] = sign * pose[e, r + _6 + l]


@kernel
def _entry(normal, row, out, first, J, entry):
    f = first * LANES
    for l in range(0, LANES, WIDTH):
        J[entry, l] = (
            normal[row, l] * out[0, f + l]
            + normal[row, _1 + l] * out[0, f + _1 + l]
            + normal[row, _2 + l] * out[0, f + _2 + l]
        )


@kernel
def jacobian(elements, cuts, rows, paths, pose, cut, normal, J, speeds, out):
    """Entries of the solved rows; out (1, 6 · LANES) is scratch."""
    for c in range(len(cuts)):
        for i in range(cuts[c, PATH], cuts[c, PATH_END]):
            e = paths[i, 0]
            kind = elements[e, KIND]
            sign = float(paths[i, 1] * elements[e, SIGN])
            count = 3 if kind == BALL else 0 if kind == FIXED else 1
            for k in range(count):
                # A ball's axes stand in N, number 12 on; other joints have their link's z.
                column = 12 + k if kind == BALL else 2
                if kind == SLIDE:
                    _axis(pose, e, column, sign, out, 0)
                else:
                    _point_velocity(pose, e, column, cut, c, sign, out)
                    _axis(pose, e, column, sign, out, 3)
                for row in range(cuts[c, ROW], cuts[c, ROW_END]):
                    if rows[row, 2] == 0:
                        continue
                    how, entry = rows[row, 0], row * speeds + elements[e, SPEED] + k
                    if how == WORLD:
                        a = rows[row, 1] * LANES
                        for l in range(0, LANES, WIDTH):
                            J[entry, l] = out[0, a + l]
                    elif how == ALONG:
                        _entry(normal, row, out, 0, J, entry)
                    elif kind == SLIDE:
                        for l in range(0, LANES, WIDTH):
                            J[entry, l] = 0.0
                    else:
                        _entry(normal, row, out, 3, J, entry)


@inlined
def _relative_motion(pose, twist, motion, first, second, cut, c, out):
    """Relative accelerations over the cut, seen from its first body, and the relative spin.

    out (1, 9 · LANES): of the point, angular, spin (`kinematics._cut_acceleration`).
    """
    for l in range(0, LANES, WIDTH):
        x = cut[c, _T0 + l] - pose[second, _P0 + l]
        y = cut[c, _T1 + l] - pose[second, _P1 + l]
        z = cut[c, _T2 + l] - pose[second, _P2 + l]
        a, b, d = twist[second, l], twist[second, _1 + l], twist[second, _2 + l]
        p, q, r = motion[second, l], motion[second, _1 + l], motion[second, _2 + l]
        i, j, k = b * z - d * y, d * x - a * z, a * y - b * x
        vx = twist[second, _3 + l] + i
        vy = twist[second, _4 + l] + j
        vz = twist[second, _5 + l] + k
        sx = motion[second, _3 + l] + q * z - r * y + b * k - d * j
        sy = motion[second, _4 + l] + r * x - p * z + d * i - a * k
        sz = motion[second, _5 + l] + p * y - q * x + a * j - b * i
        x = cut[c, _T0 + l] - pose[first, _P0 + l]
        y = cut[c, _T1 + l] - pose[first, _P1 + l]
        z = cut[c, _T2 + l] - pose[first, _P2 + l]
        e, f, g = twist[first, l], twist[first, _1 + l], twist[first, _2 + l]
        u, v, w = motion[first, l], motion[first, _1 + l], motion[first, _2 + l]
        i, j, k = f * z - g * y, g * x - e * z, e * y - f * x
        vx -= twist[first, _3 + l] + i
        vy -= twist[first, _4 + l] + j
        vz -= twist[first, _5 + l] + k
        sx -= motion[first, _3 + l] + v * z - w * y + f * k - g * j
        sy -= motion[first, _4 + l] + w * x - u * z + g * i - e * k
        sz -= motion[first, _5 + l] + u * y - v * x + e * j - f * i
        a, b, d = a - e, b - f, d - g
        out[0, l] = sx - 2 * (f * vz - g * vy)
        out[0, _1 + l] = sy - 2 * (g * vx - e * vz)
        out[0, _2 + l] = sz - 2 * (e * vy - f * vx)
        out[0, _3 + l] = p - u - (f * d - g * b)
        out[0, _4 + l] = q - v - (g * a - e * d)
        out[0, _5 + l] = r - w - (e * b - f * a)
        out[0, _6 + l] = a
        out[0, _7 + l] = b
        out[0, _8 + l] = d


@inlined
def _normal_turns(cut, c, out, right, row):
    """What a universal joint's moving normal adds: (z1 × (spin × z2)) · spin."""
    for l in range(0, LANES, WIDTH):
        a, b, d = out[0, _6 + l], out[0, _7 + l], out[0, _8 + l]
        zx, zy, zz = cut[c, _2 + l], cut[c, _5 + l], cut[c, _8 + l]
        wx, wy, wz = cut[c, _X2 + _2 + l], cut[c, _X2 + _5 + l], cut[c, _X2 + _8 + l]
        x, y, z = b * wz - d * wy, d * wx - a * wz, a * wy - b * wx
        right[row, l] += a * (zy * z - zz * y) + b * (zz * x - zx * z) + d * (zx * y - zy * x)


@kernel
def mismatch(cuts, rows, pose, twist, motion, cut, normal, right, out):
    """Second derivatives (row, LANES) of the solved gaps; out (1, 9 · LANES) is scratch."""
    for c in range(len(cuts)):
        _relative_motion(pose, twist, motion, cuts[c, FIRST], cuts[c, SECOND], cut, c, out)
        for row in range(cuts[c, ROW], cuts[c, ROW_END]):
            if rows[row, 2] == 0:
                continue
            how = rows[row, 0]
            _entry(normal, row, out, 0 if how in (ALONG, WORLD) else 3, right, row)
            if how == NORMAL:
                _normal_turns(cut, c, out, right, row)
