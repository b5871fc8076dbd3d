"""Compiled: torques of a chunk of variants over their cycle, and the reduction paths they give."""

import numpy as np

from basepar_core.base import NO_EFFECT
from basepar_core.compiled.simd import (
    LANES,
    WIDTH,
    door,
    inlined,
    kernel,
    lanes,
    number,
    set_number,
    some,
    spread,
    total,
)

from .linear_triangles import triangle
from .paths_lanes import additions, elimination, orthogonal


@door
def reduce(W, chosen, places, phi, weights, noise, slack, forward, room, found):
    """Paths of the models' own torques; `reduce.own_path` says what is computed.

    Parameters
    ----------
    W
        (variant, parameter, row), rows of one coordinate next to each other.
    chosen
        Variants by index; phi (chosen, parameter), noise (chosen,) are theirs.
    places
        Of each parameter: its column among the kept ones, or five behind them.
    weights
        (1, row) with ones behind it up to whole vectors: 1/σ.
    noise, slack
        What a column may be short of the others and still depend on them; what rounding adds.
    room
        Scratch: columns (kept + 6, row), (1, row), both filled up to whole vectors.
    found
        removed, errors (chosen, step), values (chosen, step, base), norms, dependents, close
        (chosen,), rms, peak (chosen, coordinate).
    """
    removed, errors, values, norms, dependents, close, rms, peak = found
    width, rows, filled = values.shape[2], W.shape[2], weights.shape[1]
    # One variant after the other, vectors along its rows, up to the triangles; these in lanes.
    flat, weights, A, sums = (
        lanes(W.reshape(-1, rows)),
        lanes(weights),
        lanes(room[0]),
        lanes(room[1]),
    )
    T, torque, ends = (
        np.zeros((width + 1, width + 1)),
        np.empty((rows, LANES)),
        np.empty(width + 1, np.int64),
    )
    S, Q = np.zeros((width + 1, width + 1, LANES)), np.empty((width, width + 1, LANES))
    R, U = np.empty((2, width, width, LANES))
    y, lengths, order = np.empty((3, width, LANES))
    taller, work = np.empty((4, width + 1, LANES)), np.empty((6, width, LANES))
    dependent, steps = np.empty((width, LANES)), np.empty((width + 1, width, LANES))
    gone, rss = np.empty((2, width + 1, LANES))
    rest, norm, near, limit = np.zeros((4, LANES))
    for first in range(0, chosen.size, LANES):
        count = min(LANES, chosen.size - first)
        near[:] = 0.0
        for i in range(count):  # what the other lanes hold is never read
            k = first + i
            source, own = chosen[k] * W.shape[1], phi[k]
            parts = _weighted(flat, source, rows, own, places, weights, A, sums, lengths, i)
            _unload(sums, torque, i)
            length = _last_column(A, sums, weights, width, filled)
            small = NO_EFFECT * np.sqrt(parts)
            near[i] = 1.0 if abs(length - small) < 1e-3 * small else 0.0
            norm[i] = length if length > small else 0.0
            limit[i] = noise[k]
            _ends(A, filled, ends)
            triangle(A, ends, width + 1, filled, T)
            _scaled(T, lengths, norm, S, near, i)
        measure(torque, first, chosen.size, rms, peak)
        orthogonal(S, limit, slack, R, U, y, rest, dependent, near, Q, taller)
        if forward:
            additions(R, y, dependent, order, near, work)
        elimination(U, y, rest, dependent, order, forward, gone, rss, steps, near, work)
        for i in range(count):
            variant = first + i
            norms[variant], close[variant] = norm[i], near[i]
            dependents[variant] = 0
            for j in range(width):
                dependents[variant] += int(dependent[j, i])
            for step in range(width + 1):
                removed[variant, step] = int(gone[step, i])
                errors[variant, step] = np.sqrt(rss[step, i]) if norm[i] > 0.0 else 0.0
                for j in range(width):
                    values[variant, step, j] = steps[step, j, i] * norm[i] / lengths[j, i]


@inlined
def _weighted(W, source, rows, phi, places, weights, A, sums, lengths, i):
    """Kept columns divided by σ into A, their lengths, and the torque; squares of its parts."""
    for r in range(0, rows, WIDTH):
        sums[0, r] = 0.0
    parts, whole = 0.0, rows // WIDTH * WIDTH
    for p in range(places.size):
        j, factor, squares = places[p], spread(phi[p]), spread(0.0)
        for r in range(0, whole, WIDTH):
            x = W[source + p, r]
            sums[0, r] += factor * x
            x = x * weights[0, r]
            squares += x * x
            A[j, r] = x
        square = total(squares)
        if whole < rows:
            A[j, whole] = 0.0
        for r in range(whole, rows):
            x = number(W, source + p, r)
            set_number(sums, 0, r, number(sums, 0, r) + phi[p] * x)
            x = x * number(weights, 0, r)
            square += x * x
            set_number(A, j, r, x)
        parts += square * phi[p] * phi[p]
        if j < lengths.shape[0]:
            lengths[j, i] = np.sqrt(square)
    return parts


