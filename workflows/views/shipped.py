"""What ships with the program, as its files state it: nothing is checked or computed."""

from collections.abc import Mapping
from typing import Any

import yaml

from basepar_core.files import library_names, library_path
from workflows.jobs import study_names, sweep_names

from . import terminal
from .hints import typed

#: Scalars as texts, as the reader of mechanism files has them; by libyaml where there is one.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def document() -> dict[str, Any]:
    """`basepar list`: shipped mechanisms, sweeps and studies."""
    return {
        "mechanisms": [_entry(name) for name in library_names()],
        "sweeps": list(sweep_names()),
        "studies": list(study_names()),
    }


def _entry(name: str) -> dict[str, Any]:
    top = yaml.load(library_path(name).read_text(encoding="utf-8"), Loader=_LOADER)
    bodies, planar = len(top["bodies"]), top["space"] == "planar"
    return {
        "name": name,
        "space": top["space"],
        "bodies": bodies,
        "joints": len(top["joints"]),
        "degrees_of_freedom": len(top["coordinates"]),
        "parameters": bodies * (4 if planar else 10),
        "description": " ".join(top.get("description", "").split()),
    }


def show(document: Mapping[str, Any]) -> None:
    """The same for reading."""
    rows = terminal.table("name", "space", "#bodies", "#dof", "#parameters", "")
    for one in document["mechanisms"]:
        counts = (str(one[key]) for key in ("bodies", "degrees_of_freedom", "parameters"))
        rows.add_row(
            terminal.said((one["name"], "bold")), one["space"], *counts, one["description"]
        )
    terminal.out.print(rows)
    terminal.out.print(f"\nShipped sweeps: {', '.join(document['sweeps'])}")
    terminal.out.print(f"Shipped studies: {', '.join(document['studies'])}")
    basepar = typed("basepar")
    shown = [(f"{basepar} {what} four-bar", "bold") for what in ("show", "base")]
    terminal.out.print(terminal.said("Try ", shown[0], " or ", shown[1], "."))
