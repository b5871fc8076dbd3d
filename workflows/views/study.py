"""What a study found, as plain facts and in the terminal."""

from collections import Counter
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
    best_of_all,
    certify_best,
    far_apart,
    judge,
    plain,
    shown_units,
    si_units,
    stale,
    storages,
    unmet,
)

from . import designs, terminal
from .hints import near
from .store import (
    show_after_nothing,
    show_after_warnings,
    show_notes,
    show_rate,
    show_status,
    summary,
)
from .terminal import out

#: Designs of a common front that are shown.
SHOWN = 20


def study(spec: StudySpec, result: Result, certified: int = 0) -> dict[str, Any]:
    """`basepar study`: the store's status, and the best variants, the first of them certified."""
    verdict = judge(spec, Store.open(spec.path), 0, spec.trials)
    rows = best(spec, verdict)
    feasible = [int(row) for row in rows if verdict.feasible[row]]
    return summary(result.summary) | {
        "mechanism": spec.mechanism.name,
        "study": {"storage": storages.shown(spec.storage), "name": spec.name},
        "trials": spec.trials,
        "sampler": {
            "kind": spec.sampler.kind,
            "screened": spec.screened,
            "why": spec.sampler.why or None,
        },
        "warm_start": asdict(result.beginning),
        "constraints": [line.text for line in spec.constraints],
        "feasible": int(verdict.feasible.sum()),
        "unchanged": _unchanged(spec, verdict),
        "unmet": [asdict(one) for one in unmet(spec, verdict)],
        "units": si_units(spec),
        "continuous": continuous(spec),
        **designs.facts(spec, verdict, rows),
        "certified": certify_best.certify(spec, feasible[: max(0, certified)]),
        "stale": stale(spec, verdict),
    }


def _unchanged(spec: StudySpec, verdict: Verdict) -> list[str]:
    """Objectives that no variable changes."""
    values = verdict.values[np.isfinite(verdict.values).all(axis=1)]
    same = (values == values[:1]).all(axis=0) if len(values) > 1 else ()
    return [line.text for line, is_same in zip(spec.objectives, same, strict=False) if is_same]


def show(document: Mapping[str, Any], file: str = "", warnings: int = 0) -> None:
    """A table of the best variants, and what to do next.

    `file` is the study's, if it has one, and `warnings` were shown while it was read.
    """
    show_status(document)
    count = document["feasible"]
    out.print(
        f"\n{count} of {plural(document['trials'], 'variant')} "
        f"{'meets' if count == 1 else 'meet'} all constraints"
        + ("" if count else ": none is the best; those that come nearest:")
    )
    out.print(designs.picture(document))
    _show_unmet(document["unmet"])
    for text in document["unchanged"]:
        out.print(
            f"\n{text} is the same in all variants: no variable changes it, and no design is "
            "better by it. Vary what it depends on, or take another objective.",
            style="yellow",
        )
    if why := document["sampler"]["why"]:
        out.print(f"\nsampler {document['sampler']['kind']}, as the file names none: {why}")
    for one in document["certified"]:
        out.print(f"\n{certify_best.line(one)}")
    begun = document["warm_start"]
    if begun["told"] or begun["proposed"]:
        out.print(
            f"\nwarm start: {plural(begun['told'], 'variant')} told, {begun['proposed']} "
            "proposed for the first batch"
        )
    _show_end(document, file, warnings)


def _show_unmet(found: Sequence[Mapping[str, Any]]) -> None:
    """What the constraints at fault ask for, and the nearest that there is."""
    if not found:
        return
    first = found[0]
    out.print(
        f"\nEach constraint is met by some variants, by the fewest ({first['met']} of "
        f"{first['of']}):"
        if first["met"]
        else f"\nNo variant of {first['of']} with results meets:"
        if first["of"] > 1
        else "\nThe variant with results does not meet:"
    )
    for one in found:
        unit = "" if one["unit"] == "1" else f" {one['unit']}"
        # A difference of two sides that vary stands in no constraint.
        of = "" if one["side"] in one["constraint"] else f" {one['side']}"
        text = "it has no value"
        if one["value"] is not None:
            text = f"the {one['end']}{of} is {terminal.number(one['value'] * one['per_si'])}{unit}"
        if one["meant"]:
            text += f"; {plural(one['meant_met'], 'variant')} would meet {one['meant']}"
        out.print(f"  {one['constraint']}: {text}", soft_wrap=True)


