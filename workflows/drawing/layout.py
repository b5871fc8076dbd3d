"""Where to look from, and where names go: geometry of drawings, without any plotting."""

from collections.abc import Sequence

import numpy as np

#: Elevation of the eye above the horizon.
_DOWN = np.radians(22)
_AZIMUTHS = np.radians(145 + np.arange(0, 360, 15))
#: Ways out of an anchor, and how far, in points.
_WAYS = np.radians(np.arange(-45, 315, 30))
_FAR = (7.0, 13.0, 20.0, 30.0)
#: A letter's width and a line's height, shares of the font's size.
_LETTER, _LINE = 0.62, 1.25


def view_of(points: np.ndarray) -> np.ndarray:
    """Directions of paper in the world (2, 3): right and up.

    Of some parallel projections from a fixed height the one that keeps points apart best.

    Parameters
    ----------
    points
        (3, point) in the world.
    """
    best, view = -np.inf, np.empty((2, 3))
    size = np.ptp(points, axis=1).max()
    pairs = np.triu_indices(points.shape[1], 1)
    apart = np.linalg.norm(points[:, pairs[0]] - points[:, pairs[1]], axis=0) > 1e-6 * size
    for azimuth in _AZIMUTHS:
        right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        forward = np.array([np.cos(azimuth), np.sin(azimuth), -np.tan(_DOWN)]) * np.cos(_DOWN)
        paper = np.stack([right, np.cross(right, forward)])
        seen = paper @ points
        gaps = np.linalg.norm(seen[:, pairs[0]] - seen[:, pairs[1]], axis=0)[apart]
        score = np.log(gaps / size + 0.02).sum() if size else 0.0
        if score > best + 1e-6:  # of equally good ones the first, whatever the rounding
            best, view = score, paper
    return view


def label_size(text: str, font: float) -> np.ndarray:
    """Width and height of a line of text, roughly, in points."""
    return np.array([_LETTER * font * len(text), _LINE * font])


def dotted(lines: Sequence[np.ndarray], step: float = 4.0) -> np.ndarray:
    """Points along polylines, (point, 2) from each (2, corner)."""
    dots = [np.empty((0, 2))]
    for line in lines:
        for a, b in zip(line.T[:-1], line.T[1:], strict=True):
            count = 1 + int(np.linalg.norm(b - a) / step)
            dots.append(a + (b - a) * (np.arange(count) / count)[:, None])
        dots.append(line.T[-1:])
    return np.concatenate(dots)


def place_labels(
    anchors: Sequence[np.ndarray], sizes: Sequence[np.ndarray], obstacles: np.ndarray
) -> list[np.ndarray]:
    """Offsets of labels' centres from their anchors.

    One after the other each goes where it covers least of the drawing and of the labels before
    it, and not far. All in points of paper.

    Parameters
    ----------
    anchors, sizes
        (2,) each.
    obstacles
        (point, 2) of what should stay visible.
    """
    boxes: list[tuple[np.ndarray, np.ndarray]] = []
    offsets = []
    for anchor, size in zip(anchors, sizes, strict=True):
        best, chosen = np.inf, np.zeros(2)
        for far in _FAR:
            for way in _WAYS:
                out = np.array([np.cos(way), np.sin(way)])
                offset = out * (far + size / 2)
                centre = anchor + offset
                covered = (np.abs(obstacles - centre) < size / 2 + 1).all(axis=1).sum()
                overlap = sum(
                    np.prod(np.maximum(0, (size + other) / 2 + 1 - np.abs(centre - there)))
                    for there, other in boxes
                )
                cost = covered + 0.3 * overlap + 0.15 * far
                if cost < best - 1e-6:
                    best, chosen = cost, offset
        boxes.append((anchor + chosen, size))
        offsets.append(chosen)
    return offsets
