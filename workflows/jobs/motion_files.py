"""Files of motions and records: exciting motions, what a machine would measure along them."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

from basepar_core.dynamics import Model
from basepar_core.errors import UsageError
from basepar_core.expressions import evaluate
from basepar_core.identification import Design, Measurement, wrench_columns
from basepar_core.mechanism import Mechanism, Sines
from basepar_core.texts import csv_cell, naming

from .schemas import with_schema

_ENDINGS = (".yaml", ".yml", ".csv")


def check_ending(path: Path) -> None:
    """UsageError for a file that is neither a mechanism's nor a table."""
    if path.suffix not in _ENDINGS:
        raise UsageError(f"`output={path}`: write FILE.yaml or FILE.csv.", ["output="])


def excitation_section(law: Sines, coordinates: Sequence[str]) -> str:
    """The section `excitation` of a mechanism's file."""
    lines = []
    for name, terms in zip(coordinates, law.terms, strict=True):
        sines = [f"[{', '.join(repr(float(x)) for x in evaluate(one, {}))}]" for one in terms]
        lines.append(f"    {name}: [{', '.join(sines)}]")
    (duration,) = evaluate([law.duration], {})
    return "\n".join(
        [
            "excitation:",
            "  kind: sines",
            f"  duration: {float(duration)!r} s",
            f"  samples: {law.samples}",
            "  terms:",
            *lines,
            "",
        ]
    )


def write_excitation(model: Model, found: Design, path: Path) -> None:
    """The mechanism's file with this excitation (.yaml), or its samples (.csv).

    Raises
    ------
    UsageError
        The mechanism is at other values than its file's, which its text does not state.
    """
    if path.suffix == ".csv":
        with naming(path), path.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            names = model.mechanism.coordinates
            out.writerow(
                ["t", *(csv_cell(f"{name}{prime}") for name in names for prime in ("", "'", "''"))]
            )
            motion = found.motion
            states = np.stack([motion.q, motion.q_dot, motion.q_ddot], axis=1)
            rows = np.concatenate([motion.t[:, None], states.reshape(-1, motion.t.size).T], axis=1)
            out.writerows([repr(float(x)) for x in row] for row in rows)
        return
    if not model.mechanism.source:
        raise UsageError(
            f"No file states {model.mechanism.name!r}, so {path.name} cannot be that file with "
            "another excitation: write the values into a file first, or the samples as .csv.",
            [str(path)],
        )
    text = excitation_section(found.excitation, model.mechanism.coordinates)
    with naming(path):
        whole = with_excitation(model.mechanism.source, text)
        path.write_text(with_schema(whole, "mechanism", path.parent), encoding="utf-8")


def with_excitation(source: str, text: str) -> str:
    """A mechanism file's text with another section `excitation`."""
    top = yaml.compose(source)
    assert isinstance(top, yaml.MappingNode)
    for key, value in top.value:
        if key.value == "excitation":
            rest = source[value.end_mark.index :]
            return source[: key.start_mark.index] + text + rest.lstrip("\n")
    return source.rstrip("\n") + "\n" + text


def write_record(record: Measurement, mechanism: Mechanism, path: Path) -> None:
    """t, positions, torques, wrenches: what a machine's record has. All digits, so that none are
    noise."""
    names, felt = mechanism.coordinates, wrench_columns(mechanism)
    columns = dict(zip(["t", *names], [record.t, *record.q], strict=True))
    columns |= {f"tau.{name}": row for name, row in zip(names, record.tau, strict=True)}
    for point, wrench in record.wrenches.items():
        titles = zip(felt[point], wrench, strict=True)
        columns |= {title: component for title, component in titles if component.any()}
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(map(csv_cell, columns))
        out.writerows([repr(float(x)) for x in row] for row in np.stack([*columns.values()]).T)
