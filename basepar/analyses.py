"""Questions about a mechanism that has inertias: reduce, identify, excite, one_dof."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from basepar_core.identification import Choices
from workflows import jobs

from .identified import Identification
from .model import Model, load
from .results import Excitation, Reduction, SingleDof

#: A mechanism: loaded, or what `load` takes.
Source = Model | str | Path
#: A record: a CSV file, or columns by title, such as a DataFrame.
Record = str | Path | Mapping[str, Any]


def loaded(source: Source) -> Model:
    return source if isinstance(source, Model) else load(source)


def _words(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def reduce(
    model: Source,
    data: Record | None = None,
    *,
    criteria: str | Sequence[str] | None = None,
    tolerance: float = 0.01,
    method: str = "backward",
    eliminate: str | Sequence[str] = (),
    columns: str | Sequence[str] = (),
    samples: float | str | None = None,
    noise: str = "joint",
    validate: bool = False,
    titles: Mapping[str, str] | None = None,
    second: Record | None = None,
    estimate_noise: bool = False,
) -> Reduction:
    """Drop base parameters one by one, and what that costs in torque over the cycle.

    Parameters
    ----------
    model
        A mechanism, or what `load` takes.
    data
        A record of motion and torque, as `identify` takes it; None: the model's own torques.
    criteria
        Where to stop: tolerance, aic, aicc, bic, mdl, fpe. None: all, or the tolerance alone
        where the file states no noise.
    tolerance
        Relative torque error of the criterion `tolerance`.
    method
        backward (drop the least relevant) or forward (add the most relevant).
    eliminate
        φ₂ of the base parameters, `crank.J` or short `J1`.
    columns
        Force-law columns of W besides inertias: friction, springs, `A.viscous`.
    samples
        Effective samples n of the criteria; "estimated" with `data`.
    noise
        "joint": each coordinate's stated noise; "pooled": one variance for all.
    validate
        Hold the models against torques on a second trajectory, the file's excitation.
    titles, second, estimate_noise
        With `data`: titles of its columns; a record to validate on; noise from the full model's
        residuals.

    Raises
    ------
    MissingDataError
        Bodies without inertia; criteria without noise.
    MotionError
        The cycle, or the record, cannot be followed.
    UsageError
        Words that there are not.

    Examples
    --------
    >>> import basepar
    >>> found = basepar.reduce("four-bar", criteria=["tolerance", "bic"], tolerance=0.05)
    >>> found.sizes
    {'tolerance': 3, 'bic': 4}
    >>> found.parameters("bic")
    ('coupler.m', 'coupler.J', 'rocker.m', 'rocker.J')
    """
    of = loaded(model)
    common = {
        "criteria": None if criteria is None else tuple(_words(criteria)),
        "tolerance": tolerance,
        "method": method,
        "eliminate": _words(eliminate),
        "columns": _words(columns),
        "noise": noise,
    }
    if data is None:
        return Reduction(jobs.reduced(of.prepared, samples=samples, validate=validate, **common))  # type: ignore[arg-type]
    return Reduction(
        jobs.reduced_to_record(
            of.prepared,
            data,
            titles=titles,
            second=second,
            estimate_noise=estimate_noise,
            samples=samples,
            **common,  # type: ignore[arg-type]
        )
    )


def identify(
    model: Source,
    data: Record,
    *,
    columns: str | Sequence[str] = (),
    eliminate: str | Sequence[str] = (),
    method: str = "weighted",
    cutoff: float | None = None,
    lowpass: float | None = None,
    delay: float | None = 0.0,
    deviations: str | None = None,
    known: Mapping[str, float] | None = None,
    essential: bool | int | str = False,
    validate: Record | None = None,
    titles: Mapping[str, str] | None = None,
    mapping: str | Path | None = None,
    rate: float | None = None,
    gains: Sequence[float] = (),
    rows: tuple[int, int] | None = None,
    validate_rows: tuple[int, int] | None = None,
) -> Identification:
    """Parameters from measured motion and torque, with diagnostics.

    Parameters
    ----------
    model
        A mechanism, or what `load` takes.
    data
        A CSV file or a DataFrame with `t` and, per coordinate A, its position `A` and torque
        `tau.A`; `A'` and `A''` where they are known. SI; units stand in brackets, `A [deg]`.
        Or a raw log, whose columns are proposed from a look at it.
    columns
        Force-law columns besides inertias: friction, springs, `A.viscous`; laws that the file does
        not have (viscous, coulomb, offset, rotor, …) are declared here.
    eliminate
        φ₂ of the inertial base parameters.
    method
        ols (rows alike), weighted (by each drive's noise), irls (outliers count less), iv
        (instrumental variables, which position noise does not bias).
    cutoff
        Hz, of the positions' smoothing; None: chosen from the data.
    lowpass
        Hz, of the same zero-phase low-pass on torque and on every column of W; None: none, of raw
        logs 10 Hz.
    delay
        s by which the torque follows the motion; None: looked for.
    deviations
        white (of white noise) or blocks (by resampling blocks of the record); None: blocks after
        a low-pass.
    known
        Base parameters that are known, by name, SI.
    essential
        Keep only what a criterion finds worth it: True or "bic", "aic", …; "cv", the fewest whose
        error in cross-validation on this record is within 2 % of the least; or so many parameters.
    validate
        A second record to hold the model against.
    titles
        Titles of the columns by what they are: {"tau.A": "T1"}.
    mapping
        What the columns of a raw log are: a YAML file, or its text.
    rate, gains
        Of a raw log without a mapping: Hz where no column is a clock; of the torque columns, N m/A
        of currents.
    rows, validate_rows
        First and last row that count, from 1, of a raw log and of the second one.

    Raises
    ------
    FileError
        All mistakes of the record.
    MotionError
        A motion that the mechanism cannot follow.
    UsageError
        A motion that does not tell the parameters apart; names that there are not.

    Examples
    --------
    >>> import basepar, numpy as np
    >>> model, t = basepar.load("four-bar"), np.linspace(0, 5, 1001)
    >>> q, qd, qdd = 0.5 * np.sin([3 * t, 3 * t + np.pi / 2, 3 * t + np.pi]) * [[1], [3], [9]]
    >>> tau = model.torque(q[:, None], qd[:, None], qdd[:, None])[:, 0]
    >>> found = basepar.identify(model, {"t": t, "A": q, "A'": qd, "A''": qdd, "tau.A": tau})
    >>> found.relative_error < 1e-6
    True
    """
    of = loaded(model)
    log = jobs.LogWords(mapping, rate, tuple(gains), rows, validate_rows)
    return Identification(
        *jobs.identified(
            of.prepared,
            data,
            titles=titles,
            log=log,
            columns=_words(columns),
            eliminate=_words(eliminate),
            validate=validate,
            choices=Choices(
                method, cutoff, lowpass, known, essential, delay=delay, deviations=deviations
            ),
        )
    )


def excite(
    model: Source,
    *,
    criterion: str = "condition",
    range: Mapping[str, tuple[float, float]] | None = None,
    speed: Mapping[str, float] | None = None,
    acceleration: Mapping[str, float] | None = None,
    margin: float | None = None,
    frequency: float | None = None,
    harmonics: int = 5,
    samples: int | None = None,
    columns: str | Sequence[str] = (),
    rest: bool = False,
    random: int = 20,
    starts: int = 2,
    seed: int = 1,
) -> Excitation:
    """A motion that tells the base parameters apart best, within limits.

    A Fourier series, optimised from the best of some random ones. Limits hold at every instant.

    Parameters
    ----------
    model
        A mechanism, or what `load` takes.
    criterion
        Of the reduced W: condition (number with unit columns) or determinant (D-optimal).
    range
        (low, high) of joint values by name, rad or m.
    speed, acceleration
        Greatest of coordinates by name, rad/s or m/s, and per s².
    margin
        How far the loops stay from singular poses, 0 to 1.
    frequency
        Of the first harmonic, Hz. Limits, margin and frequency that are not given are those of
        the file's own excitation.
    harmonics, samples
        Of the series; of W over its period.
    columns
        Force-law columns besides inertias.
    rest
        Start and end at rest.
    random, starts, seed
        Random motions, how many of the best are improved, and their seed.

    Raises
    ------
    UsageError
        Limits that contradict each other, or within which no motion was found.

    Examples
    --------
    >>> import basepar
    >>> found = basepar.excite("four-bar", speed={"A": 2.0}, random=5, starts=1)
    >>> bool(abs(found.qd).max() <= 2.0), found.q.shape[1]
    (True, 1)
    """
    of = loaded(model)
    return Excitation(
        jobs.excited(
            of.prepared,
            ranges=range,
            speed=speed,
            acceleration=acceleration,
            margin=margin,
            frequency=frequency,
            columns=_words(columns),
            criterion=criterion,
            harmonics=harmonics,
            samples=samples,
            rest=rest,
            random=random,
            starts=starts,
            seed=seed,
        )
    )


def one_dof(
    model: Source,
    *,
    force: str | Sequence[str] = (),
    moment: str | Sequence[str] = (),
    range: tuple[float, float] | None = None,
    period: float | None = None,
    speed: float | None = None,
    time: float | None = None,
    dwell: str | Sequence[str] | Mapping[str, float | None] = (),
) -> SingleDof:
    """A mechanism with one degree of freedom as m(q)q̈ + ½m′(q)q̇² + V′(q) = F.

    Reduced inertia, its derivative and the potential's slope over the whole motion; with motors,
    torques, friction or springs in the file also the steady regime of a turning machine.

    Parameters
    ----------
    model
        A mechanism, or what `load` takes.
    force, moment
        Joint forces and moments, JOINT:BODY:DIR, such as "S:rocker:y".
    range
        (from, to) of q, rad or m; None: all of the motion.
    period, speed
        Of a neutral regime, whose speed is free: s a turn, or rad/s at the assembly.
    time
        Move for so many s from the assembly, at rest or at `speed`, with stops and reversals.
    dwell
        Joint values whose longest stretch within a band is wanted; bands (rad or m) by name,
        None: 1 % of the stroke.

    Raises
    ------
    MechanismError
        More than one degree of freedom.
    MissingDataError
        Bodies without inertia.
    UsageError
        Joints that there are not; choices that do not go together.

    Examples
    --------
    >>> import basepar
    >>> found = basepar.one_dof("four-bar")
    >>> found.q.shape == found.m.shape, bool((found.m > 0).all())
    (True, True)
    """
    of = loaded(model)
    named = dwell if isinstance(dwell, Mapping) else dict.fromkeys(_words(dwell))
    return SingleDof(
        jobs.one_dof(
            of.prepared,
            force=_words(force),
            moment=_words(moment),
            range=range,
            period=period,
            speed=speed,
            time=time,
            dwell=named,
        )
    )
