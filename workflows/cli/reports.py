"""Commands that write pages for people: report."""

import argparse
import sys
from pathlib import Path

from . import Add, emit
from .options import check_output, overwrite


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
    report.add_argument(
        "--batch",
        metavar="DIR",
        help="a folder instead: an index that sorts and filters, and pages of chosen variants",
    )
    report.add_argument(
        "--variants",
        metavar="N,…",
        help="with --batch: whose pages (default: best, worst and the Pareto front)",
    )
    report.add_argument(
        "--format",
        choices=("html", "json", "csv", "latex"),
        default="html",
        help="csv: a row per variant; latex: tables of the front and of what survives; json: both "
        "as numbers; on stdout or to -o",
    )
    overwrite(report)


def _report(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from basepar_core.texts import naming, plural
    from sweeps.store import folder
    from workflows.report import batch, page, tables
    from workflows.views import terminal

    store = folder(options.store)
    if options.variants and not options.batch:
        raise UsageError("--variants goes with --batch.", ["--variants"])
    if options.format != "html":
        check_output(options, options.output)
        text = tables.write(store, options.format)
        if options.output:
            with naming(options.output):
                Path(options.output).write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
        return 0
    if options.batch:
        chosen = _numbers(options.variants)
        document = batch.write(store, Path(options.batch), chosen, options.overwrite)
    else:
        output = Path(options.output) if options.output else store.with_suffix(".html")
        check_output(options, output)
        document = page.write(store, output)
    if options.json:
        emit(document)
        return 0
    terminal.out.print(
        f"{document['report']}: {plural(document['total'], 'variant')}, "
        f"{document['bytes'] / 1e6:.2g} MB",
    )
    if document.get("pages"):
        terminal.out.print(f"pages of variants {', '.join(document['pages'])}")
    if not document["done"]:
        terminal.out.print("The sweep is not finished; the page says so.")
    for name, reason in document["left_out"].items():
        terminal.out.print(f"left out: {name}: {reason}")
    return 0


def _numbers(text: str | None) -> list[int] | None:
    from basepar_core.errors import UsageError

    if text is None:
        return None
    words = [word.strip() for word in text.split(",") if word.strip()]
    wrong = [word for word in words if not word.isdecimal()]
    if wrong or not words:
        raise UsageError(f"--variants {text}: numbers with commas between.", ["--variants"])
    return [int(word) for word in words]
