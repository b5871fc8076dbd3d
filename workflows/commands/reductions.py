"""Commands that reduce one mechanism: reduce.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
import sys
from pathlib import Path

from . import Add, emit
from .options import listed, wanted, with_columns


def register(add: Add) -> None:
    """Add the command to the grammar."""
    reduce = add(
        "reduce",
        _reduce,
        "drop base parameters one by one, and what that costs in torque",
        "basepar reduce four-bar --validate --export four_bar.c",
    )
    reduce.description = """\
Drop base parameters one by one, and what that costs in torque over the cycle.

--export writes torque(q, qd, qdd, p, state) and acceleration(q, qd, tau, p, state) with the
generalised base parameters of one size, and compares them with the full base model: operations,
processor time in Python, torque error, and inertia (a reduction of torques can leave joints
without inertia, and is then no model for forward dynamics; that is said).

--json prints mechanism, method, base, dependent, effective_samples, tolerance, noise,
explanation, torque_norm, steps [{step, removed, size, torque_error, criteria, validation}],
selected {criterion: {size, torque_error, parameters, generalised [{parameter, terms, values}]}},
export."""
    reduce.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    reduce.add_argument("--eliminate", metavar="P,…", help="φ₂ of the base parameters")
    with_columns(reduce)
    reduce.add_argument(
        "--method",
        choices=("backward", "forward"),
        default="backward",
        help="drop the least relevant one by one (default), or add the most relevant",
    )
    reduce.add_argument(
        "--criteria", metavar="C,…", help="tolerance, aic, aicc, bic, mdl, fpe (default: all)"
    )
    reduce.add_argument(
        "--tolerance", type=float, default=0.01, metavar="T", help="relative torque error (0.01)"
    )
    reduce.add_argument(
        "--samples", type=float, metavar="N", help="effective samples (default: the file's)"
    )
    reduce.add_argument(
        "--noise",
        choices=("joint", "pooled"),
        default="joint",
        help="stated noise as it is (default), or with one variance for all coordinates",
    )
    reduce.add_argument(
        "--validate",
        action="store_true",
        help="hold the models against torques on a second trajectory, the excitation",
    )
    reduce.add_argument(
        "--size", metavar="K", help="model to export: parameters, or a criterion (the first)"
    )
    reduce.add_argument("--export", metavar="FILE", help="functions: FILE.py or FILE.c")
    reduce.add_argument(
        "--format", choices=("table", "json", "csv", "latex"), default="table", help="of the path"
    )


def _reduce(options: argparse.Namespace) -> int:
    from basepar_core.base import symbolic
    from basepar_core.base.extended import extend
    from basepar_core.closure import prepare
    from basepar_core.columns import select
    from basepar_core.files import load
    from basepar_core.motion import excitation
    from basepar_core.reduction import reduce_mechanism

    from .. import reduction_export, terminal

    if options.export:
        reduction_export.check_ending(Path(options.export))
    model = prepare(load(options.mechanism))
    base = symbolic.symbolic(model, wanted(model, options.eliminate))
    columns = select(model.mechanism, listed(options.columns_with))
    start = model.assembled.coordinates
    found = reduce_mechanism(
        model,
        extend(model, base, columns),
        options.method,
        tuple(listed(options.criteria)) or None,
        options.tolerance,
        options.samples,
        columns=columns,
        validate=excitation(model.mechanism, start) if options.validate else None,
        pooling=options.noise,
    )
    size = reduction_export.size_of(found, options.size)
    facts = None
    if options.export:
        facts = reduction_export.export(model, found, size, Path(options.export))
    if options.json or options.format == "json":
        emit({**found.document(), **({"export": facts} if facts else {})})
    elif options.format == "csv":
        sys.stdout.write(reduction_export.as_csv(found))
    elif options.format == "latex":
        sys.stdout.write(reduction_export.as_latex(found, size))
    else:
        terminal.show_reduction(found)
    if facts and not options.json and options.format == "table":
        for line in reduction_export.lines(facts):
            terminal.out.print(line, markup=False)
    return 0
