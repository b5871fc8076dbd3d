"""The part of a report that only a study has: its best designs, pictures, polish, tolerances."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from basepar_core.errors import BaseparError
from basepar_core.texts import plural
from workflows.studies import (
    StudySpec,
    Verdict,
    best,
    certify_best,
    pictures,
    plain,
    polished_path,
    slope_kind,
)
from workflows.views import designs, held, held_by, tolerances

from .data import Facts
from .designs import constraints
from .feasibility_view import Judged
from .html import (
    Cell,
    Column,
    Heading,
    LeftOut,
    Section,
    figure,
    framed,
    joined,
    paragraph,
    table,
    with_unit,
)
from .numbers import counted, data
from .svg import embedded

_TITLE = "Study"


def section(found: Facts) -> Section | LeftOut | None:
    """The study that a store is of; None where it is a sweep's."""
    if found.judged is None:
        return LeftOut("study", _TITLE, found.unjudged) if found.unjudged else None
    try:
        parts = [_summary(found.judged)]
        for name, caption, drawn in pictures(found.judged.shown):
            picture = embedded(drawn, caption, "drawing")
            parts.append(figure(picture, caption, "study"))
            if name == "tolerances":
                parts.append(_tolerances(found.judged))
    except BaseparError as error:
        return LeftOut("study", _TITLE, error.message)
    return Section("study", _TITLE, joined(parts))


def _sampler(spec: StudySpec) -> str:
    if spec.screened == spec.trials:
        return f"{plural(spec.trials, 'variant')} screened"
    before = f"{plural(spec.screened, 'variant')} screened, then " if spec.screened else ""
    asked = f"{plural(spec.trials - spec.screened, 'trial')} in batches of {spec.batch}"
    text = f"{before}sampler {spec.sampler.kind}, {asked}"
    return text[:1].upper() + text[1:]


def _summary(it: Judged) -> Markup:
    spec, verdict, after = it.spec, it.verdict, it.shown.polished
    goals = "; ".join(f"{line.direction} {line.text}" for line in spec.objectives)
    kept = "; ".join(line.text for line in spec.constraints) or "none"
    count = int(verdict.feasible.sum())
    parts = [
        paragraph(
            f"{goals[:1].upper()}{goals[1:]}. Constraints: {kept}. {_sampler(spec)}; "
            f"{count or 'none'} {'meets' if count == 1 else 'meet'} all constraints."
        )
    ]
    columns = (Column(_titled(it, n), True) for n in _names(it))
    heads: list[Heading] = ["Design", *columns, "Constraints"]
    groups: list[tuple[str, list[Sequence[Cell]]]] = []
    if after is not None:
        order = np.argsort(~after.feasible, kind="stable")
        made = [_row(it, after, int(row), "polished") for row in order]
        groups.append((polished_by(spec), [*made]))
    title = "Best variants of the search" if count else "Nearest to meeting all constraints"
    made = [_row(it, verdict, int(row), "variant") for row in best(spec, verdict)]
    groups.append((title, [*made]))
    parts.append(framed("Best designs", heads, groups, style="designs"))
    return joined([*parts, *map(paragraph, _certificates(it))])


def polished_by(spec: StudySpec) -> str:
    """By what slopes: only those of some results are exact."""
    rough = [name for name in spec.results if not slope_kind(name).startswith("exact")]
    if not rough:
        return "Polished by exact gradients"
    those = f"those of {', '.join(rough)} are" if len(rough) < len(spec.results) else "all are"
    return f"Polished by gradients; {those} differences"


def _names(it: Judged) -> list[str]:
    return [*designs.numbers(designs.design(it.spec, it.verdict, 0))]


def _titled(it: Judged, name: str) -> Markup:
    unit = it.units[name].text
    return with_unit(name, "" if unit == "1" else unit)


def _row(it: Judged, verdict: Verdict, row: int, word: str) -> list[Cell]:
    known = designs.numbers(designs.design(it.spec, verdict, row))
    return [
        Markup('<span class="whole">{} {}</span>').format(word, row),
        *(_number(it, name, known[name]) for name in _names(it)),
        _kept(it, verdict, row, word),
    ]


def _kept(it: Judged, verdict: Verdict, row: int, word: str) -> Cell:
    """What a design misses, or that it misses nothing; of a polished one what holds it."""
    missed = it.missed(verdict, row)
    if missed or word != "polished":
        return constraints(missed)
    by = ", ".join(held_by({"shown_in": plain(it.units)}, held(it.spec, verdict, row)))
    return f"met; held by {by}" if by else "met"


def _certificates(it: Judged) -> list[str]:
    """Of the designs in the table."""
    listed = set(map(int, best(it.spec, it.verdict)))
    known = certify_best.kept(it.spec.path)
    lines = [certify_best.line(one) for one in known if one["variant"] in listed]
    if it.shown.polished is not None:
        path = polished_path(it.spec.path)
        lines += [certify_best.line(one, "polished") for one in certify_best.kept(path)]
    return [f"{text[0].upper()}{text[1:]}." for text in lines]


def _number(it: Judged, name: str, value: float | None) -> Markup:
    shown = (np.nan if value is None else value) * it.units[name].per_si
    unit = it.units[name].text
    return data(shown, counted(shown, "" if unit == "1" else unit))


def _tolerances(it: Judged) -> Markup:
    spread = it.shown.spread
    assert spread is not None
    facts: dict[str, Any] = tolerances.document(it.spec, spread)
    text = (
        f"{plural(facts['samples'], 'sample')} about {facts['design']}, {facts['shape']}, "
        f"{', '.join(tolerances.within(facts))}: {100 * facts['feasible_share']:.1f} % meet all "
        "constraints."
    )
    titles = ("Nominal", "Mean", "Deviation", "By slopes", "5 %", "95 %", "Worst")
    heads = ["Objective", *(f"#{title}" for title in titles)]
    rows: list[list[Cell]] = [
        [_titled(it, name), *(_number(it, name, x) for x in tolerances.spread_numbers(one))]
        for name, one in facts["objectives"].items()
        if one["closed"]
    ]
    return joined([paragraph(text), table("Objectives under these tolerances", heads, rows)])
