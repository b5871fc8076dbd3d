"""Reduction, identification, exciting motions: from words to results.

The command line and the library ask the same questions here, with the same words and defaults.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from basepar_core.base import (
    BaseParameters,
    extend,
    nominal_observation,
    parameter_indices,
    symbolic,
)
from basepar_core.dynamics import Column, Model, Motion, excitation, select
from basepar_core.errors import ExpressionError, UsageError
from basepar_core.expressions import evaluate, parse_any
from basepar_core.identification import (
    FEWEST,
    Choices,
    Design,
    Identification,
    Limits,
    Measurement,
    Payload,
    Pushed,
    Record,
    declared,
    design,
    identify,
    identify_payload,
    limits_of,
    motion_of,
    read_measurement,
    reduce_record,
    simulate,
)
from basepar_core.identification.logs import read_log, read_tables
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import ReducedMechanism, noise_levels, reduce_mechanism

from .raw_logs import LogRead, LogWords, is_raw, read_raw, read_second
from .saying import Say, silent


def _indices(model: Model, eliminate: Sequence[str]) -> list[int] | None:
    return parameter_indices(model.mechanism, list(eliminate)) if eliminate else None


def _base(model: Model, eliminate: Sequence[str], columns: Sequence[str]) -> BaseParameters:
    inertial = symbolic(model, _indices(model, eliminate), seen=nominal_observation(model))
    return extend(model, inertial, select(model.mechanism, columns))


def reduced(
    model: Model,
    *,
    criteria: Sequence[str] | None = None,
    tolerance: float = 0.01,
    method: str = "backward",
    eliminate: Sequence[str] = (),
    columns: Sequence[str] = (),
    samples: float | None = None,
    noise: str = "joint",
    validate: bool = False,
) -> ReducedMechanism:
    """A reduction to what the model's own torques are worth; see `reduce_mechanism`."""
    return reduce_mechanism(
        model,
        _base(model, eliminate, columns),
        method,
        criteria,
        tolerance,
        samples,
        columns=select(model.mechanism, columns),
        validate=excitation(model.mechanism, model.assembled.coordinates) if validate else None,
        pooling=noise,
    )


def reduced_to_record(
    model: Model,
    data: Record,
    *,
    titles: Mapping[str, str] | None = None,
    second: Record | None = None,
    estimate_noise: bool = False,
    criteria: Sequence[str] | None = None,
    tolerance: float = 0.01,
    method: str = "backward",
    eliminate: Sequence[str] = (),
    columns: Sequence[str] = (),
    samples: float | str | None = None,
    noise: str = "joint",
) -> ReducedMechanism:
    """A reduction to what measured torques are worth; see `reduce_record`."""
    return reduce_record(
        model,
        _base(model, eliminate, columns),
        read_measurement(data, model.mechanism, titles),
        method,
        criteria,
        tolerance,
        samples,  # type: ignore[arg-type]  # a number, or the word that it knows
        columns=select(model.mechanism, columns),
        second=_second(model, second, titles),
        pooling=noise,  # type: ignore[arg-type]
        estimated=estimate_noise,
    )


def _second(
    model: Model, data: Record | None, titles: Mapping[str, str] | None
) -> Measurement | None:
    return None if data is None else read_measurement(data, model.mechanism, titles)


def _in_si(value: object) -> str:
    """What a number with a unit is without it; nothing for other texts."""
    try:
        number = evaluate([parse_any(str(value), {})[0]], {})[0]
    except ExpressionError:
        return "; write it in SI, without a unit"
    return f"; in SI, without its unit, it is {float(number):.12g}"


def full_names(model: Model, values: Mapping[str, float], option: str) -> dict[str, float]:
    """Values by full parameter name; short names such as mx1 are understood.

    Raises
    ------
    UsageError
        A value that is no number.
    """
    found = {}
    for name, value in values.items():
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            said = f"`{option}=`: {value!r} of {name} is no number{_in_si(value)}."
            raise UsageError(said, [f"{option}="])
        found[model.mechanism.parameter_aliases.get(name, name)] = number
    return found


