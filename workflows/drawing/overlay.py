"""What is drawn over a planar mechanism: cognates of its four-bar, instant centres, targets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

#: Spots farther away than this share of the mechanism's size are left out of the drawing.
FAR = 1.0
INK_OVER = "#7A5195"
#: Of one target after the other.
_MARKS = "osD^v"


@dataclass(frozen=True)
class Overlay:
    """Lines and spots in the ground's frame, m.

    Attributes
    ----------
    bars
        Four-bars: their pins (4, 2), and the point that they guide (2,).
    spots
        Places (2,) by name.
    targets
        Points (point, 2) that a path is to meet, by the metric of that.
    """

    bars: Sequence[tuple[np.ndarray, np.ndarray]] = ()
    spots: Mapping[str, np.ndarray] | None = None
    targets: Mapping[str, np.ndarray] = field(default_factory=dict)

    def extent(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """(2, corner) of what is drawn, of a mechanism between two corners."""
        near = [*self._near(low, high).values()]
        corners = [
            low,
            high,
            *near,
            *(spot for pins, point in self.bars for spot in (*pins, point)),
            *(spot for points in self.targets.values() for spot in points),
        ]
        return np.transpose(corners)

    def _near(self, low: np.ndarray, high: np.ndarray) -> dict[str, np.ndarray]:
        reach = FAR * float((high - low).max())
        return {
            name: spot
            for name, spot in (self.spots or {}).items()
            if np.isfinite(spot).all()
            and (spot > low - reach).all()
            and (spot < high + reach).all()
        }

    def paint(self, axes: Any, low: np.ndarray, high: np.ndarray) -> None:
        """Cognates dashed, centres as crosses with their names, a target as rings.

        Of several targets each has marks of its own, and the metric's name.
        """
        look = {"color": INK_OVER, "zorder": 6.0}
        offset = {"xytext": (6, -10), "textcoords": "offset points"}
        for (name, points), mark in zip(self.targets.items(), cycle(_MARKS), strict=False):
            axes.plot(*points.T, ls="", marker=mark, ms=6, mfc="none", mew=1.4, **look)
            if len(self.targets) > 1:
                axes.annotate(name, points[0], fontsize=7, **offset, **look)
        for pins, point in self.bars:
            _, A, B, _ = pins
            axes.plot(*pins.T, ls="--", lw=1.6, marker="o", ms=4, mfc="white", **look)
            axes.plot(*np.transpose([A, point, B]), ls="--", lw=1.0, **look)
        for spot, names in self._grouped(low, high):
            axes.plot(*spot, marker="x", ms=6, mew=1.4, **look)
            axes.annotate(", ".join(names), spot, fontsize=7, **offset, **look)

    def _grouped(self, low: np.ndarray, high: np.ndarray) -> list[tuple[np.ndarray, list[str]]]:
        """Spots that are one, with all their names."""
        same = 1e-6 * float((high - low).max())
        found: list[tuple[np.ndarray, list[str]]] = []
        for name, spot in self._near(low, high).items():
            there = next((one for one in found if np.abs(one[0] - spot).max() < same), None)
            there[1].append(name) if there else found.append((spot, [name]))
        return found
