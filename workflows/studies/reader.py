"""The one place where a study file becomes a `StudySpec` (docs/study-files.md).

All mistakes are found together, each with its path and line. Numbers are met in the unit of the
symbol they are for and leave in SI. The mechanism's file lies beside the study file; stores and
the journal are made, and looked for, where the program runs.
"""

import json
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from basepar_core.errors import BaseparWarning, ExpressionError, FileError, Mistake, UsageError
from basepar_core.expressions import Call, Unit, parse_any, parse_comparison
from basepar_core.files import (
    Fields,
    Items,
    Node,
    Reading,
    Text,
    judge_bare_angles,
    read,
    written,
)
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import Target
from sweeps.spec import (
    Condition,
    OwnCodeError,
    Reduction,
    lines_of,
    read_formulas,
    read_interval,
    read_mechanism,
    read_own,
    read_reduction,
    read_targets,
    read_values,
    read_variables,
    registered,
    store_path,
    text_of,
)
from sweeps.store import bucket_of

from . import rounds, sampler_kinds, storages
from .definitions import at_a_drive, decided, looks_for_the_worst
from .joint_units import Known, explained
from .quantity_names import angular, check_words, metric_said, quantities, results_in
from .sampler_kinds import OwnSampler, own_sampler
from .sampler_remedies import without_misplaced
from .spec import (
    Choices,
    Integers,
    Objective,
    Range,
    Sampler,
    StudySpec,
    Variable,
    number_mistakes,
    variable_mistake,
)
from .study_keys import PLACE, SAMPLER, STORE, STUDY, VARIABLE


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
    return parse_node(node, source_name, mistakes=mistakes)


def parse_node(
    node: Node | None,
    source_name: str,
    assembly: Node | None = None,
    mistakes: Iterable[Mistake] = (),
) -> StudySpec:
    """A study from a file's tree; with `assembly`, of the mechanism put together that way."""
    reading = Reading(mistakes, Path(source_name).parent)
    parts = None if node is None else _parts(reading, node, Path(source_name).stem, assembly)
    if parts is None or reading.mistakes:
        raise FileError(source_name, sorted(reading.mistakes, key=lambda wrong: wrong.line or 0))
    return StudySpec(**parts)