def identified(
    model: Model,
    data: Record,
    *,
    titles: Mapping[str, str] | None = None,
    log: LogWords | None = None,
    columns: Sequence[str] = (),
    eliminate: Sequence[str] = (),
    validate: Record | None = None,
    choices: Choices | None = None,
    say: Say = silent,
) -> tuple[Identification, LogRead | None]:
    """Parameters from a record or a raw log; see `identification.identify`.

    With the identification what the log's columns were taken for; None of a record.
    """
    say("reading")
    how = choices or Choices()
    how = replace(how, known=full_names(model, how.known or {}, "known"))
    read = read_raw(model.mechanism, data, log) if is_raw(data, titles, log) else None
    if read is None:
        record, matrix = read_measurement(data, model.mechanism, titles), None
        second = _second(model, validate, titles)
    else:
        record, matrix = read.record, read.mapping.matrix
        second = None if validate is None else read_second(model.mechanism, validate, read, log)
        how = replace(how, lowpass=how.lowpass or read.lowpass)
    say("identifying")
    found = identify(
        model,
        record,
        columns=declared(model.mechanism, columns, matrix, record.q),
        wanted=_indices(model, eliminate),
        second=second,
        choices=how,
    )
    return found, read


def payload_of(
    found: Identification,
    read: LogRead | None,
    loaded: Record,
    *,
    titles: Mapping[str, str] | None = None,
    rows: tuple[int, int] | None = None,
    body: str | None = None,
    known: Mapping[str, float] | None = None,
    find_gains: bool = False,
) -> Payload:
    """A load from a record with it, beside that of an identification; see `identify_payload`.

    A raw log has the columns of the first one; `rows` are its first and last that count.
    """
    mechanism = found.model.mechanism
    if read is None:
        if rows is not None:
            raise UsageError("`loaded-rows=` is of raw logs.", ["loaded-rows="])
        record = read_measurement(loaded, mechanism, titles)
    else:
        record = read_log(read_tables(loaded), read.mapping, mechanism, rows)
    return identify_payload(found, record, body, known, find_gains)


@dataclass(frozen=True)
class Excited:
    """An exciting motion, and what it was designed for; `frequency` in Hz."""

    model: Model
    base: BaseParameters
    columns: tuple[Column, ...]
    design: Design
    limits: Limits
    frequency: float
    measure: str
    harmonics: int


def excited(
    model: Model,
    *,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    speed: Mapping[str, float] | None = None,
    acceleration: Mapping[str, float] | None = None,
    margin: float | None = None,
    frequency: float | None = None,
    columns: Sequence[str] = (),
    criterion: str = "condition",
    harmonics: int = 5,
    samples: int | None = None,
    rest: bool = False,
    random: int = 20,
    starts: int = 2,
    seed: int = 1,
    say: Say = silent,
) -> Excited:
    """A motion that tells base parameters apart.

    See `identification.design`; limits and frequency that are not given are those of the file's
    own excitation, and half of the margin at its assembly.

    Raises
    ------
    UsageError
        Limits of what is no joint value, or that leave nothing to move in.
    """
    own = excitation(model.mechanism, model.assembled.coordinates)
    limits = _limits(model, limits_of(model, own), ranges or {}, margin)
    for name, given in (("speed", speed or {}), ("acceleration", acceleration or {})):
        limits = _at_most(model.mechanism, limits, name, given)
    frequency = _frequency(own) if frequency is None else frequency
    if not (np.isfinite(frequency) and frequency > 0):
        raise UsageError(f"`frequency=` is {frequency:g} Hz; it is positive.", ["frequency="])
    say("base parameters")
    base, chosen = _base(model, (), columns), select(model.mechanism, columns)
    found = design(
        model,
        base,
        limits,
        frequency,
        criterion=criterion,
        harmonics=harmonics,
        samples=samples,
        columns=chosen,
        rest=rest,
        draws=random,
        starts=starts,
        seed=seed,
        say=say,
    )
    return Excited(model, base, tuple(chosen), found, limits, frequency, criterion, harmonics)


def _frequency(own: Motion) -> float:
    """One over the period of the file's excitation: its samples are even, the last left out."""
    return float(1 / (own.t[-1] - own.t[0] + np.median(np.diff(own.t))))


