"""Square systems in lanes: Householder without pivoting, along a static list of nonzeros.

Stable without pivoting, so that all lanes do the same. A block's matrix is n·n rows of a lane
array from `base` on: row `base + row · n + column`. Its elimination (`elimination.Order`) is
n steps from `first` on: steps[t] = column, row, start and end of the rows in `lists`, start and
end of the other columns. `diagonal` (reciprocals) and `beta`, (step, LANES), are of the factors.
A singular lane divides by zero and gives nan or inf; no other lane sees it.
"""

from basepar_core.compiled.simd import LANES, WIDTH, inlined, kernel, size_of, spread, sqrt, where


@kernel
def factor(steps, lists, first, n, A, base, diagonal, beta):
    """Replace A by its factors: reflections' vectors and R; 1/R's diagonal and 2/vᵀv apart."""
    for t in range(first, first + n):
        column, start, end = steps[t, 0], steps[t, 2], steps[t, 3]
        pivot = base + steps[t, 1] * n + column
        if end - start == 1:
            for l in range(0, LANES, WIDTH):
                diagonal[t, l] = 1 / A[pivot, l]
            continue
        for l in range(0, LANES, WIDTH):
            x = A[pivot, l]
            total = x * x
            for i in range(start + 1, end):
                y = A[base + lists[i] * n + column, l]
                total += y * y
            size = sqrt(total)
            signed = where(x >= 0, size, -size)
            diagonal[t, l] = -1 / signed
            A[pivot, l] = x + signed
            beta[t, l] = 1 / (total + size * size_of(x))
        for j in range(steps[t, 4], steps[t, 5]):
            _reflect_column(lists, start, end, n, A, base, column, lists[j], beta, t)


@inlined
def _reflect_column(lists, start, end, n, A, base, column, other, beta, t):
    pivot, top = base + lists[start] * n + column, base + lists[start] * n + other
    for l in range(0, LANES, WIDTH):
        total = A[pivot, l] * A[top, l]
        for i in range(start + 1, end):
            row = base + lists[i] * n
            total += A[row + column, l] * A[row + other, l]
        total *= beta[t, l]
        A[top, l] -= total * A[pivot, l]
        for i in range(start + 1, end):
            row = base + lists[i] * n
            A[row + other, l] -= total * A[row + column, l]


@inlined
def solve(steps, lists, first, n, A, base, diagonal, beta, right, x):
    """x (n, LANES) with A x = right (n, LANES), A as `factor` left it; `right` is used up."""
    for t in range(first, first + n):
        column, start, end = steps[t, 0], steps[t, 2], steps[t, 3]
        if end - start == 1:
            continue
        v = base + column
        for l in range(0, LANES, WIDTH):
            total = A[v + lists[start] * n, l] * right[lists[start], l]
            for i in range(start + 1, end):
                total += A[v + lists[i] * n, l] * right[lists[i], l]
            total *= beta[t, l]
            for i in range(start, end):
                right[lists[i], l] -= total * A[v + lists[i] * n, l]
    for t in range(first + n - 1, first - 1, -1):
        row, column = steps[t, 1], steps[t, 0]
        for l in range(0, LANES, WIDTH):
            total = right[row, l]
            for j in range(steps[t, 4], steps[t, 5]):
                total -= A[base + row * n + lists[j], l] * x[lists[j], l]
            x[column, l] = total * diagonal[t, l]


@inlined
def inverse_square(steps, lists, place, first, n, A, base, diagonal, x, total, b):
    """Squared Frobenius norm of A⁻¹ into total[b]: that of R⁻¹, column by column.

    `place[first + c]` is the step, from 0, that eliminates column c; x (n, LANES) is scratch.
    """
    for l in range(0, LANES, WIDTH):
        total[b, l] = 0.0
    for last in range(n):
        for t in range(last, -1, -1):
            row, start, end = steps[first + t, 1], steps[first + t, 4], steps[first + t, 5]
            for l in range(0, LANES, WIDTH):
                y = spread(1.0 if t == last else 0.0)
                for j in range(start, end):
                    above = place[first + lists[j]]
                    if above <= last:
                        y -= A[base + row * n + lists[j], l] * x[above, l]
                y = y * diagonal[first + t, l]
                x[t, l] = y
                total[b, l] += y * y
