"""Compiled: torques of a chunk of variants over their cycle, and the reduction paths they give."""

import numpy as np

from basepar_core.base import NO_EFFECT
from basepar_core.compiled.simd import LANES, door, dots, inlined, kernel, subtract

from .linear_lanes import triangles
from .linear_spectra import load
from .paths_lanes import additions, elimination, orthogonal


@door
def reduce(W, chosen, kept, phi, scales, noise, slack, forward, found):
    """Paths of the models' own torques; `reduce.own_path` says what is computed.

    Parameters
    ----------
    W
        (variant, parameter, row), rows of one coordinate next to each other.
    chosen
        Variants by index; phi (chosen, parameter), noise (chosen,) are theirs.
    kept
        Base parameters by index.
    scales
        (coordinate,): 1/σ.
    noise, slack
        What a column may be short of the others and still depend on them; what rounding adds.
    found
        removed, errors (chosen, step), values (chosen, step, base), norms, dependents, close
        (chosen,), rms, peak (chosen, coordinate).
    """
    removed, errors, values, norms, dependents, close, rms, peak = found
    width, rows = kept.size, W.shape[2]
    A, spare = np.empty((width + 1, rows, LANES)), np.empty((rows, LANES))
    S, Q = np.zeros((width + 1, width + 1, LANES)), np.empty((width, width + 1, LANES))
    R, U = np.empty((2, width, width, LANES))
    y, lengths, order = np.empty((3, width, LANES))
    diagonal, taller = np.empty((width + 1, LANES)), np.empty((4, width + 1, LANES))
    dependent, work = np.empty((width, LANES)), np.empty((6, width, LANES))
    gone, rss = np.empty((2, width + 1, LANES))
    steps = np.empty((width + 1, width, LANES))
    rest, norm, near, parts, limit = np.empty((5, LANES))
    pair = np.empty((2, LANES))
    last, ends = chosen.size - 1, np.empty(width + 1, np.int64)
    for first in range(0, chosen.size, LANES):
        lanes = min(LANES, chosen.size - first)
        near[:] = 0.0
        _weighted(W, chosen, first, kept, phi, scales, A, spare, lengths, parts, rms, peak)
        dots(norm, A[width], A[width], 0, rows)
        for i in range(LANES):
            small = NO_EFFECT * np.sqrt(parts[i])
            length = np.sqrt(norm[i])
            near[i] = 1.0 if abs(length - small) < 1e-3 * small else 0.0
            norm[i] = length if length > small else 0.0
            limit[i] = noise[min(first + i, last)]
        _ends(A, rows // scales.size, ends)
        triangles(A, ends, diagonal, pair)
        _scaled(A, diagonal, lengths, norm, S, near)
        orthogonal(S, limit, slack, R, U, y, rest, dependent, near, Q, taller)
        if forward:
            additions(R, y, dependent, order, near, work)
        elimination(U, y, rest, dependent, order, forward, gone, rss, steps, near, work)
        for i in range(lanes):
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
def _weighted(W, chosen, first, kept, phi, scales, A, spare, lengths, parts, rms, peak):
    """Kept columns and, last, the torque, into A, divided by σ; sizes of columns and parts."""
    width, rows, last = kept.size, W.shape[2], chosen.size - 1
    torque, total, factor, size = A[width], np.empty(LANES), np.empty(LANES), np.empty(LANES)
    samples = rows // scales.size
    torque[:] = 0.0
    parts[:] = 0.0
    for p in range(W.shape[1]):
        place = -1
        for j in range(width):
            place = j if kept[j] == p else place
        column = A[place] if place >= 0 else spare
        load(W, chosen, first, p, column)
        for i in range(LANES):
            factor[i] = -phi[min(first + i, last), p]
        subtract(factor, column, torque, 0, rows)
        size[:] = 0.0
        for c in range(scales.size):
            dots(total, column, column, c * samples, (c + 1) * samples)
            for i in range(LANES):
                size[i] += total[i] * scales[c] ** 2
        for i in range(LANES):
            parts[i] += size[i] * factor[i] * factor[i]
        if place >= 0:
            _weigh(column, scales)
            for i in range(LANES):
                lengths[place, i] = np.sqrt(size[i])
    measure(torque, first, chosen.size, rms, peak)
    _weigh(torque, scales)


@inlined
def _ends(A, samples, ends):
    """Behind ends[k] all columns up to k are zero in every lane, for whole coordinates.

    An arm's torques depend on what is carried alone: the first bodies have the first rows.
    """
    end = 0
    for j in range(ends.size):
        for first in range(A.shape[1] - samples, end - 1, -samples):
            most = 0.0
            for r in range(first, first + samples):
                for i in range(LANES):
                    most = max(most, abs(A[j, r, i]))
            if most > 0.0:
                end = first + samples
                break
        ends[j] = end


@kernel
def _weigh(column, scales):
    samples = column.shape[0] // scales.size
    for c in range(scales.size):
        if scales[c] != 1.0:
            for r in range(c * samples, (c + 1) * samples):
                for i in range(LANES):
                    column[r, i] *= scales[c]


@inlined
def _scaled(A, diagonal, lengths, norm, S, near):
    """Triangles of unit columns and of τ/‖τ‖; lengths of columns without effect become 1."""
    width = lengths.shape[0]
    largest = np.zeros(LANES)
    for j in range(width):
        for i in range(LANES):
            largest[i] = max(largest[i], lengths[j, i])
    for j in range(width + 1):
        for i in range(LANES):
            if j < width:
                limit = NO_EFFECT * largest[i]
                near[i] = 1.0 if abs(lengths[j, i] - limit) < 1e-3 * limit else near[i]
                dead = lengths[j, i] <= limit
                lengths[j, i] = 1.0 if dead else lengths[j, i]
                scale = 0.0 if dead else 1.0 / lengths[j, i]
            else:
                scale = 1.0 / norm[i] if norm[i] > 0.0 else 0.0
            for r in range(j):
                S[j, r, i] = A[j, r, i] * scale
            S[j, j, i] = diagonal[j, i] * scale


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
def effort(W, chosen, first, phi, torque, column, factor):
    """Torques (row, lane) of variants from `first` on."""
    last = chosen.size - 1
    torque[:] = 0.0
    for p in range(W.shape[1]):
        load(W, chosen, first, p, column)
        for i in range(LANES):
            factor[i] = -phi[min(first + i, last), p]
        subtract(factor, column, torque, 0, W.shape[2])


@door
def drive(W, chosen, phi, rms, peak):
    """`measure` of torques alone, of all chosen variants."""
    rows = W.shape[2]
    torque, column, factor = np.empty((rows, LANES)), np.empty((rows, LANES)), np.empty(LANES)
    for first in range(0, chosen.size, LANES):
        effort(W, chosen, first, phi, torque, column, factor)
        measure(torque, first, chosen.size, rms, peak)


@door
def drive_at(W, chosen, phi, rates, shares, found):
    """`add_up` of torques alone, of all chosen variants."""
    rows = W.shape[2]
    torque, column, factor = np.empty((rows, LANES)), np.empty((rows, LANES)), np.empty(LANES)
    for first in range(0, chosen.size, LANES):
        effort(W, chosen, first, phi, torque, column, factor)
        add_up(torque, first, chosen.size, rates, shares, found)
