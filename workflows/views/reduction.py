"""A reduction in the terminal."""

from typing import TYPE_CHECKING

from basepar_core.texts import plural

from . import terminal

if TYPE_CHECKING:
    from basepar_core.reduction import ReducedMechanism


def show(found: "ReducedMechanism") -> None:
    """The path and what was selected."""
    document, (header, lines) = found.document(), found.table()
    terminal.out.print(
        terminal.said(
            (document["mechanism"], "bold"),
            f": {plural(len(document['base']), 'base parameter')}, {document['method']} path over "
            f"{found.record or 'the cycle'}, n = {document['effective_samples']:g}",
        )
    )
    if found.estimated:
        levels = ", ".join(f"{name} {sigma:.3g}" for name, sigma in found.noise)
        terminal.out.print(
            f"noise of the torques, estimated: {levels} (N m or N)", highlight=False
        )
    heads = (f"#{title}" if place != 1 else title for place, title in enumerate(header))
    terminal.out.print(terminal.table(*heads, rows=lines))
    terminal.out.print("* where a criterion stops")
    if document["explanation"]:
        terminal.out.print(document["explanation"])
    for name, chosen in document["selected"].items():
        kept = ", ".join(entry["parameter"] for entry in chosen["parameters"])
        terminal.out.print(
            f"{name}: {plural(chosen['size'], 'parameter')}, torque error "
            f"{chosen['torque_error']:.2g}: {kept or 'none'}"
        )
    for note in document["notes"]:
        terminal.out.print(terminal.said((note["kind"], "yellow"), f": {note['text']}"))
