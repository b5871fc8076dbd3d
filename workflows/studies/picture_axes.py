"""Axes of a study's pictures: what is feasible, whole numbers, far apart values, units."""

from typing import Any

import numpy as np

from basepar_core.texts import plot
from workflows.drawing import COLOURS, INK

FEASIBLE, POLISHED, MISSED = COLOURS[0], COLOURS[1], "#666666"
#: Values this many times apart are drawn by their logarithms.
DECADES = 20.0
#: All values may take this much more room than the feasible ones.
STRETCHED = 2.0
#: Whole numbers with at most so many levels are drawn as rows of points, this much apart.
LEVELS, ROW = 12, 0.3


def axes_of(figure: Any, rows: int, columns: int, place: int, grid: str = "both") -> Any:
    axes = figure.add_subplot(rows, columns, place)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#999999")
    axes.tick_params(labelsize=8, colors=INK)
    axes.grid(axis=grid, color="#DDDDDD", lw=0.5)
    axes.set_axisbelow(True)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set_size(9)
        axis.label.set_color(INK)
    return axes


def scatter(axes: Any, x: np.ndarray, y: np.ndarray, label: str, colour: str, size: float) -> None:
    """Crosses for what misses a constraint: told apart without colours, too."""
    if colour == MISSED:
        axes.scatter(x, y, size, colour, marker="x", label=label, linewidths=0.9, zorder=2)
    else:
        axes.scatter(x, y, size, colour, label=label, linewidths=0, zorder=2.5)


def levels(values: np.ndarray) -> int:
    """How many whole numbers these are; 0 where they are not whole, or too many."""
    if not values.size or (values != np.round(values)).any():
        return 0
    count = int(np.ptp(values)) + 1
    return count if count <= LEVELS else 0


def apart(values: np.ndarray, valued: np.ndarray) -> np.ndarray:
    """Values to draw: whole numbers a little apart, so that points do not hide each other."""
    if not levels(values[valued]):
        return values
    golden = (np.arange(len(values)) * 0.6180339887498949) % 1.0
    return np.asarray(values + ROW * (2 * golden - 1))


def legend(axes: Any) -> None:
    """Above the axes: nothing to cover there."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        axes.legend(
            handles,
            labels,
            frameon=False,
            fontsize=8,
            labelcolor=INK,
            ncols=len(labels),
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            borderaxespad=0.2,
        )


def scaled(axes: Any, which: str, values: np.ndarray, feasible: np.ndarray) -> None:
    """Logarithmic where values are far apart; else a few that miss do not stretch the axis."""
    every = np.concatenate([values, feasible])  # polished designs are among the feasible ones
    if levels(values):
        axis = getattr(axes, f"{which}axis")
        axis.set_ticks(np.arange(every.min(), every.max() + 1))
        axis.grid(visible=False)
        getattr(axes, f"set_{which}lim")(every.min() - 0.6, every.max() + 0.6)
        for level in np.unique(values):  # a band for each number
            span = axes.axhspan if which == "y" else axes.axvspan
            span(level - ROW - 0.1, level + ROW + 0.1, color=FEASIBLE, alpha=0.08, lw=0, zorder=1)
        return
    if every.size and every.min() > 0 and every.max() > DECADES * every.min():
        getattr(axes, f"set_{which}scale")("log")
        _few_ticks(getattr(axes, f"{which}axis"), every.max() / every.min())
    elif feasible.size and np.ptp(values) > STRETCHED * np.ptp(feasible) > 0:
        air = 0.1 * np.ptp(feasible)
        getattr(axes, f"set_{which}lim")(feasible.min() - air, feasible.max() + air)
    is_linear = getattr(axes, f"get_{which}scale")() == "linear"
    if is_linear and values.size and (values == np.round(values)).all():  # counts
        getattr(axes, f"{which}axis").get_major_locator().set_params(integer=True)


def _few_ticks(axis: Any, ratio: float) -> None:
    """1, 2, 5, 10 … on a logarithmic axis; powers of ten where it is long."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if ratio < 1e3 else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def short(text: str) -> str:
    return plot(text if len(text) <= 28 else f"{text[:26]}…")


def spaced(unit: str) -> str:
    return "" if unit == "1" else f" {plot(unit).replace('*', ' ').replace('^2', '²')}"


def titled(text: str, unit: str) -> str:
    return short(text) + (f" [{spaced(unit).strip()}]" if unit != "1" else "")
