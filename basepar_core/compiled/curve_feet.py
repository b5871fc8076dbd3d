"""Points of sampled curves: between samples, and nearest to given points.

Between two samples a curve is the cubic through these and their two neighbours, in the number of
the sample; its error is of fourth order in the step (3/128 h⁴ of the fourth derivative).
"""

import numpy as np

from basepar_core.compiled.simd import (
    LANES,
    WIDTH,
    door,
    greatest,
    inlined,
    kernel,
    lanes,
    larger,
    least,
    set_to,
    size_of,
    smaller,
    some,
    spread,
    where,
)

#: Newton's steps for a foot, which begins within half a step; it converges quadratically.
_STEPS = 16
#: The next step, as a share of an interval, that is left out: steps whose ratio squares go on so.
#: A distance errs by the square of its foot's error.
_ENOUGH = 1e-9
#: Rows of the lanes, a foot each: four samples by axis, then these.
_POINT, _SHARE, _LOW, _HIGH, _FOUND, _ROWS = 12, 15, 16, 17, 18, 19


@kernel
def _cubic(before, first, last, after):
    """Coefficients of the cubic through four samples, in the share of the way first to last."""
    return (
        first,
        last - before / 3.0 - first / 2.0 - after / 6.0,
        (before + last) / 2.0 - first,
        (after - before) / 6.0 + (first - last) / 2.0,
    )


@kernel
def _feet(w, count):
    """Where on cubics the points of so many lanes have their feet, and the distances² there.

    Samples become coefficients in their place.
    """
    for l in range(0, count, WIDTH):
        for x in range(3):
            a, b, c, d = _cubic(w[x, l], w[3 + x, l], w[6 + x, l], w[9 + x, l])
            w[x, l], w[3 + x, l], w[6 + x, l], w[9 + x, l] = a - w[_POINT + x, l], b, c, d
        u, low, high = w[_SHARE, l], w[_LOW, l], w[_HIGH, l]
        change, moving = spread(0.0), u == u  # no ratio of steps yet
        for _ in range(_STEPS):
            slope, speed, bend = spread(0.0), spread(0.0), spread(0.0)
            for x in range(3):
                linear, square, cube = w[3 + x, l], w[6 + x, l], w[9 + x, l]
                gap = w[x, l] + u * (linear + u * (square + u * cube))
                rate = linear + u * (2.0 * square + 3.0 * u * cube)
                slope += gap * rate
                speed += rate * rate
                bend += gap * (2.0 * square + 6.0 * u * cube)
            # Far from the foot the full second derivative may be negative.
            full = where(bend > -0.9 * speed, speed + bend, speed)
            moving = moving & (full > 0.0)
            moved = smaller(larger(u - slope / full, low), high)
            last, change = change, size_of(moved - u)
            u = where(moving, moved, u)
            moving = moving & (change * change * change >= _ENOUGH * last * last)
            if not some(moving):
                break
        found = spread(0.0)
        for x in range(3):
            gap = w[x, l] + u * (w[3 + x, l] + u * (w[6 + x, l] + u * w[9 + x, l]))
            found += gap * gap
        w[_SHARE, l], w[_FOUND, l] = u, found


@kernel
def _settled(lane, owner, count, best, index, share):
    """Keep the feet of so many lanes where they are nearer than those before them."""
    _feet(lanes(lane), count)
    for n in range(count):
        v, k, i = owner[n, 0], owner[n, 1], owner[n, 2]
        if lane[_FOUND, n] < best[v, k]:
            best[v, k], index[v, k], share[v, k] = lane[_FOUND, n], i, lane[_SHARE, n]


@inlined
def _laid(track, v, ring, c):
    """A curve's samples (3, lanes), held or begun anew beyond the last; the longest step²."""
    samples, curve, longest = track.shape[2], lanes(c), spread(0.0)
    for x in range(track.shape[1]):
        set_to(c[x, :samples], track[v, x])
        for s in range(samples, c.shape[1]):
            c[x, s] = track[v, x, 0] if ring else track[v, x, samples - 1]
    for s in range(0, samples, WIDTH):
        x = curve[0, s + 1] - curve[0, s]
        y = curve[1, s + 1] - curve[1, s]
        z = curve[2, s + 1] - curve[2, s]
        longest = larger(x * x + y * y + z * z, longest)
    return greatest(longest)


