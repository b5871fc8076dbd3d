"""Commands about measurements: excite, simulate, identify.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .command import Command, emit, typed_words, warned
from .options import GEOMETRY, OVERWRITE, check_output, listed, model_of, pairs

if TYPE_CHECKING:
    from basepar_core.dynamics import Model
    from basepar_core.identification import Identification


def _identify(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from basepar_core.identification import Choices
    from workflows.jobs import LogWords, gains_of, identified, payload_of, rows_of
    from workflows.views import identification, payload, terminal

    path = Path(options.output) if options.output else None
    if path is not None:
        from workflows.report import identified as pages

        pages.check_ending(path)
    check_output(options, path)
    if options.validate_rows and not options.validate:
        raise UsageError("--validate-rows goes with --validate SECOND.csv.", ["--validate-rows"])
    model = model_of(options)
    log = LogWords(
        mapping=options.mapping,
        rate=options.rate,
        gains=gains_of(listed(options.gain), "--gain"),
        rows=rows_of(options.rows, "--rows"),
        second_rows=rows_of(options.validate_rows, "--validate-rows"),
    )
    known, load = _of_load(model, options)
    with terminal.steps(options.json) as say:
        found, read = identified(
            model,
            options.data,
            titles=pairs([options.columns or ""], "--columns"),
            log=log,
            columns=listed(options.columns_with),
            eliminate=listed(options.eliminate),
            validate=options.validate or None,
            choices=Choices(
                method=options.method,
                cutoff=options.cutoff,
                lowpass=options.lowpass,
                known=known,
                essential=options.essential,
                delay=_delay(options.delay),
                deviations=options.deviations,
            ),
            say=say,
        )
        if options.loaded:
            say("the load")
            carried = payload_of(found, read, options.loaded, **load)
    document = identification.document(
        found, _dependent(model, found, options.dependent or "zero"), read
    )
    if options.consistent:
        document["consistent"] = _consistent(model, found, options.dependent or "zero")
    if options.loaded:
        document["payload"] = payload.document(carried)
    if path is not None:
        document["output"] = str(pages.write(found, document, read, path))
    if options.json:
        emit(document)
    else:
        identification.show(document, options.dependent is not None)
        if options.loaded:
            payload.show(document["payload"])
    return 0


def _of_load(
    model: "Model", options: argparse.Namespace
) -> tuple[dict[str, float], dict[str, Any]]:
    """Known base parameters, and what is stated of a load."""
    from basepar_core.errors import UsageError
    from basepar_core.identification import LOAD
    from workflows.jobs import rows_of

    known = _values(model, options.known, "known")
    if not options.loaded:
        if options.payload or options.find_gains or options.loaded_rows:
            raise UsageError(
                "--payload, --loaded-rows and --find-gains go with --loaded RECORD.csv.",
                ["--loaded"],
            )
        return known, {}
    load = {
        "titles": pairs([options.columns or ""], "--columns"),
        "rows": rows_of(options.loaded_rows, "--loaded-rows"),
        "body": options.payload,
        "known": {name: x for name, x in known.items() if name.startswith(LOAD)},
        "find_gains": options.find_gains,
    }
    return {name: x for name, x in known.items() if name not in load["known"]}, load


def _delay(text: str | None) -> float | None:
    """Seconds; None: looked for."""
    from .quantities import quantity

    if text == "find":
        return None
    return 0.0 if text is None else quantity(text, "s", "--delay:")


def _dependent(model: "Model", found: "Identification", text: str) -> dict[str, float]:
    from basepar_core.identification import standard_parameters

    if text in ("zero", "minimum-norm"):
        return standard_parameters(found, text)
    return standard_parameters(found, _values(model, text, "dependent"))


def _consistent(model: "Model", found: "Identification", text: str) -> dict[str, Any]:
    from basepar_core.identification import consistent_parameters
    from workflows.views import identification

    bare = text in ("zero", "minimum-norm")
    given = {} if bare else _values(model, text, "dependent")
    return identification.consistent(found, consistent_parameters(found, given))


def _values(model: "Model", text: str | None, option: str) -> dict[str, float]:
    """Numbers by full parameter name."""
    from workflows.jobs import full_names

    return full_names(model, pairs([text or ""], f"--{option}"), option)  # type: ignore[arg-type]


def _excite(options: argparse.Namespace) -> int:
    from basepar_core.api import load
    from basepar_core.dynamics import prepare
    from workflows.jobs import check_ending, excited, write_excitation
    from workflows.views import excitation, terminal

    path = Path(options.output) if options.output else None
    if path is not None:
        check_ending(path)
    check_output(options, options.output)
    model = prepare(load(options.mechanism))
    with terminal.steps(options.json) as say:
        found = excited(
            model,
            ranges=_intervals(model, options.range),
            speed=_limits(model, "speed", options.speed, "/s"),
            acceleration=_limits(model, "acceleration", options.acceleration, "/s^2"),
            margin=options.margin,
            frequency=options.frequency,
            columns=listed(options.columns_with),
            criterion=options.criterion,
            harmonics=options.harmonics,
            samples=options.samples,
            rest=options.rest,
            random=options.random,
            starts=options.starts,
            seed=options.seed,
            say=say,
        )
        document = excitation.document(found)
    if path is not None:
        write_excitation(model, found.design, path)
        document["output"] = str(path)
    emit(document) if options.json else excitation.show(document)
    return 0


def _limits(model: "Model", option: str, text: str | None, per: str = "") -> dict[str, float]:
    """Limits of joint values, or of their rates `per` a power of time, in SI."""
    from basepar_core.errors import UsageError

    from .quantities import quantity

    known = {value for joint in model.mechanism.joints for value in joint.values}
    found = {}
    of = model.mechanism.coordinates[0]
    for name, word in pairs([text or ""], f"--{option}", of).items():
        if name not in known:
            raise UsageError(
                f"`{option}=`: {name} cannot be limited; known are {', '.join(sorted(known))}.",
                [name],
            )
        unit = model.mechanism.value(name).unit + per
        found[name] = quantity(word, unit, f"--{option} {name}:")
    return found


def _intervals(model: "Model", text: str | None) -> dict[str, tuple[float, float]]:
    from basepar_core.errors import UsageError

    ends: tuple[list[str], list[str]] = ([], [])
    for name, word in pairs([text or ""], "--range", model.mechanism.coordinates[0]).items():
        low, colon, high = word.partition(":")
        if not colon:
            raise UsageError(f"`range=`: {word!r} is no interval; write {name}=LO:HI.", ["range="])
        ends[0].append(f"{name}={low}")
        ends[1].append(f"{name}={high}")
    _check_turns(model, text or "")
    lowest, highest = (_limits(model, "range", ",".join(one)) for one in ends)
    return {name: (lowest[name], highest[name]) for name in lowest}


def _check_turns(model: "Model", text: str) -> None:
    """Reject bare ends beyond two turns, all of them at once; others stay as they are."""
    from math import pi

    from basepar_core.errors import UsageError

    def size(end: str) -> float:
        try:
            return abs(float(end))
        except ValueError:  # with a unit, or read and reported below
            return 0.0

    meant, wild = [], False
    for name, word in pairs([text], "--range", model.mechanism.coordinates[0]).items():
        ends = [one.strip() for one in word.split(":")]
        known = name in model.mechanism.coordinates
        turns = known and model.mechanism.value(name).unit == "rad"
        far = turns and max(map(size, ends)) > 4 * pi + 1e-6
        wild |= far
        degrees = [f"{one}deg" if size(one) or one == "0" else one for one in ends]
        meant.append(f"{name}={':'.join(degrees) if far else word}")
    if wild:
        raise UsageError(
            f"--range {text}: bare numbers are in rad, and some of these are more than two turns; "
            f"write --range {','.join(meant)}, or rad behind each if that is meant.",
            ["--range"],
        )


def _simulate(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from workflows.jobs import simulated, write_record
    from workflows.views import simulation

    path = Path(options.output)
    if path.suffix != ".csv":
        raise UsageError(f"-o {path}: write FILE.csv.", ["--output"])
    check_output(options, options.output)
    model = model_of(options)
    found = simulated(
        model,
        motion=options.motion,
        samples=options.samples,
        noise=_deviations(model, options.noise, "noise"),
        position_noise=_deviations(model, options.position_noise, "position-noise"),
        columns=listed(options.columns_with),
        seed=options.seed,
        contacts=listed(options.contacts),
        push=_force(options.push, "push"),
        contact_noise=_force(options.contact_noise, "contact-noise"),
    )
    write_record(found.record, model.mechanism, path)
    document = simulation.document(found) | {"output": str(path)}
    if options.json:
        emit(document)
        return 0
    simulation.show(document)
    if warned and not options.overwrite:
        given = list(pairs(options.set, "--set"))
        simulation.show_after_warnings(
            warned, document["output"], typed_words, given, model.mechanism
        )
    return 0


def _force(text: str | None, option: str) -> float:
    """In N."""
    from .quantities import quantity

    return quantity(text, "N", f"--{option}:") if text else 0.0


def _deviations(model: "Model", text: str | None, option: str) -> dict[str, float]:
    """Standard deviations of torques, or of positions, by coordinate, in SI."""
    from basepar_core.errors import UsageError

    from .quantities import quantity

    mechanism, found, wrong = model.mechanism, {}, []
    of = mechanism.coordinates
    for name, word in pairs([text or ""], f"--{option}", of[0]).items():
        meant = name if name in of else of[0]
        value, why = mechanism.value(meant), ""
        effort = value.effort_unit.replace(" ", "*")
        units = {"noise": effort, "position-noise": value.unit}
        try:
            if name in of or len({mechanism.value(one).unit for one in of}) == 1:
                found[name] = quantity(word, units[option], f"--{option} {name}:")
        except UsageError as error:
            (other,) = units.keys() - {option}
            why = error.message
            if _is_quantity(word, units[other]):
                why = f"--{option} is in {units[option]}; write --{other} {meant}={word}"
        if name not in of:
            known = f"--{option}: {name!r} is no coordinate; they are {', '.join(of)}"
            write = f"; write --{option} {meant}={word}" if len(of) == 1 else ""
            why = f"{known}. {why}" if why else f"{known}{write}"
        if why:
            wrong.append((name, f"{why.rstrip('.')}."))
    if wrong:
        raise UsageError(" ".join(why for _, why in wrong), [name for name, _ in wrong])
    return found


def _is_quantity(word: str, unit: str) -> bool:
    """Whether a word has a unit, and of this kind."""
    from basepar_core.errors import UsageError
    from basepar_core.expressions import is_literal

    from .quantities import quantity

    try:
        quantity(word, unit, "")
    except UsageError:
        return False
    return not is_literal(word)


COMMANDS = (
    Command(
        "excite",
        _excite,
        "a motion that tells the base parameters apart best, within limits",
        "basepar excite four-bar --speed A=2 --margin 0.3 -o exciting.yaml",
        {
            "mechanism": "a mechanism file, or the name of a shipped one",
            "-o --output FILE": "write the mechanism's file with this excitation (FILE.yaml), or "
            "its samples (FILE.csv)",
            **OVERWRITE,
            "--criterion condition|determinant": "what is minimised for the reduced W: its "
            "condition number with unit columns (default), or the D-optimal criterion "
            "(determinant)",
            "--harmonics N 5": "harmonics of the Fourier series (default: 5)",
            "--frequency HZ float": "frequency of the first harmonic (default: that of the "
            "file's excitation)",
            "--samples N int": "samples of W over the period (default: by the highest harmonic)",
            "--range A=LO:HI,…": "minimum and maximum joint values: -30deg:2deg; bare numbers are "
            "rad or m",
            "--speed A=V,…": "maximum speeds: 2, 30rpm; bare numbers are rad/s or m/s",
            "--acceleration A=V,…": "maximum accelerations; bare numbers are rad/s² or m/s²",
            "--margin X float": "how far to stay from singular poses, 0 to 1",
            "--rest": "start and end at rest",
            "--with C,…": "force-law columns: friction, springs, …",
            "--random N 20": "random motions to choose from (default: 20)",
            "--starts N 2": "how many of the best are improved (default: 2)",
            "--seed N 1": "seed of the random motions (default: 1)",
        },
        """\
