"""Commands that fill and read stores: sweep, status."""

import argparse
from pathlib import Path

from . import Add, emit


def register(add: Add) -> None:
    """Add the commands to the grammar."""
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


def _sweep(options: argparse.Namespace) -> int:
    from .. import documents, terminal
    from ..sweep_job import load_job, place_of, run

    place, job = place_of(options.cluster, options.workers), load_job(options.spec, options.store)
    with terminal.sweep_bar(options.json or options.quiet) as bar:
        result = run(job, place, bar)
    document = documents.summary(result)
    if options.json:
        emit(document)
    else:
        terminal.show_status(document)
        terminal.show_extremes(documents.extremes(Path(result.store)))
        rate = result.evaluated / result.seconds if result.seconds else 0.0
        terminal.out.print(
            f"\n{result.evaluated:,} variants in {result.seconds:.1f} s ({rate:,.0f} per second)"
            if result.evaluated
            else "\nnothing was missing"
        )
        terminal.show_next_steps(result.store, job.mechanism.name)
    if not result.done:
        return 1
    return 3 if result.failed or (options.strict and result.unsettled) else 0


def _status(options: argparse.Namespace) -> int:
    from .. import documents, terminal

    path = Path(options.store)
    document = documents.sweep_store(path)
    if options.json:
        emit(document)
    else:
        terminal.show_status(document)
        terminal.show_extremes(documents.extremes(path))
    return 0
