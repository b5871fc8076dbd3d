"""Nested models of many variants at once, in lanes: the formulas of `basepar_core.reduction.path`.

Arrays are (…, row, lane). What a lane chooses differs from its neighbours' choice; what is
computed does not: rows of parameters that have left are carried along unread.
"""

import numpy as np

from basepar_core.compiled.simd import LANES, dots, inlined, kernel, set_to, subtract
from basepar_core.reduction import TIE

#: Rounding of a torque error, of ‖τ‖ = 1, by the parameters' sum in unit columns (measured:
#: 2.2 eps).
ROUNDING = 5 * float(np.finfo(float).eps)
#: The same by the torque error times the longest row of U so far, the columns' condition: what is
#: left of nearly dependent columns has its digits from there (measured: at most 10 eps).
CONDITION = 100 * float(np.finfo(float).eps)


@inlined
def orthogonal(S, noise, slack, R, U, y, rest, dependent, close, Q, work):
    """Square-root system of triangles S (column, row, lane), τ's column last.

    See `paths._System`, whose R, U, y, rest and dependent these are: R (column, row, lane),
    U (base, axis, lane), y (axis, lane), dependent (base, lane). `close` becomes 1 in lanes
    where a column's dependence hangs on rounding, which is `slack` per column.
    """
    width = S.shape[0] - 1
    column, along, part, combined = work
    size, total = np.empty(LANES), np.empty(LANES)
    R[:] = 0.0
    U[:] = 0.0
    Q[:] = 0.0
    for j in range(width):
        for r in range(j + 1):
            set_to(column[r], S[j, r])
        _outside(Q, column, along, part, j)
        dots(size, column, column, 0, j + 1)
        total[:] = 1.0
        for r in range(j):
            dots(combined[r], U[r], along, r, j)
            for i in range(LANES):
                total[i] += abs(combined[r, i])
        for i in range(LANES):
            length, limit = np.sqrt(size[i]), noise[i] * total[i]
            gone = length <= limit
            close[i] = 1.0 if abs(length - limit) <= slack * total[i] else close[i]
            dependent[j, i] = 1.0 if gone else 0.0
            size[i] = 1.0 if gone else length
            total[i] = 0.0 if gone else 1.0
        for r in range(j + 1):
            for i in range(LANES):
                Q[j, r, i] = total[i] * column[r, i] / size[i]
        for r in range(j):
            for i in range(LANES):
                R[j, r, i] = total[i] * along[r, i]
                U[r, j, i] = -total[i] * combined[r, i] / size[i]
        for i in range(LANES):
            R[j, j, i], U[j, j, i] = size[i], 1.0 / size[i]
    for r in range(width + 1):
        set_to(column[r], S[width, r])
    _outside(Q, column, along, part, width)
    dots(rest, column, column, 0, width + 1)
    for r in range(width):
        set_to(y[r], along[r])


@kernel
def _outside(Q, vector, along, part, count):
    """What `count` orthonormal columns leave of a vector, in place, and its parts along them.

    As the columns of triangles that they are from, they end at the diagonal.
    """
    along[:] = 0.0
    for _ in range(2):  # twice is enough for rounding
        for k in range(count):
            dots(part[k], Q[k], vector, 0, k + 1)
        for k in range(count):
            subtract(part[k], Q[k], vector, 0, k + 1)
            for i in range(LANES):
                along[k, i] += part[k, i]


@inlined
def elimination(U, y, rest, dependent, order, forward, removed, rss, values, close, work):
    """Drop parameters one by one; U and y are used up.

    Parameters
    ----------
    order
        (place, lane): with `forward`, what is added at which place.
    removed, rss, values
        Results: (step, lane), (step, lane), (step, base, lane).
    work
        (6, base, lane).
    """
    width = y.shape[0]
    phi, squares, mirror, alive = work[0], work[1], work[2], work[3]
    total, gone, length, size, longest = np.empty((5, LANES))
    alive[:] = 1.0
    longest[:] = 0.0
    removed[0] = -1.0
    set_to(rss[0], rest)
    values[width] = 0.0
    for j in range(width):
        dots(phi[j], U[j], y, 0, width)
        dots(squares[j], U[j], U[j], 0, width)
    for step in range(1, width + 1):
        axes = width - step + 1
        for j in range(width):
            for i in range(LANES):
                values[step - 1, j, i] = phi[j, i] if alive[j, i] > 0.0 else 0.0
        if forward:
            set_to(gone, order[width - step])
        else:
            known = alive, dependent, longest
            _cheapest(phi, squares, rss[step - 1], known, gone, close, total, size)
        set_to(removed[step], gone)
        for i in range(LANES):
            j = int(gone[i])
            length[i] = np.sqrt(squares[j, i])
            rss[step, i] = rss[step - 1, i] + phi[j, i] * phi[j, i] / squares[j, i]
            alive[j, i] = 0.0
            for k in range(axes):
                mirror[k, i] = U[j, k, i]
        last = axes - 1
        for i in range(LANES):
            mirror[last, i] += -length[i] if mirror[last, i] < 0.0 else length[i]
        dots(length, mirror, mirror, 0, axes)
        # y first: what the next step asks of a row is found while the row is near. Large U come
        # from memory at every step.
        _reflect(total, mirror, length, y, axes)
        for j in range(width):
            _reflect(total, mirror, length, U[j], axes)
            dots(phi[j], U[j], y, 0, last)
            dots(squares[j], U[j], U[j], 0, last)


