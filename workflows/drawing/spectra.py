"""Singular values of one observation matrix in double and in variable precision, and their chart.

What the low-mobility paper's Fig. 5 shows: where float64's values end in its own error, those of
variable precision go on to a ridge. Both are of the same W, on the same samples.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from basepar_core.base import PreciseParameters, spectrum, unit_columns
from basepar_core.dynamics import Observation
from basepar_core.texts import plot

from .mechanism import canvas
from .painting import COLOURS, INK

#: The paper's marks.
DOUBLE, PRECISE, BOTH = "*", "+", "#"


@dataclass(frozen=True)
class Spectra:
    """Decimal logarithms of W's singular values, descending; −inf for zero.

    Attributes
    ----------
    double, precise
        (parameter,) by float64 and by variable precision; of the latter those beyond `rank` are
        noise of its digits.
    rank
        By variable precision.
    digits
        Decimal digits of W that the latter was made with.
    samples
        Samples of the excitation that both W have.
    error
        log10 of a bound on float64's error of W in the 2-norm, hence of every singular value's
        (Weyl); smaller ones may be zero.
    """

    double: tuple[float, ...]
    precise: tuple[float, ...]
    rank: int
    digits: int
    samples: int
    error: float

    def hidden(self) -> tuple[int, ...]:
        """Numbers (from 1) of singular values that are not zero but below float64's error."""
        return tuple(k + 1 for k in range(self.rank) if self.precise[k] <= self.error)

    def document(self) -> dict[str, Any]:
        """As `basepar base --route all --json` prints it; null for zero."""
        return {
            "rank": self.rank,
            "digits": self.digits,
            "samples": self.samples,
            "error": 10**self.error,
            "log10_double": [x if math.isfinite(x) else None for x in self.double],
            "log10_precise": [x if math.isfinite(x) else None for x in self.precise],
        }


def of_samples(
    seen: Observation, picks: Sequence[int], precise: Sequence[float], rank: int, digits: int
) -> Spectra:
    """Spectra of W on some samples.

    Parameters
    ----------
    seen
        W in float64 along the whole excitation, one variant.
    picks
        Samples that variable precision used.
    precise
        Its log10 σ.
    rank, digits
        As in `Spectra`.
    """
    W = seen.W[0][list(picks)].reshape(1, -1, seen.W.shape[-1])
    found = spectrum(W, seen.error, seen.terms)
    # W's columns are wrong by `noise` at unit length, so W is by no more than its longest's share.
    longest = float(unit_columns(W, seen.terms)[1].max())
    with np.errstate(divide="ignore"):
        double = np.log10(found.singular_values[0])
    error = math.log10(float(found.noise[0]) * longest)
    return Spectra(tuple(map(float, double)), tuple(precise), rank, digits, len(picks), error)


def of_route(seen: Observation, found: PreciseParameters) -> Spectra:
    """Spectra of the W that the precise route used."""
    logs = [float(mpmath.log10(x)) if x else -math.inf for x in found.sigma]
    return of_samples(seen, found.picks, logs, found.rank, found.observed_digits)


