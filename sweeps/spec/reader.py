"""The one place where a sweep file becomes a `SweepSpec` (docs/sweep-files.md).

All mistakes are found together, each with its path and line. Numbers are met in the unit of the
symbol they are for (its `unit` in the mechanism's file) and leave in SI. Files that are named
inside lie beside the sweep file; the store is made where the program runs.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from basepar_core.api import load
from basepar_core.errors import FileError, Mistake, UsageError
from basepar_core.expressions import DIMENSIONLESS, UNITS
from basepar_core.files import (
    Fields,
    Items,
    Node,
    Reading,
    Text,
    library_names,
    loads,
    not_found,
    read,
)
from basepar_core.mechanism import Mechanism
from basepar_core.metrics import canonical, targets
from basepar_core.texts import opening
from sweeps.store import as_damage, locate

from . import own_metrics
from .ask_tell_plan import Asked
from .filters import condition, formula
from .plan_products import Chain, Derived, Product
from .plans import Plan, from_description
from .sampling import FROM_PILOT
from .space_reader import flat_space, read_number, read_space, symbol_units
from .stored_mechanism import mechanism_of
from .sweep_keys import EVALUATE, LIMITS, REDUCTION, STORE, SWEEP
from .sweep_spec import (
    Evaluation,
    Reduction,
    SweepSpec,
    evaluation_mistakes,
    number_mistakes,
    plan_mistakes,
)
from .table_reader import read_table
from .tables import Table
from .target_reader import read_targets


def load_sweep(path: str | Path) -> SweepSpec:
    """Read a sweep file.

    Raises
    ------
    FileError
        With all mistakes of the file, those of its mechanism included.
    """
    return parse_sweep(text_of(path), str(path))


def text_of(path: str | Path) -> str:
    """A file's text; FileError where there is none."""
    try:
        return opening.text_of(path)
    except OSError as error:
        raise FileError(str(path), [Mistake("", f"cannot be read: {error.strerror}")]) from None


def parse_sweep(text: str, source_name: str = "sweep.yaml") -> SweepSpec:
    """A sweep from a file's text; `source_name` is what messages call it."""
    node, mistakes = read(text)
    return parse_node(node, source_name, None, mistakes)


def parse_node(
    node: Node | None,
    source_name: str,
    assembly: Node | None = None,
    mistakes: Iterable[Mistake] = (),
) -> SweepSpec:
    """A sweep from a file's tree; with `assembly`, of the mechanism put together that way."""
    reading = Reading(mistakes, Path(source_name).parent)
    parts = None if node is None else _parts(reading, node, assembly)
    if parts is None or reading.mistakes:
        raise FileError(source_name, sorted(reading.mistakes, key=lambda wrong: wrong.line or 0))
    return SweepSpec(**parts)


def from_document(text: str) -> SweepSpec:
    """The specification that a store keeps (`attrs["spec"]`, from `SweepSpec.document`).

    Nothing that it names is imported: own metrics are described (`own_metrics.fetched`).

    Raises
    ------
    FileError
        What the store only names is not what it was: a long table, samples of a motion in the
        store of an earlier version.
    StoreError
        It is no specification of ours: damaged, or somebody else's.
    """
    with as_damage("specification"):
        return _of_document(json.loads(text))


def _of_document(plain: Mapping[str, Any]) -> SweepSpec:
    mechanism = mechanism_of(plain)
    space, questions = plain["space"], plain["evaluate"]
    reduction = questions["reduction"]
    if reduction is not None:
        lists = {key: tuple(x) for key, x in reduction.items() if isinstance(x, list)}
        reduction = Reduction(**{**reduction, **lists})
    return SweepSpec(
        mechanism,
        _plan_again(mechanism, space, plain.get("rows", 0)),
        tuple(condition(mechanism, line) for line in space["where"]),
        Evaluation(
            questions["rank"],
            reduction,
            tuple(questions["metrics"]),
            own_metrics.described(questions.get("own", {})),
            questions.get("beta", False),
            tuple(questions.get("with", ())),
            targets.from_document(questions.get("targets", {}), plain.get("targets", {})),
        ),
        plain["store"]["chunk"],
        plain["store"]["path"],
        plain["limits"]["variant_seconds"],
    )


