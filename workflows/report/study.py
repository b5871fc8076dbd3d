"""The part of a report that only a study has: its pictures, its polish, its tolerances."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from basepar_core.errors import BaseparError

from .. import incumbents
from ..polish import polished_path
from ..study_document import best
from ..study_pictures import Shown, pictures
from ..study_store import is_study
from ..tolerances import document as spread_document
from .html import Cell, Column, LeftOut, Section, figure, joined, paragraph, table, unit_text
from .numbers import data, digits
from .svg import embedded

_TITLE = "Study"


def section(store: Path) -> Section | LeftOut | None:
    """The study that a store is of; None where it is a sweep's."""
    spec = is_study(store)
    if spec is None:
        return None
    try:
        shown = Shown.of(spec)
        parts = [_summary(shown)]
        for name, caption, drawn in pictures(shown):
            picture = embedded(drawn, caption, "drawing")
            parts.append(figure(picture, caption, "study"))
            if name == "tolerances":
                parts.append(_tolerances(shown))
    except BaseparError as error:
        return LeftOut("study", _TITLE, error.message)
    return Section("study", _TITLE, joined(parts))


def _summary(shown: Shown) -> Markup:
    spec, verdict = shown.spec, shown.verdict
    goals = "; ".join(f"{line.direction} {line.text}" for line in spec.objectives)
    kept = "; ".join(line.text for line in spec.constraints) or "none"
    parts = [
        paragraph(
            f"{goals}. Constraints: {kept}. Sampler {spec.sampler.kind}, {spec.trials} trials in "
            f"batches of {spec.batch}; {int(verdict.feasible.sum())} meet all constraints."
        )
    ]
    heads = [Column("Design")]
    heads += [
        Column(f"{n.text} {unit_text(n.unit.replace('1', ''))}".strip(), True)
        for n in spec.objectives
    ]
    heads += [Column(name, True) for name in spec.names]
    rows: list[list[Cell]] = [
        [f"variant {row}", *map(_number, [*verdict.values[row], *verdict.parameters[row]])]
        for row in map(int, best(spec, verdict))
    ]
    if (after := shown.polished) is not None:
        rows += [
            [f"polished {row}", *map(_number, [*after.values[row], *after.parameters[row]])]
            for row in range(len(after.values))
        ]
    parts.append(table("Best designs, SI", heads, rows))
    return joined([*parts, *map(paragraph, _certificates(shown))])


def _certificates(shown: Shown) -> list[str]:
    lines = [incumbents.line(one) for one in incumbents.kept(shown.spec.path)]
    path = polished_path(shown.spec.path)
    if shown.polished is not None:
        lines += [incumbents.line(one, "polished") for one in incumbents.kept(path)]
    return [f"{text[0].upper()}{text[1:]}." for text in lines]


def _number(value: Any) -> Markup:
    return data(float(value), digits(float(value)))


def _tolerances(shown: Shown) -> Markup:
    assert shown.spread is not None
    facts = spread_document(shown.spec, shown.spread)
    said = ", ".join(f"{name} ± {half:.4g}" for name, half in facts["tolerances"].items())
    text = (
        f"{facts['samples']} samples about {facts['design']}, {facts['shape']}, {said} (SI): "
        f"{100 * facts['feasible_share']:.1f} % meet all constraints."
    )
    heads = [Column(name, name != "Objective") for name in ("Objective", "Nominal", "Mean")]
    heads += [Column(name, True) for name in ("Deviation", "By slopes", "5 %", "95 %", "Worst")]
    rows: list[list[Cell]] = [
        [
            name,
            *map(
                _number,
                (
                    one["nominal"],
                    one["mean"],
                    one["standard_deviation"],
                    one["predicted_standard_deviation"],
                    one["quantiles"]["0.05"],
                    one["quantiles"]["0.95"],
                    one["worst"],
                ),
            ),
        ]
        for name, one in facts["objectives"].items()
        if one["closed"]
    ]
    return joined([paragraph(text), table("Objectives under these tolerances, SI", heads, rows)])
