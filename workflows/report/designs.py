"""Best variants of a study: feasible ones only, and beside them what a constraint forbids."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from workflows.studies import dominated

from .data import Facts
from .feasibility_view import Judged
from .html import Cell, LeftOut, Section, framed, joined, paragraph, with_unit
from .metric import Metric
from .numbers import counted, data
from .results import LISTED, lower, metric_title, pair, variant_columns

_TITLE = "Best variants"
_NONE = "No variant meets all constraints, so none is the best."


def best(found: Facts, it: Judged, drawn: Mapping[int, Markup]) -> Section | LeftOut:
    """By each objective; `drawn` are drawings by row."""
    asked = [metric for metric in found.metrics if metric.is_asked]
    if not asked:
        return LeftOut("extremes", _TITLE, "No variant has a value of an objective so far.")
    if not it.feasible.any():
        rows = np.flatnonzero(it.verdict.settled[it.rows])
        nearest = rows[np.argsort(it.violation[rows], kind="stable")][:LISTED]
        name = "Variants that come nearest to meeting all constraints"
        made = _table(found, it, name, [("Nearest", nearest)])
        return Section("extremes", _TITLE, joined([paragraph(_NONE), made]))
    parts: list[Markup] = [
        paragraph(
            "The best are those that meet all constraints. Variants count from 0, and all "
            "drawings are at one scale."
            + (f" Among the {it.rows.size:,} variants that were read." if found.is_sample else "")
        )
    ]
    shown: set[int] = set()
    for metric in asked:
        if not metric.order.size:
            continue
        name = lower(metric_title(metric))
        parts.append(Markup("<h3>By {}</h3>").format(name))
        groups = [("Best that meet all constraints", _different(found, metric.order))]
        if (forbidden := beyond(metric, it)).size:
            groups.append(("Better still, but a constraint is missed", forbidden))
        parts.append(_table(found, it, f"Best by {name}", groups))
        parts.append(pair(found, metric, drawn, shown))
    return Section("extremes", _TITLE, joined(parts))


def _different(found: Facts, order: np.ndarray) -> np.ndarray:
    """The first rows of an order, each design once: samplers come back to the same values."""
    listed: dict[tuple[float, ...], int] = {}
    for row in map(int, order):
        listed.setdefault(tuple(float(symbol.values[row]) for symbol in found.symbols), row)
        if len(listed) == LISTED:
            break
    return np.array([*listed.values()], dtype=int)


def beyond(metric: Metric, it: Judged) -> np.ndarray:
    """Rows better than the best feasible one, those first that miss constraints by least."""
    values = metric.sign * metric.values
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(~it.feasible & (values < values[metric.order[0]]))
    return rows[np.argsort(it.violation[rows], kind="stable")][:LISTED]


def _table(
    found: Facts, it: Judged, name: str, groups: Sequence[tuple[str, np.ndarray]]
) -> Markup:
    columns = [*variant_columns(found), "Constraints"]
    made: list[tuple[str, list[Sequence[Cell]]]] = [
        (title, [_row(found, it, int(row)) for row in rows]) for title, rows in groups
    ]
    return framed(name, columns, made, style="designs", titled=False)


def _row(found: Facts, it: Judged, row: int) -> list[Cell]:
    numbers = [(symbol.values[row], symbol.unit or "1") for symbol in found.symbols]
    numbers += [(metric.values[row], metric.unit) for metric in found.metrics]
    cells: list[Cell] = [data(int(found.variants[row]), str(found.variants[row]))]
    return [
        *cells,
        *(data(float(x), counted(float(x), unit)) for x, unit in numbers),
        constraints(it.missed(it.verdict, int(it.rows[row]))),
    ]


def constraints(missed: str) -> Cell:
    """What a table says of a design's constraints."""
    return Markup('<span class="missed">misses {}</span>').format(missed) if missed else "met"


def tiles(found: Facts, it: Judged) -> list[tuple[str, Any, str]]:
    """The few numbers for the top of a study's page: name, number, remark."""
    count, shown = int(it.verdict.feasible.sum()), it.shown
    total = int(it.verdict.settled.sum())
    met = ("meet all constraints", data(count), f"of {total:,} evaluated")
    asked = [metric for metric in found.metrics if metric.is_asked]
    if not shown.best:
        return [("best design", "none", "no variant meets all constraints"), met]
    values, _, names = shown.candidates
    if len(asked) > 1:
        front = int((~dominated(values * it.spec.signs)).sum())
        return [("designs on the front", data(front), "none is better in all objectives"), met]
    place, metric = shown.best[0], asked[0]
    value = float(values[place, 0]) * it.units[metric.meaning].per_si
    word = "least" if metric.sign > 0 else "greatest"
    number = with_unit(data(value, counted(value, metric.unit)), metric.unit)
    return [(f"{word} {lower(metric_title(metric))}", number, f"{names[place]}, feasible"), met]
