"""Commands that recompute published results: reproduce."""

import argparse
from pathlib import Path

from .command import Command, emit
from .options import OVERWRITE, check_output


def _reproduce(options: argparse.Namespace) -> int:
    from workflows import reproduce
    from workflows.reproduce import comparison, printing
    from workflows.views import terminal

    if options.paper is None:
        return _list(options.json)
    folder = Path(options.output) if options.output else None
    if folder is not None:
        name = reproduce.paper(options.paper).name
        check_output(options, folder / f"{name}.csv", *folder.glob(f"{name}-*.png"))
    with terminal.steps(options.json) as say:
        found = reproduce.reproduce(options.paper, say, folder)
    document = found.document()
    if folder is not None:
        table = folder / f"{found.paper}.csv"
        comparison.write_numbers(found, table)
        document["table"] = str(table)
    emit(document) if options.json else printing.show(found, document.get("table"))
    return 0 if found.reproduced else 1


def _list(as_json: bool) -> int:
    from workflows.reproduce import PAPERS, printing

    if as_json:
        known = [{"paper": p.name, "title": p.title, "compared": p.holds} for p in PAPERS]
        emit({"papers": known})
    else:
        printing.show_papers()
    return 0


COMMANDS = (
    Command(
        "reproduce",
        _reproduce,
        "a source paper's tables and figures recomputed, and the differences number by number",
        "basepar reproduce low-mobility -o low-mobility",
        {
            "paper?": "its name (default: list the papers)",
            "-o --output DIR": "draw the figures, and write the numbers as CSV",
            **OVERWRITE,
        },
        """\
A source paper's tables and figures recomputed, and the differences number by number.

A number agrees where ours is within half a unit of its last printed digit. Exit status 0: all
agrees except what is explained by name (errata of the paper; rounding noise and what else
cannot be repeated); 1: something differs.

--json prints paper, title, rule, reproduced, counts (agrees, erratum, not comparable, differs),
seconds, figures (files), table (with -o, the file of numbers), and tables: [{name, title, note,
counts, numbers: [{where, printed, ours, difference, verdict, reason}]}], all numbers as text.
Without a paper: papers.""",
    ),
)
