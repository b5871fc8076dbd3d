"""The one place where a study file becomes a `StudySpec` (FORMAT.md, "Study").

All mistakes are found together, each with its path and line. Numbers are met in the unit of the
symbol they are for and leave in SI. The mechanism's file lies beside the study file; stores and
the journal are made, and looked for, where the program runs.
"""

from pathlib import Path
from typing import Any

from basepar_core.errors import ExpressionError, FileError, Mistake
from basepar_core.expressions import Call
from basepar_core.grammar import parse_any, parse_comparison
from basepar_core.mechanism import Mechanism
from basepar_core.reading import Reading
from basepar_core.units import Unit
from basepar_core.yaml_text import Fields, Node, read
from sweeps.space import Condition
from sweeps.space_file import read_interval, read_values, read_variables
from sweeps.spec_file import lines_of, read_mechanism, text_of

from .quantities import check_words, quantities
from .study_spec import (
    SAMPLERS,
    Choices,
    Integers,
    Objective,
    Range,
    Sampler,
    StudySpec,
    Variable,
    number_mistakes,
    sampler_mistakes,
    variable_mistake,
)

REQUIRED = ("mechanism", "variables", "objectives", "trials")
OPTIONAL = ("constraints", "sampler", "batch", "warm_start", "store", "study")
#: Trials asked for at once where the file does not say: larger batches make TPE nearly random.
BATCH = 20


def load_study(path: str | Path) -> StudySpec:
    """Read a study file.

    Raises
    ------
    FileError
        With all mistakes of the file, those of its mechanism included.
    """
    return parse_study(text_of(path), str(path))


def parse_study(text: str, source_name: str = "study.yaml") -> StudySpec:
    """A study from a file's text; `source_name` is what messages call it."""
    node, mistakes = read(text)
    reading = Reading(mistakes, Path(source_name).parent)
    parts = None if node is None else _parts(reading, node, Path(source_name).stem)
    if parts is None or reading.mistakes:
        raise FileError(source_name, sorted(reading.mistakes, key=lambda wrong: wrong.line or 0))
    return StudySpec(**parts)


def _parts(reading: Reading, node: Node, stem: str) -> dict[str, Any]:
    """Arguments of `StudySpec`; meaningless where there were mistakes."""
    top = reading.fields(node, REQUIRED, OPTIONAL)
    mechanism = read_mechanism(reading, top.get("mechanism"))
    found: dict[str, Any] = {
        "mechanism": mechanism,
        "variables": _variables(reading, top.get("variables"), mechanism),
        "objectives": _objectives(reading, top.get("objectives"), mechanism),
        "constraints": _constraints(reading, top.get("constraints"), mechanism),
        "sampler": _sampler(reading, top.get("sampler")),
        "trials": reading.whole(top.get("trials"), 1),
        "batch": reading.whole(top["batch"], 1) if "batch" in top else BATCH,
        "warm_start": reading.text(top.get("warm_start"), "the store of a sweep") or "",
    }
    found |= _store(reading, top.get("store"), stem) | _study(reading, top.get("study"), stem)
    wrong = number_mistakes(found["trials"], found["batch"], found["chunk"])
    kind = found["sampler"].kind
    wrong += sampler_mistakes(kind, len(found["objectives"]), len(found["constraints"]))
    lines, known = lines_of(node), {mistake.path for mistake in reading.mistakes}
    reading.mistakes += [
        Mistake(one.path, one.message, lines.get(one.path))
        for one in wrong
        if one.path not in known
    ]
    return found


def _variables(
    reading: Reading, node: Node | None, mechanism: Mechanism | None
) -> tuple[tuple[str, Variable], ...]:
    found = []
    for name, (entry, unit) in read_variables(reading, node, mechanism).items():
        before = reading.count
        variable = _variable(reading, entry, unit)
        if variable is not None and reading.count == before:
            if message := variable_mistake(variable):
                reading.mistake(entry, message)
            found.append((name, variable))
    return tuple(found)


def _variable(reading: Reading, node: Node, unit: Unit) -> Variable | None:
    if not isinstance(node, Fields):
        return Range(*read_interval(reading, node, unit))
    entries = reading.fields(node, (), ("choices", "integer"))
    if len(entries) != 1:
        reading.mistake(
            node, "a variable is [low, high], {choices: […]} or {integer: [low, high]}"
        )
        return None
    if "choices" in entries:
        return Choices(read_values(reading, entries["choices"], unit))
    pair = reading.items(entries["integer"], 2, "a pair of whole numbers [low, high]")
    if pair is None:
        return None
    low, high = (reading.whole(item, -(10**17)) for item in pair)
    return Integers(low, high, unit)


def _objectives(
    reading: Reading, node: Node | None, mechanism: Mechanism | None
) -> tuple[Objective, ...]:
    what = "a mapping from quantities to minimize or maximize"
    entries = reading.entries(node, what) or {}
    if isinstance(node, Fields) and not entries:
        reading.mistake(node, "no objective; at least one is needed")
    found = []
    for text, entry in entries.items():
        direction = reading.choice(entry, ("minimize", "maximize"), "direction")
        if mechanism is None:
            continue
        known = quantities(mechanism)
        try:
            check_words(text, known)
            expression, dimension = parse_any(text, known)
        except ExpressionError as error:
            reading.mistake(entry, error.message)
            continue
        unit = "1" if dimension is None or str(dimension) == "no unit" else str(dimension)
        found.append(Objective(text, expression, direction != "maximize", unit))
    return tuple(found)


def _constraints(
    reading: Reading, node: Node | None, mechanism: Mechanism | None
) -> tuple[Condition, ...]:
    found: list[Condition] = []
    for item in (node and reading.items(node, None, "a list of constraints")) or ():
        text = reading.text(item, "a constraint such as 'stroke(D) >= 40 deg'")
        if text is None or mechanism is None:
            continue
        known = quantities(mechanism)
        try:
            check_words(text, known)
            expression = parse_comparison(text, known)
        except ExpressionError as error:
            reading.mistake(item, error.message)
            continue
        if isinstance(expression, Call) and expression.operator == "==":
            reading.mistake(item, "no sampled variant meets an equality; give two bounds")
        if text in [line.text for line in found]:
            reading.mistake(item, f"{text!r} is given twice")
        found.append(Condition(text, expression))
    return tuple(found)


def _sampler(reading: Reading, node: Node | None) -> Sampler:
    if node is None:
        return Sampler()
    entries = reading.fields(node, (), ("kind", "seed"))
    kind = reading.choice(entries.get("kind"), tuple(SAMPLERS), "sampler") or "tpe"
    return Sampler(kind, reading.whole(entries["seed"], 0) if "seed" in entries else 0)


def _store(reading: Reading, node: Node | None, stem: str) -> dict[str, Any]:
    entries = reading.fields(node, (), ("path", "chunk")) if node is not None else {}
    path = reading.text(entries.get("path"), "a directory") or f"{stem}-study.zarr"
    return {
        "store": path,
        "chunk": reading.whole(entries["chunk"], 1) if "chunk" in entries else 0,
    }


def _study(reading: Reading, node: Node | None, stem: str) -> dict[str, str]:
    entries = reading.fields(node, (), ("storage", "name")) if node is not None else {}
    storage = reading.text(entries.get("storage"), "a file") or f"{stem}-study.journal"
    return {"storage": storage, "name": reading.text(entries.get("name"), "a name") or stem}