@kernel
def _reflect(total, mirror, square, row, axes):
    """A row without its part along the last of some axes, where the mirror turns that one."""
    dots(total, row, mirror, 0, axes)
    for i in range(LANES):
        total[i] *= 2.0 / square[i]
    subtract(total, mirror, row, 0, axes - 1)


@inlined
def _cheapest(phi, squares, rss, known, gone, close, least, size):
    """Dependent columns first; then the least torque error; among equals the last.

    A call is close where rounding could turn it, and at most for half of a tie's width.
    """
    alive, dependent, longest = known
    least[:] = np.inf
    errors = phi  # not needed any more but squared
    size[:] = 1.0
    for j in range(phi.shape[0]):
        for i in range(LANES):
            cost = np.sqrt(rss[i] + phi[j, i] * phi[j, i] / squares[j, i])
            least[i] = min(least[i], cost) if alive[j, i] > 0.0 else least[i]
            size[i] += alive[j, i] * abs(phi[j, i])
            longest[i] = max(longest[i], alive[j, i] * np.sqrt(squares[j, i]))
    gone[:] = -1.0
    for j in range(phi.shape[0]):
        for i in range(LANES):
            free = dependent[j, i] * alive[j, i] > 0.0
            gone[i] = float(j) if free else gone[i]
    for i in range(LANES):
        # Where a dependent column leaves, nothing is compared.
        least[i] = least[i] if gone[i] < 0.0 else -1.0
    for j in range(phi.shape[0]):
        for i in range(LANES):
            cost = np.sqrt(rss[i] + errors[j, i] * errors[j, i] / squares[j, i])
            above = cost - least[i] if alive[j, i] > 0.0 and least[i] >= 0.0 else np.inf
            gone[i] = float(j) if above <= TIE else gone[i]
            rounding = ROUNDING * size[i] + CONDITION * cost * longest[i]
            close[i] = 1.0 if abs(above - TIE) <= min(rounding, 0.5 * TIE) else close[i]


@inlined
def additions(R, y, dependent, order, close, work):
    """order (place, lane): columns as forward addition takes them; R is used up.

    R is (column, row, lane), `work` (6, base, lane).
    """
    width = y.shape[0]
    start, left, gain, waiting, q, tau = work
    total, best, taken = np.empty((3, LANES))
    for r in range(width):
        set_to(tau[r], y[r])
    waiting[:] = 1.0
    for j in range(width):
        dots(start[j], R[j], R[j], 0, width)
    for place in range(width):
        best[:] = -1.0
        for j in range(width):
            dots(left[j], R[j], R[j], 0, width)
            dots(total, R[j], tau, 0, width)
            for i in range(LANES):
                open_ = waiting[j, i] > 0.0 and dependent[j, i] == 0.0
                whole = left[j, i] > 1e-24 * start[j, i]
                along = abs(total[i]) / np.sqrt(left[j, i]) if whole else 0.0
                gain[j, i] = along if open_ else -1.0
                best[i] = max(best[i], gain[j, i])
        taken[:] = -1.0
        for j in range(width):
            for i in range(LANES):
                below = best[i] - gain[j, i] if waiting[j, i] > 0.0 else np.inf
                taken[i] = float(j) if below <= TIE and taken[i] < 0.0 else taken[i]
                close[i] = 1.0 if abs(below - TIE) <= 0.5 * TIE else close[i]
        set_to(order[place], taken)
        for i in range(LANES):
            j = int(taken[i])
            waiting[j, i] = 0.0
            length = np.sqrt(left[j, i])
            for r in range(width):
                q[r, i] = R[j, r, i] / length
        for j in range(width + 1):
            vector = R[j] if j < width else tau
            dots(total, q, vector, 0, width)
            subtract(total, q, vector, 0, width)
