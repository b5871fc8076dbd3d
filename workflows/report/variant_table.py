"""All variants as one table that sorts and filters in the browser: data, and a small script."""

import math
from typing import Any

import numpy as np
from markupsafe import Markup

from workflows import pages as shell

from .data import Facts
from .figures import NO_ERROR
from .html import Section, joined, paragraph
from .results import criterion_name, metric_title

#: Rows that are read into the page; of larger stores those of the first metric's best.
MOST = 20_000


def script() -> str:
    """The table's script: the only one that a page may run."""
    return shell.text_beside(__package__, "table.js")


def columns(found: Facts) -> list[tuple[str, np.ndarray]]:
    """Columns of all rows that are read: title, values; variant's number first."""
    made: list[tuple[str, np.ndarray]] = [("variant", found.variants)]
    made += [(_titled(s.name, s.unit), s.values) for s in found.symbols]
    made += [(_titled(metric_title(m), m.unit), m.values) for m in found.metrics]
    return made + criterion_columns(found)


def criterion_columns(found: Facts) -> list[tuple[str, np.ndarray]]:
    """Size and torque error of the model that each criterion selects."""
    made: list[tuple[str, np.ndarray]] = []
    sizes, errors = found.read("selected_size"), found.read("selected_error")
    if sizes is not None and errors is not None:
        for k, name in enumerate(found.labels("criterion")):
            word = criterion_name(found, name)
            made.append((f"size, {word}", np.where(sizes[:, k] >= 0, sizes[:, k], np.nan)))
            made.append((f"error, {word}", errors[:, k]))
    return made


def words(found: Facts) -> list[tuple[str, np.ndarray]]:
    """Columns of words, behind the numbers: whether a study's variant is feasible, the status."""
    made = [("status", found.words)]
    if (it := found.judged) is None:
        return made
    settled = it.verdict.settled[it.rows]
    missed = [it.missed(it.verdict, int(row)) for row in it.rows]
    missed = [text if known else "" for text, known in zip(missed, settled, strict=True)]
    said = np.where(settled, np.where(it.feasible, "yes", "no"), "pending")
    return [
        ("feasible", said.astype(object)),
        ("misses", np.array(missed, dtype=object)),
        *made,
    ]


def _missed(found: Facts) -> np.ndarray:
    """(row,) bool: settled, and infeasible; of a sweep nothing is."""
    if (it := found.judged) is None:
        return np.zeros(found.variants.size, bool)
    return it.verdict.settled[it.rows] & ~it.feasible


def _titled(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def section(found: Facts, pages: dict[int, str]) -> Section:
    """The table; `pages` are addresses of variants' own pages, by row."""
    rows = np.arange(found.variants.size)
    note = ""
    if rows.size > MOST:
        best = found.metrics[0].order if found.metrics else rows[:0]
        rows = np.sort(np.concatenate([best, np.setdiff1d(rows, best)])[:MOST])
        which = "the best" if found.judged is None else "feasible ones"
        taken = f"; {which} were taken first" if best.size else ""
        note = f"{rows.size:,} of {found.variants.size:,} that were read{taken}."
    made = columns(found)
    told = words(found)
    numbers = [
        # Torque errors that are rounding are none, to a reader.
        [_short(0.0 if title.startswith("error") and x <= NO_ERROR else x) for x in values[rows]]
        for title, values in made
    ]
    data = {
        "titles": [title for title, _ in (*made, *told)],
        "columns": [*numbers, *(column[rows].tolist() for _, column in told)],
        "missed": _missed(found)[rows].tolist(),
        "pages": {str(found.variants[row]): address for row, address in pages.items()},
    }
    body = [
        *([paragraph(note)] if note else []),
        paragraph(
            "Click a title to sort. Filters: part of a word, a number, > 3, <= 0.5, 2..4."
            + ("" if found.judged is None else " Rows with ✗ miss a constraint."),
            "hint",
        ),
        Markup('<p class="count" id="count" role="status"></p>'),
        Markup(
            '<div class="frame" role="region" aria-label="Variants" tabindex="0">'
            "<table><thead></thead><tbody></tbody></table></div>"
            '<p class="pager"><button type="button" id="before">Previous</button> '
            '<span id="place"></span> <button type="button" id="after">Next</button></p>'
        ),
        shell.data("data", data),
        shell.script(script()),
        _pages(found, pages),
    ]
    return Section("variants", "Variants", joined(body))


def _pages(found: Facts, pages: dict[int, str]) -> Markup:
    links = joined(
        (
            Markup('<a href="{}">variant {}</a>').format(address, found.variants[row])
            for row, address in pages.items()
        ),
        ", ",
    )
    return paragraph(Markup("Pages of their own: {}.").format(links)) if pages else Markup()


def _short(value: Any) -> float | int | None:
    """Six digits are plenty for a table; no number is null."""
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 1e15 else float(f"{number:.6g}")
