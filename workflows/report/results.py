"""Reductions, best and worst variants, metrics against the swept symbols."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.base import number_of
from basepar_core.metrics import METRICS
from basepar_core.reduction import criterion_label
from basepar_core.texts import plural
from sweeps.store import WITH_RESULTS

from . import figures, mathml
from .data import Facts
from .html import (
    Cell,
    Column,
    Heading,
    LeftOut,
    Section,
    figure,
    framed,
    joined,
    key,
    paragraph,
    table,
    unit_text,
    with_unit,
)
from .metric import Metric
from .numbers import brief, counted, data, digits

#: Variants listed at each end of a metric.
LISTED = 5


def metric_title(metric: Metric) -> str:
    """A metric in words: `RMS torque`, `Condition`; an expression as it is."""
    if any(sign in metric.name for sign in "*/+("):
        return metric.name
    name, _, coordinate = metric.name.partition(" of ")
    if name.startswith("stroke_"):
        return f"Stroke of {name.removeprefix('stroke_')}"
    if name in METRICS and (title := METRICS[name].title):
        what = "drive force" if metric.unit == "N" else "drive torque"
        what = " of the drive" if METRICS[name].unit else f" {what}"
        return f"{title}{what}" + (f" of {coordinate}" if coordinate else "")
    word, of = _called(name)
    of = of or coordinate
    return word.replace("_", " ").capitalize() + (f" of {of}" if of else "")


def _called(name: str) -> tuple[str, str]:
    """A column's metric and what it is of: `time_ratio_D` is time_ratio and D."""
    words = [word for word in METRICS if METRICS[word].arguments and name.startswith(f"{word}_")]
    if not words:
        return name, ""
    word = max(words, key=len)
    return word, name.removeprefix(f"{word}_").replace("_", ", ")


def reduction(found: Facts) -> Section | LeftOut:
    """The path of one variant, and what all variants keep."""
    title = "Reduction"
    names = ("removed", "torque_error", "selected_size")
    arrays = {name: found.read(name) for name in names}
    absent = [name for name, values in arrays.items() if values is None]
    if absent:
        asked = found.spec["evaluate"].get("reduction")
        reason = (
            f"The store has no {', '.join(absent)}."
            if asked
            else "The sweep did not ask for a reduction (evaluate.reduction)."
        )
        return LeftOut("reduction", title, reason)
    removed, errors, selected = (arrays[name] for name in names)
    assert removed is not None
    assert errors is not None
    assert selected is not None
    good = np.flatnonzero(found.has_results & np.isfinite(errors).all(axis=1))
    if not good.size:
        return LeftOut("reduction", title, "No variant has a reduction so far.")
    row, why = _chosen(found, good)
    parts = [
        Markup("<h3>Path of variant {}, {}</h3>").format(found.variants[row], why),
        path_of(found, row, removed[row], errors[row], selected[row]),
        Markup("<h3>Over all variants</h3>"),
        _sizes(found, selected[good], errors.shape[1]),
        _survival(found, removed[good], selected[good]),
    ]
    return Section("reduction", title, joined(parts))


def _chosen(found: Facts, good: np.ndarray) -> tuple[int, str]:
    """The variant whose path is shown: best by the first metric."""
    for metric in found.metrics[:1]:
        for row in metric.order:
            if row in good:
                return int(row), f"the best by {metric_title(metric)}"
    return int(good[0]), "the first with a result"


def criterion_name(found: Facts, name: str) -> str:
    """`AIC`, or `tolerance 1 %`."""
    if name == "tolerance" and (asked := found.spec["evaluate"].get("reduction")):
        return f"tolerance {brief(100 * asked['tolerance'])} %"
    return criterion_label(name)


def _criteria(found: Facts) -> list[str]:
    return [criterion_name(found, name) for name in found.labels("criterion")]


def is_elimination(found: Facts) -> bool:
    """Whether paths drop parameters one by one, rather than add them."""
    return (found.spec["evaluate"]["reduction"] or {}).get("method", "backward") == "backward"


