"""Points of sampled curves: between samples, and nearest to given points.

Between two samples a curve is the cubic through these and their two neighbours, in the number of
the sample; its error is of fourth order in the step (3/128 h⁴ of the fourth derivative).
"""

import numpy as np

from basepar_core.compiled.simd import door, inlined, kernel, set_to

#: Newton's steps for a foot, which begins within half a step; it converges quadratically.
_STEPS = 16
#: The next step, as a share of an interval, that is left out: steps whose ratio squares go on so.
#: A distance errs by the square of its foot's error.
_ENOUGH = 1e-9
#: Samples that are passed over together where they are too far away.
_BLOCK = 8


@kernel
def _square(c, s, p):
    """Distance² of a sample of a curve (3, sample) from a point (3,)."""
    x, y, z = c[0, s] - p[0], c[1, s] - p[1], c[2, s] - p[2]
    return x * x + y * y + z * z


@kernel
def _cubic(track, v, i, a):
    """Coefficients (4, axis) of the cubic on interval i of variant v; the curve is a ring."""
    samples = track.shape[2]
    left = i - 1 if i > 0 else samples - 1
    right = i + 1 if i + 1 < samples else 0
    far = right + 1 if right + 1 < samples else 0
    for x in range(track.shape[1]):
        before, first = track[v, x, left], track[v, x, i]
        last, after = track[v, x, right], track[v, x, far]
        a[0, x] = first
        a[1, x] = last - before / 3 - first / 2 - after / 6
        a[2, x] = (before + last) / 2 - first
        a[3, x] = (after - before) / 6 + (first - last) / 2


@inlined
def _foot(a, p, u, low, high):
    """The share of the interval at which the cubic is nearest to a point, and its distance²."""
    change = 0.0  # no ratio of steps yet
    for _ in range(_STEPS):
        slope = speed = bend = 0.0
        for x in range(3):
            gap = a[0, x] + u * (a[1, x] + u * (a[2, x] + u * a[3, x])) - p[x]
            rate = a[1, x] + u * (2 * a[2, x] + 3 * u * a[3, x])
            slope += gap * rate
            speed += rate * rate
            bend += gap * (2 * a[2, x] + 6 * u * a[3, x])
        # Far from the foot the full second derivative may be negative.
        full = speed + bend if speed + bend > 0.1 * speed else speed
        if full <= 0.0:
            break
        moved = min(max(u - slope / full, low), high)
        last, change, u = change, abs(moved - u), moved
        if change * change * change < _ENOUGH * last * last:
            break
    found = 0.0
    for x in range(3):
        gap = a[0, x] + u * (a[1, x] + u * (a[2, x] + u * a[3, x])) - p[x]
        found += gap * gap
    return u, found


