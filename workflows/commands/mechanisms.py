"""Commands about one mechanism: list, show, base, reduce.

Imports stand in the functions: `basepar --help` answers without loading any mathematics.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from . import Add, emit

if TYPE_CHECKING:
    from basepar_core.closure import Model


def register(add: Add) -> None:
    """Add the commands to the grammar."""
    add("list", _list, "the shipped mechanisms and sweeps", "basepar list --json")

    show = add(
        "show",
        _show,
        "bodies, joints, loops and degrees of freedom of a mechanism, and its drawing",
        "basepar show four-bar -o four-bar.png",
    )
    show.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    show.add_argument("-o", "--output", metavar="FILE", help="draw it: FILE.png or FILE.svg")

    base = add(
        "base",
        _base,
        "base parameters of a mechanism",
        "basepar base four-bar --eliminate J1,J2,J3,m1 --json",
    )
    base.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    base.add_argument(
        "--eliminate", metavar="P,…", help="parameters to eliminate (φ₂), like crank.J or J1"
    )
    base.add_argument(
        "--route",
        choices=("symbolic", "numeric", "precise", "all"),
        default="symbolic",
        help="symbolic, checked in float64 (default); another one alone; or all side by side",
    )
    base.add_argument(
        "--format",
        choices=("table", "latex", "python", "c"),
        default="table",
        help="how to print them (default: table)",
    )
    base.add_argument(
        "--digits",
        type=int,
        metavar="N",
        help="decimal digits of β by the precise route; as text in --json when more than 17",
    )

    reduce = add(
        "reduce",
        _reduce,
        "drop base parameters one by one, and what that costs in torque",
        "basepar reduce four-bar --eliminate J1,J2,J3,m1",
    )
    reduce.add_argument("mechanism", help="a mechanism file, or the name of a shipped one")
    reduce.add_argument("--eliminate", metavar="P,…", help="φ₂ of the base parameters")
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


def _list(options: argparse.Namespace) -> int:
    from .. import documents, terminal

    document = documents.library()
    emit(document) if options.json else terminal.show_library(document)
    return 0


def _show(options: argparse.Namespace) -> int:
    from basepar_core.closure import prepare
    from basepar_core.files import load

    from .. import documents, terminal

    model = prepare(load(options.mechanism))
    document = documents.mechanism(model)
    if options.output:
        from ..drawing import draw

        document["drawing"] = str(draw(model, Path(options.output)))
    emit(document) if options.json else terminal.show_mechanism(document)
    return 0


def _base(options: argparse.Namespace) -> int:
    from basepar_core.closure import prepare
    from basepar_core.errors import UsageError
    from basepar_core.files import load

    from .. import base_routes, export, terminal

    digits, route = options.digits, options.route
    if digits is not None and (route not in ("precise", "all") or digits < 1):
        why = "must be at least 1" if digits < 1 else "go with --route precise or all"
        raise UsageError(f"--digits {digits}: digits {why}.", ["--digits"])
    model = prepare(load(options.mechanism))
    wanted = _wanted(model, options.eliminate)
    if route == "all":
        document = base_routes.compare(model, wanted, digits)
        emit(document) if options.json else terminal.show_routes(document)
        return 0
    found = base_routes.find(model, route, wanted, digits)
    if options.format != "table":
        text = export.export(found, options.format)
        emit({"mechanism": found.mechanism, "format": options.format, "text": text}) if (
            options.json
        ) else print(text)
        return 0
    document = found.document()
    emit(document) if options.json else terminal.show_base(document)
    return 0


def _reduce(options: argparse.Namespace) -> int:
    from basepar_core.base import symbolic
    from basepar_core.closure import prepare
    from basepar_core.files import load
    from basepar_core.reduction import reduce_mechanism

    from .. import terminal

    model = prepare(load(options.mechanism))
    base = symbolic.symbolic(model, _wanted(model, options.eliminate))
    criteria = tuple(_listed(options.criteria)) or None
    found = reduce_mechanism(model, base, options.method, criteria, options.tolerance)
    emit(found.document()) if options.json else terminal.show_reduction(found)
    return 0


def _listed(text: str | None) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def _wanted(model: "Model", eliminate: str | None) -> list[int] | None:
    """Indices of the parameters that --eliminate names."""
    from basepar_core.base.symbolic import parameter_indices

    return parameter_indices(model.mechanism, _listed(eliminate)) if eliminate else None