A motion that tells the base parameters apart best, within limits.

A Fourier series, optimised from the best of some random ones. Limits of position, speed and
acceleration hold at every instant; the loops' equations stay --margin away from singular (1: as
well conditioned as can be, 0: singular). Limits that are not given are those of the file's own
excitation, and half of the margin at its assembly. -o FILE.yaml writes the mechanism's file with
this excitation, FILE.csv its samples.

--json prints mechanism, criterion, value, random {count, best, median}, file (the file's own
excitation), condition, harmonics, frequency, samples, limits [{coordinate, lowest, highest,
speed, acceleration, used}], margin {allowed, least}, excitation (as in a file), output.""",
    ),
    Command(
        "simulate",
        _simulate,
        "a record with noise, as a measurement of the file's mechanism would give it",
        "basepar simulate slider-crank -o run.csv",
        {
            **GEOMETRY,
            "-o --output FILE.csv required": "the record to write",
            **OVERWRITE,
            "--motion excitation|cycle": "along the file's excitation (default), or its work "
            "cycle",
            "--samples N 1000": "default: 1000; an excitation from a data file keeps its own",
            "--noise A=S,…": "standard deviation of the torque's noise: 0.02N*m; bare numbers "
            "are N m or N (default: the file's)",
            "--position-noise A=S,…": "standard deviation of the position's noise: 0.01deg; bare "
            "numbers are rad or m (default: none)",
            "--with C,…": "force-law columns: friction, springs, …",
            "--contacts P,…": "points of the file at which it is pushed, by the least forces that "
            "carry bases and whatever else has no drive (with moments where forces do not); the "
            "record has their columns",
            "--push F": "push there by smooth forces of about this size too: 20N (default: none)",
            "--contact-noise S": "standard deviation of these columns' noise: N and N m (default: "
            "none)",
            "--seed N 1": "seed of the noise (default: 1)",
        },
        """\
