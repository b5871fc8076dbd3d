"""Commands about measurements: excite, simulate, identify.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
from typing import TYPE_CHECKING, Any

from . import Add, emit
from .options import check_output, overwrite

if TYPE_CHECKING:
    from basepar_core.dynamics import Model
    from basepar_core.identification import Identification


def register(add: Add) -> None:
    """Add the commands to the grammar."""
    _register_excite(add)
    _register_simulate(add)
    identify = add(
        "identify",
        _identify,
        "parameters from measured motion and torque, with what to doubt about them",
        "basepar identify four-bar run.csv --with friction --validate second.csv",
    )
    identify.description = """\
Parameters from measured motion and torque, with what to doubt about them.

DATA is a CSV file with `t` and, per coordinate A, its position `A` and torque `tau.A`; `A'` and
`A''` where they are known. Units stand in brackets, `A [deg]`; without one they are SI. Positions
are smoothed without delay and differentiated; the cut-off is chosen from the data.

--json prints mechanism, record, method, rows, cutoffs [Hz], condition, relative_error, sigma and
sigma_unit by coordinate, parameters [{parameter, unit, value, deviation, relative_deviation,
interval, file, off}] (SI; file: the value of the mechanism's file; off: value less that, in
deviations), covariance, known, dropped, standard and units (all parameters by name), consistent
{distance, chance, parameters, base, least}, validation, notes [{kind, text}]."""
    identify.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    identify.add_argument("data", help="a CSV file")
    identify.add_argument(
        "--columns", metavar="A=TITLE,…", help="titles of the columns in the file, like tau.A=T1"
    )
    identify.add_argument(
        "--with", dest="columns_with", metavar="C,…", help="further columns: friction, springs, …"
    )
    identify.add_argument("--eliminate", metavar="P,…", help="φ₂ of the inertial base parameters")
    identify.add_argument(
        "--method",
        choices=("ols", "weighted", "irls"),
        default="weighted",
        help="all rows alike; by each coordinate's noise (default); and outliers count less",
    )
    identify.add_argument(
        "--cutoff", type=float, metavar="HZ", help="of the smoothing (default: from the data)"
    )
    identify.add_argument("--known", metavar="P=V,…", help="base parameters that are known (SI)")
    identify.add_argument(
        "--dependent",
        metavar="P=V,…",
        help="eliminated parameters to put back in, by value or minimum-norm; all are printed "
        "(--json: otherwise with eliminated ones zero)",
    )
    identify.add_argument(
        "--essential", action="store_true", help="keep only what BIC finds worth it"
    )
    identify.add_argument(
        "--consistent",
        action="store_true",
        help="also the nearest parameters that bodies of positive mass have (extra `consistent`)",
    )
    identify.add_argument("--validate", metavar="CSV", help="a second record to hold it against")


def _identify(options: argparse.Namespace) -> int:
    from basepar_core.api import load
    from basepar_core.dynamics import prepare
    from workflows.jobs import identified
    from workflows.views import identification, terminal

    model = prepare(load(options.mechanism))
    with terminal.steps(options.json) as say:
        found = identified(
            model,
            options.data,
            titles=_pairs(options.columns, "--columns"),
            columns=_words(options.columns_with),
            eliminate=_words(options.eliminate),
            method=options.method,
            cutoff=options.cutoff,
            known=_values(model, options.known, "known"),
            essential=options.essential,
            validate=options.validate or None,
            say=say,
        )
    document = identification.document(
        found, _dependent(model, found, options.dependent or "zero")
    )
    if options.consistent:
        document["consistent"] = _consistent(model, found, options.dependent or "zero")
    if options.json:
        emit(document)
    else:
        identification.show(document, options.dependent is not None)
    return 0


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


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def _pairs(text: str | None, option: str) -> dict[str, str]:
    """NAME=WORD pairs between commas.

    Raises
    ------
    UsageError
        A word without "=", or a name twice.
    """
    from basepar_core.errors import UsageError

    found: dict[str, str] = {}
    for word in _words(text):
        name, equals, value = (part.strip() for part in word.partition("="))
        if not (name and equals and value) or name in found:
            why = "is given twice" if name in found else "is not of the form NAME=VALUE"
            raise UsageError(f"{option}: {word!r} {why}.", [option])
        found[name] = value
    return found


def _values(model: "Model", text: str | None, option: str) -> dict[str, float]:
    """Numbers by full parameter name."""
    from workflows.jobs import full_names

    return full_names(model, _pairs(text, f"--{option}"), option)  # type: ignore[arg-type]


def _register_excite(add: Add) -> None:
    excite = add(
        "excite",
        _excite,
        "a motion that tells the base parameters apart best, within limits",
        "basepar excite four-bar --speed A=2 --margin 0.3 -o exciting.yaml",
    )
    excite.description = """\
