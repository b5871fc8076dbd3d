"""Newton's method for a path's fit to a target, within a trust region: each fit as if alone."""

import numpy as np

from basepar_core.compiled.curve_feet import between, nearest
from basepar_core.compiled.fit_equations import fit_equations
from basepar_core.compiled.simd import door, kernel, set_to

#: Steps end where the error's square would fall by no more than this share of it.
_SAME = 1e-15
#: The same where a step is not taken: next to a foot's jump there is no slope.
_JUMP = 1e-9
#: What rounding does to an error, as a share of it or of the target's size.
_NOISE = 1e-15
#: Steps to a trust region's multiplier, which need not be exact.
_MULTIPLIER = 4
#: Sweeps of rotations that make a matrix diagonal (each squares what is beside the diagonal), and
#: the squares there, as a share of all, that are rounding's.
_SWEEPS, _ROUNDING = 12, 1e-32
#: Least number that is not taken for zero.
_TINY = 1e-300
#: Angle, rad, below which a series replaces a quotient, as in `spatial.quaternion`.
_SMALL = 1e-4


@kernel
def _eigen(A, axes):
    """Make a symmetric matrix diagonal, its eigenvalues there, by Jacobi's rotations; `axes` has
    eigenvectors as columns."""
    n = len(A)
    axes[:] = 0.0
    for p in range(n):
        axes[p, p] = 1.0
    for _ in range(_SWEEPS):
        beside = whole = 0.0
        for p in range(n):
            whole += A[p, p] * A[p, p]
            for q in range(p):
                beside += A[p, q] * A[p, q]
        if beside <= _ROUNDING * whole:
            break
        for p in range(n):
            for q in range(p + 1, n):
                if A[p, q] == 0.0:
                    continue
                ratio = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                tangent = 1.0 / (abs(ratio) + np.hypot(ratio, 1.0))
                tangent = tangent if ratio >= 0.0 else -tangent
                cosine = 1.0 / np.sqrt(tangent * tangent + 1.0)
                sine = tangent * cosine
                for k in range(n):
                    here, there = A[k, p], A[k, q]
                    A[k, p], A[k, q] = cosine * here - sine * there, sine * here + cosine * there
                for k in range(n):
                    here, there = A[p, k], A[q, k]
                    A[p, k], A[q, k] = cosine * here - sine * there, sine * here + cosine * there
                    here, there = axes[k, p], axes[k, q]
                    axes[k, p] = cosine * here - sine * there
                    axes[k, q] = sine * here + cosine * there
                A[p, q] = A[q, p] = 0.0  # what rounding leaves of it


@kernel
def _within(H, g, reach, axes, along, step):
    """A step no longer than `reach`, and by how much ½ sᵀHs + gᵀs falls; H becomes diagonal.

    Downhill where that bends down, too; nowhere where it does not bend. The multiplier by Newton's
    method on the reciprocal length (Moré and Sorensen, SIAM J. Sci. Stat. Comput. 4, 1983).
    """
    n = len(g)
    _eigen(H, axes)
    least = 0.0
    for q in range(n):
        least = max(least, 1e-12 * abs(H[q, q]))
    least = max(least, _TINY)
    for q in range(n):
        along[q] = 0.0
        for p in range(n):
            along[q] += axes[p, q] * g[p] if abs(H[q, q]) > least else 0.0
    extra = square = 0.0
    for turn in range(_MULTIPLIER + 1):
        square = rate = 0.0
        for q in range(n):
            strength = max(abs(H[q, q]), least) + extra
            square += (along[q] / strength) ** 2
            rate += (along[q] / strength) ** 2 / strength
        square, rate = max(square, _TINY), max(rate, _TINY)
        beyond = np.sqrt(square) / reach - 1.0
        if not beyond > 0.0 or turn == _MULTIPLIER:
            break
        extra += beyond * square / rate
    cut, falls = min(1.0, reach / np.sqrt(square)), 0.0
    step[:] = 0.0
    for q in range(n):
        own = -cut * along[q] / (max(abs(H[q, q]), least) + extra)
        falls -= along[q] * own + H[q, q] * own * own / 2.0
        for p in range(n):
            step[p] += axes[p, q] * own
    return falls


@kernel
def _changed(step, spins, scaled, change):
    """A rotation, by its angle in the plane or its vector, times a change of size."""
    n = len(change)
    change[:] = 0.0
    for x in range(n):
        change[x, x] = 1.0
    if spins == 1:
        cosine, sine = np.cos(step[0]), np.sin(step[0])
        change[0, 0], change[0, 1], change[1, 0], change[1, 1] = cosine, -sine, sine, cosine
    if spins == 3:
        angle = np.sqrt(step[0] * step[0] + step[1] * step[1] + step[2] * step[2])
        share = 0.5 - angle * angle / 48.0 if angle < _SMALL else np.sin(angle / 2.0) / angle
        w, x, y, z = np.cos(angle / 2.0), share * step[0], share * step[1], share * step[2]
        change[0, 0], change[0, 1] = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z)
        change[0, 2], change[1, 0] = 2.0 * (x * z + w * y), 2.0 * (x * y + w * z)
        change[1, 1], change[1, 2] = 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)
        change[2, 0], change[2, 1] = 2.0 * (x * z - w * y), 2.0 * (y * z + w * x)
        change[2, 2] = 1.0 - 2.0 * (x * x + y * y)
    if scaled:  # where the error hardly bends a step knows no size
        size = np.exp(min(max(step[spins], -1.0), 1.0))
        for x in range(n):
            for y in range(n):
                change[x, y] *= size


