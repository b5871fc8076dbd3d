"""Commands that write pages for people: report."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .command import Command, emit
from .options import OVERWRITE, check_output, listed

if TYPE_CHECKING:
    from sweeps.store import Location


def _report(options: argparse.Namespace) -> int:
    from basepar_core.errors import UsageError
    from basepar_core.texts import naming, plural
    from sweeps.store import beside, locate, put_text
    from workflows.report import batch, page, tables
    from workflows.views import terminal

    store = locate(options.store)
    output = _output(options.output)
    if options.variants and not options.batch:
        raise UsageError("--variants goes with --batch.", ["--variants"])
    if options.format != "html":
        check_output(options, output)
        text = tables.write(store, options.format)
        if output is not None:
            with naming(options.output):
                put_text(output, text)
            if options.json:
                emit({"report": options.output, "format": options.format, "store": str(store)})
            else:
                terminal.out.print(f"written to {options.output}")
        else:
            sys.stdout.write(text)
        return 0
    if options.batch:
        chosen = _numbers(options.variants)
        folder = _output(options.batch)
        assert folder is not None
        document = batch.write(store, folder, chosen, options.overwrite)
    else:
        output = output or beside(store, ".html")
        check_output(options, output)
        document = page.write(store, output)
    if options.json:
        emit(document)
        return 0
    terminal.out.print(
        f"{document['report']}: {plural(document['total'], 'variant')}, "
        f"{document['bytes'] / 1e6:.2g} MB",
    )
    for variant, path in document.get("pages", {}).items():
        terminal.out.print(f"page of variant {variant}: {path}")
    if not document["done"]:
        terminal.out.print("The sweep is not finished; the page says so.")
    for name, reason in document["left_out"].items():
        terminal.out.print(f"left out: {name}: {reason}")
    return 0


def _output(text: str | None) -> "Location | None":
    from sweeps.store import bucket_of

    return (bucket_of(text) or Path(text)) if text else None


def _numbers(text: str | None) -> list[int] | None:
    from basepar_core.errors import UsageError

    if text is None:
        return None
    words = listed(text)
    wrong = [word for word in words if not word.isdecimal()]
    if wrong or not words:
        raise UsageError(f"--variants {text}: numbers with commas between.", ["--variants"])
    return [int(word) for word in words]


COMMANDS = (
    Command(
        "report",
        _report,
        "one self-contained HTML page about a store: base parameters, reductions, best variants",
        "basepar report four-bar.zarr -o report.html",
        {
            "store": "a store that a sweep made, finished or not",
            "-o --output FILE": "the page, a file or an address such as s3://bucket/x.html "
            "(default: the store's name with .html)",
            "--batch DIR": "a folder instead: an index that sorts and filters, and pages of "
            "chosen variants",
            "--variants N,…": "with --batch: variants that get a page (default: best, worst and "
            "the Pareto front)",
            "--format html|json|csv|latex": "csv: a row per variant; latex: tables of the front "
            "and of the base parameters that are kept; json: both as numbers; on stdout or to -o",
            **OVERWRITE,
        },
    ),
)