@inlined
def _discs(c, ring, radii):
    """Radii about every block's middle sample that hold its samples; the longest step."""
    samples, here, longest = c.shape[1], np.empty(3), 0.0
    for b in range(len(radii)):
        first, last = b * _BLOCK, min(b * _BLOCK + _BLOCK, samples)
        set_to(here, c[:, min(first + _BLOCK // 2, samples - 1)])
        widest = 0.0
        for s in range(first, last):
            widest = max(widest, _square(c, s, here))
        radii[b] = np.sqrt(widest)
    for s in range(0 if ring else 1, samples):
        set_to(here, c[:, s - 1 if s > 0 else samples - 1])
        longest = max(longest, _square(c, s, here))
    return np.sqrt(longest)


@inlined
def _from_sample(track, v, s, ring, square, p, a):
    """The foot near a sample that no neighbour is nearer than: interval, share and distance².

    It begins at the least of the parabola through the three distances², `square`.
    """
    samples = track.shape[2]
    left, here, right = square
    bend = left - 2 * here + right
    ahead = (left - right) / (2 * bend) if 0.0 < bend < np.inf else 0.0
    i = s if ahead >= 0 else s - 1
    low, high = -0.5, 1.5
    if not ring:
        i = min(max(i, 1), samples - 3)
        low = -1.0 if i == 1 else low
        high = 2.0 if i == samples - 3 else high
    u, i = s - i + ahead, i if i >= 0 else samples - 1
    _cubic(track, v, i, a)
    u, found = _foot(a, p, u, low, high)
    return i, u, found


@door
def nearest(track, targets, closed, index, share):
    """Feet of points on curves.

    Parameters
    ----------
    track
        (variant, axis, sample) curves.
    targets
        (variant or 1, point, axis).
    closed
        (variant,) bool: whether the last sample is followed by the first.
    index, share
        (variant, point), filled: the interval's first sample, and how far into it the foot is.
    """
    variants, axes, samples = track.shape
    blocks = (samples + _BLOCK - 1) // _BLOCK
    radii, away, a = np.empty(blocks), np.empty(blocks), np.zeros((4, 3))
    square = np.empty(_BLOCK + 2)
    c, middles, p = np.zeros((3, samples)), np.zeros((3, blocks)), np.zeros(3)
    for v in range(variants):
        for axis in range(axes):
            set_to(c[axis], track[v, axis])
        reach = _discs(c, closed[v], radii)
        for b in range(blocks):
            set_to(middles[:, b], c[:, min(b * _BLOCK + _BLOCK // 2, samples - 1)])
        for k in range(targets.shape[1]):
            set_to(p[:axes], targets[min(v, len(targets) - 1), k])
            least, best = np.inf, np.inf
            for b in range(blocks):
                away[b] = _square(middles, b, p)
                least = min(least, away[b])
            least = np.sqrt(least)
            index[v, k], share[v, k] = 1, 0.0
            for b in range(blocks):
                # The foot may lie between samples that are not the nearest ones.
                if not away[b] <= (least + reach + radii[b]) ** 2:
                    continue
                first, stop = b * _BLOCK, min(b * _BLOCK + _BLOCK, samples)
                # One sample more at both ends; of an open curve's ends nothing is nearer there.
                square[0] = square[stop - first + 1] = np.inf
                if first > 0 or closed[v]:
                    square[0] = _square(c, first - 1, p)
                if stop < samples or closed[v]:
                    square[stop - first + 1] = _square(c, stop if stop < samples else 0, p)
                x, y, z = c[0, first:stop], c[1, first:stop], c[2, first:stop]
                for s in range(len(x)):
                    square[s + 1] = (x[s] - p[0]) ** 2 + (y[s] - p[1]) ** 2 + (z[s] - p[2]) ** 2
                bound = (least + reach) ** 2
                for s in range(1, stop - first + 1):
                    here = square[s]
                    if here > bound or here > square[s - 1] or here > square[s + 1]:
                        continue
                    three = (square[s - 1], here, square[s + 1])
                    i, u, found = _from_sample(track, v, first + s - 1, closed[v], three, p, a)
                    if found < best:
                        best = found
                        least = min(least, np.sqrt(found))
                        index[v, k], share[v, k] = i, u


@door
def between(track, index, share, found):
    """Points of curves between their samples, and derivatives by the sample's number.

    Parameters
    ----------
    track
        (variant, axis, sample) curves.
    index, share
        (variant, point), as `nearest` finds them.
    found
        (order, variant, point, axis), filled: value, first and second derivative, or less.
    """
    orders, a = len(found), np.empty((4, track.shape[1]))
    for v in range(len(track)):
        for k in range(index.shape[1]):
            u = share[v, k]
            _cubic(track, v, index[v, k], a)
            for x in range(track.shape[1]):
                found[0, v, k, x] = a[0, x] + u * (a[1, x] + u * (a[2, x] + u * a[3, x]))
                if orders > 1:
                    found[1, v, k, x] = a[1, x] + u * (2 * a[2, x] + 3 * u * a[3, x])
                if orders > 2:
                    found[2, v, k, x] = 2 * a[2, x] + 6 * u * a[3, x]