@kernel
def _stepped(step, made, middle, change, turn, shift, turned, moved):
    """Turn and shift changed about the middle of the points, then shifted by the step's rest."""
    axes = len(moved)
    for x in range(axes):
        moved[x] = shift[x] + middle[x] + (step[made + x] if len(step) > made else 0.0)
        for y in range(axes):
            moved[x] -= change[x, y] * middle[y]
            turned[x, y] = 0.0
            for z in range(axes):
                turned[x, y] += change[x, z] * turn[z, y]


@kernel
def _met(track, closed, wanted, turn, shift, back, index, share, feet):
    """Feet (order, 1, point, axis) with a turn and a shift, and the error, m."""
    count, axes = wanted.shape
    square = 0.0
    for x in range(axes):
        for y in range(axes):
            square += turn[x, y] * turn[x, y] / axes
    square = max(square, _TINY)
    for k in range(count):
        for y in range(axes):
            total = 0.0
            for x in range(axes):
                total += (wanted[k, x] - shift[x]) * turn[x, y]
            back[0, k, y] = total / square
    nearest(track, back, closed, index, share)
    between(track, index, share, feet)
    total = 0.0
    for k in range(count):
        for x in range(axes):
            left = shift[x] - wanted[k, x]
            for y in range(axes):
                left += turn[x, y] * feet[0, 0, k, y]
            total += left * left
    return np.sqrt(total / count)


@door
def refine(track, closed, owner, wanted, freedoms, most, turn, shift, error):
    """Newton's steps from some turns and shifts, as long as they lead nearer.

    Turns and changes of size count by what they move at the target's `size`.

    Parameters
    ----------
    track, closed
        (variant, axis, sample), m, and (variant,) bool: as `nearest` takes them.
    owner
        (fit,) whose path is fitted.
    wanted
        (point, axis) target, m.
    freedoms
        `makers`, `seconds` and `freed` of `fit_equations`, for steps in m; how many of the makers
        are rotations; whether the last one changes the size; and the target's size, m.
    most
        Steps at most.
    turn, shift, error
        (fit, axis, axis), (fit, axis) m and (fit,) m; taken, and filled with the last ones.
    """
    count, axes = wanted.shape
    makers, seconds, freed, spins, scaled, size = freedoms
    made = len(makers)
    width = made + axes if freed else made
    last = track.shape[2] - 1
    index, share = np.empty((1, count), np.int64), np.empty((1, count))
    other, part = np.empty((1, count), np.int64), np.empty((1, count))
    feet, tried = np.empty((3, 1, count, axes)), np.empty((3, 1, count, axes))
    back, held = np.empty((1, count, axes)), np.zeros((1, count), np.bool_)
    middle, H, g = np.empty((1, axes)), np.empty((1, width, width)), np.empty((1, width))
    vectors, along, step = np.empty((width, width)), np.empty(width), np.empty(width)
    change, turned, moved = np.empty((axes, axes)), np.empty((axes, axes)), np.empty(axes)
    for v in range(len(owner)):
        own, ring = track[owner[v] : owner[v] + 1], closed[owner[v] : owner[v] + 1]
        before = _met(own, ring, wanted, turn[v], shift[v], back, index, share, feet)
        reach = size
        for _ in range(most):
            for k in range(count):
                at = index[0, k] + share[0, k]
                held[0, k] = not ring[0] and (at <= 0.0 or at >= last)
            begun = turn[v : v + 1], shift[v : v + 1]
            fit_equations(feet, held, *begun, wanted, makers, seconds, freed, middle, H, g)
            promised = 2.0 / count * _within(H[0], g[0], reach, vectors, along, step)
            length = 0.0
            for p in range(width):
                length += step[p] * step[p]
            length = np.sqrt(length)
            for p in range(made):
                along[p] = step[p] / size
            _changed(along, spins, scaled, change)
            _stepped(step, made, middle[0], change, turn[v], shift[v], turned, moved)
            after = _met(own, ring, wanted, turned, moved, back, other, part, tried)
            kept = (before * before - after * after) / max(promised, _TINY)
            if kept > 0.75:
                reach = max(reach, 2.0 * length)
            elif not kept > 0.25:
                reach = length / 4.0
            # Below its rounding the error does not tell, and the step is as good as its slopes.
            taken = after <= before + _NOISE * max(before, size)
            least = _SAME if taken else _JUMP
            goes_on = promised > least * before * before + (_NOISE * size) ** 2
            if taken:
                before = after
                set_to(turn[v].ravel(), turned.ravel())
                set_to(shift[v], moved)
                set_to(index[0], other[0])
                set_to(share[0], part[0])
                set_to(feet.ravel(), tried.ravel())
            if not goes_on:
                break
        error[v] = before
