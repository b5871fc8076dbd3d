"""What a whole batch trades: torque error against the number of parameters."""

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from . import figures
from .charts import Plot, Scale, both_widths
from .facts import Facts
from .html import Cell, Column, LeftOut, Section, figure, joined, key, table
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
    good = rows_with_paths(found)
    if errors is None or not good.size:
        return LeftOut("front", title, "No variant has a reduction.")
    best = front(errors[good])
    label = f"Pareto front of {good.size:,} variants: {len(best.sizes)} models."
    keys = joined(
        (
            key("chosen", "front: no model is both smaller and better"),
            key("middle", "median of the variants"),
            key("band", "least to most (darker: 5 to 95 %)"),
        ),
        ", ",
    )
    picture = both_widths(lambda width: _plot(errors[good], best, label, width), 640)
    columns = [Column("Parameters", True), Column("Torque error", True), Column("Variant", True)]
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


def _plot(errors: np.ndarray, best: Front, label: str, width: float) -> Markup:
    full, height = errors.shape[1] - 1, 330.0
    least = errors[errors > figures.NO_ERROR].min(initial=0.1)
    bottom = least / 30
    shown = np.maximum(errors[:, ::-1], bottom)  # by number of parameters, 0 first
    x = Scale(-0.4, full + 0.4, 46, width - 12)
    y = Scale(bottom, 2.0, height - 42, 24, log=True)
    plot = Plot(width, height, x, y, label)
    plot.y_axis("relative torque error", 7)
    plot.x_axis("parameters", 12 if width > 500 else 6)
    sizes = np.arange(full + 1)
    low, under, middle, over, high = np.quantile(shown, [0, 0.05, 0.5, 0.95, 1], axis=0)
    plot.band(sizes, low, high, "band")
    plot.band(sizes, under, over, "band")
    plot.line(sizes, middle, "middle")
    if (errors <= figures.NO_ERROR).any():
        plot.text(x.end, y.start - 7, "no error but rounding", "remark", "end")
    at = np.maximum(best.errors, bottom)
    says = [
        f"{k} parameters: {digits(float(e))}" for k, e in zip(best.sizes, best.errors, strict=True)
    ]
    plot.marks(best.sizes, at, "chosen", 3.6, says)
    return plot.svg()