def chart(spectra: Spectra, width: int = 100, height: int = 14) -> list[str]:
    """The spectra as lines of text: number of the singular value across, decades up.

    Values below the lowest line (zeros, and noise of variable precision) stand on it.
    """
    count = len(spectra.precise)
    columns = min(count * max(1, 60 // count), width - 28)
    top, bottom = _range(spectra)
    step = math.ceil((top - bottom) / (height - 1))  # whole decades a line
    bottom = top - step * (height - 1)

    def row(x: float) -> int:
        return round((top - max(x, bottom)) / step) if math.isfinite(x) else height - 1

    grid = [[" "] * columns for _ in range(height)]
    level = row(spectra.error)
    grid[level] = ["-"] * columns
    for values, mark in ((spectra.double, DOUBLE), (spectra.precise, PRECISE)):
        for k, x in enumerate(values):
            line, place = grid[row(x)], k * columns // count
            line[place] = BOTH if line[place] not in (" ", "-", mark) else mark
    edge = spectra.rank * columns // count
    lines = []
    for k, line in enumerate(grid):
        label = f"{'≤ ' if k == height - 1 else ''}1e{top - k * step:+d}"
        shown = "".join(line[:edge]) + "│" + "".join(line[edge:])
        note = "  float64's error" if k == level else ""
        lines.append(f"{label:>8} {shown}{note}".rstrip())
    under = f"σ_{spectra.rank}"
    lines.append(" " * max(0, 9 + edge - len(under) // 2) + under)
    return lines


def _range(spectra: Spectra) -> tuple[int, int]:
    """Decades to show: down to what float64 shows and three below the last of the rank."""
    top = math.ceil(spectra.precise[0])
    last = spectra.precise[spectra.rank - 1] if spectra.rank else top
    shown = [x for x in spectra.double if math.isfinite(x) and x > spectra.precise[0] - 20]
    return top, math.floor(min([last - 3, spectra.error - 1, *shown]))


def spectra_figure(spectra: Spectra, title: str) -> Any:
    """The spectra as a matplotlib figure, after the low-mobility paper's Fig. 5.

    Raises
    ------
    PlotError
        Matplotlib is not installed.
    """
    figure = canvas(7.2, 4.6)
    axes = figure.add_subplot()
    lowest = min(x for x in (*spectra.double, *spectra.precise) if math.isfinite(x))
    floor = math.floor(lowest) - 2.0
    _plot(axes, spectra, floor)
    _annotate(axes, spectra, floor)
    axes.set_ylim(floor - 1, spectra.precise[0] + 2)
    axes.yaxis.set_major_formatter(lambda x, _: f"$10^{{{x:.0f}}}$")
    axes.set_xlabel("number of the singular value")
    axes.set_ylabel("singular value of W")
    axes.set_title(plot(title), color=INK, fontsize=11)
    axes.grid(True, color="#e6e6e6", lw=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=9, loc="center left" if spectra.rank > 30 else "best")
    return figure


def _plot(axes: Any, spectra: Spectra, floor: float) -> None:
    """The singular values of both arithmetics; zeros stand on the floor."""
    numbers = np.arange(1, len(spectra.precise) + 1)
    vp = f"variable precision, {spectra.digits} digits"
    for values, mark, label, colour, size in (
        (spectra.precise, "+", vp, COLOURS[0], 7),
        (spectra.double, "*", "double precision", COLOURS[1], 5),
    ):
        logs = np.array(values)
        there = np.isfinite(logs)
        axes.plot(numbers[there], logs[there], mark, ms=size, color=colour, label=label, mew=1.2)
        zeros = numbers[~there]
        axes.plot(zeros, np.full(zeros.size, floor), "v", ms=4, color=colour, mfc="none")


def _annotate(axes: Any, spectra: Spectra, floor: float) -> None:
    """Float64's error, the rank, and what a mark on the floor is."""
    axes.axhline(spectra.error, color=INK, lw=0.8, ls=(0, (6, 3)))
    axes.annotate(
        "error of double precision, at most",
        (1, spectra.error),
        xytext=(0, -10),
        textcoords="offset points",
        color=INK,
        fontsize=8,
    )
    axes.axvline(spectra.rank + 0.5, color=INK, lw=0.8, ls=":")
    axes.annotate(
        f"rank {spectra.rank}",
        (spectra.rank + 0.5, spectra.precise[0]),
        xytext=(5, 0),
        textcoords="offset points",
        color=INK,
        fontsize=9,
        va="top",
    )
    if not np.isfinite([*spectra.double, *spectra.precise]).all():
        axes.annotate(
            "▽ zero", (1, floor), textcoords="offset points", xytext=(0, 4), fontsize=8, color=INK
        )
