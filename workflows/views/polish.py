"""Polished designs and spreads as plain facts, and in the terminal."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from workflows.studies import (
    Polished,
    Range,
    StudySpec,
    Verdict,
    best,
    certify_best,
    plain,
    results_in,
    shown_units,
    si_units,
)

from . import terminal
from .designs import head, in_shown_unit, parameters, values, violations
from .hints import near
from .study import continuous, next_steps
from .terminal import fitted, out, said

#: A constraint whose sides are this near, relative to their size, holds the design.
ACTIVE = 1e-6
#: On a bound, as a share of the range: descents put what is nearer than 1e-9 on it.
ON_BOUND = 1e-9


def document(spec: StudySpec, found: Polished, certified: int = 0) -> dict[str, Any]:
    """Designs before and after, the best of them certified."""
    rows = [int(row) for row in best(spec, found.after) if found.after.feasible[row]]
    return {
        "store": str(found.path),
        "study": spec.store,
        "journal": spec.storage if found.told else None,
        "slopes": dict(found.kinds),
        "objectives": {line.text: line.direction for line in spec.objectives},
        "results": objective_results(spec),
        "units": si_units(spec),
        "shown_in": plain(shown_units(spec)),
        "aside": str(found.aside) if found.aside else None,
        "continuous": continuous(spec),
        "certified": certify_best.certify(spec, rows[: max(0, certified)], found.path),
        "designs": [_design(spec, found, place) for place in range(len(found.rows))],
    }


def objective_results(spec: StudySpec) -> dict[str, list[str]]:
    """Results that each objective speaks of."""
    return {
        line.text: list(results_in(spec.mechanism, [line.expression], spec.own, spec.targets))
        for line in spec.objectives
    }


def rough_objectives(facts: Mapping[str, Any]) -> list[str]:
    """What following slopes means for results of objectives that are not smooth."""
    found = []
    asked = {name for results in facts["results"].values() for name in results}
    for name, kind in facts["slopes"].items():
        if name not in asked:
            continue
        if kind.startswith("none"):
            found.append(f"{name} goes in steps and has no slope: no descent lowers it on purpose")
        elif kind.endswith("piece by piece"):
            found.append(
                f"{name} is an extreme over samples: a descent can stop where two of them tie, so "
                "polish several points"
            )
    return found


def _design(spec: StudySpec, found: Polished, place: int) -> dict[str, Any]:
    row = int(found.rows[place])
    return {
        "polished": place,
        "variant": row,
        "before": values(spec, found.before, row),
        "after": values(spec, found.after, place),
        "parameters_before": parameters(spec, found.before, row),
        "parameters": parameters(spec, found.after, place),
        "feasible": bool(found.after.feasible[place]),
        "violations": violations(spec, found.after, place),
        **held(spec, found.after, place),
        "evaluations": found.descents[place].evaluations if found.descents else 0,
    }


def held(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, Any]:
    """What holds a design: constraints that are met without room (`active`), and `bounds`."""
    # Violations are relative to a constraint's sides; the first is *closing*.
    pairs = zip(spec.limits[1:], verdict.violations[row, 1:], strict=True)
    active = [name for name, margin in pairs if abs(margin) < ACTIVE]
    return {"active": active, "bounds": bounds_reached(spec, verdict.parameters[row])}


def bounds_reached(spec: StudySpec, parameters: np.ndarray) -> dict[str, dict[str, Any]]:
    """Variables that lie on a bound of the file: which, and its value (SI), by name."""
    found = {}
    for (name, variable), value in zip(spec.variables, map(float, parameters), strict=True):
        if not isinstance(variable, Range):
            continue
        near = ON_BOUND * (variable.high - variable.low)
        for end, bound in (("minimum", variable.low), ("maximum", variable.high)):
            if abs(value - bound) <= near:
                found[name] = {"end": end, "value": bound}
    return found


def show(facts: Mapping[str, Any]) -> None:
    """A table of the polished designs."""
    names = list(facts["objectives"])
    symbols = list(facts["designs"][0]["parameters"])
    columns = ("polished", "variant", *(head(facts, name) for name in (*names, *symbols)))
    lines = [
        [
            str(one["polished"]),
            str(one["variant"]),
            *(
                " → ".join(in_shown_unit(facts, n, one[when][n]) for when in ("before", "after"))
                for n in names
            ),
            *(in_shown_unit(facts, n, x) for n, x in one["parameters"].items()),
        ]
        for one in facts["designs"]
    ]
    out.print()
    out.print(fitted(columns, lines))
    out.print()
    for one in facts["designs"]:
        out.print(said(f"polished {one['polished']} ", _held_or_missed(facts, one)))
    for text in rough_objectives(facts):
        out.print(f"\n{text}")
    kinds = facts["slopes"].items()
    pieces = [name for name, kind in kinds if kind == "exact, piece by piece"]
    others = [f"{name} ({kind})" for name, kind in kinds if not kind.startswith("exact")]
    if pieces or others:
        said_of = [f", of {', '.join(pieces)} piece by piece"] if pieces else []
        said_of += [f", except of {', '.join(others)}"] if others else []
        out.print(f"\nslopes are exact{''.join(said_of)}")
    told = "" if facts["journal"] is None else f", and told to {near(facts['journal'])}"
    out.print(f"polished designs are in {near(facts['store'])}{told}")
    say_aside(facts["aside"], "designs polished earlier")
    for one in facts["certified"]:
        out.print(f"\n{certify_best.line(one, 'polished')}")
    commands = ("report", "tolerances", "pictures")
    terminal.show_next(*next_steps(facts["study"], commands, facts["continuous"]))


def _held_or_missed(facts: Mapping[str, Any], design: Mapping[str, Any]) -> tuple[str, str]:
    if not design["feasible"]:  # by the evaluation that confirms what a descent claims
        return f"misses {', '.join(design['violations'])}", "yellow"
    return f"is held by {', '.join(held_by(facts, design)) or 'nothing'}", ""


def held_by(facts: Mapping[str, Any], design: Mapping[str, Any]) -> list[str]:
    """What keeps a design from getting better: constraints, and bounds of the file."""
    found = list(design["active"])
    for name, one in design["bounds"].items():
        unit = facts["shown_in"][name]["unit"]
        value = in_shown_unit(facts, name, one["value"])
        found.append(f"{name} at its {one['end']} {value}{'' if unit == '1' else f' {unit}'}")
    return found


def say_aside(aside: str | None, what: str) -> None:
    """Where what a new run replaced has gone."""
    if aside:
        out.print(f"{what} are kept in {near(aside)}")
