"""Diagnostics of an identification: each with what, measured, and what to do."""

from typing import TYPE_CHECKING

import numpy as np

from basepar_core.arrays import Array
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import noise_levels
from basepar_core.texts import plural

from .compare import Likeness
from .notes import Note

if TYPE_CHECKING:
    from .result import Identification

#: Condition of the weighted W with unit columns: Gautier & Khalil ask for less than a hundred;
#: beyond a thousand errors of a percent in W are errors of the size of the parameters.
ILL = 1e3
#: Relative torque error beyond which the model does not explain the torque.
UNEXPLAINED = 0.3
#: Residuals larger than the stated noise by this factor have something else in them.
ABOVE_NOISE = 1.5
#: Intervals that are too narrow by this factor are reported.
CORRELATED = 1.2
#: Rows per parameter below which intervals rest on little.
FEW = 10
#: Rows far out (weight below a third), as a share of all; and one alone, in its σ: normal noise
#: has it once in 10⁹.
OUTLIERS, ALONE = 0.01, 6.0
#: Correlation of measured torque with that of the file's inertias below which they are unlike.
ALIKE = 0.95
#: … and of one coordinate's, below which its sign is in question.
AGAINST = -0.5
#: … and how many times larger or smaller it may be where it is alike: a payload is not as heavy,
#: and few gears have a lower ratio.
SCALED = 5.0
#: Gears of higher ratios are few, and then a unit is looked for farther away.
HIGH, CLOSE, VAGUE = 300.0, 1.04, 1.5
#: What units a factor between measured and foretold torque may come from.
_UNITS = {
    1e6: "is a length of the file in m that is written as mm",
    1e3: "is the column in N mm, or a mass of the file in kg that is written as g",
    100.0: "is the column in N cm",
    180 / np.pi: "is the motion in rad that is given as deg",
    1 / 9.81: "is the column in kgf m, or a mass of the file a weight in N",
    np.pi / 30: "are velocities in rpm",
    np.pi / 180: "is the motion in deg",
    1e-3: "is the column in kN m, or a mass of the file in g that is written as kg",
    1e-6: "is a length of the file in mm that is written as m",
}


def doubts(found: "Identification", groups: Array, likeness: Likeness | None) -> tuple[Note, ...]:
    """Notes on an identification.

    Parameters
    ----------
    found
        The identification.
    groups
        (row,): which coordinate a row belongs to.
    likeness
        As `compare.likeness` has it.
    """
    fit, notes = found.estimate, []
    rows, width = fit.residual.size, fit.values.size
    if rows < FEW * width:
        text = (
            f"{plural(rows, 'row')} for {plural(width, 'parameter')}: record longer, at least "
            f"{FEW} rows for each"
        )
        notes.append(Note("few samples", text))
    if fit.condition > ILL:
        text = (
            f"the condition of W is {fit.condition:.2g} (good is below 100): the motion hardly "
            f"tells some parameters apart. Record a richer one (`basepar excite` designs one)"
        )
        notes.append(Note("unexciting", text))
    notes += of_the_torque(
        found.model.mechanism, found.training.relative_error, likeness, fit.sigma
    )
    stretch = 1.0 if fit.blocks else inflation(fit.residual, groups)
    if stretch > CORRELATED:
        text = (
            f"residuals follow one another: deviations may be up to {stretch:.2g} times larger "
            f"than stated. What is left is model error or filtered noise, not white noise"
        )
        notes.append(Note("correlated", text))
    notes += _outliers(found, groups)
    # Of parameters that are not zero; with the stated noise, since residuals above it are not the
    # motion's fault.
    level = noise_levels(found.model.mechanism)
    share = 1.0 if level is None else min(1.0, float((level / fit.sigma).max()))
    blind = [
        name
        for name, deviation, value in zip(found.names, fit.deviations, found.stated, strict=True)
        if value != 0 and share * deviation > abs(value)
    ]
    if blind:
        text = (
            f"the motion says next to nothing about {', '.join(blind)}: the deviation is above "
            f"the file's value. Record a richer one (`basepar excite` designs one)"
        )
        notes.append(Note("unexciting", text))
    vague = [
        name
        for name, value, half in zip(found.names, fit.values, fit.half_widths(), strict=True)
        if abs(value) < half
    ]
    if vague:
        text = f"cannot be told from zero: {', '.join(vague)} (`essential=` leaves such out)"
        notes.append(Note("insignificant", text))
    return tuple(notes)