def path_of(
    found: Facts, row: int, removed: np.ndarray, errors: np.ndarray, selected: np.ndarray
) -> Markup:
    """A variant's path as a plot and a table: arrays of one row of the store."""
    validation = found.read("validation_error")
    second = None if validation is None else validation[row]
    names = found.labels("base_parameter")
    left = [names[k] if 0 <= k < len(names) else "" for k in map(int, removed)]
    by_size: dict[int, list[str]] = {}
    for size, word in zip(map(int, selected), _criteria(found), strict=True):
        if size >= 0:
            by_size.setdefault(size, []).append(word)
    marked = {size: ", ".join(words) for size, words in by_size.items()}
    said = "; ".join(f"{words}: {plural(size, 'parameter')}" for size, words in marked.items())
    label = f"Torque error against the number of parameters. {said}."
    way = "leave one by one" if is_elimination(found) else "are added one by one from the right"
    caption = (
        f"Relative torque error over the cycle as parameters {way}, and where each criterion "
        "stops."
    )
    if second is not None:
        caption += " Dashed: the same models on a second trajectory, the excitation."
    picture = figure(figures.path(errors, marked, left, label, second), caption)
    # Read downwards, an addition path says of each model which parameter joins it next.
    word = "Removed" if is_elimination(found) else "Added next"
    steps = _steps(word, left, errors, marked, second)
    return Markup('<div class="path">{}{}</div>').format(picture, steps)


def _steps(
    word: str,
    left: Sequence[str],
    errors: np.ndarray,
    marked: Mapping[int, str],
    second: np.ndarray | None,
) -> Markup:
    columns = [
        "#Left",
        word,
        "#Torque error",
        *(["#On the excitation"] if second is not None else []),
        "Selected by",
    ]
    rows: list[list[Cell]] = []
    for step, (name, error) in enumerate(zip(left, errors, strict=True)):
        size = len(errors) - 1 - step
        gone = mathml.inline(mathml.parameter(name)) if name else "–"
        other = [] if second is None else [data(float(second[step]), _error(second[step]))]
        cells: list[Cell] = [str(size), gone, data(float(error), _error(error)), *other]
        rows.append([*cells, marked.get(size, "")])
    return table("Steps of the path", columns, rows)


def _error(error: float) -> str:
    return "≈ 0" if 0 < error <= figures.NO_ERROR else digits(float(error), 3)


def _sizes(found: Facts, selected: np.ndarray, steps: int) -> Markup:
    plots = []
    for k, word in enumerate(_criteria(found)):
        counts = np.bincount(selected[:, k][selected[:, k] >= 0], minlength=steps)
        if not counts.sum():
            continue
        title = word[:1].upper() + word[1:]
        label = (
            f"{title}: most often {plural(int(counts.argmax()), 'parameter')}, in "
            f"{counts.max():,} of "
            f"{plural(int(counts.sum()), 'variant')}."
        )
        plots.append(figures.sizes(counts, title, label))
    grid = Markup('<div class="multiples">{}</div>').format(joined(plots))
    return figure(
        grid, "Percent of the variants by the number of parameters that each criterion keeps."
    )


def survival(removed: np.ndarray, selected: np.ndarray, count: int) -> np.ndarray:
    """Share of variants in which a base parameter is still there at the selected size.

    Parameters
    ----------
    removed
        (variant, step) index of the parameter that left to reach the step; −1 at step 0.
    selected
        (variant, criterion) sizes; −1 without one.

    Returns
    -------
    (base_parameter, criterion), nan where no variant has a size.
    """
    leaves = np.full((len(removed), count + 1), np.iinfo(np.int32).max)
    rows = np.arange(len(removed))
    for step in range(1, removed.shape[1]):
        leaves[rows, removed[:, step]] = step  # −1 falls on the last column, which is dropped
    there = leaves[:, :count, None] > (removed.shape[1] - 1 - selected)[:, None, :]
    known = (selected >= 0)[:, None, :]
    total = known.sum(axis=0)
    return np.where(total > 0, (there & known).sum(axis=0) / np.maximum(total, 1), np.nan)


