"""The report's plots: singular values, a reduction path, sizes, metrics against symbols."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.texts import plural

from . import charts
from .charts import both_widths
from .numbers import digits
from .svg import PEN, indexed

#: Points per scatter plot; more only darken it.
MOST_POINTS = 700
#: Relative torque errors below this lie on the lower edge: rounding, and on a second trajectory
#: rounding times the condition of some hundreds (3-RPS: 4e-12).
NO_ERROR = 1e-10
#: Width of a bold letter, rather too wide than too narrow.
LETTER = 7.2
#: Width and height of small multiples, and room at their left.
SMALL = (168.0, 150.0)
SMALL_LEFT = 40.0
_GROUPS = 12


@dataclass(frozen=True)
class Spectra:
    """Singular values of many variants and of a few by name.

    Attributes
    ----------
    many
        (variant, index) of all variants with results.
    single
        (index,) by name, drawn as marks.
    noise
        What float64 cannot tell from zero; None without such a level.
    """

    many: np.ndarray
    single: Mapping[str, np.ndarray]
    rank: int
    noise: float | None = None

    @property
    def positive(self) -> np.ndarray:
        every = [self.many.ravel(), *self.single.values()]
        found = np.concatenate(every)
        return found[np.isfinite(found) & (found > 0)]


def spectrum(spectra: Spectra, label: str) -> Markup:
    """Singular values by index: band over the variants, named ones as marks, the rank's gap."""
    return both_widths(lambda width: _spectrum(spectra, label, width), 820)


def _spectrum(spectra: Spectra, label: str, width: float) -> Markup:
    count = len(next(iter(spectra.single.values()), np.empty(spectra.many.shape[-1])))
    low, high = spectra.positive.min(), spectra.positive.max()
    if spectra.noise is not None:
        low = max(low, spectra.noise * 1e-4)
    axes = _spectral_axes(width, 330.0, count, (low / 3, high * 3), "singular value of W")
    if spectra.noise is not None and spectra.noise > low / 3:
        axes.axhspan(low / 3, spectra.noise, color=PEN["muted"], alpha=0.13, lw=0)
        at = axes.transData.transform((1, spectra.noise))[1] * 72 / axes.figure.dpi - 14
        charts.remark(axes, charts.LEFT + 6, float(at), "rounding of float64", "left")
    index = np.arange(1, count + 1)
    if spectra.many.size:
        charts.spread(axes, index, np.maximum(spectra.many, low / 3))
    _mark_rank(axes, spectra.rank, count)
    for k, (name, values) in enumerate(spectra.single.items()):
        says = [f"{name}, σ{i}: {digits(v)}" for i, v in zip(index, values, strict=True)]
        radius = 3.2 if width > 20 * count else 2.2
        shown = np.maximum(values, low / 3)
        charts.marks(axes, index, shown, ("ink", "best")[k % 2], radius, says)
    return charts.svg(axes, label)


def _spectral_axes(
    width: float, height: float, count: int, ends: tuple[float, float], title: str
) -> Any:
    axes = charts.axes_of(width, height, log="y")
    axes.set_ylim(*ends)
    charts.y_title(axes, title, most=8)
    _whole_axis(axes, 0.4, count + 0.6, "index", 24 if width > 500 else 12)
    return axes


def _whole_axis(axes: Any, low: float, high: float, title: str, most: int) -> None:
    """Whole numbers, at most so many."""
    axes.set_xlim(low, high)
    charts.x_title(axes, title, most=most, whole=True)


def _mark_rank(axes: Any, rank: int, count: int) -> None:
    """Between which singular values the gap is."""
    if 0 < rank < count:
        axes.axvline(rank + 0.5, color=PEN["worst"], lw=1.5, ls=(0, (5, 4)))
        x, y = _pixel(axes, rank + 0.5, axes.get_ylim()[1])
        charts.remark(axes, x - 6, y - 14, f"rank {rank}", "right", "mark")


def _pixel(axes: Any, x: float, y: float) -> tuple[float, float]:
    """Pixels from the lower left corner."""
    across, down = axes.transData.transform((x, y)) * 72 / axes.figure.dpi
    return float(across), float(down)


def spectrum_lines(values: np.ndarray, rank: int, label: str) -> Markup:
    """Singular values of a few variants, each a line."""
    return both_widths(lambda width: _spectrum_lines(values, rank, label, width), 820)


def _spectrum_lines(values: np.ndarray, rank: int, label: str, width: float) -> Markup:
    count, ends = values.shape[1], charts.limits(values.ravel(), log=True)
    title = "singular value of W, in variable precision"
    axes = _spectral_axes(width, 300.0, count, ends, title)
    _mark_rank(axes, rank, count)
    for row in values:
        shown = np.where(row > 0, row, np.nan)
        axes.plot(np.arange(1, count + 1), shown, color=PEN["accent"], lw=1.2, alpha=0.6)
    return charts.svg(axes, label)


