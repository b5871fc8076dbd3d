"""The loop equations of all blocks, in lanes: factors, solutions, distance from singularity.

Rows and speeds are scaled so that lengths count in the mechanism's longest offset; what is
solved for is the same, and what is singular does not depend on units.
"""

import numpy as np

from .lanes import LANES, part
from .qr import factor, inverse_square, solve


@part
def factor_blocks(plan, J, A, diagonal, beta, work):
    """Factors of all blocks of the scaled Jacobian, into A."""
    speeds, base = len(plan.limit), 0
    for b in range(len(plan.blocks)):
        n, first = plan.blocks[b, 0], plan.blocks[b, 1]
        for i in range(n):
            row = plan.block_rows[first + i]
            for j in range(n):
                speed = plan.block_speeds[first + j]
                scale = plan.row_scale[row] * plan.speed_scale[speed]
                entry, to = row * speeds + speed, base + i * n + j
                for l in range(LANES):
                    A[to, l] = scale * J[entry, l]
        factor(plan.steps, plan.lists, first, n, A, base, diagonal, beta, work)
        base += n * n


@part
def solve_blocks(plan, A, diagonal, beta, right, sign, solving, work, x):
    """Dependent entries of x (speed, LANES) with C_d x = sign · right (row, LANES)."""
    base = 0
    for b in range(len(plan.blocks)):
        n, first = plan.blocks[b, 0], plan.blocks[b, 1]
        for i in range(n):
            row = plan.block_rows[first + i]
            scale = sign * plan.row_scale[row]
            for l in range(LANES):
                solving[i, l] = scale * right[row, l]
        found = solving[n:]
        solve(plan.steps, plan.lists, first, n, A, base, diagonal, beta, solving, work, found)
        for j in range(n):
            speed = plan.block_speeds[first + j]
            scale = plan.speed_scale[speed]
            for l in range(LANES):
                x[speed, l] = scale * found[j, l]
        base += n * n


@part
def block_ratios(plan, J, A, diagonal, solving, work, ratios):
    """Signed distance from singularity of every block (block, LANES), as `newton.regularity`."""
    speeds, base = len(plan.limit), 0
    for b in range(len(plan.blocks)):
        n, first = plan.blocks[b, 0], plan.blocks[b, 1]
        inverse_square(
            plan.steps,
            plan.lists,
            plan.place,
            first,
            n,
            A,
            base,
            diagonal,
            solving,
            work,
            ratios,
            b,
        )
        for l in range(LANES):
            work[l] = 0.0
        for i in range(n):
            row = plan.block_rows[first + i]
            for j in range(n):
                speed = plan.block_speeds[first + j]
                scale = plan.row_scale[row] * plan.speed_scale[speed]
                entry = row * speeds + speed
                for l in range(LANES):
                    work[l] += (scale * J[entry, l]) * (scale * J[entry, l])
        sign = float(plan.blocks[b, 2])
        for l in range(LANES):
            ratio = n / np.sqrt(work[l] * ratios[b, l])
            ratios[b, l] = sign * ratio if ratio > 0 else 0.0
        for t in range(first, first + n):
            for l in range(LANES):
                ratios[b, l] = -ratios[b, l] if diagonal[t, l] < 0 else ratios[b, l]
        base += n * n


@part
def drive(plan, J, rates, right):
    """C_i times the coordinates' speeds (speed, LANES), into right (row, LANES)."""
    speeds = len(plan.limit)
    for row in range(len(plan.rows)):
        for l in range(LANES):
            right[row, l] = 0.0
        if plan.rows[row, 2] == 0:
            continue
        for f in plan.free:
            entry = row * speeds + f
            for l in range(LANES):
                right[row, l] += J[entry, l] * rates[f, l]
