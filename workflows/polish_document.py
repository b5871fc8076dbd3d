"""Polished designs and spreads as plain facts, and in the terminal."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from distributed import Client
from rich.markup import escape

from cluster.connect import connect
from cluster.errors import PlaceError
from cluster.places import Place

from . import incumbents
from .polish import Polished, polish
from .study_document import best, continuous, near, show_next
from .study_spec import StudySpec
from .sweep_job import ClusterError
from .terminal import number, out, table
from .verdict import Verdict


@contextmanager
def connected(place: Place) -> Iterator[Client]:
    """Workers, or one readable message.

    Raises
    ------
    ClusterError
        They are not to be had.
    """
    try:
        with connect(place) as client:
            yield client
    except PlaceError as error:
        raise ClusterError(str(error)) from error


def run(spec: StudySpec, place: Place, points: int, certified: int = 1) -> dict[str, Any]:
    """Polish on workers; what `basepar polish --json` prints."""
    with connected(place) as client:
        return document(spec, polish(spec, client, points), certified)


def document(spec: StudySpec, found: Polished, certified: int = 0) -> dict[str, Any]:
    """Designs before and after, the best of them certified."""
    rows = [int(row) for row in best(spec, found.after) if found.after.feasible[row]]
    return {
        "store": str(found.path),
        "study": spec.store,
        "journal": spec.storage if found.told else None,
        "slopes": dict(found.kinds),
        "objectives": {line.text: line.direction for line in spec.objectives},
        "units": {line.text: line.unit for line in spec.objectives},
        "continuous": continuous(spec),
        "certified": incumbents.certify(spec, rows[: max(0, certified)], found.path),
        "designs": [_design(spec, found, place) for place in range(len(found.rows))],
    }


def rough_objectives(facts: Mapping[str, Any]) -> list[str]:
    """What following slopes means for results of objectives that are not smooth."""
    found = []
    for name, kind in facts["slopes"].items():
        if not any(name in text for text in facts["objectives"]):
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
    names = [line.text for line in spec.constraints]
    # Violations are relative to a constraint's sides; the first is *closing*.
    margins = found.after.violations[place, 1:]
    return {
        "polished": place,
        "variant": row,
        "before": _values(spec, found.before, row),
        "after": _values(spec, found.after, place),
        "parameters_before": _parameters(spec, found.before, row),
        "parameters": _parameters(spec, found.after, place),
        "feasible": bool(found.after.feasible[place]),
        "active": [n for n, x in zip(names, margins, strict=True) if abs(x) < 1e-6],
        "evaluations": found.descents[place].evaluations if found.descents else 0,
    }


def _values(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, float | None]:
    values = verdict.values[row].tolist()
    return {
        line.text: value if np.isfinite(value) else None
        for line, value in zip(spec.objectives, values, strict=True)
    }


def _parameters(spec: StudySpec, verdict: Verdict, row: int) -> dict[str, float]:
    return dict(zip(spec.names, verdict.parameters[row].tolist(), strict=True))


def show(facts: Mapping[str, Any]) -> None:
    """A table of the polished designs."""
    names = list(facts["objectives"])
    heads = [escape(f"{n} [{u}]" if (u := facts["units"][n]) != "1" else n) for n in names]
    parameters = list(facts["designs"][0]["parameters"])
    columns = ("polished", "variant", *heads, *parameters)
    made = table(*columns, "active constraints", right=columns)
    for one in facts["designs"]:
        moved = [f"{number(one['before'][n])} → {number(one['after'][n])}" for n in names]
        made.add_row(
            str(one["polished"]),
            str(one["variant"]),
            *moved,
            *(number(x) for x in one["parameters"].values()),
            escape(", ".join(one["active"])),
        )
    out.print()
    out.print(made)
    for text in rough_objectives(facts):
        out.print(f"\n{escape(text)}")
    rough = [f"{name} ({kind})" for name, kind in facts["slopes"].items() if kind != "exact"]
    if rough:
        out.print(f"\nslopes are exact, except of {escape(', '.join(rough))}")
    told = "" if facts["journal"] is None else f", and told to {escape(near(facts['journal']))}"
    out.print(f"polished designs are in {escape(near(facts['store']))}{told}")
    for one in facts["certified"]:
        out.print(f"\n{escape(incumbents.line(one, 'polished'))}")
    show_next(facts["study"], ("report", "tolerances", "pictures"), facts["continuous"])


def show_spread(facts: Mapping[str, Any]) -> None:
    """What tolerances make of a design."""
    made = table(
        "objective",
        "nominal",
        "mean",
        "± deviation",
        "by slopes",
        "5 %",
        "95 %",
        "worst",
        right=("nominal", "mean", "± deviation", "by slopes", "5 %", "95 %", "worst"),
    )
    for name, one in facts["objectives"].items():
        if not one["closed"]:
            continue
        made.add_row(
            escape(name),
            number(one["nominal"]),
            number(one["mean"]),
            number(one["standard_deviation"]),
            number(one["predicted_standard_deviation"]),
            number(one["quantiles"]["0.05"]),
            number(one["quantiles"]["0.95"]),
            number(one["worst"]),
        )
    out.print(f"{escape(facts['design'])}, {facts['samples']} samples, {facts['shape']}")
    out.print(made)
    share = 100 * facts["feasible_share"]
    missed = [f"{name}: {count}" for name, count in facts["missed"].items() if count]
    out.print(
        f"\n{share:.1f} % meet all constraints"
        + (f"; missed: {escape(', '.join(missed))}" if missed else "")
    )
    for name, one in facts["objectives"].items():
        if one["closed"]:
            order = sorted(one["shares"].items(), key=lambda pair: -pair[1])
            said = ", ".join(f"{symbol} {100 * part:.0f} %" for symbol, part in order)
            out.print(f"variance of {escape(name)} by slopes: {said}")
