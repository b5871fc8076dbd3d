"""Companion stores of a study that are of an earlier state of it."""

import json

import numpy as np

from sweeps.store import Location

from .companion_stores import (
    WORDS,
    asked_by,
    beside,
    kind_of_store,
    polished_of,
    polished_path,
    polished_rows,
    tolerances_path,
)
from .feasibility import Verdict
from .spec import StudySpec


def stale(spec: StudySpec, verdict: Verdict) -> list[str]:
    """Warnings of companion stores that are of an earlier state of the study."""
    if not verdict.feasible.any() or (verdict.parameters != verdict.parameters).any():
        return []  # pending rows have no parameters
    return [text for text in (stale_polish(spec, verdict), stale_samples(spec)) if text]


def stale_polish(spec: StudySpec, verdict: Verdict) -> str:
    """What to know of polished designs where the study has gone on since; "" if nothing."""
    from .feasibility import starts

    path = polished_path(spec.path)
    if not path.exists() or not verdict.feasible.any():
        return ""
    found = polished_of(spec)
    if found is None:
        return _foreign(path)
    if not found.settled.any():
        return f"{path.name} is empty: its descents were stopped. Run `basepar polish` again."
    rows = polished_rows(path)
    now = starts(spec, verdict, len(rows))
    if np.array_equal(rows, now):
        return ""
    return (
        f"{path.name} is of an earlier state of this study: it began from {_named(rows)}, and the "
        f"best now: {_named(now)}. `basepar polish` polishes what is best now, and keeps the "
        "earlier designs beside."
    )


def _foreign(path: Location) -> str:
    kind = kind_of_store(asked_by(path))
    held = f"{WORDS[kind]} of another study, or of this one with other bounds or lines"
    return f"{path.name} holds {held if kind else 'another sweep or study'}, and is left out."


def _named(rows: np.ndarray) -> str:
    return f"variant{'s' * (len(rows) > 1)} {', '.join(map(str, rows))}"


def stale_samples(spec: StudySpec) -> str:
    """What to know of samples about a design that is no longer the best; "" if nothing."""
    from .chosen_design import chosen

    path = tolerances_path(spec.path)
    if not path.exists():
        return ""
    by = beside(spec, path)
    if by is None:
        return _foreign(path)
    name, design = chosen(spec, "best")
    if by.get("about") == json.loads(json.dumps(design)):
        return ""
    said = f"an earlier {name}" if name == by.get("origin") else by.get("origin")
    return (
        f"{path.name} is about {said}, and the best design is {name}. `basepar tolerances` "
        "samples about that, and keeps these beside."
    )
