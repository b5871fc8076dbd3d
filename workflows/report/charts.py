"""Axes of the report's plots: Matplotlib's, in the page's colours and sizes.

Sizes are CSS pixels at the plot's own width. Matplotlib's layout knows the metrics of one font,
and the reader's browser takes another; so the room around the axes is fixed, for the widest.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from markupsafe import Markup

from workflows.drawing import canvas

from .numbers import power
from .svg import PEN, embedded, plain, saying, styled

#: Height of the letters, width of a digit at a tick, and of a letter in a title.
LETTERS, DIGIT, LETTER = 11.5, 7.0, 6.4
#: Room at the left, for numbers; at the right; and at the bottom, for numbers and a title.
LEFT, RIGHT, BOTTOM = 46.0, 12.0, 42.0


def axes_of(
    width: float, height: float, *, left: float = LEFT, head: float = 24.0, log: str = ""
) -> Any:
    """Empty axes with room for `head` pixels of titles above; `log` names logarithmic ones.

    Raises
    ------
    PlotError
        Matplotlib is not installed.
    """
    figure = canvas(width / 72, height / 72, layout="none")
    inside = (width - left - RIGHT) / width, (height - BOTTOM - head) / height
    axes = figure.add_axes((left / width, BOTTOM / height, *inside))
    for name in log:
        getattr(axes, f"set_{name}scale")("log")
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=PEN["line"], lw=1)
    axes.spines[["left", "right", "top"]].set_visible(False)
    axes.spines["bottom"].set_color(PEN["muted"])
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="both", which="minor", length=0, labelbottom=False, labelleft=False)
    axes.tick_params(axis="both", color=PEN["muted"], labelcolor=PEN["muted"], labelsize=LETTERS)
    return axes


def svg(axes: Any, label: str) -> Markup:
    """The plot, with what a screen reader says of it."""
    figure = axes.figure
    return embedded(figure, label, "plot", 1.28 * 72 * figure.get_figwidth())


def both_widths(draw: Callable[[float], Markup], wide: float = 720, narrow: float = 340) -> Markup:
    """A plot drawn for the desk and for the phone, so that text keeps its size on both."""
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(
        draw(wide), draw(narrow)
    )


def x_title(axes: Any, words: str, unit: str = "", most: int = 8, whole: bool = False) -> None:
    """The title below, and at most so many numbers (`whole` ones) that fit side by side."""
    across, down = _pixels(axes.figure)
    box = axes.get_position()
    title = next(
        title
        for count in range(most, 0, -1)
        if (title := _numbers(axes.xaxis, words, unit, count, whole))
        and (count == 1 or _fits(axes.xaxis, across * box.width))
    )
    half = len(title) * LETTER / 2
    middle = min(across * (box.x0 + box.x1) / 2, across - half)
    axes.set_xlabel(title, color=PEN["ink"], fontsize=LETTERS, va="baseline")
    axes.xaxis.set_label_coords(middle / across, 5 / down, axes.figure.transFigure)


def y_title(axes: Any, words: str, unit: str = "", most: int = 6) -> None:
    """The title above the axis, where it reads like a line of text."""
    across, down = _pixels(axes.figure)
    title = _numbers(axes.yaxis, words, unit, most)
    axes.figure.text(2 / across, 1 - 11 / down, title, color=PEN["ink"], fontsize=LETTERS)


def _pixels(figure: Any) -> tuple[float, float]:
    return 72 * figure.get_figwidth(), 72 * figure.get_figheight()


def _numbers(axis: Any, words: str, unit: str, most: int, whole: bool = False) -> str:
    """Round numbers at an axis; its title, with their power of ten and the unit."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    low, high = sorted(axis.get_view_interval())
    log = axis.get_scale() == "log"
    steps = [1, 2, 5, 10] if whole else [1, 2, 2.5, 5, 10]
    locator = LogLocator(numticks=most) if log else MaxNLocator(most, steps=steps, integer=whole)
    ticks = [x for x in locator.tick_values(low, high) if low <= x <= high]
    raised = 0 if log or whole else exponent(low, high)
    axis.set_ticks(ticks, _labels(ticks, raised, log), minor=False)
    axis.set_ticks([], minor=True)
    tail = " ".join(filter(None, (power(raised) if raised else "", unit)))
    return f"{plain(words)}, {plain(tail)}" if tail else plain(words)


