"""Compiled: singular values and the β check of a chunk's observation matrices.

One call takes all variants of a chunk, `LANES` at a time. All is read off one triangle: W = QR
with the columns in the order [φ₁ | φ₂] (`linear_triangles`). Dividing R's columns divides W's,
and costs no digits, for each column of R is as exact as its own length lets it be.
"""

import numpy as np

from basepar_core.compiled.simd import LANES, door, dots, inlined, kernel, set_to, subtract

from .linear_lanes import bidiagonals, quotients


@kernel
def _load(triangles, first, R):
    """R (column, row, lane) = triangles (variant, column, row) from `first` on.

    The last variant fills up. Lanes of what is below R's diagonal stay as they are.
    """
    last = triangles.shape[0] - 1
    for i in range(LANES):
        variant = min(first + i, last)
        for j in range(R.shape[0]):
            for r in range(j + 1):
                R[j, r, i] = triangles[variant, j, r]


@kernel
def spectra_of(R, scales, size, T, q, e, rows, work):
    """Singular values into q (size, lane) of the leading columns of R, each times its scale."""
    for j in range(size):
        for r in range(size):
            for i in range(LANES):
                T[j, r, i] = R[j, r, i] * scales[j, i] if r <= j else 0.0
    bidiagonals(T[:size, :size], q[:size], e[:size], rows[:, :size], work[:3])
    quotients(q[:size], e[:size], work)


@kernel
def unit_scales(norms, terms, least, cancelled, scales, faint):
    """1/length per column (column, lane), 0 for columns without effect.

    `faint` (lane) says whether a column is so near the limit that rounding might decide.
    """
    largest = np.zeros(LANES)
    for j in range(norms.shape[0]):
        for i in range(LANES):
            largest[i] = max(largest[i], norms[j, i])
    for j in range(norms.shape[0]):
        for i in range(LANES):
            limit = least * largest[i]
            length = max(norms[j, i], cancelled * terms[j, i])
            scales[j, i] = 1.0 / length if norms[j, i] > limit else 0.0
            near = abs(norms[j, i] - limit) < 1e-3 * limit
            faint[i] = 1.0 if near else faint[i]


@inlined
def missing_share(R, kept, norms, terms, entries, places, settings, first, share):
    """Largest ‖W₂ − W₁β‖ of an eliminated column (lane), as a share of the columns in it."""
    width, last = norms.shape[0], entries.shape[1] - 1
    size, involved, factor, total = np.zeros((4, LANES))
    lengths, left = np.empty((width, LANES)), np.empty((R.shape[1], LANES))
    share[:] = 0.0
    for j in range(width):
        for i in range(LANES):
            lengths[j, i] = max(norms[j, i], settings[1] * terms[j, i])
            size[i] = max(size[i], lengths[j, i])
    for j in range(kept, width):
        for r in range(R.shape[1]):
            set_to(left[r], R[j, r])
        set_to(involved, lengths[j])
        for k in range(places.shape[1]):
            if places[1, k] == j - kept:
                base = places[0, k]
                for i in range(LANES):
                    factor[i] = entries[k, min(first + i, last)]
                    involved[i] += lengths[base, i] * abs(factor[i])
                subtract(factor, R[base], left, 0, R.shape[1])
        dots(total, left, left, 0, R.shape[1])
        for i in range(LANES):
            # A column without effect is rounding all over; the largest one is its measure.
            whole = involved[i] if involved[i] > settings[0] * size[i] else size[i]
            share[i] = max(share[i], np.sqrt(total[i]) / (whole if whole > 0.0 else 1.0))


@door
def hold(triangles, order, kept, terms, entries, places, settings, found):
    """Spectra and β check of variants, into the arrays of `found`.

    Parameters
    ----------
    triangles
        (variant, column, row): transposed R factors of W[:, order].
    order, kept
        φ₁ then φ₂ by index; how many are φ₁.
    terms
        (variant, parameter), as in `base.numeric.spectrum`.
    entries, places
        β's nonzero entries (entry, variant), and where they stand, (2, entry) in φ₁ and φ₂.
    settings
        What counts as no effect, and as cancelled.
    found
        values (variant, parameter), scaled (likewise), reduced (variant, base), share, faint
        (variant,), norms (variant, parameter), in the order of the file.
    """
    values, scaled, reduced, share, faint, norms = found
    width, last = order.size, len(triangles) - 1
    R, T = np.zeros((width, width, LANES)), np.empty((width, width, LANES))
    q, e, lengths, scales, sizes = np.empty((5, width, LANES))
    extra, work, ones = np.empty((2, width, LANES)), np.empty((9, LANES)), np.ones((width, LANES))
    nothing, far, near = np.zeros((width, LANES)), np.empty(LANES), np.empty(LANES)
    for first in range(0, len(triangles), LANES):
        lanes = min(LANES, len(triangles) - first)
        _load(triangles, first, R)
        for j in range(width):
            for i in range(LANES):
                sizes[j, i] = terms[min(first + i, last), order[j]]
            dots(lengths[j], R[j], R[j], 0, width)
            for i in range(LANES):
                lengths[j, i] = np.sqrt(lengths[j, i])
        near[:] = 0.0
        spectra_of(R, ones, width, T, q, e, extra, work)
        _unload(q, lanes, values, first)
        unit_scales(lengths, sizes, settings[0], settings[1], scales, near)
        spectra_of(R, scales, width, T, q, e, extra, work)
        _unload(q, lanes, scaled, first)
        unit_scales(lengths[:kept], nothing, settings[0], 0.0, scales[:kept], near)
        spectra_of(R, scales, kept, T, q, e, extra, work)
        _unload(q[:kept], lanes, reduced, first)
        missing_share(R, kept, lengths, sizes, entries, places, settings, first, far)
        for i in range(lanes):
            share[first + i], faint[first + i] = far[i], near[i]
            for j in range(width):
                norms[first + i, order[j]] = lengths[j, i]


@kernel
def _unload(q, lanes, into, first):
    for i in range(lanes):
        for k in range(q.shape[0]):
            into[first + i, k] = q[k, i]
