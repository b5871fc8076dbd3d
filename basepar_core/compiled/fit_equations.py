"""Newton's equations of a path's fit to a target: of turn, size and shift, the feet eliminated."""

import numpy as np

from basepar_core.compiled.simd import door, kernel


@kernel
def _times(matrix, vector, found):
    for i in range(len(found)):
        total = 0.0
        for j in range(len(found)):
            total += matrix[i, j] * vector[j]
        found[i] = total


@kernel
def _dot(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@door
def fit_equations(points, ends, turn, shift, wanted, makers, seconds, freed, middle, H, g):
    """Second derivatives and slopes of half the residuals' squares, feet following.

    Parameters
    ----------
    points
        (3, variant, point, axis) feet, unturned, and derivatives by the sample's number, m.
    ends
        (variant, point) bool: feet that stay, at the end of an open curve.
    turn, shift
        (variant, axis, axis), (variant, axis) m.
    wanted
        (point, axis) target, m.
    makers, seconds
        (maker, axis, axis) and (maker, maker, axis, axis): what infinitesimal turns and changes of
        size do to a vector, and to second order.
    freed
        Whether the position is free: then turns are about the feet's middle.
    middle, H, g
        (variant, axis), (variant, parameter, parameter) and (variant, parameter), filled; makers
        come first, then shifts.
    """
    axes, count, made = wanted.shape[1], wanted.shape[0], len(makers)
    width = made + axes if freed else made
    rate, bend, left, about, moved, ahead = np.zeros((6, axes))
    turned, J, mixed = np.empty((count, axes)), np.zeros((width, axes)), np.empty(width)
    for v in range(len(turn)):
        middle[v], H[v], g[v] = 0.0, 0.0, 0.0
        for k in range(count):
            _times(turn[v], points[0, v, k], turned[k])
            for x in range(axes):
                middle[v, x] += turned[k, x] / count if freed else 0.0
        for k in range(count):
            _times(turn[v], points[1, v, k], rate)
            _times(turn[v], points[2, v, k], bend)
            for x in range(axes):
                left[x] = turned[k, x] + shift[v, x] - wanted[k, x]
                about[x] = turned[k, x] - middle[v, x]
            own = _dot(rate, rate) + _dot(left, bend)
            inverse = 1.0 / own if own > 0.0 and not ends[v, k] else 0.0
            slope = _dot(left, rate)
            for p in range(width):
                if p < made:
                    _times(makers[p], about, J[p])
                    _times(makers[p], rate, ahead)
                    mixed[p] = _dot(J[p], rate) + _dot(left, ahead)
                else:
                    J[p, p - made] = 1.0
                    mixed[p] = rate[p - made]
                g[v, p] += _dot(J[p], left) - mixed[p] * slope * inverse
                for q in range(p + 1):
                    H[v, p, q] += _dot(J[p], J[q]) - mixed[p] * mixed[q] * inverse
                    if p < made:
                        _times(seconds[p, q], about, moved)
                        H[v, p, q] += _dot(left, moved)
                    H[v, q, p] = H[v, p, q]