def _parts(reading: Reading, node: Node, stem: str, assembly: Node | None) -> dict[str, Any]:
    """Arguments of `StudySpec`; meaningless where there were mistakes."""
    top = reading.fields(node, STUDY)
    mechanism = read_mechanism(reading, top.get("mechanism"), assembly)
    found: dict[str, Any] = {
        "mechanism": mechanism,
        "variables": _variables(reading, top.get("variables"), mechanism),
        "own": read_own(reading, top.get("own_metrics")),
        "targets": read_targets(reading, top.get("targets"), mechanism),
        "sampler": _sampler(reading, top.get("sampler"), top.get("trials")),
        "trials": reading.whole(top["trials"], 1) if "trials" in top else rounds.SCREENED,
        "batch": reading.whole(top["batch"], 1) if "batch" in top else 0,
        "reduction": read_reduction(reading, top.get("reduction")) or Reduction(),
        "warm_start": reading.text(top.get("warm_start"), "the store of a sweep") or "",
    }
    if mechanism is not None:
        known = quantities(mechanism, found["own"], found["targets"])
        spoken_of = mechanism, found["targets"], known
        found["objectives"] = _objectives(reading, top.get("objectives"), *spoken_of)
        found["constraints"] = _constraints(reading, top.get("constraints"), *spoken_of)
        names = [name for name, _ in found["variables"]]
        found["derived"] = read_formulas(reading, top.get("derive"), mechanism, names)
        angles = angular(mechanism, found["own"], found["targets"])
        for section in ("objectives", "constraints"):
            for line in found[section]:
                if wild := judge_bare_angles(section, line.text, known, angles):
                    reading.mistake(top[section], wild)
        found["sampler"] = _chosen(found)
    _check_trials(reading, node, found["sampler"], "trials" in top)
    found |= _store(reading, top.get("store"), stem)
    found |= _study(reading, top.get("study"), stem, found["store"])
    kind = found["sampler"].kind
    batch = found["batch"] or rounds.usual_batch(kind, found["sampler"].screen > 0)
    wrong = number_mistakes(found["trials"], batch, found["chunk"])
    counts = (len(found.get(key, ())) for key in ("objectives", "constraints"))
    wrong += sampler_kinds.mistakes(kind, *counts) if kind else []
    lines, said = lines_of(node), {mistake.path for mistake in reading.mistakes}
    reading.mistakes += [
        Mistake(one.path, one.message, lines.get(one.path))
        for one in wrong
        if one.path not in said
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
        return Range(*read_interval(reading, node, unit, choices=True))
    if len(node.entries) > 1 and not node.entries.keys() & set(VARIABLE.names):
        ends = ", ".join(written(one) for one in list(node.entries.values())[:2])
        reading.mistake(node, f"a range is a list [low, high]: write [{ends}]")
        return None
    entries = reading.fields(node, VARIABLE)
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


DIRECTIONS = ("minimize", "maximize")
#: Other words for them.
_CALLED = {"min": "minimize", "minimise": "minimize", "max": "maximize", "maximise": "maximize"}


def _as_mapping(node: Node | None) -> str:
    """A list of objectives, each a mapping, as one mapping; nothing for other nodes."""
    pairs = []
    for item in node.items if isinstance(node, Items) else ():
        entries = item.entries if isinstance(item, Fields) else {}
        words = [one.value for one in entries.values() if isinstance(one, Text)]
        if len(words) == 1:  # `torque_rms: minimize`; else `name: torque_rms, direction: minimize`
            words += entries
        named = [_CALLED.get(word.lower(), word) for word in words]
        if len(named) != 2 or len({*named} & {*DIRECTIONS}) != 1:
            return ""
        pairs.append(": ".join(sorted(named, key=DIRECTIONS.__contains__)))
    return f"{{{', '.join(pairs)}}}" if pairs else ""


def _objectives(
    reading: Reading,
    node: Node | None,
    mechanism: Mechanism,
    targets: tuple[Target, ...],
    known: Known,
) -> tuple[Objective, ...]:
    what = "a mapping from quantities to minimize or maximize"
    if node is not None and (meant := _as_mapping(node)):
        reading.mistake(node, f"a list where {what} is expected; write {meant}")
        return ()
    entries = reading.entries(node, what, "«»: minimize") or {}
    if isinstance(node, Fields) and not entries:
        reading.mistake(node, "no objective; at least one is needed")
    found = []
    for text, entry in entries.items():
        if text in DIRECTIONS and written(entry) not in DIRECTIONS:
            turned = f"{{{written(entry)}: {text}}}"
            reading.mistake(entry, f"turned round: the quantity comes first; write {turned}")
            continue
        direction = reading.choice(entry, DIRECTIONS, "direction", _CALLED)
        try:
            found.append(objective(text, direction != "maximize", known))
            for told in (
                looks_for_the_worst(found[-1]),
                at_a_drive(found[-1].expression, mechanism, known),
            ):
                if told:
                    _warn(entry, told)
        except ExpressionError as error:
            reading.mistake(entry, _told(error, text, mechanism, targets, known))
    return tuple(found)


def _told(
    error: ExpressionError,
    text: str,
    mechanism: Mechanism,
    targets: tuple[Target, ...],
    known: Known,
) -> str:
    """What is wrong with an objective or a constraint, in the words of the metric at fault."""
    said = metric_said(text, mechanism, targets, known) or error.message
    return explained(said, text, mechanism, known)


def objective(text: str, minimize: bool, known: Known) -> Objective:
    """An objective from its text; ExpressionError where it is none."""
    check_words(text, known)
    expression, dimension = parse_any(text, known)
    unit = "1" if dimension is None or str(dimension) == "no unit" else str(dimension)
    return Objective(text, expression, minimize, unit)


def constraint(text: str, known: Known) -> Condition:
    """A constraint from its text; ExpressionError where it is none that can be met."""
    check_words(text, known)
    expression = parse_comparison(text, known)
    if isinstance(expression, Call) and expression.operator == "==":
        raise ExpressionError("no sampled variant meets an equality; give two bounds")
    return Condition(text, expression)


def _constraints(
    reading: Reading,
    node: Node | None,
    mechanism: Mechanism,
    targets: tuple[Target, ...],
    known: Known,
) -> tuple[Condition, ...]:
    found: list[Condition] = []
    for item in (node and reading.items(node, None, "a list of constraints")) or ():
        text = reading.text(item, "a constraint such as 'stroke(D) >= 40 deg'")
        if text is None:
            continue
        try:
            line = constraint(text, known)
        except ExpressionError as error:
            reading.mistake(item, _told(error, text, mechanism, targets, known))
            continue
        if text in [one.text for one in found]:
            reading.mistake(item, f"{text!r} is given twice")
        why, is_met = decided(line)
        if is_met:
            _warn(item, why)
        elif why:
            reading.mistake(item, why)
        elif told := at_a_drive(line.expression, mechanism, known):
            _warn(item, told)
        found.append(line)
    return tuple(found)


def _warn(node: Node, told: str) -> None:
    warnings.warn(f"{node.path} (line {node.line}): {told}.", BaseparWarning, stacklevel=2)


def _chosen(parts: Mapping[str, Any]) -> Sampler:
    """The sampler; where the file names none, the one that suits what it speaks of."""
    asks: Sampler = parts["sampler"]
    if asks.kind:
        return asks
    lines = (*parts["objectives"], *parts["constraints"])
    results = results_in(
        parts["mechanism"], [line.expression for line in lines], parts["own"], parts["targets"]
    )
    users = {**registered(), **{one.name: one for one in parts["own"]}}
    continuous = any(isinstance(variable, Range) for _, variable in parts["variables"])
    kind, why = sampler_kinds.usual(results, [one for one in results if one in users], continuous)
    return replace(asks, kind=kind, why=why)


def _check_trials(reading: Reading, node: Node, asks: Sampler, stated: bool) -> None:
    if not stated and asks.kind not in ("", sampler_kinds.SCREEN):
        message = "required: how many variants are tried, in all; only `screen` has a usual number"
        if not any(
            "'trials'" in one.message or "`trials: " in one.message for one in reading.mistakes
        ):
            reading.mistakes.append(Mistake("trials", message, node.line))


def _sampler(reading: Reading, node: Node | None, trials: Node | None) -> Sampler:
    """The sampler; of no kind where the file names none."""
    if node is None:
        return Sampler("")
    entries = reading.fields(without_misplaced(reading, node, trials), SAMPLER)
    kind = "" if "kind" not in entries else reading.text(entries["kind"], "a sampler") or "tpe"
    screen = reading.whole(entries["screen"], 1) if "screen" in entries else 0
    if screen and kind == sampler_kinds.SCREEN:
        reading.mistake(
            entries["screen"], "`kind: screen` screens all rows: leave one of them out"
        )
    if screen and not kind and "own" not in entries:
        reading.mistake(entries["screen"], "name the sampler that goes on from there: `kind: tpe`")
    wrong = sampler_kinds.mistakes(kind, 1, 0) if kind else []
    if "kind" in entries and (wrong or kind == sampler_kinds.OWN or "own" in entries):
        message = "a sampler of your own is named `own: file.py:Class`, without a kind"
        reading.mistake(entries["kind"], wrong[0].message if wrong else message)
        kind = "tpe"
    own = _own_sampler(reading, entries["own"]) if "own" in entries else None
    if own is not None:
        kind = sampler_kinds.OWN
    options = _plain_options(entries["options"]) if "options" in entries else {}
    if not isinstance(options, Mapping):
        reading.mistake(entries["options"], "wanted are options by name")
        options = {}
    if "own" not in entries:
        if options and not kind:
            reading.mistake(entries["options"], "name the sampler that these are of: `kind: tpe`")
        for one in sampler_kinds.option_mistakes(kind, options) if kind else ():
            reading.mistake(entries["options"], one.message)
    seed = reading.whole(entries["seed"], 0) if "seed" in entries else 0
    return Sampler(kind, seed, tuple(options.items()), own, screen)


def _own_sampler(reading: Reading, node: Node) -> OwnSampler | None:
    entry = reading.text(node, "a class such as mine.py:Mine")
    try:
        return own_sampler(entry, reading.folder) if entry else None
    except OwnCodeError as error:
        reading.mistake(node, error.message)
        return None


def _plain_options(node: Node) -> Any:
    """Options as JSON reads them: numbers, true, null, text; lists and mappings of these."""
    match node:
        case Fields():
            return {key: _plain_options(entry) for key, entry in node.entries.items()}
        case Items():
            return [_plain_options(entry) for entry in node.items]
        case Text():
            try:
                return json.loads(node.value)
            except ValueError:
                return node.value
    return None


def _store(reading: Reading, node: Node | None, stem: str) -> dict[str, Any]:
    entries = reading.fields(node, STORE) if node is not None else {}
    path = store_path(reading, entries.get("path")) or f"{stem}-study.zarr"
    return {
        "store": path,
        "chunk": reading.whole(entries["chunk"], 1) if "chunk" in entries else 0,
    }


def _study(reading: Reading, node: Node | None, stem: str, store: str) -> dict[str, str]:
    entries = reading.fields(node, PLACE) if node is not None else {}
    storage = reading.text(entries.get("storage"), "a file, or a URL")
    if not storage:
        with suppress(UsageError):  # which is a mistake of the store's, and reported
            there = bucket_of(store)
            storage = str(there.with_suffix(".journal")) if there is not None else ""
        storage = storage or f"{stem}-study.journal"
    if wrong := storages.mistake(storage):
        reading.mistake(entries["storage"], wrong)
    return {"storage": storage, "name": reading.text(entries.get("name"), "a name") or stem}
