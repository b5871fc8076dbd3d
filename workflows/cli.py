"""The command line: `basepar COMMAND …`.

Every command makes one document of plain facts; `--json` prints it, otherwise it is shown as
tables. Exit status: 0 done, 1 not done, 2 usage, 3 done but variants crashed or timed out (or,
under --strict, are not settled).
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from basepar_core.errors import BaseparError, UsageError

if TYPE_CHECKING:
    from basepar_core.closure import Model

Command = Callable[[argparse.Namespace], int]


class _Parser(argparse.ArgumentParser):
    """Raises instead of exiting, so that --json can report usage errors too."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}. See {self.prog} --help.")


def _emit(document: Any) -> None:
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False, allow_nan=True)
    sys.stdout.write("\n")


def _list(options: argparse.Namespace) -> int:
    from . import documents, terminal

    document = documents.library()
    _emit(document) if options.json else terminal.show_library(document)
    return 0


def _show(options: argparse.Namespace) -> int:
    from basepar_core.closure import prepare
    from basepar_core.files import load

    from . import documents, terminal

    model = prepare(load(options.mechanism))
    document = documents.mechanism(model)
    if options.output:
        from .drawing import draw

        document["drawing"] = str(draw(model, Path(options.output)))
    _emit(document) if options.json else terminal.show_mechanism(document)
    return 0


def _base(options: argparse.Namespace) -> int:
    from basepar_core.base import symbolic
    from basepar_core.closure import prepare
    from basepar_core.files import load

    from . import terminal

    model = prepare(load(options.mechanism))
    wanted = _wanted(model, options.eliminate)
    route = {"symbolic": symbolic.symbolic, "numeric": symbolic.numeric}[options.route]
    document = route(model, wanted).document()
    _emit(document) if options.json else terminal.show_base(document)
    return 0


def _reduce(options: argparse.Namespace) -> int:
    from basepar_core.base import symbolic
    from basepar_core.closure import prepare
    from basepar_core.files import load
    from basepar_core.reduction import reduce_mechanism

    from . import terminal

    model = prepare(load(options.mechanism))
    base = symbolic.symbolic(model, _wanted(model, options.eliminate))
    criteria = tuple(_listed(options.criteria)) or None
    found = reduce_mechanism(model, base, options.method, criteria, options.tolerance)
    _emit(found.document()) if options.json else terminal.show_reduction(found)
    return 0


def _listed(text: str | None) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in (text or "").split(",") if word.strip()]


def _wanted(model: "Model", eliminate: str | None) -> list[int] | None:
    """Indices of the parameters that --eliminate names."""
    from basepar_core.base.symbolic import parameter_indices

    return parameter_indices(model.mechanism, _listed(eliminate)) if eliminate else None


def _sweep(options: argparse.Namespace) -> int:
    from . import documents, terminal
    from .sweep_job import load_job, place_of, run

    place, job = place_of(options.cluster, options.workers), load_job(options.spec, options.store)
    with terminal.sweep_bar(options.json or options.quiet) as bar:
        result = run(job, place, bar)
    document = documents.summary(result)
    if options.json:
        _emit(document)
    else:
        terminal.show_status(document)
        terminal.show_extremes(documents.extremes(Path(result.store)))
        rate = result.evaluated / result.seconds if result.seconds else 0.0
        terminal.out.print(
            f"\n{result.evaluated:,} variants in {result.seconds:.1f} s ({rate:,.0f} per second)"
            if result.evaluated
            else "\nnothing was missing"
        )
        terminal.show_next_steps(result.store)
    if not result.done:
        return 1
    return 3 if result.failed or (options.strict and result.unsettled) else 0


def _status(options: argparse.Namespace) -> int:
    from . import documents, terminal

    path = Path(options.store)
    document = documents.sweep_store(path)
    if options.json:
        _emit(document)
    else:
        terminal.show_status(document)
        terminal.show_extremes(documents.extremes(path))
    return 0


def parser() -> argparse.ArgumentParser:
    """The whole grammar of the command line."""
    top = _Parser(
        prog="basepar",
        description="Smallest dynamic models of mechanisms, at the scale of a design sweep.",
    )
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, command: Command, summary: str, example: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=summary,
            description=summary,
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.add_argument("--json", action="store_true", help="print facts for programs")
        made.set_defaults(command=command)
        return made

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
        choices=("symbolic", "numeric"),
        default="symbolic",
        help="symbolic, checked numerically (default), or numeric alone",
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

    sweep = add(
        "sweep",
        _sweep,
        "evaluate many variants of a mechanism into a store; run again to go on",
        "basepar sweep four-bar --store four-bar.zarr --workers 2",
    )
    sweep.add_argument("spec", help="a sweep file, or the name of a shipped one")
    sweep.add_argument("--store", metavar="DIR", help="where the results go (default: the file's)")
    sweep.add_argument(
        "--cluster",
        metavar="C",
        default="laptop",
        help="laptop (default), or the address of a Dask scheduler such as tcp://host:8786",
    )
    sweep.add_argument("--workers", type=int, metavar="N", help="processes on the laptop")
    sweep.add_argument(
        "--strict", action="store_true", help="exit status 3 if variants are not settled"
    )
    sweep.add_argument("--quiet", action="store_true", help="no progress bar")

    status = add(
        "status",
        _status,
        "what a store holds, and what is missing",
        "basepar status four-bar.zarr",
    )
    status.add_argument("store", help="a store that a sweep made")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options = parser().parse_args(given)
        return options.command(options)
    except BaseparError as error:
        _report(error, "--json" in given)
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("basepar: stopped; the same command goes on from here", file=sys.stderr)
        return 1


def _report(error: BaseparError, as_json: bool) -> None:
    if as_json:
        _emit(
            {"error": {"kind": error.kind, "message": error.message, "where": list(error.where)}}
        )
    else:
        print(f"basepar: {error.message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
