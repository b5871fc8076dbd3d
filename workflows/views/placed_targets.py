"""Where a stored design is to stand so that its points meet the targets: facts, text, drawing."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from basepar_core.dynamics import Model
from basepar_core.metrics import placements
from workflows.studies import sweep_of_store

from . import terminal


def document(model: Model, place: str) -> list[dict[str, Any]]:
    """Of every `path_error` that the store of `STORE:N` has: {metric, error (m), angle (rad),
    scale, shift (m), rotation, points (m)}, all of `Placement`."""
    asked = sweep_of_store(place).evaluation
    return [
        {
            "metric": one.metric,
            "error": one.error,
            "angle": one.angle,
            "scale": one.scale,
            "shift": one.shift.tolist(),
            "rotation": one.rotation.tolist(),
            "points": one.points.tolist(),
        }
        for one in placements(model, asked.built_in, asked.targets)
    ]


def marks(document: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Targets (point, 2) that a drawing of a planar mechanism has, m, by the metrics."""
    found = {one["metric"]: np.array(one["points"]) for one in document.get("placed", ())}
    return {metric: points for metric, points in found.items() if points.shape[1] == 2}


def show(found: Sequence[Mapping[str, Any]]) -> None:
    """The same for reading."""
    if not found:
        return
    axes = "xyz"[: len(found[0]["shift"])]
    moved = [f"#moved in {axis}, m" for axis in axes]
    table = terminal.table("meets its target", "#error, m", "#turned, deg", "#scale", *moved)
    for one in found:
        numbers = (one["error"], np.degrees(one["angle"]), one["scale"], *one["shift"])
        table.add_row(one["metric"], *map(terminal.number, numbers))
    terminal.out.print()
    terminal.out.print(table)
    if any(one["angle"] or any(one["shift"]) for one in found):
        terminal.out.print(
            "Or move the target instead, the other way: torques with gravity and clearances from "
            "the ground are of the mechanism in its file's place."
        )