def _plan_again(mechanism: Mechanism, space: Mapping[str, Any], rows: int = 0) -> Plan:
    if "derive" in space:
        plain = {key: entry for key, entry in space.items() if key != "derive"}
        formulas = [formula(mechanism, *entry) for entry in space["derive"].items()]
        return Derived(_plan_again(mechanism, plain, rows), tuple(formulas), mechanism)
    match space["plan"]:
        case "asked":
            return Asked.from_description(space, rows)
        case "product":
            return Product(tuple(_plan_again(mechanism, part) for part in space["of"]))
        case "chain":
            return Chain(tuple(_plan_again(mechanism, part) for part in space["of"]))
        case "table":
            return _table_again(mechanism, space)
    return from_description(space)


def _table_again(mechanism: Mechanism, space: Mapping[str, Any]) -> Table:
    table = Table.from_document(space)
    if table is not None:
        return table
    table = read_table(Path(space["file"]), symbol_units(mechanism))
    if table.digest != space["sha256"]:
        message = "its numbers are not those of the sweep any more"
        raise FileError(space["file"], [Mistake("", message)])
    return table


def _parts(reading: Reading, node: Node, assembly: Node | None) -> dict[str, Any]:
    """Arguments of `SweepSpec`; meaningless where there were mistakes."""
    top = reading.fields(node, SWEEP, flat_space(node))
    mechanism = read_mechanism(reading, top.get("mechanism"), assembly)
    plan, where = read_space(reading, top.get("space"), mechanism)
    evaluation = _evaluation(reading, top.get("evaluate"), mechanism)
    store, chunk = _store(reading, top.get("store"))
    seconds = _limits(reading, top.get("limits"))
    lines = lines_of(node)
    plans = plan_mistakes(mechanism, plan) if mechanism is not None and plan is not None else []
    for wrong in [
        *plans,
        *evaluation_mistakes(evaluation, mechanism),
        *number_mistakes(chunk, seconds),
    ]:
        if wrong.path not in {mistake.path for mistake in reading.mistakes}:
            line = lines.get(wrong.path)
            reading.mistakes.append(Mistake(wrong.path, wrong.message, line))
    return {
        "mechanism": mechanism,
        "plan": plan,
        "where": where,
        "evaluation": evaluation,
        "chunk": chunk,
        "store": store,
        "variant_seconds": seconds,
    }


def read_mechanism(
    reading: Reading, node: Node | None, assembly: Node | None = None
) -> Mechanism | None:
    """The mechanism a file names, put together as its file says or otherwise.

    Its mistakes are reported as those of the name, or of the assembly.
    """
    name = reading.text(node, "a mechanism: a file, or a name of the library")
    if name is None or node is None:
        return None
    beside = reading.folder / name
    missing = not os.path.exists(beside) and not os.path.exists(name)
    try:
        if missing and name.endswith((".yaml", ".yml")):
            raise not_found(name, reading.folder)
        found = load(name if name in library_names() or not os.path.isfile(beside) else beside)
    except FileError as error:
        for wrong in error.mistakes:
            place = f"{wrong.path} (line {wrong.line})" if wrong.line else wrong.path
            inner = f"{name}, {place}: {wrong.message}" if place else f"{name}: {wrong.message}"
            reading.mistake(node, inner)
        return None
    return found if assembly is None else _reassembled(reading, node, found, assembly)


def _reassembled(
    reading: Reading, name: Node, mechanism: Mechanism, assembly: Node
) -> Mechanism | None:
    from .assemblies import reassembled

    beside = reading.folder / name.value if isinstance(name, Text) else reading.folder
    try:
        return loads(reassembled(mechanism.source, assembly), str(beside))
    except ValueError as error:
        reading.mistake(assembly, str(error))
    except FileError as error:
        for wrong in error.mistakes:
            reading.mistake(assembly, f"{wrong.path}: {wrong.message}")
    return None


