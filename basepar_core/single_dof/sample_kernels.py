"""Compiled: ways of joints between nodes, and sums over samples of periodic functions."""

import numba
import numpy as np


@numba.njit(cache=True, error_model="numpy", nogil=True)
def ways(theta, rate, h, found):
    """How far up, and down, of a value and its slope (row, node): (2, row, interval)."""
    for r in range(len(theta)):
        for n in range(theta.shape[1] - 1):
            step, rises, falls = theta[r, n + 1] - theta[r, n], h * rate[r, n], h * rate[r, n + 1]
            up, down = max(step, 0.0), max(-step, 0.0)
            if rate[r, n] * rate[r, n + 1] < 0:
                far = _turning(step, rises, falls)
                if rises > 0:  # up to the top, then down; else down first
                    up = max(far, 0.0)
                    down = max(far - step, 0.0)
                else:
                    up = max(step - far, 0.0)
                    down = max(-far, 0.0)
            found[0, r, n], found[1, r, n] = up, down


@numba.njit(cache=True, error_model="numpy")
def _turning(step, first, last):
    """How far a cubic over an interval has gone where it turns back; slopes times its length."""
    s, a, b = first / (first - last), step - first, last - step
    for _ in range(4):  # Newton from the straight line: quadratic, and the cubic is nearly one
        value = first + 2 * s * (2 * a - b) + 3 * s * s * (b - a)
        bend = 2 * (2 * a - b) + 6 * s * (b - a)
        s = min(max(s - value / bend, 0.0), 1.0)
    return s * first + s * s * (2 * a - b) + s * s * s * (b - a)


@numba.njit(cache=True, error_model="numpy", nogil=True)
def weighted(samples, growth, weights, line, found):
    """Rows of samples, a straight growth taken off and put back as `line`, times weights."""
    count = samples.shape[1]
    for r in range(len(samples)):
        row, gained = found[r], growth[r]
        for j in range(len(line)):
            row[j] = gained * line[j]
        for k in range(count):
            x = samples[r, k] - gained * k / count
            for j in range(len(line)):
                row[j] += x * weights[k, j]


@numba.njit(cache=True, error_model="numpy", nogil=True)
def tails(samples, waves, found):
    """Sizes of all harmonics of rows of samples as shares of their ranges: `periodic.tail`."""
    many, sums = waves.shape[1] // 2, np.empty(waves.shape[1])
    for r in range(len(samples)):
        low, high = np.inf, -np.inf
        sums[:] = 0.0
        for k in range(samples.shape[1]):
            x = samples[r, k]
            low, high = min(low, x), max(high, x)
            for j in range(2 * many):
                sums[j] += x * waves[k, j]
        size, total = max(high, -low), 0.0
        scale = high - low if high - low > 1e-9 * size else size
        for j in range(many):
            total += np.sqrt(sums[j] ** 2 + sums[many + j] ** 2)
        found[r] = total / scale if scale > 0 else 0.0
