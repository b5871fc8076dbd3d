"""Positions that no machine has gone through: an angle that wraps, a spike of one sample."""

import numpy as np

from basepar_core.arrays import Array
from basepar_core.texts import plural

from .notes import Note

#: A step of an angle within this of a whole turn is a wrap where ordinary steps are below it too.
TURN = 0.5
#: A spike stands out of its four neighbours by more than this many times their spread, and by
#: this many deviations of the noise: by chance in fewer than one of 10⁹ normal samples.
SPREADS, DEVIATIONS = 3.0, 12.0
#: Steps below this share of the largest position are rounding of the numbers, not counts.
ROUNDING = 8 * float(np.finfo(float).eps)


def unwrapped(name: str, q: Array, notes: list[Note]) -> Array:
    """An angle (sample,), rad, with its wraps joined; missing samples stay so."""
    known = np.flatnonzero(np.isfinite(q))
    steps = np.abs(np.diff(q[known]))
    wraps = np.abs(steps - 2 * np.pi) < TURN
    if not wraps.any() or np.quantile(steps[~wraps], 0.99, method="lower") >= TURN:
        return q
    found = q.copy()
    turns = np.round(np.diff(q[known]) / (2 * np.pi)) * wraps
    found[known[1:]] -= 2 * np.pi * np.cumsum(turns)
    count = int(wraps.sum())
    text = (
        f"{name} jumps by a whole turn in {plural(count, 'place')}, as a counter that wraps: "
        f"joined"
    )
    notes.append(Note("wrapped", text))
    return found


def without_spikes(name: str, q: Array, notes: list[Note]) -> Array:
    """Positions (sample,) with single samples that lie far off their neighbours as missing."""
    known = np.flatnonzero(np.isfinite(q))
    if known.size < 8:
        return q
    y = q[known]
    # White noise in third differences has √20 of its deviation; smooth motion has next to none.
    noise = np.median(np.abs(np.diff(y, 3))) / 0.6745 / np.sqrt(20)
    # An encoder that mostly stays on its count shows none, yet flickers: rounding has 1/√12.
    steps = np.abs(np.diff(y))
    count = steps.min(initial=np.inf, where=steps > ROUNDING * np.abs(y).max())
    noise = max(noise, count / np.sqrt(12)) if np.isfinite(count) else noise
    around = np.stack([y[:-4], y[1:-3], y[3:-1], y[4:]])
    low, high = around.min(axis=0), around.max(axis=0)
    out = np.maximum(y[2:-2] - high, low - y[2:-2])
    far = np.flatnonzero(out > SPREADS * (high - low) + DEVIATIONS * noise) + 2
    if not far.size:
        return q
    found = q.copy()
    found[known[far]] = np.nan
    first = int(known[far[0]])
    text = (
        f"{name} leaves its neighbours by up to {out[far - 2].max():.3g} (rad or m) in "
        f"{plural(far.size, 'sample that stands alone', 'samples that stand alone')}, first row "
        f"{first + 2}; left out"
    )
    notes.append(Note("spikes", text))
    return found
