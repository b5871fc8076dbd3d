"""`basepar simulate`: a simulated record as a CSV file, and what it is in plain facts."""

import argparse
import csv
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.dynamics import Model, select
from basepar_core.errors import UsageError
from basepar_core.identification import FEWEST, Measurement, motion_of, simulate
from basepar_core.mechanism import Mechanism
from basepar_core.reduction import noise_levels
from basepar_core.texts import csv_cell, naming, plural

from . import terminal


def simulated(
    options: argparse.Namespace,
    model: Model,
    pairs: Mapping[str, Mapping[str, str]],
    columns: Sequence[str],
) -> dict[str, Any]:
    """Simulate a record, write it, and say what it is.

    Raises
    ------
    UsageError
        Words that name no coordinate or no deviation; too few samples.
    """
    path = Path(options.output)
    if path.suffix != ".csv":
        raise UsageError(f"-o {path}: write FILE.csv.", ["--output"])
    if options.samples < FEWEST:
        raise UsageError(
            f"--samples {options.samples}: at least {FEWEST} are needed to smooth positions.",
            ["--samples"],
        )
    mechanism = model.mechanism
    none = np.zeros(len(mechanism.coordinates))
    stated = noise_levels(mechanism)
    noise = _deviations(mechanism, pairs["noise"], none if stated is None else stated, "--noise")
    shaken = _deviations(mechanism, pairs["position-noise"], none, "--position-noise")
    motion = motion_of(model, options.motion, options.samples)
    chosen = select(mechanism, columns)
    record = simulate(model, motion, noise, shaken, chosen, options.seed)
    _write(record, mechanism.coordinates, path)
    names = mechanism.coordinates
    return {
        "mechanism": mechanism.name,
        "motion": options.motion,
        "samples": int(record.t.size),
        "duration": float(record.t[-1] - record.t[0]),
        "noise": dict(zip(names, map(float, noise), strict=True)),
        "position_noise": dict(zip(names, map(float, shaken), strict=True)),
        "columns": [column.name for column in chosen],
        "seed": options.seed,
        "output": str(path),
    }


def _deviations(
    mechanism: Mechanism, given: Mapping[str, str], otherwise: np.ndarray, option: str
) -> np.ndarray:
    found = otherwise.copy()
    for name, word in given.items():
        if name not in mechanism.coordinates:
            known = ", ".join(mechanism.coordinates)
            raise UsageError(f"{option}: {name!r} is no coordinate; they are {known}.", [name])
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            raise UsageError(
                f"{option}: {word!r} of {name} is no standard deviation.", [option]
            ) from None
        found[mechanism.coordinates.index(name)] = value
    return found


def _write(record: Measurement, names: Sequence[str], path: Path) -> None:
    """t, positions, torques: what a machine's record has. All digits, so that none are noise."""
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(map(csv_cell, ["t", *names, *(f"tau.{name}" for name in names)]))
        table = np.concatenate([record.t[None], record.q, record.tau]).T
        out.writerows([repr(float(x)) for x in row] for row in table)


def show(facts: Mapping[str, Any]) -> None:
    """The same for reading."""
    noise = ", ".join(f"{name} {x:.3g}" for name, x in facts["noise"].items())
    shaken = ", ".join(f"{name} {x:.3g}" for name, x in facts["position_noise"].items() if x)
    terminal.out.print(
        terminal.said(
            (facts["mechanism"], "bold"),
            f": {plural(facts['samples'], 'sample')} of its {facts['motion']} over "
            f"{facts['duration']:.4g} s; torque noise (N m or N) {noise}; "
            + (f"position noise (rad or m) {shaken}" if shaken else "positions without noise"),
        )
    )
    terminal.out.print(f"written to {facts['output']}")