def _labels(ticks: list[float], raised: int, log: bool) -> list[str]:
    """Numbers at ticks over a power of ten, with the decimals that tell them apart."""
    if log:
        return [power(round(np.log10(x))) for x in ticks]
    short = [x / 10.0**raised for x in ticks]
    places = next(k for k in range(12) if all(abs(x - round(x, k)) < 1e-9 for x in short))
    return [f"{x:,.{places}f}".replace("-", "−") for x in short]


def _fits(axis: Any, pixels: float) -> bool:
    """Whether the numbers at an axis of so many pixels have room side by side."""
    axes, ticks = axis.axes, axis.get_majorticklocs()
    places = axes.transAxes.inverted().transform(
        axes.transData.transform([(x, axes.get_ylim()[0]) for x in ticks])
    )[:, 0]
    widest = max((len(label.get_text()) for label in axis.get_majorticklabels()), default=0)
    return bool(pixels * np.abs(np.diff(places)).min(initial=np.inf) > DIGIT * widest + 4)


def exponent(low: float, high: float) -> int:
    """Power of ten that goes to the axis's title, so that numbers at ticks are short."""
    largest = max(abs(low), abs(high))
    return 0 if 1e-2 <= largest < 2e4 or not largest else int(np.floor(np.log10(largest)))


def limits(values: np.ndarray, log: bool = False) -> tuple[float, float]:
    """Ends of an axis that shows all the numbers with a little air."""
    finite = values[np.isfinite(values) & ((values > 0) if log else True)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 10.0)
    if log:
        air = max((high / low) ** 0.04, 1.05)
        return low / air, high * air
    air = 0.04 * (high - low) or abs(high) * 0.05 or 1.0
    return low - air, high + air


def wants_log(values: np.ndarray) -> bool:
    """Whether numbers spread over so many decades that a linear axis would hide most."""
    finite = values[np.isfinite(values)]
    if not finite.size or finite.min() <= 0:
        return False
    low, middle, high = np.quantile(finite, [0.01, 0.5, 1.0])
    return bool(high / low > 50 or high / middle > 20)


def spread(axes: Any, places: np.ndarray, many: np.ndarray) -> None:
    """Least to most, 5 to 95 %, and median of many curves (curve, place)."""
    low, under, middle, over, high = np.quantile(many, [0, 0.05, 0.5, 0.95, 1], axis=0)
    for below, above in ((low, high), (under, over)):
        axes.fill_between(places, below, above, color=PEN["accent"], alpha=0.15, lw=0)
    axes.plot(places, middle, color=PEN["accent"], lw=2)


def marks(
    axes: Any, xs: np.ndarray, ys: np.ndarray, pen: str, radius: float, says: list[str]
) -> None:
    """Circles, each with a text on hovering."""
    for x, y, words in zip(xs, ys, says, strict=True):
        axes.plot(
            [x],
            [y],
            "o",
            ms=2 * radius,
            mfc=PEN[pen],
            mec=PEN["card"],
            mew=1,
            clip_on=False,
            zorder=4,
            gid=saying(words),
        )


def columns(
    axes: Any, edges: np.ndarray, heights: np.ndarray, says: list[str], gap: float = 0.0
) -> None:
    """Columns between edges (column + 1), each with a text on hovering; none of no height."""
    for left, right, height, words in zip(edges[:-1], edges[1:], heights, says, strict=True):
        if height > 0:
            width = right - left
            at = (left + gap * width, height, (1 - 2 * gap) * width)
            (column,) = axes.bar(*at, align="edge", color=PEN["accent"])
            column.set_gid(saying(words))


def cloud(
    axes: Any, xs: np.ndarray, ys: np.ndarray, pen: str = "muted", alpha: float = 0.42
) -> None:
    """Many points as one path: lines of no length with round ends, a tenth of marks' bytes."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    places = np.repeat(np.column_stack([xs, ys]), 2, axis=0)
    codes = np.tile([Path.MOVETO, Path.LINETO], len(xs))
    path = Path(places, codes)
    path.should_simplify = False  # that would drop lines of no length
    axes.add_patch(
        PathPatch(
            path,
            fill=False,
            ec=PEN[pen],
            lw=2.2,
            alpha=alpha,
            capstyle="round",
        )
    )


def remark(axes: Any, x: float, y: float, words: str, at: str, style: str = "remark") -> None:
    """Words in the plot, with a halo; `x`, `y` in pixels from its lower left corner."""
    across, down = _pixels(axes.figure)
    bold = {"color": PEN["ink"], "fontweight": "bold"} if style == "mark" else {}
    axes.figure.text(
        x / across,
        y / down,
        words,
        ha=at,
        gid=styled(style),
        fontsize=LETTERS,
        **{"color": PEN["muted"], **bold},
    )