def _survival(found: Facts, removed: np.ndarray, selected: np.ndarray) -> Markup:
    names = found.labels("base_parameter")
    shares = survival(removed, selected, len(names))
    columns = ["Base parameter", *(f"#{word}" for word in _criteria(found))]
    rows: list[list[Cell]] = []
    for name, line in zip(names, shares, strict=True):
        cells: list[Cell] = [mathml.inline(mathml.parameter(name))]
        rows.append(cells + [_heat(float(part)) for part in line])
    caption = "How often a base parameter is among those kept, percent of the variants"
    return table(caption, columns, rows, style="heat")


def _heat(part: float) -> Markup:
    shown = data(part, "–" if np.isnan(part) else f"{100 * part:.1f}")
    strength = f"{0.0 if np.isnan(part) else part:.3f}"
    return Markup('<span class="heat-cell" style="--part:{}">{}</span>').format(strength, shown)


def extremes(found: Facts, drawn: Mapping[int, Markup]) -> Section | LeftOut:
    """Best and worst variants by each metric; `drawn` are drawings by row."""
    title = "Best and worst"
    if not found.metrics:
        return LeftOut("extremes", title, _no_metric(found))
    parts: list[Markup] = []
    shown: set[int] = set()
    for metric in found.metrics:
        parts.append(Markup("<h3>By {}</h3>").format(lower(metric_title(metric))))
        parts.append(_ends(found, metric))
        parts.append(pair(found, metric, drawn, shown))
    note = (
        "The least torque and the least condition are the best. Variants count from 0, and "
        "all drawings are at one scale."
    )
    if found.is_sample:
        note += f" Among the {found.variants.size:,} variants that were read."
    return Section("extremes", title, joined([paragraph(note), *parts]))


def _no_metric(found: Facts) -> str:
    if found.spec["evaluate"]["metrics"]:
        return "No variant has a metric so far."
    return "The sweep asked for no metrics, and no variant has a condition."


def lower(title: str) -> str:
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def variant_columns(found: Facts) -> list[Heading]:
    """A variant's number, its symbols and its metrics."""
    symbols = ((mathml.inline(mathml.symbol(s.name)), s.unit) for s in found.symbols)
    metrics = ((metric_title(m), m.unit) for m in found.metrics)
    return ["#Variant", *(Column(with_unit(*one), True) for one in (*symbols, *metrics))]


