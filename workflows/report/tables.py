"""A batch's results for programs and papers: CSV, JSON, LaTeX."""

import csv
import io
import json
import math
from typing import Any

import numpy as np

from basepar_core.errors import MissingDataError
from basepar_core.texts import csv_cell, latex
from sweeps.store import Location, as_damage
from workflows.export import latex_name

from . import fronts, results, variant_table
from .data import Facts, gather


def write(store: Location, form: str) -> str:
    """The text of a form: csv, json or latex.

    Raises
    ------
    StoreError
        The store is missing, damaged, or not of a sweep.
    MissingDataError
        LaTeX tables are of reductions, and the store has none.
    """
    with as_damage("account of itself"):
        return {"csv": _csv, "json": _json, "latex": _latex}[form](gather(store))


def _csv(found: Facts) -> str:
    """A row per variant, numbers in full."""
    columns, told = variant_table.columns(found), variant_table.words(found)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([csv_cell(title) for title, _ in (*columns, *told)])
    for row in range(found.variants.size):
        numbers = (values[row].item() for _, values in columns)
        texts = (csv_cell(str(values[row])) for _, values in told)
        writer.writerow([*("" if x != x else repr(x) for x in numbers), *texts])
    return file.getvalue()


def facts(found: Facts) -> dict[str, Any]:
    """The Pareto front and what survives, as plain numbers."""
    good, errors = fronts.ranked(found), found.read("torque_error")
    removed, sizes = found.read("removed"), found.read("selected_size")
    if not good.size or errors is None or removed is None or sizes is None:
        return {"front": [], "survival": {}}
    best, names = fronts.front(errors[good]), found.labels("base_parameter")
    shares = results.survival(removed[good], sizes[good], len(names))
    words = found.labels("criterion")
    return {
        "front": [
            {"size": int(k), "torque_error": float(e), "variant": int(found.variants[good[r]])}
            for k, e, r in zip(best.sizes, best.errors, best.rows, strict=True)
        ],
        "survival": {
            name: {w: None if np.isnan(x) else float(x) for w, x in zip(words, line, strict=True)}
            for name, line in zip(names, shares, strict=True)
        },
    }


def _json(found: Facts) -> str:
    columns = {
        title: [x if math.isfinite(x) else None for x in values.tolist()]
        for title, values in variant_table.columns(found)
    }
    document = {
        "title": found.status["title"],
        "total": found.total,
        "columns": columns | {name: x.tolist() for name, x in variant_table.words(found)},
        **facts(found),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def _latex(found: Facts) -> str:
    known = facts(found)
    if not known["front"]:
        raise MissingDataError(
            f"{found.store.path} has no reductions to make tables of. Ask for them in the sweep "
            f"(evaluate.reduction).",
            ["evaluate.reduction"],
        )
    front = [
        rf"{point['size']} & ${_power(point['torque_error'])}$ & {point['variant']} \\"
        for point in known["front"]
    ]
    words = found.labels("criterion")
    heads = ["kept in %", *words]
    kept = [
        " & ".join([f"${latex_name(name)}$", *(_percent(line[w]) for w in words)]) + r" \\"
        for name, line in known["survival"].items()
    ]
    return "\n\n".join(
        [
            _tabular("r r r", "parameters & torque error & variant", front),
            _tabular("l" + " r" * len(words), " & ".join(map(latex, heads)), kept),
        ]
    )


def _tabular(columns: str, titles: str, rows: list[str]) -> str:
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", titles + r" \\", r"\hline", *rows]
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _power(value: float) -> str:
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}"


def _percent(value: float | None) -> str:
    return "--" if value is None else f"{100 * value:.1f}"