def path(
    errors: np.ndarray,
    sizes: Mapping[int, str],
    removed: Sequence[str],
    label: str,
    second: np.ndarray | None = None,
) -> Markup:
    """Torque error against the number of parameters that are left.

    Parameters
    ----------
    errors
        (step,); step 0 is the full model.
    sizes
        What to write at a number of parameters.
    removed
        Name of the parameter that left to reach each step; "" at step 0.
    second
        (step,): errors of the same models on a second trajectory.
    """
    other = np.empty(0) if second is None else second
    return both_widths(lambda width: _path(errors, sizes, removed, label, other, width), 540)


def _path(
    errors: np.ndarray,
    sizes: Mapping[int, str],
    removed: Sequence[str],
    label: str,
    second: np.ndarray,
    width: float,
) -> Markup:
    full, head = len(errors) - 1, 26.0 + 15 * len(sizes)
    left = np.arange(full, -1, -1)
    every = np.concatenate([errors, second[np.isfinite(second)]])
    bottom = error_floor(every)
    shown = np.maximum(errors, bottom)
    axes = charts.axes_of(width, 300 + head, head=head, log="y")
    axes.set_ylim(bottom, max(2.0, every.max() * 2))
    charts.y_title(axes, "relative torque error", most=7)
    # From the full model on the left to the empty one on the right.
    _whole_axis(axes, full + 0.4, -0.4, "parameters left", 24 if width > 500 else 12)
    if (errors <= NO_ERROR).any():
        _no_error(axes, width)
    for row, (size, words) in enumerate(sorted(sizes.items(), reverse=True)):
        _selected(axes, size, f"{words}: {size}", 300 + head - 30 - 15 * row, width)
    if second.size:
        dashed = (0, (4, 3))
        axes.plot(left, np.maximum(second, bottom), color=PEN["muted"], lw=1.4, ls=dashed)
    axes.plot(left, shown, color=PEN["accent"], lw=2)
    says = [
        f"{plural(int(k), 'parameter')}: error {digits(e)}" + (f", without {name}" if name else "")
        for k, e, name in zip(left, errors, removed, strict=True)
    ]
    charts.marks(axes, left, shown, "ink", 3.2, says)
    return charts.svg(axes, label)


def error_floor(errors: np.ndarray) -> float:
    """Lower edge of a plot of torque errors: those that are rounding lie on it."""
    above = errors[errors > NO_ERROR].min(initial=0.1)
    return float(above / (30 if (errors <= NO_ERROR).any() else 2))


def _no_error(axes: Any, width: float) -> None:
    charts.remark(axes, width - charts.RIGHT, charts.BOTTOM + 7, "no error but rounding", "right")


def _selected(axes: Any, size: int, text: str, at: float, width: float) -> None:
    """A line at a selected size, under its criteria at a height of their own."""
    x, low = _pixel(axes, size, axes.get_ylim()[0])
    half = len(text) * LETTER / 2
    axes.annotate(
        "",
        (x, low),
        (x, at - 5),
        xycoords="figure points",
        textcoords="figure points",
        arrowprops={
            "arrowstyle": "-",
            "color": PEN["worst"],
            "lw": 1.2,
            "ls": (0, (4, 3)),
            "shrinkA": 0,
            "shrinkB": 0,
        },
    )
    place = min(max(x, half + 2), width - half - 2)
    charts.remark(axes, place, at, text, "center", "mark")


def sizes(counts: np.ndarray, title: str, label: str) -> Markup:
    """How many variants keep how many parameters: counts (size,) from 0."""
    axes = charts.axes_of(*SMALL, left=SMALL_LEFT)
    axes.set_ylim(0, 100)
    charts.y_title(axes, title, most=4)
    _whole_axis(axes, -0.6, len(counts) - 0.4, "parameters kept", 9)
    says = [
        f"{plural(size, 'parameter')}: {plural(int(number), 'variant')}"
        for size, number in enumerate(counts)
    ]
    edges = np.arange(len(counts) + 1) - 0.5
    charts.columns(axes, edges, 100 * counts / counts.sum(), says, gap=0.1)
    return charts.svg(axes, label)


