"""Plots as light inline SVG: colours from the page's stylesheet, text in the page's own font.

Written out rather than drawn by a plotting library: a plot is a few kilobytes, follows light,
dark and print by CSS classes, and its text stays text. A scatter of a thousand points is one
path (round caps on lines of no length).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from markupsafe import Markup

from .mathml import letter_and_index
from .numbers import brief, power

#: Width of a digit at a tick.
DIGIT = 7.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Scale:
    """From numbers to places along an axis of the plot.

    `low`, `high` are the ends in numbers, `start`, `end` in user units; `log` for log₁₀.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, values: np.ndarray | float) -> np.ndarray:
        """Places; numbers beyond the ends go to the ends."""
        inside = np.clip(np.asarray(values, float), self.low, self.high)
        part = (self._measure(inside) - self._measure(self.low)) / (
            self._measure(self.high) - self._measure(self.low)
        )
        return self.start + part * (self.end - self.start)

    def _measure(self, values: np.ndarray | float) -> np.ndarray:
        return np.log10(values) if self.log else np.asarray(values, float)

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Round numbers, at most so many, with their labels."""
        return self._decades(most) if self.log else self._steps(most)

    def _decades(self, most: int) -> list[tuple[float, str]]:
        first, last = math.ceil(np.log10(self.low) - 1e-9), math.floor(np.log10(self.high) + 1e-9)
        step = next(k for k in (1, 2, 3, 5, 10, 20, 50, 100, 500) if (last - first) // k < most)
        exponents = range(math.ceil(first / step) * step, last + 1, step)
        return [(10.0**k, power(k)) for k in exponents]

    def _steps(self, most: int) -> list[tuple[float, str]]:
        decade = 10.0 ** math.floor(math.log10((self.high - self.low) / most) - 1)
        found: list[float] = []
        places = 0
        for size in (1, 2, 5, 10, 20, 25, 50, 100):
            step = size * decade
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            if last - first < 1 and found:
                break  # a single tick tells no scale: rather one too many
            found = [k * step for k in range(first, last + 1)]
            finest = decade if size == 25 else step
            places = max(0, self.exponent - math.floor(math.log10(finest) + 1e-9))
            if len(found) <= most:
                break
        unit = 10.0**self.exponent
        return [(tick, f"{tick / unit:,.{places}f}".replace("-", "−")) for tick in found]

    @property
    def exponent(self) -> int:
        """Power of ten that goes to the axis's title, so that numbers at ticks are short."""
        largest = max(abs(self.low), abs(self.high))
        if self.log or 1e-2 <= largest < 2e4:
            return 0
        return math.floor(math.log10(largest))

    def title(self, words: Markup | str, unit: str) -> Markup:
        """The axis's title: words, power of ten, unit."""
        tail = " ".join(filter(None, (power(self.exponent) if self.exponent else "", unit)))
        return Markup("{}, {}" if tail else "{}").format(words, tail)


def scale_of(values: np.ndarray, start: float, end: float, log: bool = False) -> Scale:
    """A scale that shows all the numbers with a little air."""
    finite = values[np.isfinite(values) & ((values > 0) if log else True)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 10.0)
    if log:
        air = max((high / low) ** 0.04, 1.05)
        return Scale(low / air, high * air, start, end, log=True)
    air = 0.04 * (high - low) or abs(high) * 0.05 or 1.0
    return Scale(low - air, high + air, start, end)


def wants_log(values: np.ndarray) -> bool:
    """Whether numbers spread over so many decades that a linear axis would hide most."""
    finite = values[np.isfinite(values)]
    if not finite.size or finite.min() <= 0:
        return False
    low, middle, high = np.quantile(finite, [0.01, 0.5, 1.0])
    return bool(high / low > 50 or high / middle > 20)


