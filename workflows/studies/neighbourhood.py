"""Write the sweep file of the designs around a study's best: how flat it is, what else is near.

Written as an ordinary sweep file, to be looked at and changed before it is run.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from basepar_core.errors import UsageError
from basepar_core.expressions import Unit
from basepar_core.files import library_names, library_path
from basepar_core.mechanism import Mechanism
from basepar_core.texts import naming, yaml_comment, yaml_word
from sweeps.spec import own_metrics, symbol_units, target_lines
from workflows.jobs import check_outputs, with_schema

from .chosen_design import chosen
from .spec import Range, StudySpec
from .store import study_of


def write_neighbourhood(
    path: str,
    output: str | None,
    share: float,
    candidates: int,
    variant: str = "best",
    trust_metrics: bool = False,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write a sweep file around a design of a study, by default the best, polished or not.

    Parameters
    ----------
    share
        How far to each side, as a share of each variable's range; the study's own bounds are
        kept. Choices and whole numbers stay as they are.
    candidates
        How many designs, points of a Sobol sequence.
    variant
        `best`, a variant's number, or `polished 0` (`chosen_design.chosen`).
    trust_metrics
        Whether the sweep file may name the own metrics that the store names: who runs that file
        runs them.
    overwrite
        Whether files of others may be written over.

    Raises
    ------
    OwnCodeError
        A metric's file is not what it was, or not said to be trusted.
    StoreError, UsageError
        It is no study's store, has no design that may be swept around, or the share is none; a
        file is there that basepar did not make.
    """
    if not 0 < share <= 1:
        raise UsageError(f"--share {share:g}: between 0 and 1, a share of the range.", ["--share"])
    spec = study_of(path)
    own_metrics.check(spec.own, trust_metrics)
    design, found = chosen(spec, variant, so_far=True)
    values = {name: found[name] for name in spec.names}
    file = Path(output or f"{Path(path).stem}-around.yaml")
    texts = {
        file: with_schema(
            _text(spec, values, file, share, candidates, design), "sweep", file.parent
        )
    }
    if not _ships(spec.mechanism):
        about = f"# Around {design}: the mechanism, as the study's store has it.\n"
        whole = about + spec.mechanism.source
        texts[_beside(file)] = with_schema(whole, "mechanism", file.parent)
    check_outputs(texts, overwrite)
    for place, text in texts.items():
        with naming(place):
            place.write_text(text, encoding="utf-8")
    beside = _beside(file)
    return {
        "file": str(file),
        "mechanism": str(beside) if beside in texts else None,
        "design": design,
        "candidates": candidates,
        "centre": values,
    }


def _text(
    spec: StudySpec,
    values: Mapping[str, float],
    file: Path,
    share: float,
    candidates: int,
    design: str,
) -> str:
    units = symbol_units(spec.mechanism)
    moving, fixed = {}, {}
    for name, variable in spec.variables:
        unit = units[name]
        if isinstance(variable, Range):
            reach = share * (variable.high - variable.low)
            low, high = max(values[name] - reach, variable.low), values[name] + reach
            moving[name] = [_in(unit, low), _in(unit, min(high, variable.high))]
        else:
            fixed[name] = [_in(unit, values[name])]
    evaluation = spec.sweep.evaluation
    plans = [f"{{plan: sobol, variables: {_flow(moving)}, candidates: {candidates}}}"] * bool(
        moving
    ) + [f"{{plan: grid, variables: {_flow(fixed)}}}"] * bool(fixed)
    derive = ", ".join(f"{one.name}: {yaml_word(one.text)}" for one in spec.derived)
    named = spec.mechanism.name if _ships(spec.mechanism) else _beside(file).name
    lines = [
        "# " + yaml_comment(f"Around {design} of {spec.store}: {', '.join(_wanted(spec))}."),
        f"mechanism: {yaml_word(named)}",
        "space:",
        "  plan: product",
        f"  of: [{', '.join(plans)}]",
        *([f"  derive: {{{derive}}}"] if derive else []),
        "evaluate:",
        f"  rank: {evaluation.rank}",
        f"  metrics: [{', '.join(map(yaml_word, evaluation.built_in))}]",
    ]
    if evaluation.own:
        own = ", ".join(f"{one.name}: {yaml_word(one.entry)}" for one in evaluation.own)
        lines.append(f"  own: {{{own}}}")
    if evaluation.targets:
        lines.append(f"  targets: {target_lines(evaluation.targets)}")
    if (reduction := evaluation.plain()["reduction"]) is not None:
        kept = {key: value for key, value in reduction.items() if value is not None}
        lines.append(f"  reduction: {json.dumps(kept)}")
    lines.append(f"store: {{path: {yaml_word(f'{file.stem}.zarr')}}}")
    return "\n".join(lines) + "\n"


def _wanted(spec: StudySpec) -> list[str]:
    """What the study looked for, in words."""
    return [f"{line.direction} {line.text}" for line in spec.objectives] + [
        line.text for line in spec.constraints
    ]


def _beside(file: Path) -> Path:
    """Where the mechanism goes that no shipped one is."""
    return file.with_name(f"{file.stem}-mechanism.yaml")


def _ships(mechanism: Mechanism) -> bool:
    if mechanism.name not in library_names():
        return False
    return library_path(mechanism.name).read_text(encoding="utf-8") == mechanism.source


def _in(unit: Unit, si: float) -> float:
    """A number in the unit that the file's bare numbers are in."""
    return si / (float(unit.factor) * np.pi**unit.pi)


def _flow(variables: Mapping[str, list[float]]) -> str:
    inner = ", ".join(f"{name}: [{', '.join(map(repr, x))}]" for name, x in variables.items())
    return f"{{{inner}}}"
