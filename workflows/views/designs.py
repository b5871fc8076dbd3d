"""Designs of a study: their numbers, and the one table of them that people see.

The terminal, the live table, notebooks and reports have the same columns in the same units.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from workflows.studies import StudySpec, Verdict, plain, shown_units

from .terminal import fitted, number


def facts(spec: StudySpec, verdict: Verdict, rows: Iterable[int]) -> dict[str, Any]:
    """Designs, SI, and what `table` needs to show them."""
    return {
        "objectives": {line.text: line.direction for line in spec.objectives},
        "shown_in": plain(shown_units(spec)),
        "best": [design(spec, verdict, int(row)) for row in rows],
    }


def design(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, Any]:
    """A design's numbers, SI, and what it misses."""
    return {
        "variant": row,
        "parameters": parameters(spec, verdict, row),
        "values": values(spec, verdict, row),
        "results": {
            name: float(column[row]) if np.isfinite(column[row]) else None
            for name, column in verdict.results.items()
        },
        "feasible": bool(verdict.feasible[row]),
        "violations": violations(spec, verdict, row),
    }


def parameters(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, float]:
    """A design's variables, SI."""
    return dict(zip(spec.names, verdict.parameters[row].tolist(), strict=True))


def values(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, float | None]:
    """A design's objectives, SI; None where there is no value."""
    pairs = zip(spec.objectives, verdict.values[row].tolist(), strict=True)
    return {line.text: value if np.isfinite(value) else None for line, value in pairs}


def violations(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, float]:
    """What a design misses, and by how much: constraints whose number is above 0."""
    pairs = zip(spec.limits, verdict.violations[row].tolist(), strict=True)
    return {key: value for key, value in pairs if value > 0}


def numbers(one: Mapping[str, Any]) -> dict[str, float | None]:
    """Of a design, SI, by column; a result that is an objective itself is no column once more."""
    told = {name.replace(" ", "") for name in one["values"]}
    results = {name: value for name, value in one["results"].items() if name not in told}
    return {**one["values"], **one["parameters"], **results}


def columns(document: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of the best designs; what each misses comes last, where one misses."""
    rows = document["best"]
    names = [*numbers(rows[0])] if rows else [*document["objectives"]]
    titles = ["variant", *(head(document, name) for name in names)]
    lines = [
        [str(one["variant"]), *(in_shown_unit(document, n, numbers(one)[n]) for n in names)]
        for one in rows
    ]
    if any(one["violations"] for one in rows):
        titles.append("misses")
        lines = [
            [*line, ", ".join(one["violations"])] for line, one in zip(lines, rows, strict=True)
        ]
    return titles, lines


def picture(document: Mapping[str, Any], console: Console | None = None) -> Table:
    """The same for a terminal (stdout's if None); of equal designs the first is shown."""
    distinct: dict[tuple[float | None, ...], Mapping[str, Any]] = {}
    for one in document["best"]:
        distinct.setdefault(tuple(numbers(one).values()), one)
    return fitted(*columns({**document, "best": [*distinct.values()]}), console)


def head(document: Mapping[str, Any], name: str) -> str:
    """A column's title with the unit people read it in."""
    unit = document["shown_in"][name]["unit"]
    return name if unit == "1" else f"{name} [{unit}]"


def in_shown_unit(document: Mapping[str, Any], name: str, value: float | None) -> str:
    """A number of a document, which is SI, in the unit that people read it in."""
    return number(None if value is None else value * document["shown_in"][name]["per_si"])