A motion that tells the base parameters apart best, within limits.

A Fourier series, optimised from the best of some random ones. Limits of position, speed and
acceleration hold at every instant; the loops' equations stay --margin away from singular (1: as
well conditioned as can be, 0: singular). Limits that are not given are those of the file's own
excitation, and half of the margin at its assembly. -o FILE.yaml writes the mechanism's file with
this excitation, FILE.csv its samples.

--json prints mechanism, criterion, value, random {count, best, median}, file (the file's own
excitation), condition, harmonics, frequency, samples, limits [{coordinate, lowest, highest,
speed, acceleration, used}], margin {allowed, least}, excitation (as in a file), output."""
    excite.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    excite.add_argument("-o", "--output", metavar="FILE", help="FILE.yaml or FILE.csv")
    overwrite(excite)
    excite.add_argument(
        "--criterion",
        choices=("condition", "determinant"),
        default="condition",
        help="of the reduced W: condition number with unit columns (default), or det (D-optimal)",
    )
    excite.add_argument("--harmonics", type=int, default=5, metavar="N", help="(5)")
    excite.add_argument("--frequency", type=float, metavar="HZ", help="of the first (the file's)")
    excite.add_argument("--samples", type=int, metavar="N", help="of W over the period")
    excite.add_argument(
        "--range", metavar="A=LO:HI,…", help="of coordinates and other joint values, rad or m"
    )
    excite.add_argument("--speed", metavar="A=V,…", help="greatest, rad/s or m/s")
    excite.add_argument("--acceleration", metavar="A=V,…", help="greatest, rad/s² or m/s²")
    excite.add_argument("--margin", type=float, metavar="X", help="from singular poses, 0 to 1")
    excite.add_argument("--rest", action="store_true", help="start and end at rest")
    excite.add_argument("--with", dest="columns_with", metavar="C,…", help="further columns")
    excite.add_argument("--random", type=int, default=20, metavar="N", help="random motions (20)")
    excite.add_argument("--starts", type=int, default=2, metavar="N", help="improved (2)")
    excite.add_argument("--seed", type=int, default=1, metavar="N", help="of the random motions")


def _excite(options: argparse.Namespace) -> int:
    from workflows.views import excitation, terminal

    words = {"range": options.range, "speed": options.speed, "acceleration": options.acceleration}
    pairs = {name: _pairs(text, f"--{name}") for name, text in words.items()}
    check_output(options, options.output)
    with terminal.steps(options.json) as say:
        document = excitation.designed(options, pairs, _words(options.columns_with), say)
    emit(document) if options.json else excitation.show(document)
    return 0


def _register_simulate(add: Add) -> None:
    simulate = add(
        "simulate",
        _simulate,
        "a record with noise, as a measurement of the file's mechanism would give it",
        "basepar simulate slider-crank -o run.csv",
    )
    simulate.description = """\
A record with noise, as a measurement of the file's mechanism would give it.

Torque of the file's own parameters along one period of its excitation (or its work cycle), with
white noise on torque and position: what would this motion and this noise tell? A real machine's
record has friction that no column describes, play and elasticity besides.

--json prints mechanism, motion, samples, duration [s], noise and position_noise by coordinate
(SI), columns, seed, output."""
    simulate.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    simulate.add_argument("-o", "--output", metavar="FILE.csv", required=True)
    overwrite(simulate)
    simulate.add_argument("--motion", choices=("excitation", "cycle"), default="excitation")
    simulate.add_argument(
        "--samples", type=int, default=1000, metavar="N", help="(1000; data stay as they are)"
    )
    simulate.add_argument(
        "--noise", metavar="A=S,…", help="of the torque, N m or N (default: the file's)"
    )
    simulate.add_argument(
        "--position-noise", metavar="A=S,…", help="of the position, rad or m (default: none)"
    )
    simulate.add_argument("--with", dest="columns_with", metavar="C,…", help="further columns")
    simulate.add_argument("--seed", type=int, default=1, metavar="N", help="of the noise")


def _simulate(options: argparse.Namespace) -> int:
    from workflows.views import simulation

    words = {"noise": options.noise, "position-noise": options.position_noise}
    pairs = {name: _pairs(text, f"--{name}") for name, text in words.items()}
    check_output(options, options.output)
    document = simulation.simulated(options, pairs, _words(options.columns_with))
    emit(document) if options.json else simulation.show(document)
    return 0
