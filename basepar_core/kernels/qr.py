"""Square systems in lanes: Householder without pivoting, along a static list of nonzeros.

Stable without pivoting, so that all lanes do the same. A block's matrix is n·n rows of a lane
array from `base` on: row `base + row · n + column`. Its elimination (`elimination.Order`) is
n steps from `first` on: steps[t] = column, row, start and end of the rows in `lists`, start and
end of the other columns. `diagonal` and `beta` (step, LANES) belong to the factors.
A singular lane divides by zero and gives nan or inf; no other lane sees it.
"""

import numpy as np

from .lanes import LANES, kernel


@kernel
def factor(steps, lists, first, n, A, base, diagonal, beta, work):
    """Replace A by its factors: reflections' vectors and R; R's diagonal and 2/vᵀv apart."""
    for t in range(first, first + n):
        column, start, end = steps[t, 0], steps[t, 2], steps[t, 3]
        pivot = base + steps[t, 1] * n + column
        if end - start == 1:
            for l in range(LANES):
                diagonal[t, l] = A[pivot, l]
            continue
        for l in range(LANES):
            work[l] = A[pivot, l] * A[pivot, l]
        for i in range(start + 1, end):
            a = base + lists[i] * n + column
            for l in range(LANES):
                work[l] += A[a, l] * A[a, l]
        for l in range(LANES):
            size = np.sqrt(work[l])
            x = A[pivot, l]
            signed = size if x >= 0 else -size
            diagonal[t, l] = -signed
            A[pivot, l] = x + signed
            beta[t, l] = 1 / (work[l] + size * abs(x))
        for j in range(steps[t, 4], steps[t, 5]):
            _reflect_column(lists, start, end, n, A, base, column, lists[j], beta, t, work)


@kernel
def _reflect_column(lists, start, end, n, A, base, column, other, beta, t, work):
    pivot, top = base + lists[start] * n + column, base + lists[start] * n + other
    for l in range(LANES):
        work[l] = A[pivot, l] * A[top, l]
    for i in range(start + 1, end):
        v, a = base + lists[i] * n + column, base + lists[i] * n + other
        for l in range(LANES):
            work[l] += A[v, l] * A[a, l]
    for l in range(LANES):
        work[l] *= beta[t, l]
        A[top, l] -= work[l] * A[pivot, l]
    for i in range(start + 1, end):
        v, a = base + lists[i] * n + column, base + lists[i] * n + other
        for l in range(LANES):
            A[a, l] -= work[l] * A[v, l]


@kernel
def solve(steps, lists, first, n, A, base, diagonal, beta, right, work, x):
    """x (n, LANES) with A x = right (n, LANES), A as `factor` left it; `right` is used up."""
    for t in range(first, first + n):
        column, start, end = steps[t, 0], steps[t, 2], steps[t, 3]
        if end - start == 1:
            continue
        for l in range(LANES):
            work[l] = 0.0
        for i in range(start, end):
            v, r = base + lists[i] * n + column, lists[i]
            for l in range(LANES):
                work[l] += A[v, l] * right[r, l]
        for l in range(LANES):
            work[l] *= beta[t, l]
        for i in range(start, end):
            v, r = base + lists[i] * n + column, lists[i]
            for l in range(LANES):
                right[r, l] -= work[l] * A[v, l]
    for t in range(first + n - 1, first - 1, -1):
        row, column = steps[t, 1], steps[t, 0]
        for l in range(LANES):
            work[l] = right[row, l]
        for j in range(steps[t, 4], steps[t, 5]):
            a, known = base + row * n + lists[j], lists[j]
            for l in range(LANES):
                work[l] -= A[a, l] * x[known, l]
        for l in range(LANES):
            x[column, l] = work[l] / diagonal[t, l]


@kernel
def inverse_square(steps, lists, place, first, n, A, base, diagonal, x, work, total, b):
    """Squared Frobenius norm of A⁻¹ into total[b]: that of R⁻¹, column by column.

    `place[first + c]` is the step, from 0, that eliminates column c; x (n, LANES) is scratch.
    """
    for l in range(LANES):
        total[b, l] = 0.0
    for last in range(n):
        for t in range(last, -1, -1):
            row = steps[first + t, 1]
            for l in range(LANES):
                work[l] = 1.0 if t == last else 0.0
            for j in range(steps[first + t, 4], steps[first + t, 5]):
                above = place[first + lists[j]]
                if above <= last:
                    a = base + row * n + lists[j]
                    for l in range(LANES):
                        work[l] -= A[a, l] * x[above, l]
            for l in range(LANES):
                x[t, l] = work[l] / diagonal[first + t, l]
                total[b, l] += x[t, l] * x[t, l]
