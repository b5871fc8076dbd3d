"""The report's plots: singular values, a reduction path, sizes, metrics against symbols."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from .charts import Plot, Scale, both_widths, indexed, scale_of, wants_log
from .numbers import digits

#: Points per scatter plot; more only darken it.
MOST_POINTS = 700
#: Relative torque errors below this are rounding, and lie on the lower edge.
NO_ERROR = 1e-12
#: Width of a bold letter, rather too wide than too narrow.
LETTER = 7.2
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
    height = 330.0
    low, high = spectra.positive.min(), spectra.positive.max()
    if spectra.noise is not None:
        low = max(low, spectra.noise * 1e-4)
    x = Scale(0.4, count + 0.6, 46, width - 12)
    y = Scale(low / 3, high * 3, height - 42, 24, log=True)
    plot = Plot(width, height, x, y, label)
    if spectra.noise is not None:
        plot.box((x.low, x.high), (y.low, spectra.noise), "noise")
    plot.y_axis("singular value of W", 8)
    if spectra.noise is not None:  # after the grid, which its halo covers
        at = float(y(spectra.noise)) + 14
        plot.text(x.start + 6, at, "rounding of float64", "remark", "start")
    plot.x_axis("index", 0, at=_whole(1, count, 24 if width > 500 else 12))
    index = np.arange(1, count + 1)
    if spectra.many.size:
        _bands(plot, index, spectra.many)
    _mark_rank(plot, spectra.rank, count)
    for k, (name, values) in enumerate(spectra.single.items()):
        says = [f"{name}, σ{i}: {digits(v)}" for i, v in zip(index, values, strict=True)]
        radius = 3.2 if width > 20 * count else 2.2
        plot.marks(index, values, ("nominal", "chosen")[k % 2], radius, says)
    return plot.svg()


def _mark_rank(plot: Plot, rank: int, count: int) -> None:
    """Between which singular values the gap is."""
    if 0 < rank < count:
        plot.upright(rank + 0.5, "cut")
        plot.text(float(plot.x(rank + 0.5)) - 6, 36, f"rank {rank}", "mark", "end")


def _bands(plot: Plot, index: np.ndarray, many: np.ndarray) -> None:
    low, under, middle, over, high = np.quantile(many, [0, 0.05, 0.5, 0.95, 1], axis=0)
    plot.band(index, low, high, "band")
    plot.band(index, under, over, "band")
    plot.line(index, middle, "middle")


def spectrum_lines(values: np.ndarray, rank: int, label: str) -> Markup:
    """Singular values of a few variants, each a line."""
    return both_widths(lambda width: _spectrum_lines(values, rank, label, width), 820)


def _spectrum_lines(values: np.ndarray, rank: int, label: str, width: float) -> Markup:
    count, height = values.shape[1], 300.0
    y = scale_of(values.ravel(), height - 42, 24, log=True)
    plot = Plot(width, height, Scale(0.4, count + 0.6, 52, width - 12), y, label)
    plot.y_axis("singular value of W, in variable precision", 8)
    plot.x_axis("index", 0, at=_whole(1, count, 24 if width > 500 else 12))
    index = np.arange(1, count + 1)
    _mark_rank(plot, rank, count)
    for row in values:
        plot.line(index, np.where(row > 0, row, np.nan), "thin")
    return plot.svg()


def path(
    errors: np.ndarray, sizes: Mapping[int, str], removed: Sequence[str], label: str
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
    """
    return both_widths(lambda width: _path(errors, sizes, removed, label, width), 540)


def _path(
    errors: np.ndarray, sizes: Mapping[int, str], removed: Sequence[str], label: str, width: float
) -> Markup:
    full, head = len(errors) - 1, 26 + 15 * len(sizes)
    left, height = np.arange(full, -1, -1), 300 + head
    exact = errors <= NO_ERROR
    low = np.where(exact, 1.0, np.nan_to_num(errors, nan=1.0)).min(initial=0.1)
    bottom = low / (30 if exact.any() else 2)
    shown = np.where(exact, bottom, errors)
    y = Scale(bottom, max(2.0, shown.max() * 2), height - 46, head, log=True)
    # From the full model on the left to the empty one on the right.
    x = Scale(-full - 0.4, 0.4, 46, width - 12)
    plot = Plot(width, height, x, y, label)
    plot.y_axis("relative torque error", 7)
    _sizes_axis(plot, full)
    if exact.any():
        plot.text(x.end, y.start - 7, "no error but rounding", "remark", "end")
    for row, (size, words) in enumerate(sorted(sizes.items(), reverse=True)):
        _selected(plot, size, words, 30 + 15 * row)
    plot.line(-left.astype(float), shown, "middle")
    says = [
        f"{k} parameters: error {digits(e)}" + (f", without {name}" if name else "")
        for k, e, name in zip(left, errors, removed, strict=True)
    ]
    plot.marks(-left.astype(float), shown, "nominal", 3.2, says)
    return plot.svg()


