"""What a study found, as plain facts and in the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from basepar_core.files import library_names
from basepar_core.texts import plural, shell
from sweeps.store import Store
from workflows.studies import (
    Range,
    Result,
    StudySpec,
    Verdict,
    best,
    certify_best,
    judge,
    plain,
    shown_units,
    si_units,
    stale,
    storages,
)

from . import documents
from .hints import near, typed
from .store import show_notes, show_status
from .terminal import number, out, said, table


def study(spec: StudySpec, result: Result, certified: int = 0) -> dict[str, Any]:
    """`basepar study`: the store's status, and the best variants, the first of them certified."""
    verdict = judge(spec, Store.open(spec.path), 0, spec.trials)
    rows = best(spec, verdict)
    feasible = [int(row) for row in rows if verdict.feasible[row]]
    return documents.summary(result.summary) | {
        "mechanism": spec.mechanism.name,
        "study": {"storage": storages.shown(spec.storage), "name": spec.name},
        "trials": spec.trials,
        "warm_start": asdict(result.beginning),
        "objectives": {line.text: line.direction for line in spec.objectives},
        "constraints": [line.text for line in spec.constraints],
        "feasible": int(verdict.feasible.sum()),
        "units": si_units(spec),
        "shown_in": plain(shown_units(spec)),
        "continuous": continuous(spec),
        "best": [_variant(spec, verdict, int(row)) for row in rows],
        "certified": certify_best.certify(spec, feasible[: max(0, certified)]),
        "stale": stale(spec, verdict),
    }


def _variant(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, Any]:
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


def show(document: Mapping[str, Any]) -> None:
    """A table of the best variants, and what to do next."""
    show_status(document)
    count, rows = document["feasible"], document["best"]
    out.print(
        f"\n{count} of {plural(document['trials'], 'variant')} "
        f"{'meets' if count == 1 else 'meet'} all constraints"
        + ("" if count else ": none is the best; those that come nearest:")
    )
    objectives = document["objectives"]
    parameters = list(rows[0]["parameters"]) if rows else []
    others = [name for name in (rows[0]["results"] if rows else []) if name not in objectives]
    heads = {name: head(document, name) for name in (*objectives, *parameters, *others)}
    notes = () if count else ("misses",)
    made = table("#variant", *(f"#{title}" for title in heads.values()), *notes)
    for row in rows:
        shown = row["values"] | row["parameters"] | row["results"]
        cells = [in_shown_unit(document, name, shown[name]) for name in heads]
        missed = [said((", ".join(row["violations"]), "yellow"))] if notes else []
        made.add_row(str(row["variant"]), *cells, *missed)
    out.print(made)
    for one in document["certified"]:
        out.print(f"\n{certify_best.line(one)}")
    begun = document["warm_start"]
    if begun["told"] or begun["proposed"]:
        out.print(
            f"\nwarm start: {plural(begun['told'], 'variant')} told, {begun['proposed']} "
            "proposed for the first batch"
        )
    _show_end(document)


def head(document: Mapping[str, Any], name: str) -> str:
    """A column's title with the unit people read it in."""
    unit = document["shown_in"][name]["unit"]
    return name if unit == "1" else f"{name} [{unit}]"


def in_shown_unit(document: Mapping[str, Any], name: str, value: float | None) -> str:
    """A number of a document, which is SI, in the unit that people read it in."""
    return number(None if value is None else value * document["shown_in"][name]["per_si"])


def _show_end(document: Mapping[str, Any]) -> None:
    count, seconds = document["evaluated"], document["seconds"]
    out.print(
        f"\n{plural(count, 'variant')} evaluated in {seconds:.1f} s"
        if count
        else "\nnothing was missing"
    )
    if document["stale"]:
        out.print()
        show_notes(document["stale"])
    if "polished" in document:  # is shown next, and says what comes then
        return
    moves = ["polish"] * bool(document["continuous"]) + ["tolerances"]
    commands = ["report", *(moves if document["feasible"] else []), "pictures"]
    show_next(document["store"], commands, document["continuous"])
    if document["mechanism"] in library_names():
        out.print(f"  {typed('basepar')} show {shell(document['mechanism'])} -o drawing.png")


#: A tolerance to begin with, by unit.
_TOLERANCES = {"m": "0.5mm", "rad": "0.1deg"}


def show_next(path: str, commands: Sequence[str], continuous: Mapping[str, str]) -> None:
    """What to do next with a study's store, as it can be typed here.

    `continuous` has the units of the variables that are not discrete.
    """
    place = shell(near(path))
    tried = [f"{n}={_TOLERANCES[u]}" for n, u in continuous.items() if u in _TOLERANCES]
    others = {"tolerances": f" --tolerance {','.join(tried) or 'NAME=T'}"}
    out.print("\nNext:")
    for command in commands:
        out.print(
            f"  {typed('basepar')} {command} {place}{others.get(command, '')}", soft_wrap=True
        )


def continuous(spec: StudySpec) -> dict[str, str]:
    """SI units of the variables that are not discrete."""
    units = si_units(spec)
    return {name: units[name] for name, one in spec.variables if isinstance(one, Range)}