def _show_in_vain(document: Mapping[str, Any], file: str) -> None:
    """What to do where a complete study has no design."""
    show_after_nothing(document, file, "study", _further(document))


def _further(document: Mapping[str, Any]) -> str:
    """What a corrected study needs besides another store."""
    storage = document["study"]["storage"]
    stays = "://" in storage and storage.partition("://")[0] not in storages.ADDRESSES
    return f", and another `study.name`: {storage} keeps this one, too" if stays else ""


def _show_end(document: Mapping[str, Any], file: str, warnings: int) -> None:
    show_rate(document)
    if document["stale"]:
        out.print()
        show_notes(document["stale"])
    polished = "polished" in document
    if document["done"] and not document["feasible"] and file and not polished:
        _show_in_vain(document, file)
        return
    store = document["store"]
    again = show_after_warnings(warnings, store, file, "study", _further(document))
    if polished:  # is shown next, and says what comes then
        if again:
            terminal.show_next(*again)
        return
    moves = ["polish"] * bool(document["continuous"]) + ["tolerances"]
    commands = ["report", "explore", *(moves if document["feasible"] else []), "pictures"]
    steps = next_steps(store, commands, document["continuous"])
    if document["feasible"]:
        best_one = shell(f"{near(document['store'])}:best")
        steps.append(f"show --variant {best_one} -o best.png")
        steps.append(f"animate --variant {best_one} -o best.html")
    elif document["mechanism"] in library_names():
        steps.append(f"show {shell(document['mechanism'])} -o drawing.png")
    terminal.show_next(*again, *steps)


#: A tolerance to begin with, by unit.
_TOLERANCES = {"m": "0.5mm", "rad": "0.1deg"}


def next_steps(path: str, commands: Sequence[str], continuous: Mapping[str, str]) -> list[str]:
    """What to do next with a study's store, as it can be typed here.

    `continuous` has the units of the variables that are not discrete.
    """
    place = shell(near(path))
    tried = [f"{n}={_TOLERANCES[u]}" for n, u in continuous.items() if u in _TOLERANCES]
    others = {"tolerances": f" --tolerance {','.join(tried) or 'NAME=T'}"}
    return [f"{command} {place}{others.get(command, '')}" for command in commands]


def continuous(spec: StudySpec) -> dict[str, str]:
    """SI units of the variables that are not discrete."""
    units = si_units(spec)
    return {name: units[name] for name, one in spec.variables if isinstance(one, Range)}


def together(studies: Mapping[str, StudySpec]) -> dict[str, Any]:
    """The best of all members of one study, of several objectives their common front; SI."""
    first = next(iter(studies.values()))
    return {
        "objectives": {line.text: line.direction for line in first.objectives},
        "shown_in": plain(shown_units(first)),
        "best": [asdict(one) for one in best_of_all(studies)],
    }


def show_together(document: Mapping[str, Any]) -> None:
    """Whose design is the best, or whose stand on the common front."""
    found, names = document["best"], [*document["objectives"]]
    if not found:
        out.print("\nNo design of any member meets all constraints.")
        return
    counts = Counter(one["member"] for one in found)
    out.print()
    if len(names) > 1:
        shares = ", ".join(f"{count} of {name}" for name, count in counts.most_common())
        out.print(f"The common front has {plural(len(found), 'design')}: {shares}")
    titles = ["best of all", "variant", *(designs.head(document, name) for name in names)]
    rows = [
        [
            one["member"],
            str(one["variant"]),
            *(designs.in_shown_unit(document, name, one["values"][name]) for name in names),
        ]
        for one in _spread(found, names)
    ]
    out.print(terminal.fitted(titles, rows))


def _spread(found: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Of a long front so many, far apart."""
    front = np.array([[one["values"][name] for name in names] for one in found])
    return [found[k] for k in far_apart(front, SHOWN)]
