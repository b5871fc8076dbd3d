"""Paths of a mechanism's points as a CSV file."""

import csv
from pathlib import Path

import numpy as np

from basepar_core.dynamics import (
    Model,
    carried,
    cycle,
    excitation,
    kinematics,
    motion_end,
    movements,
    path_curvature,
    trace,
)
from basepar_core.errors import MissingDataError, MotionError, UsageError
from basepar_core.texts import csv_cell, naming


def write_paths(model: Model, path: Path) -> None:
    """Write where all points go over the cycle; without one, over the excitation.

    Columns `t` (s) and, per point and axis, `P.x` (m), `P.x'` (m/s), `P.x''` (m/s²); at the end
    the curvature of each point's path, `P.curvature` (1/m), empty where the point rests.

    Raises
    ------
    MissingDataError
        The file states no points, or no motion.
    MotionError
        The motion cannot be followed to its end.
    UsageError
        Another ending than .csv.
    """
    it, start = model.mechanism, model.assembled.coordinates
    if path.suffix != ".csv":
        raise UsageError(f"--trace {path}: write FILE.csv.", ["--trace"])
    if not it.points:
        line = f"points: {{P: {{body: {it.bodies[-1].name}}}}}"
        raise MissingDataError(
            f"{it.name!r} states no points, so there is nothing to trace. Add `{line}`.",
            ["points"],
        )
    motion = excitation(it, start) if it.cycle is None else cycle(it, start)
    way = trace(model, {}, motion.q)
    name = "excitation" if it.cycle is None else "cycle"
    if (end := motion_end(model, way, motion.q, name)) is not None:
        raise MotionError(
            f"{it.name!r} cannot follow its {name} beyond sample {end.sample} of {end.samples}. "
            f"Shorten the motion.",
            [name],
        )
    local = carried(it.points, it.nominal)[..., None]
    dims = kinematics.geometry(it, {}).over_samples()
    found = movements(model, dims, way.q, motion, it.points, local)
    axes = "xy" if it.planar else "xyz"
    titles = [f"{one.name}.{axis}" for one in it.points for axis in axes]
    columns = [one[:, : len(axes), 0].reshape(len(titles), -1) for one in found]
    # Of each coordinate first the position, then its rates.
    rates = [one[:, : len(axes), 0] for one in found[1:]]
    bent = path_curvature(rates[0], rates[1], axis=1)
    table = np.concatenate([motion.t[None], *np.stack(columns, axis=1), bent]).T
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        named = [f"{title}{rate}" for title in titles for rate in ("", "'", "''")]
        named += [f"{one.name}.curvature" for one in it.points]
        out.writerow(map(csv_cell, ["t", *named]))
        out.writerows(["" if np.isnan(x) else repr(float(x)) for x in row] for row in table)
