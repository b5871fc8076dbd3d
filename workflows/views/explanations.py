"""The one mistake that explains what a file states, of whatever kind: facts, and a line."""

from collections.abc import Mapping
from typing import Any

from basepar_core.mechanism import Mechanism

from . import mistaken_entries, mistaken_signs, mistaken_units, swapped_points

_KINDS = {
    "swapped_points": swapped_points,
    "mistaken_unit": mistaken_units,
    "mistaken_signs": mistaken_signs,
    "mistaken_entry": mistaken_entries,
}


def facts(it: Mechanism, explained: object) -> dict[str, Any]:
    """Of each kind what is found; of all but one nothing."""
    return {key: kind.found(it, explained) for key, kind in _KINDS.items()}


def show(document: Mapping[str, Any]) -> bool:
    """A line for people, where there is one; whether there is."""
    for key, kind in _KINDS.items():
        kind.show(document[key])
    return any(document[key] for key in _KINDS)