A record with noise, as a measurement of the file's mechanism would give it.

Torque of the file's own parameters along one period of its excitation (or its work cycle), with
white noise on torque and position: which parameters would this motion determine, with this noise?
A real machine's record has friction that no column describes, play and elasticity besides.

--json prints mechanism, motion, samples, duration [s], noise and position_noise by coordinate
(SI), columns, contacts, push and contact_noise (N), seed, output.""",
    ),
    Command(
        "identify",
        _identify,
        "parameters from measured motion and torque, with diagnostics",
        "basepar identify four-bar run.csv --with friction --validate second.csv",
        {
            "mechanism": "a mechanism file, or the name of a shipped one",
            "data": "a CSV file; of raw logs several: a+b side by side, a,b one after another",
            "--columns A=TITLE,…": "titles of the columns in the file, like tau.A=T1",
            "--with C,…": "force-law columns: sections, kinds and names of the file (friction, "
            "springs, A.viscous), or laws that it does not have: viscous, coulomb, offset, rotor, "
            "smooth_coulomb, load, positive, negative, stribeck@SPEED, … of every joint, "
            "motor.viscous, … of the motors",
            "--mapping FILE": "what the columns of a raw log are (YAML; default: proposed from "
            "the log itself)",
            "-o --output FILE": "the mapping of a raw log's columns that was used, FILE.yaml; or "
            "a page of torques, residuals, parameters and notes, FILE.html",
            **OVERWRITE,
            "--rows A:B": "rows of a raw log to use, counted from 1",
            "--validate-rows A:B": "the same for the record of --validate",
            "--rate HZ float": "sampling rate of a raw log without a column of times",
            "--gain G,…": "factors of a raw log's torque columns, one per coordinate: N m/A "
            "where they are currents",
            "--lowpass HZ float": "the same zero-phase low-pass on torque and every column of W "
            "(default: none; of raw logs 10 Hz)",
            "--eliminate P,…": "all parameters to eliminate (φ₂), like crank.J,rod.m or J1",
            "--method ols|weighted|irls|iv weighted": "ols: all rows alike; weighted: by each "
            "drive's noise (default); irls: outliers count less too; iv: instrumental variables, "
            "which position noise does not bias",
            "--delay T": "time by which the torque follows the motion: 4ms; `find` looks for it "
            "(default: none)",
            "--deviations _": "`white`: of white noise; `blocks`: by resampling blocks of the "
            "record, where residuals follow one another (default: blocks after a low-pass)",
            "--cutoff HZ float": "cut-off frequency of the smoothing (default: from the data)",
            "--known P=V,…": "base parameters that are known (SI)",
            "--dependent P=V,…": "values of eliminated parameters, or minimum-norm; then all "
            "parameters are printed (--json has them always, eliminated ones zero otherwise)",
            "--essential HOW? essential": "keep only the parameters that a criterion selects: bic "
            "(without a word), aic, …, cv (the fewest whose error in cross-validation is within "
            "2 %% of the least), or so many",
            "--consistent": "also the nearest parameters that bodies of positive mass can have "
            "(needs the extra `consistent`)",
            "--validate CSV": "a second record on which the parameters are checked",
            "--loaded CSV": "a record of the same robot with a load: also the load's ten "
            "parameters, from both records",
            "--payload BODY": "the body that carries it (default: the end of the chain)",
            "--loaded-rows A:B": "rows of a raw log with a load to use, counted from 1",
            "--find-gains": "each drive's torques have an unknown factor (gains of currents): "
            "found from what is known of the load, as --known payload.m=5",
        },
        """\
