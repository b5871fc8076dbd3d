"""After how many turns of its coordinate a mechanism may be where it was.

Loops close after one turn or two. A gear that turns p/q times per turn of what drives it is back
after q turns; a train, after the least common multiple of all q.
"""

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from basepar_core.arrays import Array
from basepar_core.expressions import ZERO, evaluate
from basepar_core.mechanism import Mechanism
from basepar_core.symbolic import symbol_values

from .path import Values

#: Turns after which a motion may close: 1, or 2 where another body turns half as fast.
TURNS = (1, 2)
#: Longest periods that are looked for, in turns: the search follows the motion that far.
MOST_TURNS = 240
#: A ratio is rational if a fraction of small terms is within this of it: rounding of a few
#: float64 operations.
EXACT = 1e-12
#: Below this share a value does not move with a driver.
STILL = 1e-9


def turns_to_try(mechanism: Mechanism) -> tuple[int, ...]:
    """Numbers of turns after which the motion may close, the least first.

    Parameters
    ----------
    mechanism
        With one coordinate, an angle.
    """
    return turns_of_variants(mechanism, {})[0][0]


def turns_of_variants(
    mechanism: Mechanism, values: Values
) -> tuple[list[tuple[int, ...]], Array, bool]:
    """`turns_to_try` of variants, by the ratios of each.

    Parameters
    ----------
    mechanism
        With one coordinate, an angle.
    values
        Swept symbols, (variant,) arrays, SI; others are nominal.

    Returns
    -------
    The different lists of numbers; (variant,) which of them each has; whether ratios are swept,
    so that a variant's are not the file's.
    """
    names = list(dict.fromkeys(name for one in mechanism.couplings for name, _ in one.terms))
    tables = _coefficients(mechanism, names, symbol_values(mechanism, values))
    count = max((np.size(x) for x in values.values()), default=1)
    tables = np.broadcast_to(tables, (count, *tables.shape[1:]))
    different, which = np.unique(tables.reshape(len(tables), -1), axis=0, return_inverse=True)
    found = []
    for table in different:
        period = _period(mechanism, names, table.reshape(tables.shape[1:]))
        every = {*TURNS, *(period * turns for turns in TURNS)}
        found.append(tuple(sorted(turns for turns in every if turns <= MOST_TURNS)))
    lists = list(dict.fromkeys(found))
    group = np.array([lists.index(one) for one in found])
    swept = bool((tables != _coefficients(mechanism, names, mechanism.nominal)).any())
    return lists, group[which.ravel()], swept


def _coefficients(
    mechanism: Mechanism, names: list[str], known: Mapping[str, Array | float]
) -> Array:
    """(variant or 1, coupling, value): coefficients of the values `names`."""
    rows = []
    for coupling in mechanism.couplings:
        terms = dict(coupling.terms)
        rows += evaluate([terms.get(name, ZERO) for name in names], known)
    found = np.stack(np.broadcast_arrays(np.zeros(1), *rows), axis=-1)[:, 1:]
    return found.reshape(len(found), len(mechanism.couplings), len(names)).astype(float)


def _period(mechanism: Mechanism, names: list[str], table: Array) -> int:
    """Turns after which all coupled angles are whole multiples of turns of what drives them.

    `table` (coupling, value) are the coefficients of the values `names`.
    """
    angles = [k for k, name in enumerate(names) if not mechanism.value(name).is_length]
    # Whatever couplings do not tie to the coordinate, loops drive: a turn, or back and forth.
    drivers: list[int] = [names.index(name) for name in mechanism.coordinates if name in names]
    for k in [*angles, *(k for k in range(len(names)) if k not in angles)]:
        if k not in drivers and not _tied(table, drivers, k):
            drivers.append(k)
    period = 1
    for driver in drivers:
        if driver in angles:
            moved = _moved(table, drivers, driver)
            for x in moved[angles]:
                share = Fraction(float(x)).limit_denominator(MOST_TURNS)
                if abs(float(share) - x) > EXACT * max(1.0, abs(x)):
                    return 1  # not rational, or of a period too long: it is not found
                period = math.lcm(period, share.denominator)
    return period


def _tied(table: Array, drivers: list[int], k: int) -> bool:
    """Whether couplings leave a value no freedom once drivers stand still."""
    rest = [j for j in range(table.shape[1]) if j not in drivers]
    _, sigma, directions = np.linalg.svd(table[:, rest])
    rank = int((sigma > STILL * max(sigma.max(initial=0.0), STILL)).sum())
    return bool(np.abs(directions[rank:, rest.index(k)]).max(initial=0.0) < STILL)


def _moved(table: Array, drivers: list[int], driver: int) -> Array:
    """Rates of all values at unit rate of a driver, the other drivers at rest."""
    rest = [j for j in range(table.shape[1]) if j not in drivers]
    found = np.zeros(table.shape[1])
    found[driver] = 1.0
    found[rest] = np.linalg.lstsq(table[:, rest], -table[:, driver], rcond=None)[0]
    return found
