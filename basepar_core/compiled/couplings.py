"""Couplings of joint values, in lanes: gaps, their Jacobian, their accelerations.

Their equations are linear, so that each is its coefficients' products with joint values, with
nothing, and with rates. `table` (entry, 5) is `Plan.linear`: the entries of an equation
follow each other, its offset first.
"""

from basepar_core.compiled.simd import LANES, WIDTH, kernel

from .coupled_tables import (
    COUPLED_ITEM,
    COUPLED_NUMBER,
    COUPLED_POSITION,
    COUPLED_ROW,
    COUPLED_SPEED,
    OFFSET,
)


@kernel
def gaps(table, G, q, gap):
    """How far couplings are from holding, into gap (row, LANES)."""
    for i in range(len(table)):
        row, place = table[i, COUPLED_ROW], table[i, COUPLED_POSITION]
        item, number = table[i, COUPLED_ITEM], table[i, COUPLED_NUMBER] * LANES
        for l in range(0, LANES, WIDTH):
            if place == OFFSET:
                gap[row, l] = -G[item, number + l]
            else:
                gap[row, l] += G[item, number + l] * q[place, l]


@kernel
def jacobian(table, G, rows, J, speeds):
    """Entries of the solved rows."""
    for i in range(len(table)):
        row = table[i, COUPLED_ROW]
        item, number = table[i, COUPLED_ITEM], table[i, COUPLED_NUMBER] * LANES
        if rows[row, 2] == 0 or table[i, COUPLED_POSITION] == OFFSET:
            continue
        entry = row * speeds + table[i, COUPLED_SPEED]
        for l in range(0, LANES, WIDTH):
            J[entry, l] = G[item, number + l]


@kernel
def mismatch(table, G, rows, rate_dots, right):
    """Second derivatives (row, LANES) of the solved rows at the speeds' rates."""
    for i in range(len(table)):
        row = table[i, COUPLED_ROW]
        item, number = table[i, COUPLED_ITEM], table[i, COUPLED_NUMBER] * LANES
        if rows[row, 2] == 0:
            continue
        speed = table[i, COUPLED_SPEED]
        for l in range(0, LANES, WIDTH):
            if table[i, COUPLED_POSITION] == OFFSET:
                right[row, l] = 0.0
            else:
                right[row, l] += G[item, number + l] * rate_dots[speed, l]