@dataclass
class Plot:
    """A plot under construction; `x` and `y` are its scales.

    Attributes
    ----------
    width, height
        Of the drawing in user units, about CSS pixels.
    label
        What a screen reader says.
    """

    width: float
    height: float
    x: Scale
    y: Scale
    label: str
    parts: list[Markup] = field(default_factory=list)

    def x_axis(
        self, title: Markup | str, most: int, unit: str = "", at: Sequence[float] = ()
    ) -> None:
        """Line, ticks (at most so many, or at given numbers) and title below."""
        bottom = self.y.start
        found = [(tick, brief(tick)) for tick in at] or self._fitting(most)
        for value, text in found:
            place, half = float(self.x(value)), len(text) * DIGIT / 2
            self._segment(place, bottom, place, bottom + 4, "axis")
            inside = min(place, self.width - half)
            self.text(inside, bottom + 15, text, "tick", "middle")
        self._segment(self.x.start, bottom, self.x.end, bottom, "axis")
        middle = (self.x.start + self.x.end) / 2
        self.text(middle, self.height - 4, self.x.title(title, unit), "name", "middle")

    def _fitting(self, most: int) -> list[tuple[float, str]]:
        """Ticks whose labels have room side by side."""
        for count in range(most, 1, -1):
            found = self.x.ticks(count)
            places = [float(self.x(value)) for value, _ in found]
            room = min(np.diff(places), default=np.inf)
            if room > DIGIT * max((len(text) for _, text in found), default=0) + 4:
                return found
        return [found[0], found[-1]]

    def y_axis(self, title: Markup | str, most: int, unit: str = "") -> None:
        """Grid lines with numbers on the left, the title above them."""
        for value, text in self.y.ticks(most):
            at = float(self.y(value))
            self._segment(self.x.start, at, self.x.end, at, "grid")
            self.text(self.x.start - 6, at + 3.5, text, "tick", "end")
        self.text(2, 11, self.y.title(title, unit), "name", "start")

    def text(self, x: float, y: float, text: Markup | str, style: str, anchor: str) -> None:
        """Words at a place."""
        self.parts.append(
            Markup('<text x="{}" y="{}" class="{}" text-anchor="{}">{}</text>').format(
                _short(x), _short(y), style, anchor, text
            )
        )

    def line(self, xs: np.ndarray, ys: np.ndarray, style: str) -> None:
        """A line through points; points that are not finite break it."""
        pen, steps = "M", []
        for x, y in zip(self.x(xs), self.y(ys), strict=True):
            if not (math.isfinite(x) and math.isfinite(y)):
                pen = "M"
                continue
            steps.append(f"{pen}{_short(x)} {_short(y)}")
            pen = "L"
        self._path("".join(steps), style)

    def band(self, xs: np.ndarray, low: np.ndarray, high: np.ndarray, style: str) -> None:
        """The area between two lines."""
        places = self.x(xs)
        there = [f"{_short(x)} {_short(y)}" for x, y in zip(places, self.y(high), strict=True)]
        back = [f"{_short(x)} {_short(y)}" for x, y in zip(places, self.y(low), strict=True)]
        self._path(f"M{'L'.join(there)}L{'L'.join(back[::-1])}Z", style)

    def cloud(self, xs: np.ndarray, ys: np.ndarray, style: str) -> None:
        """Many points as one path."""
        good = np.isfinite(xs) & np.isfinite(ys)
        places = zip(self.x(xs[good]), self.y(ys[good]), strict=True)
        self._path("".join(f"M{_short(x)} {_short(y)}h0" for x, y in places), style)

    def marks(
        self,
        xs: np.ndarray,
        ys: np.ndarray,
        style: str,
        radius: float = 3.5,
        says: Sequence[str] = (),
    ) -> None:
        """Circles, each with a text on hovering."""
        said = [*says, *[""] * (len(xs) - len(says))]
        for x, y, words in zip(self.x(xs), self.y(ys), said, strict=True):
            inside = Markup("<title>{}</title>").format(words) if words else Markup()
            self.parts.append(
                Markup('<circle cx="{}" cy="{}" r="{}" class="{}">{}</circle>').format(
                    _short(x), _short(y), radius, style, inside
                )
            )

    def box(self, x: Point, y: Point, style: str, says: str = "") -> None:
        """A rectangle between two numbers each way."""
        (left, right), (low, high) = self.x(np.array(x)), self.y(np.array(y))
        inside = Markup("<title>{}</title>").format(says) if says else Markup()
        self.parts.append(
            Markup('<rect x="{}" y="{}" width="{}" height="{}" class="{}">{}</rect>').format(
                _short(min(left, right)),
                _short(min(low, high)),
                _short(abs(right - left)),
                _short(abs(high - low)),
                style,
                inside,
            )
        )

    def upright(self, value: float, style: str) -> None:
        """A line from bottom to top."""
        at = float(self.x(value))
        self._segment(at, self.y.start, at, self.y.end, style)

    def level(self, value: float, style: str) -> None:
        """A line from left to right."""
        at = float(self.y(value))
        self._segment(self.x.start, at, self.x.end, at, style)

    def _segment(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self._path(f"M{_short(x1)} {_short(y1)}L{_short(x2)} {_short(y2)}", style)

    def _path(self, steps: str, style: str) -> None:
        if steps:
            self.parts.append(Markup('<path d="{}" class="{}"></path>').format(steps, style))

    def svg(self) -> Markup:
        """The plot."""
        return Markup(
            '<svg class="plot" role="img" aria-label="{}" viewBox="0 0 {} {}" '
            'style="max-width:{}px">{}</svg>'
        ).format(
            self.label,
            _short(self.width),
            _short(self.height),
            _short(1.28 * self.width),
            Markup("").join(self.parts),
        )


def both_widths(draw: Callable[[float], Markup], wide: float = 720, narrow: float = 340) -> Markup:
    """A plot drawn for the desk and for the phone, so that text keeps its size on both."""
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(
        draw(wide), draw(narrow)
    )


def indexed(name: str) -> Markup:
    """A symbol within a plot: `lx1` with its index lowered, as the formulas have it."""
    letter, index = letter_and_index(name)
    shown = Markup('<tspan class="sym">{}</tspan>').format(letter)
    if not index:
        return shown
    # The last, empty span lifts what follows back onto the line.
    low = Markup('<tspan dy="3" class="index">{}</tspan><tspan dy="-3">\u200b</tspan>')
    return shown + low.format(index)


def _short(value: float) -> str:
    """A place to a tenth of a unit."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
