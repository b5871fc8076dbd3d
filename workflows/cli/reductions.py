"""Commands that reduce one mechanism: reduce.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .command import Command, emit
from .options import COLUMNS, GEOMETRY, OVERWRITE, check_output, listed, model_of

if TYPE_CHECKING:
    from basepar_core.dynamics import Model
    from basepar_core.reduction import ReducedMechanism


def _reduce(options: argparse.Namespace) -> int:
    from workflows.export import reduction
    from workflows.views import reduction as view
    from workflows.views import terminal

    _check(options)
    if options.export:
        reduction.check_ending(Path(options.export))
        check_output(options, options.export)
    model = model_of(options)
    found = _found(options, model)
    size = reduction.size_of(found, options.size)
    facts = None
    if options.export:
        facts = reduction.export(model, found, size, Path(options.export))
    document = view.document(found)
    if options.json or options.format == "json":
        emit({**document, **({"export": facts} if facts else {})})
    elif options.format == "csv":
        sys.stdout.write(reduction.as_csv(found))
    elif options.format == "latex":
        sys.stdout.write(reduction.as_latex(found, size))
    else:
        view.show(document, *found.table())
    if facts and not options.json and options.format != "json":
        for line in reduction.lines(facts):
            terminal.beside(options.format == "table").print(line)
    return 0


def _check(options: argparse.Namespace) -> None:
    """Options that go together.

    Raises
    ------
    UsageError
    """
    from basepar_core.errors import UsageError

    without = {
        "--second": options.second,
        "--columns": options.columns,
        "--estimate-noise": options.estimate_noise,
        "--samples estimated": options.samples == "estimated",
    }
    for name, given in without.items():
        if given and not options.data:
            raise UsageError(f"{name} goes with --data.", [name])
    if options.data and (options.export or options.validate):
        name = "--export" if options.export else "--validate"
        how = "identify first, and reduce the model" if options.export else "use --second"
        raise UsageError(f"{name} does not go with --data: {how}.", [name])


def _pair(word: str) -> tuple[str, str]:
    from basepar_core.errors import UsageError

    name, equals, title = (part.strip() for part in word.partition("="))
    if not (name and equals and title):
        raise UsageError(f"--columns: {word!r} is not of the form A=TITLE.", ["--columns"])
    return name, title


def _found(options: argparse.Namespace, model: "Model") -> "ReducedMechanism":
    """Of measured torques, or of the model's own."""
    from workflows.jobs import reduced, reduced_to_record

    common = {
        "criteria": tuple(listed(options.criteria)) or None,
        "tolerance": options.tolerance,
        "method": options.method,
        "eliminate": listed(options.eliminate),
        "columns": listed(options.columns_with),
        "samples": options.samples,
        "noise": options.noise,
    }
    if not options.data:
        return reduced(model, validate=options.validate, **common)
    return reduced_to_record(
        model,
        options.data,
        titles=dict(_pair(word) for word in listed(options.columns)),
        second=options.second,
        estimate_noise=options.estimate_noise,
        **common,
    )


COMMANDS = (
    Command(
        "reduce",
        _reduce,
        "drop base parameters one by one, and what that costs in torque",
        "basepar reduce four-bar --validate --export four_bar.c",
        {
            **GEOMETRY,
            "--eliminate P,…": "all parameters to eliminate (φ₂), like crank.J,rod.m or J1",
            **COLUMNS,
            "--method backward|forward": "drop the least relevant one by one (default), or add "
            "the most relevant",
            "--criteria C,…": "tolerance, aic, aicc, bic, mdl, fpe (default: all)",
            "--tolerance T 0.01": "relative torque error that the criterion `tolerance` allows "
            "(default: 0.01)",
            "--samples N samples": "effective samples (default: the file's); with --data also "
            "`estimated`",
            "--noise joint|pooled": "stated noise as it is (default), or with one variance for "
            "all coordinates",
            "--validate": "compare the models with torques on a second trajectory, the excitation",
            "--data CSV": "measured torques instead of the model's own",
            "--columns A=TITLE,…": "with --data: titles of the columns in the files, like "
            "tau.A=T1",
            "--second CSV": "with --data: a second record on which the models are checked",
            "--estimate-noise": "with --data: estimate the noise from the full model's residuals "
            "instead of taking the file's",
            "--size K": "which model to export: a number of parameters, or a criterion (default: "
            "the first)",
            "--export FILE": "write the model's functions: FILE.py or FILE.c",
            "--format table|json|csv|latex": "how to print the path of reduction (default: table)",
            **OVERWRITE,
        },
        """\
Drop base parameters one by one, and what that costs in torque over the cycle.

--export writes torque(q, qd, qdd, p, state) and acceleration(q, qd, tau, p, state) with the
generalised base parameters of one size, and points(q, state), where the file's points are; and
compares them with the full base model: operations, processor time in Python, torque error, and
inertia (a reduction of torques can leave joints without inertia, and is then no model for forward
dynamics, which is reported).

--data reduces to what measured torques are worth: a record as `basepar identify` reads it, its
noise stated in the mechanism's file or estimated.

--json prints mechanism, method, base, dependent, effective_samples, tolerance, noise,
noise_estimated, record, explanation, torque_norm,
steps [{step, removed, size, torque_error, criteria, validation}],
selected {criterion: {size, torque_error, parameters, generalised [{parameter, terms, values}]}},
export.""",
    ),
)
