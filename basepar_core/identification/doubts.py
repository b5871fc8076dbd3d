"""What to doubt about an identification: each with what, measured, and what to do."""

from typing import TYPE_CHECKING

import numpy as np

from ..reduction import noise_levels
from ..spatial import Array
from .measurement import Note

if TYPE_CHECKING:
    from .identify import Identification

#: Condition of the weighted W with unit columns: Gautier & Khalil ask for less than a hundred;
#: beyond a thousand errors of a percent in W are errors of the size of the parameters.
ILL = 1e3
#: Relative torque error beyond which the model does not explain the torque.
UNEXPLAINED = 0.3
#: Residuals larger than the stated noise by this factor have something else in them.
ABOVE_NOISE = 1.5
#: Intervals that are too narrow by this factor are said to be.
CORRELATED = 1.2
#: Rows per parameter below which intervals rest on little.
FEW = 10
#: Rows far out (weight below a third), as a share of all.
OUTLIERS = 0.01


def doubts(found: "Identification", groups: Array) -> tuple[Note, ...]:
    """Notes on an identification; `groups` (row,) says which coordinate a row belongs to."""
    fit, notes = found.estimate, []
    rows, width = fit.residual.size, fit.values.size
    if rows < FEW * width:
        text = f"{rows} rows for {width} parameters: record longer, at least {FEW} rows for each"
        notes.append(Note("few samples", text))
    if fit.condition > ILL:
        text = (
            f"the condition of W is {fit.condition:.2g} (good is below 100): the motion hardly "
            f"tells some parameters apart. Record a richer one (`basepar excite` designs one)"
        )
        notes.append(Note("unexciting", text))
    if found.training.relative_error > UNEXPLAINED:
        text = (
            f"the model leaves {found.training.relative_error:.0%} of the torque unexplained: "
            f"friction or springs without columns (--with)? a wrong unit, sign or geometry?"
        )
        notes.append(Note("unexplained", text))
    notes += _above_noise(found)
    stretch = inflation(fit.residual, groups)
    if stretch > CORRELATED:
        text = (
            f"residuals follow one another: deviations may be up to {stretch:.2g} times larger "
            f"than stated. What is left is model error or filtered noise, not white noise"
        )
        notes.append(Note("correlated", text))
    far = float((fit.weights < 1 / 3).mean())
    if far > OUTLIERS:
        notes.append(Note("outliers", f"{far:.1%} of the rows are far out and hardly counted"))
    vague = [
        name
        for name, value, half in zip(found.names, fit.values, fit.half_widths(), strict=True)
        if abs(value) < half
    ]
    if vague:
        text = f"cannot be told from zero: {', '.join(vague)} (--essential leaves such out)"
        notes.append(Note("insignificant", text))
    return tuple(notes)


def _above_noise(found: "Identification") -> list[Note]:
    stated = noise_levels(found.model.mechanism)
    if stated is None:
        return []
    ratio = found.estimate.sigma / stated
    return [
        Note(
            "above noise",
            f"residuals of {name} are {x:.2g} times the stated noise: the model, the motion or "
            f"the stated noise is off",
        )
        for name, x in zip(found.model.mechanism.coordinates, ratio, strict=True)
        if x > ABOVE_NOISE
    ]


def inflation(residual: Array, groups: Array) -> float:
    """By how much correlated residuals widen deviations of slowly varying columns, at most.

    √(1 + 2Σρ), ρ summed until it is no more than chance; the worst coordinate's.
    """
    worst = 1.0
    for g in range(int(groups.max()) + 1):
        e = residual[groups == g]
        n, size = e.size, float(e @ e)
        if n < FEW or size == 0:
            continue
        spectrum = np.fft.rfft(e, 2 * n)
        rho = np.fft.irfft(np.abs(spectrum) ** 2)[1 : n // 2] / size
        below = np.flatnonzero(rho < 2 / np.sqrt(n))
        total = rho[: below[0] if below.size else None].sum()
        worst = max(worst, float(np.sqrt(1 + 2 * total)))
    return worst