def _outliers(found: "Identification", groups: Array) -> list[Note]:
    """Rows far out: hardly counted where irls found them, and pulling at the result elsewhere."""
    fit = found.estimate
    # What is below the stated noise is far out of nothing that matters.
    level = noise_levels(found.model.mechanism)
    sigma = fit.sigma if level is None else np.maximum(fit.sigma, level)
    size = np.abs(fit.residual) / sigma[groups]
    if found.method == "irls":
        far = int((fit.weights < 1 / 3).sum())
        if far > OUTLIERS * size.size or size.max() > ALONE:
            be = "is" if far == 1 else "are"
            text = (
                f"{far} of {plural(size.size, 'row')} {be} far out (up to {size.max():.2g} σ) "
                f"and hardly"
            )
            return [Note("outliers", f"{text} counted")]
    elif size.max() > ALONE:
        far = int((size > ALONE).sum())
        text = (
            f"{far} of {plural(size.size, 'row')} {'is' if far == 1 else 'are'} more than "
            f"{ALONE:g} σ off, "
            f"up to {size.max():.2g}: `method=irls` lets them count less"
        )
        return [Note("outliers", text)]
    return []


def of_the_torque(
    mechanism: Mechanism, error: float, likeness: Likeness | None, sigma: Array
) -> list[Note]:
    """Notes on how a full model explains measured torques.

    Parameters
    ----------
    mechanism
        With or without stated noise.
    error
        ‖τ − W φ‖/‖τ‖.
    likeness
        As in `doubts`.
    sigma
        (coordinate,): standard deviation of the residuals, N m or N.
    """
    notes = []
    if error > UNEXPLAINED:
        text = (
            f"the model leaves {error:.0%} of the torque unexplained: friction or springs without "
            f"columns (`with=`)? a wrong unit, sign or geometry?"
        )
        notes.append(Note("unexplained", text))
    same = np.ones(len(sigma))
    alike, each, factors = likeness or Likeness(1.0, same, same)
    for name, one, factor in zip(mechanism.coordinates, each, factors, strict=True):
        if one > ALIKE and not 1 / SCALED < factor < SCALED:
            text = (
                f"tau.{name} is {factor:.3g} times what the file's inertias give for this motion, "
                f"and follows it otherwise (correlation {one:.3f}): "
                f"{_scaled_by(factor, mechanism.value(name).is_length)}"
            )
            notes.append(Note("scale", text))
        if one < AGAINST:
            text = (
                f"tau.{name} runs against what the file's inertias give for this motion "
                f"(correlation {one:.2f}): is its sign turned round, or that of {name}?"
            )
            notes.append(Note("sign", text))
    if alike < ALIKE:
        text = (
            f"what the file's inertias give for this motion has a correlation of {alike:.2f} "
            f"with the measured torque (1: alike): the record of another mechanism? a sign or the "
            f"zero of a position? friction without columns? or inertias in the file that are far "
            f"off"
        )
        notes.append(Note("unlike the file", text))
    stated = noise_levels(mechanism)
    ratio = np.zeros(len(sigma)) if stated is None else sigma / stated
    for name, x in zip(mechanism.coordinates, ratio, strict=True):
        if x > ABOVE_NOISE:
            text = (
                f"residuals of {name} are {x:.2g} times the stated noise: the model, the motion "
                f"or the stated noise is off"
            )
            notes.append(Note("above noise", text))
    return notes


def _scaled_by(factor: float, is_force: bool) -> str:
    """What a torque that is `factor` times the file's may come from: a unit first, then a gear."""
    gear = factor if factor > 1 else 1 / factor
    ratio = min(_UNITS, key=lambda one: abs(np.log(factor / one)))
    close = CLOSE if gear < HIGH else VAGUE  # inertias may be off by half, and gears are 30 to 160
    units = _UNITS[ratio] if 1 / close < factor / ratio < close else ""
    column = "divide" if factor > 1 else "multiply"
    geared = f"on the other side of a gear of {gear:.3g} ({column} the column by it)"
    if units:
        units = units.replace("N mm", "mN").replace(" m,", ",") if is_force else units
        return f"{units} ({ratio:.3g} times)? or is it measured {geared}?"
    if gear >= HIGH:
        return (
            f"is a mass, a length or the column in another unit (g, mm, N mm), or is it measured "
            f"{geared}?"
        )
    return f"is it measured {geared}?"


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