@kernel
def _unload(sums, torque, i):
    for r in range(torque.shape[0]):
        torque[r, i] = number(sums, 0, r)


@kernel
def _last_column(A, sums, weights, j, filled):
    """The torque, divided by σ, into A; its length."""
    square = spread(0.0)
    for r in range(0, filled, WIDTH):
        x = sums[0, r] * weights[0, r]
        square += x * x
        A[j, r] = x
    return np.sqrt(total(square))


@kernel
def _ends(A, filled, ends):
    """Behind ends[k] all columns up to k are zero.

    An arm's torques depend on what is carried alone: the first bodies have the first rows.
    """
    end = 0
    for j in range(ends.size):
        here = filled
        while here > end and not some(A[j, here - WIDTH] != 0.0):
            here -= WIDTH
        end = max(end, here)
        ends[j] = end


@kernel
def _scaled(T, lengths, norm, S, near, i):
    """Triangles of unit columns and of τ/‖τ‖; lengths of columns without effect become 1."""
    width, largest = lengths.shape[0], 0.0
    for j in range(width):
        largest = max(largest, lengths[j, i])
    limit = NO_EFFECT * largest
    for j in range(width + 1):
        scale = 1.0 / norm[i] if j == width and norm[i] > 0.0 else 0.0
        if j < width:
            near[i] = 1.0 if abs(lengths[j, i] - limit) < 1e-3 * limit else near[i]
            dead = lengths[j, i] <= limit
            lengths[j, i] = 1.0 if dead else lengths[j, i]
            scale = 0.0 if dead else 1.0 / lengths[j, i]
        for r in range(j + 1):
            S[j, r, i] = T[j, r] * scale


@kernel
def measure(torque, first, count, rms, peak):
    """Root mean square and largest absolute value per coordinate of torques (row, lane)."""
    coordinates = rms.shape[1]
    samples = torque.shape[0] // coordinates
    squares, largest = np.empty(LANES), np.empty(LANES)
    for c in range(coordinates):
        squares[:] = 0.0
        largest[:] = 0.0
        for s in range(samples):
            for i in range(LANES):
                here = torque[c * samples + s, i]
                squares[i] += here * here
                largest[i] = max(largest[i], abs(here))
        for i in range(min(LANES, count - first)):
            rms[first + i, c], peak[first + i, c] = np.sqrt(squares[i] / samples), largest[i]


@inlined
def add_up(torque, first, count, rates, shares, found):
    """As `measure`, with extremes, the largest power and the work that is done."""
    rms, peak, least, greatest, power, energy = found
    measure(torque, first, count, rms, peak)
    samples = torque.shape[0] // rms.shape[1]
    low, high, largest, work = np.empty((4, LANES))
    for c in range(rms.shape[1]):
        low[:] = np.inf
        high[:] = -np.inf
        largest[:] = 0.0
        work[:] = 0.0
        for s in range(samples):
            for i in range(LANES):
                here = torque[c * samples + s, i]
                low[i] = min(low[i], here)
                high[i] = max(high[i], here)
                flow = here * rates[c, s]
                largest[i] = max(largest[i], abs(flow))
                work[i] += max(flow, 0.0) * shares[s]
        for i in range(min(LANES, count - first)):
            least[first + i, c], greatest[first + i, c] = low[i], high[i]
            power[first + i, c], energy[first + i, c] = largest[i], work[i]


@kernel
def effort(W, chosen, first, phi, torque, sums):
    """Torques (row, lane) of variants from `first` on; W as lanes (variant · parameter, row)."""
    rows = torque.shape[0]
    whole = rows // WIDTH * WIDTH
    for i in range(min(LANES, chosen.size - first)):
        k = first + i
        source = chosen[k] * phi.shape[1]
        for r in range(0, rows, WIDTH):
            sums[0, r] = 0.0
        for p in range(phi.shape[1]):
            factor = spread(phi[k, p])
            for r in range(0, whole, WIDTH):
                sums[0, r] += factor * W[source + p, r]
            for r in range(whole, rows):
                part = phi[k, p] * number(W, source + p, r)
                set_number(sums, 0, r, number(sums, 0, r) + part)
        _unload(sums, torque, i)


@door
def drive(W, chosen, phi, room, rms, peak):
    """`measure` of torques alone, of all chosen variants; `room` is (1, row), filled up."""
    torque = np.empty((W.shape[2], LANES))
    flat, sums = lanes(W.reshape(-1, W.shape[2])), lanes(room)
    for first in range(0, chosen.size, LANES):
        effort(flat, chosen, first, phi, torque, sums)
        measure(torque, first, chosen.size, rms, peak)


@door
def drive_at(W, chosen, phi, rates, shares, room, found):
    """`add_up` of torques alone, of all chosen variants; `room` is (1, row), filled up."""
    torque = np.empty((W.shape[2], LANES))
    flat, sums = lanes(W.reshape(-1, W.shape[2])), lanes(room)
    for first in range(0, chosen.size, LANES):
        effort(flat, chosen, first, phi, torque, sums)
        add_up(torque, first, chosen.size, rates, shares, found)
