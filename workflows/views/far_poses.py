"""Bodies that are found far from their stated poses, as plain facts and in the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from basepar_core.dynamics import Model, far_poses

from . import terminal


def found(model: Model) -> list[dict[str, Any]]:
    """Bodies with the pose found, m and rad, and how far that is from the stated one."""
    planar = model.mechanism.planar
    return [
        {
            "body": one.body,
            "at": list(one.at[:2] if planar else one.at),
            "rotation": one.rotation[2] if planar else list(one.rotation),
            "off": one.off,
        }
        for one in far_poses(model)
    ]


def show(far: Sequence[Mapping[str, Any]]) -> None:
    """A line for people of each body."""
    for one in far:
        terminal.out.print(
            f"far from the stated: {one['body']} is found up to {one['off']:.3g} m from its "
            f"stated pose, at {_written(one['at'])} m, rotation {_written(one['rotation'])} rad",
            style="yellow",
        )


def _written(value: float | Sequence[float]) -> str:
    if isinstance(value, float):
        return f"{round(value, 9) + 0.0:.4g}"
    return f"[{', '.join(map(_written, value))}]"