def _sizes_axis(plot: Plot, full: int) -> None:
    for size in _whole(0, full, 24 if plot.width > 500 else 12):
        plot.text(float(plot.x(-size)), plot.y.start + 15, str(int(size)), "tick", "middle")
    middle = (plot.x.start + plot.x.end) / 2
    plot.text(middle, plot.height - 4, "parameters left", "name", "middle")


def _selected(plot: Plot, size: int, words: str, at: float) -> None:
    """A line at a selected size, under its criteria at a height of their own."""
    x, text = float(plot.x(-size)), f"{words}: {size}"
    half = len(text) * LETTER / 2
    place = min(max(x, half + 2), plot.width - half - 2)
    step = f"M{x:.1f} {at + 5:.1f}V{plot.y.start:.1f}"
    plot.parts.append(Markup('<path d="{}" class="pick"></path>').format(step))
    plot.text(place, at, text, "mark", "middle")


def sizes(counts: np.ndarray, title: str, label: str) -> Markup:
    """How many variants keep how many parameters: counts (size,) from 0."""
    width, height = 168.0, 150.0
    shares = 100 * counts / counts.sum()
    x = Scale(-0.6, len(counts) - 0.4, 32, width - 4)
    plot = Plot(width, height, x, Scale(0, 100, height - 34, 22), label)
    plot.y_axis(title, 4)
    plot.x_axis("parameters kept", 0, at=_whole(0, len(counts) - 1, 9))
    for size, number in enumerate(counts):
        if number:
            says = f"{size} parameters: {number:,} variants"
            plot.box((size - 0.4, size + 0.4), (0, float(shares[size])), "column", says)
    return plot.svg()


def histogram(values: np.ndarray, title: str, unit: str, label: str) -> Markup:
    """Distribution of a metric over the variants."""
    finite = values[np.isfinite(values)]
    log = wants_log(finite)
    width, height = 168.0, 150.0
    x = scale_of(finite, 32, width - 8, log)
    ends = np.geomspace(x.low, x.high, 25) if log else np.linspace(x.low, x.high, 25)
    counts, _ = np.histogram(finite, ends)
    shares = 100 * counts / len(finite)
    plot = Plot(width, height, x, Scale(0, 1.05 * shares.max(), height - 36, 22), label)
    plot.y_axis("variants, %", 4)
    plot.x_axis(title, 3, unit)
    for low, high, number, part in zip(ends[:-1], ends[1:], counts, shares, strict=True):
        if number:
            says = f"{digits(low)} to {digits(high)} {unit}: {number:,} variants"
            plot.box((low, high), (0, float(part)), "column", says)
    return plot.svg()


@dataclass(frozen=True)
class Cloud:
    """A metric against a symbol: values (variant,), the variants to single out by name."""

    symbol: str
    symbol_unit: str
    xs: np.ndarray
    ys: np.ndarray
    metric: str
    metric_unit: str
    best: int
    worst: int


def scatter(cloud: Cloud, label: str) -> Markup:
    """Sampled points, the median of equal parts of the symbol's range, best and worst."""
    good = np.flatnonzero(np.isfinite(cloud.ys))
    xs, ys = cloud.xs[good], cloud.ys[good]
    width, height = 168.0, 150.0
    x = scale_of(xs, 32, width - 8)
    plot = Plot(width, height, x, scale_of(ys, height - 36, 22, wants_log(ys)), label)
    plot.y_axis(cloud.metric, 4, cloud.metric_unit)
    plot.x_axis(indexed(cloud.symbol), 3, cloud.symbol_unit)
    some = np.unique(np.linspace(0, len(xs) - 1, MOST_POINTS).astype(int))
    plot.cloud(xs[some], ys[some], "points")
    plot.line(*medians(xs, ys), "middle")
    for row, style, word in ((cloud.worst, "worst", "worst"), (cloud.best, "best", "best")):
        at_x, at_y = cloud.xs[[row]], cloud.ys[[row]]
        plot.marks(at_x, at_y, style, 4, [f"{word}: {digits(float(at_y[0]))}"])
    return plot.svg()


def medians(xs: np.ndarray, ys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median of y in groups of x: per value where these are few, else parts of equal number."""
    values = np.unique(xs)
    if len(values) <= _GROUPS:
        return values, np.array([np.median(ys[xs == value]) for value in values])
    order = np.argsort(xs, kind="stable")
    groups = [group for group in np.array_split(order, _GROUPS) if len(group)]
    middles = [(np.median(xs[group]), np.median(ys[group])) for group in groups]
    return np.array([a for a, _ in middles]), np.array([b for _, b in middles])


def _whole(first: int, last: int, most: int) -> list[float]:
    """Whole numbers from first to last, at most so many, at a round distance."""
    step = next(k for k in (1, 2, 5, 10, 20, 50, 100, 1000) if (last - first) // k < most)
    start = math.ceil(first / step) * step
    return [float(k) for k in range(start, last + 1, step)]