Parameters from measured motion and torque, with diagnostics.

DATA is a CSV file with `t` and, per coordinate A, its position `A` and torque `tau.A`; `A'` and
`A''` where they are known. Units stand in brackets, `A [deg]`; without one they are SI. Positions
are smoothed without delay and differentiated; the cut-off is chosen from the data.

A raw log needs no titles: its columns are proposed from the log itself (or given by --mapping),
rows that repeat and joints that stand still are left out, and torque and model go through the same
low-pass. For example

    `basepar identify robot.urdf log.csv --gain 14.9,13.3 --with viscous,coulomb,offset,rotor`

--json prints mechanism, record, method, rows, cutoffs [Hz], lowpass [Hz], condition,
relative_error (weighted by the noise), torque_error, torque_errors by coordinate (‖τ − τ̂‖/‖τ‖,
unweighted), unfiltered_error, log {mapping, reasons}, sigma and sigma_unit by coordinate,
parameters [{parameter, unit, value, deviation, relative_deviation, interval, file, off}] (SI;
file: the value of the mechanism's file; off: value less that, in deviations), covariance, known,
dropped, standard and units (all parameters by name), consistent {distance, chance, parameters,
base, least}, validation, payload {body, record, parameters, covariance, known, undetermined,
centre [m], gains, robot, torque_error, empty_error, notes}, notes [{kind, text}], output.""",
    ),
)
