"""Singular values of many small matrices at once; lanes are variants.

Every array is (…, lane) with exactly `LANES` lanes, and every innermost loop runs over them: one
instruction serves eight variants, whatever the matrices' size. No branch depends on a lane, no sum
runs across lanes, and a lane that has converged stays as it is: a variant's digits do not depend
on its neighbours (docs/decisions/0002).

Singular values: Householder bidiagonalisation, then the differential qd algorithm with shifts
(Fernando & Parlett, Numerische Mathematik 67, 1994). The diagonal of (BBᵀ)⁻¹ is found on the way,
and the reciprocal of its sum is no greater than the least eigenvalue: a shift that is never too
large, in place of the retries that bolder ones need. Against one-sided Jacobi rotations it is
about eight times faster here (docs/decisions/0021).
"""

import numpy as np

from basepar_core.compiled.simd import dots, inlined, kernel, set_to, subtract

_EPS = float(np.finfo(float).eps)
#: Passes of qd per singular value before a lane is given up; some five are needed.
_PASSES = 40
#: Multiples of it, modulo one, are spread evenly and never repeat.
_GOLDEN = 0.6180339887498949
#: Share of a shift that is taken: 1, but for rounding.
_SAFE = 1.0 - 1e-12
#: What is left of a value after its shift is at least this, in units of eps² ‖B‖².
_LEAST = 1e-6
#: What is no more than this, in the same units, stood for zero (floors and shifts add up).
_NOTHING = 1e-4
#: Relative agreement of Σσ² with ‖B‖²: some hundred roundings.
_SUM = 1e-12


@kernel
def reflector(total, mirror, at, scale, diagonal):
    """Turn a vector of squared length `total` into a mirror onto axis `at`; both (lane).

    `mirror` is (row, lane); `scale` is 2/|mirror|², 0 where there is nothing to reflect;
    `diagonal` is what the vector becomes.
    """
    for i in range(total.size):
        length, first = np.sqrt(total[i]), mirror[at, i]
        product = length * (length + abs(first))
        scale[i] = 1.0 / product if product > 0.0 else 0.0
        signed = length if first >= 0.0 else -length  # no cancellation
        diagonal[i] = -signed
        mirror[at, i] = first + signed


@kernel
def _reflect(total, mirror, scale, vector, start, stop):
    dots(total, mirror, vector, start, stop)
    for i in range(total.size):
        total[i] *= scale[i]
    subtract(total, mirror, vector, start, stop)


@inlined
def bidiagonals(T, q, e, rows, work):
    """Squares of the entries of an upper bidiagonal matrix with the singular values of T.

    T is (column, row, lane), square, and overwritten; q and e are (column, lane), `rows` is
    (2, column, lane), `work` (3, lane).
    """
    size = T.shape[0]
    total, scale, edge = work
    mirror, shares = rows
    # A fixed reflection of all columns first: parts of T that do not touch (separate bodies,
    # equal singular values) would leave gaps in the bidiagonal, at which shifts do not work.
    length = 0.0
    for c in range(size):
        mirror[c] = 1.0 + (c + 1) * _GOLDEN % 1.0
        length += mirror[c, 0] ** 2
    scale[:] = 2.0 / length
    _row_shares(T, mirror, scale, shares, 0)
    for k in range(size):
        # A column loses the last reflection's part and gets the next at once: T of many large
        # matrices comes from memory each time.
        subtract(mirror[k], shares, T[k], k, size)
        dots(total, T[k], T[k], k, size)
        set_to(q[k], total)
        reflector(total, T[k], k, scale, edge)
        for c in range(k + 1, size):
            subtract(mirror[c], shares, T[c], k, size)
            _reflect(total, T[k], scale, T[c], k, size)
        if k + 1 == size:
            break
        for c in range(k + 1, size):
            set_to(mirror[c], T[c, k])
        dots(total, mirror, mirror, k + 1, size)
        set_to(e[k], total)
        reflector(total, mirror, k + 1, scale, edge)
        _row_shares(T, mirror, scale, shares, k + 1)


@kernel
def _row_shares(T, mirror, scale, shares, start):
    """What a reflection takes from T (column, row, lane), in rows and columns from `start` on.

    It is the column's number of the mirror times the row's of `shares`.
    """
    size = T.shape[0]
    shares[:] = 0.0
    for c in range(start, size):
        subtract(mirror[c], T[c], shares, start, size)
    for r in range(start, size):
        for i in range(scale.size):
            shares[r, i] *= -scale[i]


