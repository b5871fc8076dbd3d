"""What a whole batch trades: torque error against the number of parameters."""

from dataclasses import dataclass

import numpy as np

from basepar_core.texts import plural

from . import figures
from .data import Facts
from .html import Cell, LeftOut, Section, figure, joined, key, table
from .numbers import data, digits


@dataclass(frozen=True)
class Front:
    """Pareto front: per number of parameters the least torque error and the variant that has it.

    Attributes
    ----------
    sizes, errors, rows
        (point,); errors fall as sizes grow. Rows are those of the arrays given.
    """

    sizes: np.ndarray
    errors: np.ndarray
    rows: np.ndarray


def front(errors: np.ndarray) -> Front:
    """Models that no other model beats in both size and error.

    Parameters
    ----------
    errors
        (variant, step): step 0 has all parameters, the last none.
    """
    full = errors.shape[1] - 1
    best, sizes, rows = np.inf, [], []
    for size in range(full + 1):
        column = np.where(np.isfinite(errors[:, full - size]), errors[:, full - size], np.inf)
        row = int(np.argmin(column))
        if column[row] < best * (1 - 1e-9) and best > figures.NO_ERROR:
            best = float(column[row])
            sizes.append(size)
            rows.append(row)
    chosen = np.array(rows, dtype=int)
    return Front(np.array(sizes), errors[chosen, full - np.array(sizes, dtype=int)], chosen)


def section(found: Facts) -> Section | LeftOut:
    """The front, the spread of all variants behind it, and who is on it."""
    title = "Torque error against number of parameters"
    errors = found.read("torque_error")
    good = ranked(found)
    if errors is None or not good.size:
        return LeftOut("front", title, "No variant that may be ranked has a reduction.")
    best = front(errors[good])
    label = f"Pareto front of {plural(good.size, 'variant')}: {plural(len(best.sizes), 'model')}."
    keys = joined(
        (
            key("chosen", "front: no model is both smaller and better"),
            key("middle", "median of the variants"),
            key("band", "minimum to maximum (darker: 5 to 95 %)"),
        ),
        ", ",
    )
    picture = figures.front(errors[good], best.sizes, best.errors, label)
    columns = ["#Parameters", "#Torque error", "#Variant"]
    rows: list[list[Cell]] = [
        [str(size), data(float(error), _error(error)), str(found.variants[good[row]])]
        for size, error, row in zip(best.sizes, best.errors, best.rows, strict=True)
    ]
    body = [figure(picture, keys), table("Models on the front", columns, rows)]
    return Section("front", title, joined(body))


def _error(error: float) -> str:
    return "≈ 0" if error <= figures.NO_ERROR else digits(float(error), 3)


def rows_with_paths(found: Facts) -> np.ndarray:
    """Rows of variants that have a reduction."""
    errors = found.read("torque_error")
    if errors is None:
        return np.zeros(0, dtype=int)
    return np.flatnonzero(found.has_results & np.isfinite(errors).all(axis=1))


def ranked(found: Facts) -> np.ndarray:
    """Rows that have a reduction, of a study those that meet all constraints."""
    rows = rows_with_paths(found)
    if found.unjudged:
        return rows[:0]
    return rows if found.judged is None else rows[found.judged.feasible[rows]]
