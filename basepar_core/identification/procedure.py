"""From a record to base parameters: smoothing, W, least squares, and diagnostics.

Gautier & Khalil, "Identification" in Dynamics of Serial Robotic Manipulators; for closed loops
Raza & al. as in `papers` (coordinate partitioning): the coordinates and their torques are
measured, everything else follows from closure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.arrays import Array
from basepar_core.base import CLEAR, OPERATIONS, BaseParameters, extend, symbolic
from basepar_core.dynamics import Column, Model, Observation
from basepar_core.errors import UsageError
from basepar_core.mechanism import Mechanism
from basepar_core.texts import plural

from .compare import likeness
from .diagnostics import doubts
from .essential import CHOOSERS, essential
from .estimate import METHODS
from .measurement import Measurement
from .motion_regressor import observe_motion
from .notes import Note
from .observed import counting, observe_record
from .omitted import Without, find_omitted, without_guesses
from .prediction import laws_of, predict
from .preparation import prepare_record
from .regression import Fitted, Part, Regression, Searches, fit
from .result import Identification, Prepared, Searched, Validation
from .shapes import found_columns, search, searched, slopes

#: Deviations: of white noise, or by resampling blocks of the record.
DEVIATIONS = ("white", "blocks")


@dataclass(frozen=True)
class Choices:
    """How to identify.

    Attributes
    ----------
    method
        ols, weighted, irls or iv (`estimate`).
    cutoff
        Hz, of the positions' smoothing; None: chosen from the data, or the low-pass'.
    lowpass
        Hz, of the same filter on torque and on every column of W, whose rows are then as many as
        it leaves independent; None: rows as measured.
    known
        Base parameters (by φ₁'s name) that are known, SI: moved to the right-hand side.
    essential
        Keep only as many parameters as this record is worth: by a word of `CHOOSERS` (True: bic),
        or so many.
    delay
        s by which the measured torque follows the motion; None: looked for.
    deviations
        white, or blocks (`blocks`); None: blocks where rows are low-passed, or of iv.
    """

    method: str = "weighted"
    cutoff: float | None = None
    lowpass: float | None = None
    known: Mapping[str, float] | None = None
    essential: bool | int | str = False
    delay: float | None = 0.0
    deviations: str | None = None

    def check(self) -> None:
        """Reject words that mean nothing.

        Raises
        ------
        UsageError
        """
        if self.method not in METHODS:
            raise UsageError(
                f"No such method: {self.method!r}. Methods are {', '.join(METHODS)}.",
                [self.method],
            )
        if self.deviations not in (None, *DEVIATIONS):
            raise UsageError(
                f"No such deviations: {self.deviations!r}. They are {', '.join(DEVIATIONS)}.",
                [self.deviations],
            )
        if isinstance(self.essential, str):
            if self.essential not in CHOOSERS:
                raise UsageError(
                    f"essential={self.essential!r} chooses nothing. State one of "
                    f"{', '.join(CHOOSERS)}, or a number from 1.",
                    ["essential=", self.essential],
                )
        elif not isinstance(self.essential, bool) and self.essential < 1:
            raise UsageError(
                f"essential={self.essential} keeps no parameters. State True, or a number from 1.",
                ["essential="],
            )
        if self.delay is None and self.lowpass is None:
            raise UsageError("A delay is looked for after a low-pass: `lowpass=`.", ["delay="])

    @property
    def by_blocks(self) -> bool:
        """Whether deviations are of the block bootstrap."""
        if self.deviations is None:
            return self.lowpass is not None or self.method == "iv"
        return self.deviations == "blocks"


def identify(
    model: Model,
    record: Measurement,
    *,
    columns: Sequence[Column] = (),
    wanted: Sequence[int] | None = None,
    base: BaseParameters | None = None,
    second: Measurement | None = None,
    choices: Choices | None = None,
) -> Identification:
    """Identify base parameters.

    Parameters
    ----------
    model
        The mechanism, prepared.
    record
        Motion and torque.
    columns
        Force-law columns (friction, springs, …).
    wanted
        φ₂ of the inertial base parameters, by index.
    base
        The inertial base parameters where they are known already.
    second
        A record for validation.
    choices
        How; None: as `Choices` are.

    Raises
    ------
    MotionError
        A motion that the mechanism cannot follow.
    UsageError
        A motion that does not tell the parameters apart; fewer rows than parameters; names that
        are no base parameters; choices that mean nothing.
    """
    how = choices or Choices()
    how.check()
    smoothing = how.lowpass if how.cutoff is None and how.lowpass else how.cutoff
    ready = prepare_record(model, record, smoothing, halves=how.method == "iv")
    seen, exchanged = observe_record(model, record, ready, tuple(columns))
    counted = counting(seen, columns, ready.tau)
    base = extend(model, base or symbolic(model, wanted), columns, counted)
    given = dict(how.known or {})
    _check_known(base, given)
    regression = _regression(model, base, columns, ready, seen, how)
    values = np.array([given.get(name, 0.0) for name in base.base_names])
    free = [k for k, name in enumerate(base.base_names) if name not in given]
    _check_rows(base, regression.whole(None)[:, free], free, float(seen.error[0]))
    last, dropped = _fitted(regression, values, free, how, seen, base)
    kept = [k for k in free if base.base_names[k] not in dropped]
    columns = found_columns(columns, last.regression.laws)
    estimated = last.estimate.some(len(kept))
    own = predict(record.source, last.regression, last.values, estimated)
    fitted = Without(model, base, tuple(columns), seen, last, tuple(kept), how.method)
    found = Identification(
        model=model,
        base=base,
        columns=tuple(columns),
        method=how.method,
        names=tuple(base.base_names[k] for k in kept),
        estimate=estimated,
        known=given,
        dropped=dropped,
        training=own,
        prepared=ready,
        stated=fitted.stated,
        notes=record.notes,
        searched=_searched(last, how, model.mechanism),
        delay=last.regression.searches.delay,
    )
    omitted = None if exchanged else find_omitted(fitted)
    again = () if second is None else _again(record, second)
    notes = (*exchanged, *again, *([omitted] if omitted else ()), *record.notes)
    return _with_notes(found, last, notes, seen, second)


def _fitted(
    regression: Regression,
    values: Array,
    free: Sequence[int],
    how: Choices,
    seen: Observation,
    base: BaseParameters,
) -> tuple[Fitted, tuple[str, ...]]:
    """The fit with the shapes it led to, and what was not essential."""
    last = fit(regression, values, free, how.method)
    if searched(regression.laws):
        for _ in range(2 if regression.by_load else 1):  # loads and shapes in turn
            better = search(last.regression, last.values, last.estimate.sigma)
            last = fit(better, values, free, how.method, last.values)
    dropped: tuple[str, ...] = ()
    if how.essential:
        chooser = "bic" if how.essential is True else how.essential
        keep = essential(last, len(free), chooser, seen.error, how.by_blocks)
        dropped = tuple(base.base_names[free[k]] for k in range(len(free)) if k not in keep)
        free = [free[k] for k in keep]
    start = last.values.copy()
    start[[k for k, name in enumerate(base.base_names) if name in dropped]] = 0.0
    shapes = slopes(last.regression, last.values)
    last = fit(
        last.regression,
        values,
        free,
        how.method,
        start,
        final=True,
        blocks=how.by_blocks,
        shapes=shapes,
    )
    return last, dropped


def _regression(
    model: Model,
    base: BaseParameters,
    columns: Sequence[Column],
    ready: Prepared,
    seen: Observation,
    how: Choices,
) -> Regression:
    halves = [observe_motion(model, half, tuple(columns)).W[0] for half in ready.halves]
    kept = list(base.kept)
    part = Part(ready, seen.W[0][..., kept], tuple(W[..., kept] for W in halves))
    searches = Searches(how.delay or 0.0, free_delay=how.delay is None)
    return Regression([part], laws_of(base, columns), how.lowpass, searches)


def _searched(last: Fitted, how: Choices, mechanism: Mechanism) -> dict[str, Searched]:
    """What was searched for besides parameters, with deviations."""
    regression, found = last.regression, {}
    spread = list(last.estimate.deviations[len(last.estimate.values) - last.extra :])
    if how.delay is None:
        found["delay"] = Searched(regression.searches.delay, float(spread.pop(0)), "s")
    for (k, *_), deviation in zip(searched(regression.laws), spread, strict=True):
        law = regression.laws[k]
        assert law is not None
        unit = law.shape_unit(mechanism)
        found[law.name] = Searched(law.shape or np.nan, float(deviation), unit)
    return found


def _with_notes(
    found: Identification,
    last: Fitted,
    notes: tuple[Note, ...],
    seen: Observation,
    second: Measurement | None,
) -> Identification:
    """With diagnostics, and held against a second record."""
    regression, mechanism = last.regression, found.model.mechanism
    (part,), (sampler,) = regression.parts, regression.samplers
    W = seen.W[0].copy()
    W[..., list(found.base.kept)] = regression.columns(part.W, last.values, part.ready.tau)
    far = found.estimate.weights <= 1 / 3
    measured = found.training.measured.copy()
    if far.any() and part.ready.motor_to_joint is None:
        measured[sampler.groups[far], np.searchsorted(part.ready.motion.t, sampler.times[far])] = (
            np.nan
        )
    alike = likeness(mechanism, found.base, W, last.values, measured)
    more = without_guesses(notes, doubts(found, regression.groups, alike))
    found = replace(found, notes=(*notes, *more))
    return found if second is None else replace(found, validation=validate(found, second))


def _again(record: Measurement, second: Measurement) -> tuple[Note, ...]:
    """A note where most of the second record are samples of the first, whatever their times."""
    own, others = (
        [sample.tobytes() for sample in np.concatenate([of.q, of.tau]).T]
        for of in (record, second)
    )
    count = sum(map(set(own).__contains__, others))
    if count <= len(others) / 2:
        return ()
    share = "all" if count == len(others) else f"{count} of the {len(others)}"
    return (
        Note(
            "validation",
            f"samples of {second.source} are among those that the parameters come from ({share}), "
            "so its error validates nothing. Give another record with `validate=`, or disjoint "
            "parts of this one with `rows=` and `validate_rows=`",
        ),
    )


def validate(found: Identification, second: Measurement) -> Validation:
    """The identified model's torque on another record; nothing is fitted again.

    Raises
    ------
    MotionError
        The mechanism cannot follow its motion.
    """
    cutoff, lowpass = max(found.prepared.cutoffs, default=None), found.training.lowpass
    ready = prepare_record(found.model, second, cutoff if second.rates is None else None)
    seen = observe_motion(found.model, ready.motion, found.columns)
    part = Part(ready, seen.W[0][..., list(found.base.kept)])
    laws = laws_of(found.base, found.columns)
    regression = Regression([part], laws, lowpass, Searches(found.delay))
    return predict(second.source, regression, found.base_values, found.estimate)


def _check_known(base: BaseParameters, known: Mapping[str, float]) -> None:
    unknown = [name for name in known if name not in base.base_names]
    if unknown:
        raise UsageError(
            f"{', '.join(unknown)} {'is' if len(unknown) == 1 else 'are'} no base parameter. They "
            f"are {', '.join(base.base_names)}; eliminated ones are given with `dependent=`.",
            unknown,
        )


def _check_rows(base: BaseParameters, rows: Array, free: Sequence[int], error: float) -> None:
    """Reject too few rows, and a motion that does not tell the parameters apart."""
    count, width = rows.shape
    if count <= width:
        raise UsageError(
            f"{plural(count, 'usable row')} cannot determine {plural(width, 'parameter')}. "
            f"Record more samples "
            f"(ten times as many rows as parameters, better a hundred).",
            ["samples"],
        )
    norms = np.sqrt((rows**2).sum(axis=0))
    silent = norms <= np.finfo(float).eps * norms.max(initial=0.0)
    unit = rows / np.where(silent, 1.0, norms)
    _, sizes, V = np.linalg.svd(unit, full_matrices=False)
    # Shares of a direction below this are rounding of W, a thousand times over.
    noise = CLEAR * OPERATIONS * np.sqrt(width) * max(error, np.finfo(float).eps)
    lost = V[sizes <= noise]
    if lost.size:
        shares = np.sqrt((lost**2).sum(axis=0))
        named = [base.base_names[free[int(k)]] for k in np.flatnonzero(shares > 0.05)]
        raise UsageError(
            f"This motion does not tell {len(lost)} of {width} parameters apart (singular values "
            f"of W with unit columns down to {sizes[-1]:.1e}, allowed {noise:.1e}); concerned are "
            f"{', '.join(named)}. Record a richer motion, or give some of them "
            f"with `known=`.",
            named,
        )