def _limits(
    model: Model, own: Limits, ranges: Mapping[str, tuple[float, float]], margin: float | None
) -> Limits:
    """The file's own limits, with ranges and the margin that are given in their place."""
    names = list(model.mechanism.coordinates)
    every = [name for joint in model.mechanism.joints for name in joint.values]
    _check_known("range", ranges, every)
    lowest, highest = own.lowest.copy(), own.highest.copy()
    for name, pair in ranges.items():
        if name in names:
            lowest[names.index(name)], highest[names.index(name)] = pair
    others = {name: pair for name, pair in ranges.items() if name not in names}
    regularity = own.regularity if margin is None else margin
    if not 0 <= regularity < 1:
        raise UsageError(f"`margin=` is {regularity:g}, not between 0 and 1.", ["margin="])
    regularity = regularity if model.loops.blocks else 0.0
    return replace(own, lowest=lowest, highest=highest, regularity=regularity, values=others)


def _at_most(
    mechanism: Mechanism, limits: Limits, what: str, given: Mapping[str, float]
) -> Limits:
    names = list(mechanism.coordinates)
    _check_known(what, given, names)
    found = getattr(limits, what).copy()
    for name, value in given.items():
        found[names.index(name)] = value
    return replace(limits, **{what: found})


def _check_known(option: str, given: Mapping[str, object], known: Sequence[str]) -> None:
    if unknown := [name for name in given if name not in known]:
        raise UsageError(
            f"`{option}=`: {', '.join(unknown)} cannot be limited; known are {', '.join(known)}.",
            unknown,
        )


@dataclass(frozen=True)
class Simulated:
    """A record with noise of known deviations, (coordinate,): N m or N, rad or m."""

    model: Model
    record: Measurement
    motion: str
    noise: np.ndarray
    position_noise: np.ndarray
    columns: tuple[Column, ...]
    seed: int
    pushed: Pushed | None = None


def simulated(
    model: Model,
    *,
    motion: str = "excitation",
    samples: int = 1000,
    noise: Mapping[str, float] | None = None,
    position_noise: Mapping[str, float] | None = None,
    columns: Sequence[str] = (),
    seed: int = 1,
    contacts: Sequence[str] = (),
    push: float = 0.0,
    contact_noise: float = 0.0,
) -> Simulated:
    """A record as a measurement of the file's mechanism would give it.

    Deviations are by coordinate; those of the torque that are not given are the file's, of the
    position none. `contacts` are points at which it is pushed, `push` how hard besides (N),
    `contact_noise` (N, N m) of what sensors say there.

    Raises
    ------
    UsageError
        A deviation below zero, or too few samples.
    """
    if samples < FEWEST:
        raise UsageError(
            f"`samples=` is {samples}: at least {FEWEST} are needed to smooth positions.",
            ["samples="],
        )
    mechanism = model.mechanism
    none = np.zeros(len(mechanism.coordinates))
    stated = noise_levels(mechanism)
    of_torque = _deviations(mechanism, "noise", noise or {}, none if stated is None else stated)
    of_position = _deviations(mechanism, "position-noise", position_noise or {}, none)
    chosen = select(mechanism, columns)
    along = motion_of(model, motion, samples)
    if not contacts and (push or contact_noise):
        raise UsageError("`push=` is of points; name them in `contacts=`.", ["contacts="])
    pushed = Pushed(tuple(contacts), push, contact_noise) if contacts else None
    record = simulate(model, along, of_torque, of_position, chosen, seed, pushed)
    return Simulated(model, record, motion, of_torque, of_position, tuple(chosen), seed, pushed)


def _deviations(
    mechanism: Mechanism, option: str, given: Mapping[str, float], otherwise: np.ndarray
) -> np.ndarray:
    found = otherwise.copy()
    for name, value in given.items():
        if not 0 <= value < np.inf:
            raise UsageError(
                f"`{option}=`: {value!r} of {name} is no standard deviation.", [f"{option}="]
            )
        found[mechanism.coordinates.index(name)] = value
    return found
