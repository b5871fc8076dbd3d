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

#: Newton's steps for a foot, within an interval; it converges quadratically.
_STEPS = 16
#: The next step, as a share of an interval, that is left out: steps whose ratio squares go on so.
#: A distance errs by the square of its foot's error.
_ENOUGH = 1e-9
#: Rows of the lanes, a foot each: four samples by axis, then these.
_POINT, _SHARE, _LOW, _HIGH, _FOUND, _ROWS = 12, 15, 16, 17, 18, 19
#: cos² of 30°; where a curve turns by more on an interval, so many parts of that are searched for
#: a foot each, from either end.
_TURNED, _PARTS = 0.75, 4
#: A curve rests where a step² is no more than this share of its longest.
_RESTS = 1e-16


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
def _laid(track, v, ring, c, rates, tight):
    """Samples (axis, 2 + sample), two more at either end; the longest step².

    A closed curve begins anew there, an open one goes on along its first and last cubics. Rates
    (2, axis, sample) are those of the cubic that ends at a sample, and of the one that begins.
    `tight` (1, sample) is negative where on the interval that begins there the curve turns by more
    than 30°, and positive where it rests: rates are rounding there, and have no direction.
    """
    samples = track.shape[2]
    for x in range(track.shape[1]):
        own, row = track[v, x], c[x]
        set_to(row[2 : 2 + samples], own)
        if ring:
            row[0], row[1] = own[samples - 2], own[samples - 1]
            for k in range(samples + 2, row.size):
                row[k] = row[k - samples]
        else:
            row[1] = 4.0 * (row[2] + row[4]) - 6.0 * row[3] - row[5]
            for n in (samples + 2, samples + 3):
                row[n] = 4.0 * (row[n - 1] + row[n - 3]) - 6.0 * row[n - 2] - row[n - 4]
            for k in range(samples + 4, row.size):
                row[k] = row[k - 1]
    curve, into, away, longest = lanes(c), lanes(rates[0]), lanes(rates[1]), spread(0.0)
    for s in range(0, samples + 1, WIDTH):
        step = spread(0.0)
        for x in range(3):
            far, before, here = curve[x, s], curve[x, s + 1], curve[x, s + 2]
            after, last = curve[x, s + 3], curve[x, s + 4]
            into[x, s] = after / 3.0 + here / 2.0 - before + far / 6.0
            away[x, s] = after - before / 3.0 - here / 2.0 - last / 6.0
            step += (after - here) * (after - here)
        longest = larger(step, longest)
    if not ring:  # nothing comes before the first, or behind the last
        for x in range(3):
            rates[0, x, 0] = rates[1, x, samples - 1] = 0.0
    step = greatest(longest)
    turned = lanes(tight)
    for s in range(0, samples, WIDTH):
        along, one, other = spread(0.0), spread(0.0), spread(0.0)
        for x in range(3):
            begin, end = away[x, s], into[x, s + 1]
            along, one, other = along + begin * end, one + begin * begin, other + end * end
        turned[0, s] = along * size_of(along) - _TURNED * one * other + (_RESTS * step) ** 2
    return step


@inlined
def _distances(curve, beyond, p, samples, square):
    """Distance² of every sample from a point, ∞ beyond the last one; the least."""
    found = spread(np.inf)
    for s in range(0, samples, WIDTH):
        x, y, z = curve[0, s + 2] - p[0], curve[1, s + 2] - p[1], curve[2, s + 2] - p[2]
        here = x * x + y * y + z * z + beyond[0, s]
        square[0, s] = here
        found = smaller(here, found)
    return least(found)


@inlined
def _slopes(curve, into, away, p, s, slopes):
    """Of half the distance² at samples, along the curve: to them, from them, to the next ones."""
    before, here, ahead = spread(0.0), spread(0.0), spread(0.0)
    for x in range(3):
        gap = curve[x, s + 2] - p[x]
        before, here = before + gap * into[x, s], here + gap * away[x, s]
        ahead += (curve[x, s + 3] - p[x]) * into[x, s + 1]
    slopes[0, 0], slopes[1, 0], slopes[2, 0] = before, here, ahead


