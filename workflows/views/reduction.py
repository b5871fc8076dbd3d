"""A reduction in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.reduction import ReducedMechanism
from basepar_core.texts import plural

from . import terminal
from .flags import flagged


def document(found: ReducedMechanism) -> dict[str, Any]:
    """What `basepar reduce --json` prints."""
    facts = found.document()
    notes = [{**note, "text": flagged(note["text"])} for note in facts["notes"]]
    return {**facts, "notes": notes}


def show(
    document: Mapping[str, Any], titles: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """The path, as a table of texts, and what was selected."""
    terminal.out.print(
        terminal.said(
            (document["mechanism"], "bold"),
            f": {plural(len(document['base']), 'base parameter')}, {document['method']} path over "
            f"{document['record'] or 'the cycle'}, n = {document['effective_samples']:g}",
        )
    )
    if document["noise_estimated"]:
        levels = ", ".join(f"{name} {sigma:.3g}" for name, sigma in document["noise"].items())
        terminal.out.print(
            f"noise of the torques, estimated: {levels} (N m or N)", highlight=False
        )
    below = terminal.show_wrong_data(document["notes"])
    heads = (f"#{title}" if place != 1 else title for place, title in enumerate(titles))
    terminal.out.print(terminal.table(*heads, rows=rows))
    terminal.out.print("* where a criterion stops")
    if document["explanation"]:
        terminal.out.print(document["explanation"])
    for name, chosen in document["selected"].items():
        kept = ", ".join(entry["parameter"] for entry in chosen["parameters"])
        terminal.out.print(
            f"{name}: {plural(chosen['size'], 'parameter')}, torque error "
            f"{chosen['torque_error']:.2g}: {kept or 'none'}"
        )
    terminal.show_findings(below)