@inlined
def _distances(curve, p, samples, square):
    """Distance² of every sample s from a point, at place 1 + s; the least."""
    found = spread(np.inf)
    for s in range(0, samples, WIDTH):
        x, y, z = curve[0, s] - p[0], curve[1, s] - p[1], curve[2, s] - p[2]
        here = x * x + y * y + z * z
        square[0, 1 + s] = here
        found = smaller(here, found)
    return least(found)


@inlined
def _begun(c, samples, s, ring, square, p, lane, n):
    """The interval of the foot near a sample that no neighbour is nearer than; fills a lane.

    It begins at the least of the parabola through the three distances², `square`.
    """
    left, here, right = square
    bend = left - 2 * here + right
    ahead = (left - right) / (2 * bend) if 0.0 < bend < np.inf else 0.0
    i = s if ahead >= 0 else s - 1
    low, high = -0.5, 1.5
    if not ring:
        i = min(max(i, 1), samples - 3)
        low = -1.0 if i == 1 else low
        high = 2.0 if i == samples - 3 else high
    lane[_SHARE, n], lane[_LOW, n], lane[_HIGH, n] = s - i + ahead, low, high
    for k in range(4):
        at = i - 1 + k
        at = at + samples if at < 0 else at - samples if at >= samples else at
        for x in range(3):
            lane[3 * k + x, n] = c[x, at]
    for x in range(3):
        lane[_POINT + x, n] = p[x]
    return i if i >= 0 else samples - 1


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
    # Whole vectors are read, beyond the last sample too.
    c, square = np.zeros((3, samples + 2 * WIDTH)), np.full((1, samples + 2 * WIDTH), np.inf)
    curve, around, p = lanes(c), lanes(square), np.zeros(3)
    lane, owner, count = np.zeros((_ROWS, LANES)), np.empty((LANES, 3), np.int64), 0
    best = np.full(index.shape, np.inf)
    for v in range(variants):
        reach = np.sqrt(_laid(track, v, closed[v], c))
        for k in range(targets.shape[1]):
            set_to(p[:axes], targets[min(v, len(targets) - 1), k])
            index[v, k], share[v, k] = 1, 0.0
            # The foot may lie between samples that are not the nearest ones.
            bound = (np.sqrt(_distances(curve, p, samples, around)) + reach) ** 2
            # Of an open curve's ends nothing is nearer beyond.
            square[0, 0] = square[0, samples] if closed[v] else np.inf
            square[0, samples + 1] = square[0, 1] if closed[v] else np.inf
            for first in range(0, samples, WIDTH):
                here = around[0, 1 + first]
                low = (here <= around[0, first]) & (here <= around[0, 2 + first])
                if not some(low & (here <= bound)):
                    continue
                for s in range(first, min(first + WIDTH, samples)):
                    left, middle, right = square[0, s], square[0, s + 1], square[0, s + 2]
                    if not (middle <= bound and middle <= left and middle <= right):
                        continue
                    three = (left, middle, right)
                    i = _begun(c, samples, s, closed[v], three, p, lane, count)
                    owner[count, 0], owner[count, 1], owner[count, 2] = v, k, i
                    count += 1
                    if count == LANES:
                        _settled(lane, owner, count, best, index, share)
                        count = 0
    _settled(lane, owner, count, best, index, share)


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
    orders, samples = len(found), track.shape[2]
    for v in range(len(track)):
        for k in range(index.shape[1]):
            i, u = index[v, k], share[v, k]
            left = i - 1 if i > 0 else samples - 1
            right = i + 1 if i + 1 < samples else 0
            far = right + 1 if right + 1 < samples else 0
            for x in range(track.shape[1]):
                curve = track[v, x]
                a, b, c, d = _cubic(curve[left], curve[i], curve[right], curve[far])
                found[0, v, k, x] = a + u * (b + u * (c + u * d))
                if orders > 1:
                    found[1, v, k, x] = b + u * (2 * c + 3 * u * d)
                if orders > 2:
                    found[2, v, k, x] = 2 * c + 6 * u * d
