"""Instant centres and cognates of a planar mechanism as assembled: facts, text, drawing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.dynamics import Model, Motion, instant_centres, kinematics
from basepar_core.errors import UsageError
from basepar_core.texts import naming, plural
from workflows.drawing import Overlay
from workflows.export import cognates_of

from . import placed_targets, terminal


def centres(model: Model) -> list[dict[str, Any]]:
    """Instant centres of every pair of bodies, with the ground: {bodies, at (m; null: none)}.

    Raises
    ------
    UsageError
        The mechanism is spatial, or has other than one degree of freedom.
    """
    it = model.mechanism
    if not it.planar or len(it.coordinates) != 1:
        space, count = "planar" if it.planar else "spatial", len(it.coordinates)
        raise UsageError(
            f"{it.name!r} is {space} and has {plural(count, 'coordinate')}. Instant centres are "
            "those of a planar mechanism with one; of more they depend on rates: "
            "Model.instant_centres(q, qd).",
            ["--centres"],
        )
    start = model.assembled.coordinates[:, None]
    motion = Motion(np.zeros(1), start, np.ones((1, 1)), np.zeros((1, 1)))
    dims = kinematics.geometry(it, {}).over_samples()
    found = instant_centres(model, dims, model.assembled.q[:, None, None], motion)[..., 0, 0]
    names = ["ground", *(body.name for body in it.bodies)]
    return [
        {
            "bodies": [names[i], names[j]],
            "at": found[i, j].tolist() if np.isfinite(found[i, j]).all() else None,
        }
        for i in range(len(names))
        for j in range(i + 1, len(names))
    ]


def cognates(model: Model, point: str, stem: str | None) -> list[dict[str, Any]]:
    """Both cognates: {mechanism, pins, lengths (m), file}; written to STEM-1.yaml and STEM-2.yaml.

    Raises
    ------
    UsageError
        No such point, or none with cognates.
    """
    found = []
    for (bar, mechanism), path in zip(cognates_of(model, point), files(stem), strict=True):
        if path is not None:
            with naming(path):
                path.write_text(mechanism.source, encoding="utf-8")
        found.append(
            {
                "mechanism": mechanism.name,
                "pins": bar.pins.tolist(),
                "point": bar.point.tolist(),
                "lengths": bar.lengths.tolist(),
                "file": str(path) if path else None,
            }
        )
    return found


def files(stem: str | None) -> list[Path | None]:
    """Where cognates are written."""
    return [Path(f"{stem}-{k}.yaml") if stem else None for k in (1, 2)]


def overlay(document: Mapping[str, Any]) -> Overlay | None:
    """What a drawing has of them; None: nothing."""
    bars = [(np.array(x["pins"]), np.array(x["point"])) for x in document.get("cognates", ())]
    joined = [set(joint["connects"]) for joint in document["joints"]]  # their pin is drawn
    spots = {
        "–".join(one["bodies"]): np.array(one["at"])
        for one in document.get("centres", ())
        if one["at"] and set(one["bodies"]) not in joined
    }
    targets = placed_targets.marks(document)
    return Overlay(bars, spots, targets) if bars or spots or targets else None


def show(document: Mapping[str, Any]) -> None:
    """The same for reading."""
    if "centres" in document:
        _show_centres(document["centres"])
    if "cognates" in document:
        _show_cognates(document["cognates"])
    placed_targets.show(document.get("placed", ()))


def _show_centres(found: Sequence[Mapping[str, Any]]) -> None:
    table = terminal.table("instant centre of", "#x, m", "#y, m")
    for one in found:
        at = map(terminal.number, one["at"]) if one["at"] else ("at infinity, or every point", "")
        table.add_row(" – ".join(one["bodies"]), *at)
    terminal.out.print()
    terminal.out.print(table)


def _show_cognates(found: Sequence[Mapping[str, Any]]) -> None:
    pins = ("#foot of first, m", "#on coupler, m", "#on coupler, m", "#foot of second, m")
    table = terminal.table("cognate", *pins, "#bars and ground, m")
    for one in found:
        spots = (", ".join(map(terminal.number, spot)) for spot in one["pins"])
        table.add_row(one["mechanism"], *spots, ", ".join(map(terminal.number, one["lengths"])))
    terminal.out.print()
    terminal.out.print(table)
    for path in (one["file"] for one in found if one["file"]):
        terminal.out.print(f"written: {path}")
