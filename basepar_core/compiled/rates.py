"""The loop equations of all blocks, in lanes: factors, solutions, distance from singularity.

Rows and speeds are scaled so that lengths count in the mechanism's longest offset; what is
solved for is the same, and what is singular does not depend on units.
"""

from basepar_core.compiled.simd import LANES, WIDTH, below, inlined, kernel, spread, sqrt, where

from .qr import factor, inverse_square, solve


@kernel
def factor_blocks(plan, work):
    """Factors of all blocks of the scaled Jacobian work.J, into work.A."""
    speeds, base, J, A = len(plan.limit), 0, work.J, work.A
    rows, columns = plan.block_rows, plan.block_speeds
    for b in range(len(plan.blocks)):
        n, first = plan.blocks[b, 0], plan.blocks[b, 1]
        for i in range(n):
            row = rows[first + i]
            for j in range(n):
                speed = columns[first + j]
                scale = plan.row_scale[row] * plan.speed_scale[speed]
                entry, to = row * speeds + speed, base + i * n + j
                for l in range(0, LANES, WIDTH):
                    A[to, l] = scale * J[entry, l]
        factor(plan.steps, plan.lists, first, n, A, base, work.diagonal, work.beta)
        base += n * n


@kernel
def solve_blocks(plan, work, right, sign, x):
    """Dependent entries of x (speed, LANES) with C_d x = sign · right (row, LANES)."""
    base, solving = 0, work.solving
    for b in range(len(plan.blocks)):
        n, first = plan.blocks[b, 0], plan.blocks[b, 1]
        for i in range(n):
            row = plan.block_rows[first + i]
            scale = sign * plan.row_scale[row]
            for l in range(0, LANES, WIDTH):
                solving[i, l] = scale * right[row, l]
        found = below(solving, n)
        solve(
            plan.steps,
            plan.lists,
            first,
            n,
            work.A,
            base,
            work.diagonal,
            work.beta,
            solving,
            found,
        )
        for j in range(n):
            speed = plan.block_speeds[first + j]
            scale = plan.speed_scale[speed]
            for l in range(0, LANES, WIDTH):
                x[speed, l] = scale * found[j, l]
        base += n * n


@kernel
def block_ratios(plan, work):
    """Signed distance from singularity of each block, in `Loops.full`: work.ratios."""
    speeds, base, J, ratios = len(plan.limit), 0, work.J, work.ratios
    rows, columns = plan.block_rows, plan.block_speeds
    for b in range(len(plan.blocks)):
        n, first = plan.blocks[b, 0], plan.blocks[b, 1]
        inverse_square(
            plan.steps,
            plan.lists,
            plan.place,
            first,
            n,
            work.A,
            base,
            work.diagonal,
            work.solving,
            ratios,
            b,
        )
        sign = float(plan.blocks[b, 2])
        for l in range(0, LANES, WIDTH):
            total = spread(0.0)
            for i in range(n):
                row = rows[first + i]
                for j in range(n):
                    speed = columns[first + j]
                    x = plan.row_scale[row] * plan.speed_scale[speed] * J[row * speeds + speed, l]
                    total += x * x
            ratio = n / sqrt(total * ratios[b, l])
            ratio = where(ratio > 0, sign * ratio, 0.0)
            for t in range(first, first + n):
                ratio = where(work.diagonal[t, l] < 0, -ratio, ratio)
            ratios[b, l] = ratio / plan.full[b]
        base += n * n


@kernel
def drive(plan, work, rates):
    """C_i times the coordinates' speeds (speed, LANES), into work.right (row, LANES)."""
    speeds, J, right = len(plan.limit), work.J, work.right
    for row in range(len(plan.rows)):
        for l in range(0, LANES, WIDTH):
            total = spread(0.0)
            if plan.rows[row, 2] != 0:
                for k in range(len(plan.free)):
                    f = plan.free[k]
                    total += J[row * speeds + f, l] * rates[f, l]
            right[row, l] = total


@inlined
def drive_one(plan, work, speed):
    """`drive` at unit speed of one coordinate, the others at rest."""
    speeds, J, right = len(plan.limit), work.J, work.right
    for row in range(len(plan.rows)):
        for l in range(0, LANES, WIDTH):
            right[row, l] = J[row * speeds + speed, l] if plan.rows[row, 2] != 0 else spread(0.0)
