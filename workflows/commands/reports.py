"""Commands that write pages for people: report."""

import argparse
from pathlib import Path

from . import Add, emit


def register(add: Add) -> None:
    """Add the commands to the grammar."""
    report = add(
        "report",
        _report,
        "one self-contained HTML page about a store: base parameters, reductions, best variants",
        "basepar report four-bar.zarr -o report.html",
    )
    report.add_argument("store", help="a store that a sweep made, finished or not")
    report.add_argument(
        "-o", "--output", metavar="FILE", help="the page (default: the store's name with .html)"
    )


def _report(options: argparse.Namespace) -> int:
    from .. import terminal
    from ..report.page import write

    store = Path(options.store)
    output = Path(options.output) if options.output else store.with_suffix(".html")
    document = write(store, output)
    if options.json:
        emit(document)
        return 0
    terminal.out.print(
        f"{document['report']}: {document['total']:,} variants, {document['bytes'] / 1e6:.2g} MB",
        markup=False,
    )
    if not document["done"]:
        terminal.out.print("The sweep is not finished; the page says so.")
    for name, reason in document["left_out"].items():
        terminal.out.print(f"left out: {name}: {reason}", markup=False)
    return 0