def _evaluation(reading: Reading, node: Node | None, mechanism: Mechanism | None) -> Evaluation:
    if node is None:
        return Evaluation()
    entries = reading.fields(node, EVALUATE)
    rank = reading.text(entries.get("rank"), "a route") or "auto"
    words = _words(reading, entries.get("metrics"), "a list of metrics")
    metrics = tuple(map(canonical, words))
    own = read_own(reading, entries.get("own"))
    beta = reading.choice(entries.get("beta"), ("true", "false"), "answer") == "true"
    columns = _words(reading, entries.get("with"), "a list of columns such as friction")
    reduction = read_reduction(reading, entries.get("reduction"))
    wanted = read_targets(reading, entries.get("targets"), mechanism)
    return Evaluation(rank, reduction, metrics, own, beta, columns, wanted)


def read_own(reading: Reading, node: Node | None) -> tuple[own_metrics.OwnMetric, ...]:
    """The user's metrics: a mapping from names to `module:function` or `file.py:function`."""
    entries = (node and reading.entries(node, "own metrics such as {wear: wear.py:wear}")) or {}
    found = []
    for name, entry in entries.items():
        text = reading.text(entry, "a function such as wear.py:wear")
        try:
            found += [own_metrics.load(name, text, reading.folder)] if text else []
        except own_metrics.MetricError as error:
            reading.mistake(entry, error.message)
    return tuple(found)


def read_reduction(reading: Reading, node: Node | None) -> Reduction | None:
    if node is None:
        return None
    plain = Reduction()
    entries = reading.fields(node, REDUCTION)
    criteria = _words(reading, entries.get("criteria"), "a list of criteria") or plain.criteria
    tolerance, samples = plain.tolerance, None
    if "tolerance" in entries:
        tolerance = read_number(reading, entries["tolerance"], DIMENSIONLESS)
    if "effective_samples" in entries:
        samples = reading.whole(entries["effective_samples"], 1)
    method = reading.text(entries.get("method"), "a method") or plain.method
    noise = reading.text(entries.get("noise"), "joint or pooled") or plain.noise
    arrays = _words(reading, entries.get("arrays"), "a list of arrays")
    return Reduction(criteria, tolerance, samples, method, noise, arrays)


def _words(reading: Reading, node: Node | None, what: str) -> tuple[str, ...]:
    items = reading.items(node, None, what) or ()
    words = [reading.text(item, "a name") or "" for item in items]
    for place, (item, word) in enumerate(zip(items, words, strict=True)):
        if word and word in words[:place]:
            reading.mistake(item, f"{word!r} is named twice")
    return tuple(words)


def _store(reading: Reading, node: Node | None) -> tuple[str, int]:
    if node is None:
        return "", FROM_PILOT
    entries = reading.fields(node, STORE)
    path = store_path(reading, entries.get("path"))
    return path, reading.whole(entries["chunk"], 1) if "chunk" in entries else FROM_PILOT


def store_path(reading: Reading, node: Node | None) -> str:
    """The place that `store.path` names; "" where it names none."""
    path = reading.text(node, "a directory") or ""
    try:
        locate(path)
    except UsageError as error:
        assert node is not None  # "" is a folder
        reading.mistake(node, error.message)
    return path


def _limits(reading: Reading, node: Node | None) -> float:
    if node is None:
        return 60.0
    entries = reading.fields(node, LIMITS)
    if "variant_seconds" not in entries:
        return 60.0
    before = reading.count
    seconds = read_number(reading, entries["variant_seconds"], UNITS["s"])
    return seconds if reading.count == before else 60.0


def lines_of(node: Node) -> dict[str, int]:
    """Line of every path."""
    found = {node.path: node.line}
    inner: tuple[Node, ...] = ()
    if isinstance(node, Fields):
        inner = tuple(node.entries.values())
    elif isinstance(node, Items):
        inner = node.items
    for entry in inner:
        found |= lines_of(entry)
    return found