def _ends(found: Facts, metric: Metric) -> Markup:
    order = metric.order
    listed = min(LISTED, -(-len(order) // 2))
    columns = variant_columns(found)
    first, last = metric.ends
    groups = [(first, order[:listed])]
    if len(order) > listed:
        groups.append((last, order[::-1][: min(listed, len(order) - listed)]))
    made = [(word, [_variant(found, int(row)) for row in rows]) for word, rows in groups]
    name = f"{first} and {last.lower()} by {lower(metric_title(metric))}"
    return framed(name, columns, made, titled=False)


def _variant(found: Facts, row: int) -> Sequence[Cell]:
    cells: list[Cell] = [data(int(found.variants[row]), str(found.variants[row]))]
    cells += [data(float(symbol.values[row])) for symbol in found.symbols]
    return cells + [data(float(metric.values[row])) for metric in found.metrics]


def drawn_rows(found: Facts) -> list[int]:
    """Rows to draw: best and worst by each metric, each once."""
    ranked = [m for m in found.metrics if m.is_asked is not False and m.order.size]
    rows = [int(m.order[end]) for m in ranked for end in (0, -1)]
    return list(dict.fromkeys(rows))


def pair(found: Facts, metric: Metric, drawn: Mapping[int, Markup], shown: set[int]) -> Markup:
    """Drawings of the best and the worst that are not on the page yet."""
    pictures = []
    for word, end in zip(metric.ends, (0, -1), strict=True):
        row = int(metric.order[end])
        if row in drawn and row not in shown:
            shown.add(row)
            value = _with(float(metric.values[row]), unit_text(metric.unit))
            caption = f"{word}: variant {found.variants[row]}, {value}"
            pictures.append(figure(drawn[row], caption))
    if not pictures:
        return Markup()
    return Markup('<div class="pair">{}</div>').format(joined(pictures))


def scatters(found: Facts) -> Section | LeftOut:
    """Every metric's distribution, and against every swept symbol."""
    title = "Metrics and symbols"
    if not found.metrics:
        return LeftOut("scatter", title, _no_metric(found))
    parts: list[Markup] = []
    for metric in found.metrics:
        parts.append(_multiples(found, metric))
    shown = f"at most {figures.MOST_POINTS} shown per plot"
    keys: list[Markup | str]
    if found.unjudged:
        keys = [key("points", f"variants ({shown})")]
    elif found.judged is None:
        keys = [
            key("points", f"variants ({shown})"),
            key("middle", "median along the symbol"),
            key("best", "best or least"),
            key("worst", "worst or most"),
        ]
    else:
        keys = [
            key("feasible", "feasible variants"),
            key("points", "those that miss a constraint"),
            key("best", "best feasible"),
            key("worst", "worst feasible"),
            shown,
        ]
    return Section("scatter", title, joined([paragraph(joined(keys, ", ")), *parts]))


def _multiples(found: Facts, metric: Metric) -> Markup:
    name, unit, order = metric_title(metric), unit_text(metric.unit), metric.order
    some = np.sort(metric.values[np.isfinite(metric.values)])
    marked = metric.is_asked is not False and order.size > 0
    said = (
        f"{counted(float(some[0]), unit)} to {_with(float(some[-1]), unit)}, "
        f"median {_with(float(np.median(some)), unit)}, {plural(len(some), 'variant')}."
    )
    plots = [figures.histogram(metric.values, name, unit, f"{name}: {said}")]
    for symbol in found.symbols:
        cloud = figures.Cloud(
            symbol.name,
            unit_text(symbol.unit),
            symbol.values,
            metric.values,
            name,
            unit,
            int(order[0]) if marked else None,
            int(order[-1]) if marked else None,
            None if found.judged is None else found.judged.feasible,
        )
        plots.append(figures.scatter(cloud, f"{name} against {symbol.name}."))
    grid = Markup('<div class="multiples">{}</div>').format(joined(plots))
    return Markup("<h3>{}</h3>{}").format(name, figure(grid, said))


def _with(value: float, unit: str) -> str:
    return f"{digits(value)} {unit}" if unit else counted(value)


def tiles(found: Facts) -> list[tuple[str, Any, str]]:
    """The few numbers for the top of the page: name, number, remark."""
    counts = found.status["counts"]
    there = sum(counts.get(status.meaning, 0) for status in WITH_RESULTS)
    made: list[tuple[str, Any, str]] = [
        ("variants", data(found.total), f"{there:,} with results"),
    ]
    if found.base is not None:
        total = len(found.base["parameters"])
        made.append(
            (
                "base parameters",
                data(found.base["rank"])
                if found.base["rank"] is not None
                else number_of(found.base),
                f"of {total}",
            )
        )
    selected = found.read("selected_size")
    if (
        selected is not None
        and (good := selected[found.has_results & (selected[:, 0] >= 0), 0]).size
    ):
        word = criterion_name(found, found.labels("criterion")[0])
        middle = float(np.median(good))
        remark = f"median at {word}; {good.min()} to {good.max()}"
        made.append(("parameters kept", data(middle, brief(middle)), remark))
    for metric in found.metrics[:1] if found.kind == "sweep" else ():
        best = int(metric.order[0])
        number = with_unit(data(float(metric.values[best])), metric.unit)
        made.append(
            (f"least {lower(metric_title(metric))}", number, f"variant {found.variants[best]}")
        )
    return made