def histogram(values: np.ndarray, title: str, unit: str, label: str) -> Markup:
    """Distribution of a metric over the variants."""
    finite = values[np.isfinite(values)]
    log = charts.wants_log(finite)
    low, high = charts.limits(finite, log)
    edges = np.geomspace(low, high, 25) if log else np.linspace(low, high, 25)
    counts, _ = np.histogram(finite, edges)
    shares = 100 * counts / len(finite)
    axes = charts.axes_of(*SMALL, left=SMALL_LEFT, log="x" if log else "")
    axes.set(xlim=(low, high), ylim=(0, 1.05 * shares.max()))
    charts.y_title(axes, "variants, %", most=4)
    charts.x_title(axes, title, unit, most=3)
    says = [
        f"{digits(left)} to {digits(right)} {unit}: {plural(int(number), 'variant')}"
        for left, right, number in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    charts.columns(axes, edges, shares, says)
    return charts.svg(axes, label)


@dataclass(frozen=True)
class Cloud:
    """A metric against a symbol: values (variant,), the variants to single out by name.

    `feasible` (variant,) bool, where a study judges them.
    """

    symbol: str
    symbol_unit: str
    xs: np.ndarray
    ys: np.ndarray
    metric: str
    metric_unit: str
    best: int | None
    worst: int | None
    feasible: np.ndarray | None = None


def scatter(cloud: Cloud, label: str) -> Markup:
    """Sampled points, the median of equal parts of the symbol's range, best and worst."""
    good = np.flatnonzero(np.isfinite(cloud.ys))
    xs, ys = cloud.xs[good], cloud.ys[good]
    log = charts.wants_log(ys)
    axes = charts.axes_of(*SMALL, left=SMALL_LEFT, log="y" if log else "")
    axes.set(xlim=charts.limits(xs), ylim=charts.limits(ys, log))
    charts.y_title(axes, cloud.metric, cloud.metric_unit, most=4)
    charts.x_title(axes, indexed(cloud.symbol), cloud.symbol_unit, most=3)
    some = np.unique(np.linspace(0, len(xs) - 1, MOST_POINTS).astype(int))
    if cloud.feasible is None:
        charts.cloud(axes, xs[some], ys[some])
        axes.plot(*medians(xs, ys), color=PEN["accent"], lw=2)
    else:
        met = cloud.feasible[good][some]
        charts.cloud(axes, xs[some[~met]], ys[some[~met]])
        charts.cloud(axes, xs[some[met]], ys[some[met]], "accent", 0.75)
    for row, pen in ((cloud.worst, "worst"), (cloud.best, "best")):
        if row is None:
            continue
        says = [f"{pen}: {digits(float(cloud.ys[row]))}"]
        charts.marks(axes, cloud.xs[[row]], cloud.ys[[row]], pen, 4, says)
    return charts.svg(axes, label)


def medians(xs: np.ndarray, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median of y in groups of x: per value where these are few, else parts of equal number."""
    values = np.unique(xs)
    if len(values) <= _GROUPS:
        return values, np.array([np.median(ys[xs == value]) for value in values])
    order = np.argsort(xs, kind="stable")
    groups = [group for group in np.array_split(order, _GROUPS) if len(group)]
    middles = [(np.median(xs[group]), np.median(ys[group])) for group in groups]
    return np.array([a for a, _ in middles]), np.array([b for _, b in middles])


def front(errors: np.ndarray, sizes: np.ndarray, best: np.ndarray, label: str) -> Markup:
    """Torque error against the number of parameters: all variants, and what nothing beats.

    Parameters
    ----------
    errors
        (variant, step) of all variants; step 0 has all parameters, the last none.
    sizes, best
        (point,): numbers of parameters and torque errors on the front.
    """
    return both_widths(lambda width: _front(errors, sizes, best, label, width), 640)


def _front(
    errors: np.ndarray, sizes: np.ndarray, best: np.ndarray, label: str, width: float
) -> Markup:
    full, bottom = errors.shape[1] - 1, error_floor(errors)
    axes = charts.axes_of(width, 330.0, log="y")
    axes.set_ylim(bottom, 2.0)
    charts.y_title(axes, "relative torque error", most=7)
    _whole_axis(axes, -0.4, full + 0.4, "parameters", 24 if width > 500 else 12)
    # By number of parameters, 0 first.
    charts.spread(axes, np.arange(full + 1), np.maximum(errors[:, ::-1], bottom))
    if (errors <= NO_ERROR).any():
        _no_error(axes, width)
    says = [
        f"{plural(int(k), 'parameter')}: {digits(float(e))}"
        for k, e in zip(sizes, best, strict=True)
    ]
    charts.marks(axes, sizes, np.maximum(best, bottom), "best", 3.6, says)
    return charts.svg(axes, label)


def torque_lines(
    t: np.ndarray, full: np.ndarray, reduced: np.ndarray, title: tuple[str, str], label: str
) -> Markup:
    """Torque over time by two models: (sample,) each; `title` is its name and unit."""

    def draw(width: float) -> Markup:
        axes = charts.axes_of(width, 260.0, left=56.0)
        both = np.concatenate([full, reduced])
        axes.set(xlim=charts.limits(t), ylim=charts.limits(both))
        charts.y_title(axes, *title)
        charts.x_title(axes, "time", "s", most=8 if width > 500 else 5)
        axes.plot(t, full, color=PEN["accent"], lw=2)
        axes.plot(t, reduced, color=PEN["worst"], lw=1.4, ls=(0, (4, 3)))
        return charts.svg(axes, label)

    return both_widths(draw, 640)