@kernel
def _begun(c, i, u, low, high, p, lane, owner, n):
    """A foot is looked for from a share of an interval, between two, in lane n; the next lane."""
    lane[_SHARE, n], lane[_LOW, n], lane[_HIGH, n] = u, low, high
    for x in range(3):
        for k in range(4):
            lane[3 * k + x, n] = c[x, i + 1 + k]
        lane[_POINT + x, n] = p[x]
    owner[n, 2] = i
    return n + 1


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
        (variant, point), filled: the interval's first sample, and how far into it the foot is; of
        an open curve the first and the last interval have the cubics next to them, so that shares
        there are -1 to 0, and 1 to 2.
    """
    variants, axes, samples = track.shape
    # Whole vectors are read, beyond the last sample too.
    room = samples + 3 * WIDTH
    c, rates, tight = np.zeros((3, room)), np.zeros((2, 3, room)), np.zeros((1, room))
    square, slopes = np.full((1, room), np.inf), np.zeros((3, WIDTH))
    curve, around, p = lanes(c), lanes(square), np.zeros(3)
    beyond = np.zeros((1, room))
    beyond[0, samples:] = np.inf
    into, away, turned, tried = lanes(rates[0]), lanes(rates[1]), lanes(tight), lanes(slopes)
    # Fewer than LANES wait, and a sample adds 1 + 2 · _PARTS.
    lane, owner, count = np.zeros((_ROWS, 2 * LANES)), np.empty((2 * LANES, 3), np.int64), 0
    best = np.full(index.shape, np.inf)
    for v in range(variants):
        reach = np.sqrt(_laid(track, v, closed[v], c, rates, tight))
        for k in range(targets.shape[1]):
            set_to(p[:axes], targets[min(v, len(targets) - 1), k])
            index[v, k], share[v, k] = 1, 0.0
            # The foot may lie between samples that are not the nearest ones.
            bound = (np.sqrt(_distances(curve, lanes(beyond), p, samples, around)) + reach) ** 2
            square[0, samples] = square[0, 0] if closed[v] else np.inf
            for first in range(0, samples, WIDTH):
                near = (around[0, first] <= bound) | (around[0, first + 1] <= bound)
                if not some(near):
                    continue
                _slopes(curve, into, away, p, first, tried)
                found = (tried[0, 0] <= 0.0) & (tried[1, 0] >= 0.0)
                found = found | ((tried[1, 0] < 0.0) & (tried[2, 0] > 0.0))
                if not some(near & (found | (turned[0, first] < 0.0))):
                    continue
                for l in range(min(WIDTH, samples - first)):
                    s, before = first + l, count
                    if square[0, s] > bound and square[0, s + 1] > bound:
                        continue
                    to, on = slopes[0, l], slopes[1, l]
                    if to <= 0.0 <= on:  # it is the foot: a corner of two cubics, or an end
                        count = _begun(c, s, 0.0, 0.0, 0.0, p, lane, owner, count)
                    if tight[0, s] < 0.0:  # as next to a cusp: there may be several
                        for part in range(2 * _PARTS):
                            low, high = part // 2 / _PARTS, (part // 2 + 1) / _PARTS
                            u = high if part % 2 else low
                            count = _begun(c, s, u, low, high, p, lane, owner, count)
                    elif on < 0.0 < slopes[2, l]:
                        u = on / (on - slopes[2, l])
                        count = _begun(c, s, u, 0.0, 1.0, p, lane, owner, count)
                    for n in range(before, count):
                        owner[n, 0], owner[n, 1] = v, k
                    if count >= LANES:
                        _settled(lane, owner, count, best, index, share)
                        count = 0
    _settled(lane, owner, count, best, index, share)
    for v in range(variants):
        if not closed[v]:  # the first and the last cubic go on to the ends
            for k in range(index.shape[1]):
                held = min(max(index[v, k], 1), samples - 3)
                share[v, k] += index[v, k] - held
                index[v, k] = held


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
