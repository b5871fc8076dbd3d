"""Errors of four-bar paths on paper: circles that meet, and nothing of the product."""

import numpy as np
from scipy.optimize import minimize_scalar

from tests.campaigns.printed_paths import NAMES, Case, Printed

#: Errors (root mean square) that differ by less than this share of the path's size are a tie.
TIE = 1e-10


def path(design, crank, side=1):
    """The coupler's point, where the crank is at angles from the fixed line: circles that meet."""
    r1, r2, r3, r4, cx, cy, x0, y0, th = design[:9]
    B = r2 * np.exp(1j * np.asarray(crank))
    line = r1 - B
    gap = np.abs(line)
    along = (r3**2 - r4**2 + gap**2) / (2 * gap)
    with np.errstate(invalid="ignore"):
        coupler = line / gap * (along + side * 1j * np.sqrt(r3**2 - along**2)) / r3
    spot = B + coupler * (cx + 1j * cy)
    return x0 + 1j * y0 + np.exp(1j * th) * spot


def turns_fully(design):
    """Grashof's rule for the crank, to rounding of printed digits."""
    r1, r2, r3, r4 = design[:4]
    others = np.array([r1, r3, r4])
    return bool(2 * others.max() + r2 - others.sum() <= 1e-6 * r1 and r2 <= others.min() + 1e-6)


def squares(case, design, start=0.0, side=1):
    """Sum of squares of a design's own distances, and whether the points are met in order.

    `start` is the crank's, of a stated timing; of a printed one that is not known the best.
    """
    if case.turns is not None:
        if start is None:
            grid = np.linspace(0, 2 * np.pi, 721)
            least = grid[np.argmin([_stated(case, design, x, side) for x in grid])]
            ends = (least - 0.02, least + 0.02)
            start = minimize_scalar(lambda x: _stated(case, design, x, side), bounds=ends).x
        return _stated(case, design, start, side), True
    turn = np.linspace(0, 2 * np.pi, 20001)[:-1]
    curve = path(design, turn, side)
    feet = np.array([turn[np.nanargmin(np.abs(curve - p))] for p in case.points])
    step = turn[1]
    for _ in range(60):
        three = feet + step * np.array([[-1.0], [0.0], [1.0]])
        far = np.abs(path(design, three, side) - case.points) ** 2
        feet = three[np.nanargmin(far, axis=0), np.arange(len(feet))]
        step *= 0.6
    return float((np.abs(path(design, feet, side) - case.points) ** 2).sum()), in_order(feet)


def in_order(feet):
    """Whether a crank passes its angles one after the other within a turn, either way round."""
    steps = np.angle(np.exp(1j * np.diff(feet)))
    ways = [
        np.where(sign * steps < -1e-6, 2 * np.pi + sign * steps, sign * steps) for sign in (1, -1)
    ]
    return any(way.sum() <= 2 * np.pi + 1e-3 for way in ways)


def _stated(case, design, start, side):
    return float((np.abs(path(design, start + case.turns, side) - case.points) ** 2).sum())


def printed(case: Case, one: Printed):
    """A printed design's error: with its own crank angles, and with the best."""
    start = one.start if case.start is None else case.start
    if one.start == 0.0 and case.start is None and not _has_start(one):
        start = None
    own = None
    if one.crank:
        own = float((np.abs(path(one.design, one.crank, one.side) - case.points) ** 2).sum())
    best, ordered = squares(case, one.design, start, one.side)
    return own, best if own is None else min(own, best), ordered


def needs_order(case):
    """Whether a printed design's own feet are in order: nearest ones at corners need not be."""
    return any(printed(case, one)[2] for one in case.printed)


def _has_start(one):
    """Whether a design comes with the crank's start: those by place and length do not."""
    return "Bulatović" not in one.who


def outside(case, design):
    """Names of what is outside the paper's ranges."""
    spans = [case.bars] * 4 + [case.rest] * 4
    return [
        name
        for name, value, (low, high) in zip(NAMES, design, spans, strict=False)
        if not low - 1e-9 <= value <= high + 1e-9
    ]


def compared(case, ours, theirs):
    """`better`, `tie` or `worse`, by root mean squares."""
    count = len(case.points)
    gap = np.sqrt(ours / count) - np.sqrt(theirs / count)
    if abs(gap) <= TIE * case.size:
        return "tie"
    return "better" if gap < 0 else "worse"


def is_met(case):
    """Whether printed designs meet the points but for rounding."""
    return min(printed(case, one)[1] for one in case.printed) < 1e-12 * case.size**2