@inlined
def quotients(q, e, work):
    """Singular values of bidiagonal matrices, given the squares of their entries.

    q (column, lane) and e (column, lane) are overwritten; q holds the singular values, descending.
    `work` is (9, lane). A lane that has not converged, or whose squares do not add up to those
    of its matrix, is nan.
    """
    size, lanes = q.shape
    _, shift, lost, left, _, _, tiny, _, wanted = work
    for i in range(lanes):
        shift[i], lost[i], left[i], tiny[i] = 0.0, 0.0, float(size), 0.0
    for k in range(size):
        for i in range(lanes):
            tiny[i] += q[k, i] + (e[k, i] if k + 1 < size else 0.0)
    for i in range(lanes):
        # An entry whose square is below this may go: an error of eps ‖B‖, as everywhere. Not
        # zero, so that matrices of zeros divide by something.
        wanted[i] = tiny[i]
        tiny[i] = max(_EPS * _EPS * tiny[i], 1e-280)
    for k in range(size):
        for i in range(lanes):
            q[k, i] = max(q[k, i], _LEAST * tiny[i])  # zeros would split the matrix
    for _ in range(_PASSES * size):
        top = int(left.max())
        if top < 2:
            break
        _qd_pass(q, e, work, top)
        _deflate(q, e, work)
    _descending(q)
    _finish(q, wanted, work)


@inlined
def _qd_pass(q, e, work, top):
    """One differential qd transform with each lane's shift, and the sums that give the next."""
    d, shift, _, left, whole, head, tiny, x, _ = work
    lanes = d.size
    for i in range(lanes):
        d[i] = max(q[0, i] - shift[i], _LEAST * tiny[i])
        head[i], x[i] = 0.0, 0.0
    for k in range(top - 1):
        place = k + 1.5
        for i in range(lanes):
            on = left[i] > place
            share = 1.0 / (d[i] + e[k, i])
            ratio = q[k + 1, i] * share
            here = (1.0 + x[i]) * share
            following = max(d[i] * ratio - shift[i], _LEAST * tiny[i])
            fresh = e[k, i] * ratio
            q[k, i] = d[i] + e[k, i] if on else q[k, i]
            e[k, i] = fresh if on else e[k, i]
            q[k + 1, i] = following if on else q[k + 1, i]
            d[i] = following if on else d[i]
            head[i] = head[i] + here if on else head[i]
            x[i] = fresh * here if on else x[i]
    for i in range(lanes):
        whole[i] = head[i] + (1.0 + x[i]) / d[i]


@inlined
def _deflate(q, e, work):
    """Take off each lane's last value if it stands alone; the next shifts."""
    _, shift, lost, left, whole, head, tiny, _, _ = work
    for i in range(left.size):
        if left[i] < 1.5:
            continue
        lost[i] += shift[i]
        rest = whole[i]
        k = int(left[i]) - 1
        if e[k - 1, i] <= tiny[i]:
            q[k, i] += lost[i]
            left[i] -= 1.0
            rest = head[i]
            if k == 1:
                q[0, i] += lost[i]
        shift[i] = _SAFE / rest


@inlined
def _descending(q):
    """Sort every lane."""
    lanes = q.shape[1]
    for end in range(q.shape[0] - 1, 0, -1):
        for k in range(end):
            for i in range(lanes):
                a, b = q[k, i], q[k + 1, i]
                q[k, i], q[k + 1, i] = max(a, b), min(a, b)


@inlined
def _finish(q, wanted, work):
    """Roots of what was found; nan where something went wrong."""
    total, left, tiny = work[0], work[3], work[6]
    size, lanes = q.shape
    for i in range(lanes):
        total[i] = 0.0
    for k in range(size):
        for i in range(lanes):
            total[i] += q[k, i]
    for i in range(lanes):
        sound = left[i] < 1.5 and abs(total[i] - wanted[i]) <= _SUM * wanted[i] + size * tiny[i]
        total[i] = 1.0 if sound else np.nan
    for k in range(size):
        for i in range(lanes):
            found = q[k, i] if q[k, i] > _NOTHING * tiny[i] else 0.0
            q[k, i] = np.sqrt(found) * total[i]
