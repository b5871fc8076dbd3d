"""The section `space` of a sweep file: its plan, its variables, its conditions.

Numbers are met in the unit of the symbol they are for and leave in SI.
"""

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

import numpy as np

from basepar_core.errors import ExpressionError, FileError
from basepar_core.expressions import DIMENSIONLESS, Unit, evaluate, parse_unit
from basepar_core.files import Fields, Items, Key, Node, Reading, judge_bare_angles, written
from basepar_core.mechanism import Mechanism

from .bare_numbers import check_count, check_unit, range_by_steps, warn_of_corners, warn_of_step
from .filters import Condition, angles, condition, dimensions, formula
from .plan_products import Chain, Derived, Formula, Product
from .plans import PLANS, Bounds, Grid, Lists, Plan, Sobol
from .sobol import LONGEST_SOBOL
from .sweep_keys import ANY_PLAN, BESIDE, PLAN, SPACED
from .sweep_spec import unsweepable
from .table_reader import read_table
from .tables import Table

#: Values of one variable of a grid: they are held in memory.
LONGEST_LIST = 1_000_000

#: What plans are called elsewhere.
_CALLED = {
    **dict.fromkeys(("latin_hypercube", "latin-hypercube", "latin", "lhc"), "lhs"),
    **dict.fromkeys(("uniform", "monte_carlo", "monte-carlo"), "random"),
    **dict.fromkeys(("full", "factorial", "cartesian"), "grid"),
    **dict.fromkeys(("list", "csv", "rows"), "table"),
}


def symbol_units(mechanism: Mechanism) -> dict[str, Unit]:
    """The unit of bare numbers for each symbol of the geometry."""
    return {
        symbol.name: parse_unit(symbol.unit) if symbol.unit else DIMENSIONLESS
        for symbol in mechanism.geometry
    }


def read_space(
    reading: Reading, node: Node | None, mechanism: Mechanism | None
) -> tuple[Plan | None, tuple[Condition, ...]]:
    """Plan and conditions; None for a plan that cannot be made (mistakes are reported)."""
    if node is None:
        return None, ()
    entries = reading.entries(node, "a space: plan, variables, …")
    if entries is None:
        return None, ()
    plan = _plan(reading, node, mechanism, BESIDE)
    if isinstance(plan, Grid) and mechanism is not None:  # parts of other plans are composed
        warn_of_corners(entries["variables"], plan.variables, mechanism)
    plan = _derived(reading, entries.get("derive"), mechanism, plan)
    return plan, _where(reading, entries.get("where"), mechanism)


def _plan(
    reading: Reading, node: Node, mechanism: Mechanism | None, beside: tuple[Key, ...] = ()
) -> Plan | None:
    entries = reading.entries(node, "a plan: its name, variables, …") or {}
    kind = reading.choice(entries.get("plan"), tuple(PLANS), "plan", _CALLED)
    if kind is None:
        _without_a_plan(reading, node, mechanism, beside)
        return None
    if kind == "table":
        return _table(reading, node, mechanism, beside)
    read = {"lists": _listed, "ranges": _drawn, "": _composed}[PLANS[kind].variables]
    return read(reading, node, mechanism, kind, beside)


def _without_a_plan(
    reading: Reading, node: Node, mechanism: Mechanism | None, beside: tuple[Key, ...]
) -> None:
    """What else is wrong with a plan whose kind is not known."""
    before = reading.count
    entries = reading.fields(node, ANY_PLAN.plus(*beside))
    for one in reading.mistakes[before:]:
        if one.message == "missing":
            reading.mistakes.remove(one)
            guess = _likely_plan(entries)
            reading.mistake(
                node, f"`plan` is missing, one of {', '.join(PLANS)}; write `plan: {guess}`"
            )
    if "variables" in entries:
        read_variables(reading, entries["variables"], mechanism)
    if "candidates" in entries:
        reading.whole(entries["candidates"], 1)


def _likely_plan(entries: Collection[str]) -> str:
    """The plan that has such keys."""
    for key, plan in (("candidates", "sobol"), ("rows", "table"), ("file", "table")):
        if key in entries:
            return plan
    return "product" if "of" in entries else "grid"


def _composed(
    reading: Reading, node: Node, mechanism: Mechanism | None, kind: str, beside: tuple[Key, ...]
) -> Plan | None:
    before = reading.count
    entries = reading.fields(node, PLAN.cases[kind].plus(*beside))
    items = reading.items(entries.get("of"), None, "a list of plans") or ()
    parts = [_plan(reading, item, mechanism) for item in items]
    if "of" in entries and not items and reading.count == before:
        reading.mistake(entries["of"], "no plan; at least one is needed")
    whole = tuple(part for part in parts if part is not None)
    if reading.count > before or len(whole) < len(parts) or not whole:
        return None
    try:
        return Product(whole) if kind == "product" else Chain(whole)
    except ValueError as error:
        reading.mistake(entries["of"], str(error))
        return None


def _derived(
    reading: Reading, node: Node | None, mechanism: Mechanism | None, plan: Plan | None
) -> Plan | None:
    if node is None:
        return plan
    before = reading.count
    found = read_formulas(reading, node, mechanism, plan.names if plan is not None else ())
    if plan is None or mechanism is None or reading.count > before:
        return plan
    return Derived(plan, found, mechanism)


def read_formulas(
    reading: Reading, node: Node | None, mechanism: Mechanism | None, swept: Collection[str]
) -> tuple[Formula, ...]:
    """Formulas of symbols that follow the swept ones; mistakes are reported."""
    if node is None:
        return ()
    entries = reading.entries(node, "formulas by symbol, such as {lx3: 2*lx1}") or {}
    found: list[Formula] = []
    for name, entry in entries.items():
        text = reading.text(entry, "a formula such as 2*lx1")
        if mechanism is None or text is None:
            continue
        if message := unsweepable(mechanism, name):
            reading.mistake(entry, message)
        elif name in swept:
            reading.mistake(entry, f"{name!r} is swept; it cannot follow the others as well")
        else:
            try:
                later = [one for one in entries if one not in [formula.name for formula in found]]
                found.append(formula(mechanism, name, text, later))
                _judge_angles(reading, entry, text, mechanism)
            except ExpressionError as error:
                reading.mistake(entry, error.message)
    return tuple(found)


def _where(
    reading: Reading, node: Node | None, mechanism: Mechanism | None
) -> tuple[Condition, ...]:
    found = []
    for item in (node and reading.items(node, None, "a list of conditions")) or ():
        text = reading.text(item, "a condition such as 'lx1 + lx2 <= 1 m'")
        if text is None or mechanism is None:
            continue
        try:
            found.append(replace(condition(mechanism, text), line=item.line))
            _judge_angles(reading, item, text, mechanism)
        except ExpressionError as error:
            reading.mistake(item, error.message)
    return tuple(found)


def _judge_angles(reading: Reading, node: Node, text: str, mechanism: Mechanism) -> None:
    place = f"{node.path} (line {node.line})"
    if said := judge_bare_angles(place, text, dimensions(mechanism), angles(mechanism)):
        reading.mistake(node, said)


def read_variables(
    reading: Reading, node: Node | None, mechanism: Mechanism | None
) -> dict[str, tuple[Node, Unit]]:
    """Entries of `variables` that can be swept, with the units of their bare numbers."""
    entries = reading.entries(node, "a mapping from symbols to values")
    if not entries:
        if entries is not None and node is not None:
            reading.mistake(node, "no variable; at least one is needed")
        return {}
    if mechanism is None:
        return {}
    units = symbol_units(mechanism)
    found = {}
    for name, entry in entries.items():
        if message := unsweepable(mechanism, name):
            reading.mistake(entry, message)
        else:
            found[name] = (entry, units[name])
            check_unit(reading, entry, mechanism, name)
    return found


def _listed(
    reading: Reading, node: Node, mechanism: Mechanism | None, kind: str, beside: tuple[Key, ...]
) -> Plan | None:
    before = reading.count
    entries = reading.fields(node, PLAN.cases[kind].plus(*beside))
    variables = read_variables(reading, entries.get("variables"), mechanism)
    for name, (entry, _) in variables.items():
        assert mechanism is not None  # without one there are no variables
        check_count(reading, entry, mechanism, name)
        if kind == "grid":
            warn_of_step(entry)
    lists: Lists = tuple(
        (name, read_values(reading, entry, unit)) for name, (entry, unit) in variables.items()
    )
    if reading.count > before or not lists:
        return None
    make = PLANS[kind].make
    assert make is not None
    try:
        return make(lists)
    except ValueError as error:
        reading.mistake(entries["variables"], str(error))
        return None


def read_values(reading: Reading, node: Node, unit: Unit) -> tuple[float, ...]:
    """A list of values, or {from, to, count}."""
    if isinstance(node, Fields) and "step" in node.entries:
        reading.mistake(node, f"a range has a `count`, both ends counted: {_counted(node)}")
        return ()
    if isinstance(node, Fields):
        entries = reading.fields(node, SPACED)
        low, high = (read_number(reading, entries.get(key), unit) for key in ("from", "to"))
        count = reading.whole(entries.get("count"), 2)
        if count > LONGEST_LIST:
            reading.mistake(entries["count"], f"{count} values; at most {LONGEST_LIST}")
            return ()
        # From both ends, so that the last value is `to` itself.
        steps = range(count)
        return tuple((low * (count - 1 - i) + high * i) / (count - 1) for i in steps)
    items = reading.items(node, None, "a list of values, or {from: …, to: …, count: …},")
    if isinstance(node, Items) and not items:
        reading.mistake(node, "no value; at least one is needed")
    return tuple(read_number(reading, item, unit) for item in items or ())


def _counted(node: Fields) -> str:
    """The remedy for a range by steps."""
    low, high, step = (node.entries.get(key) for key in ("from", "to", "step"))
    try:
        first, last, by = (Fraction(one.value) for one in (low, high, step))  # type: ignore[union-attr]
        count = str(round((last - first) / by) + 1)
    except (AttributeError, ValueError, ZeroDivisionError):
        count = "…"
    ends = (written(one) if one is not None else "…" for one in (low, high))
    return "write {{from: {}, to: {}, count: {}}}".format(*ends, count)


def read_number(reading: Reading, node: Node | None, unit: Unit) -> float:
    """A number in SI; bare ones are in `unit`."""
    before = reading.count
    value = float(evaluate([reading.fixed(node, unit)], {})[0])
    if reading.count == before and node is not None and not abs(value) < float("inf"):
        reading.mistake(node, f"its value is {value}")
    return value


def _drawn(
    reading: Reading, node: Node, mechanism: Mechanism | None, kind: str, beside: tuple[Key, ...]
) -> Plan | None:
    before = reading.count
    entries = reading.fields(node, PLAN.cases[kind].plus(*beside))
    variables = read_variables(reading, entries.get("variables"), mechanism)
    bounds: Bounds = tuple(
        (name, *read_interval(reading, entry, unit)) for name, (entry, unit) in variables.items()
    )
    candidates = reading.whole(entries.get("candidates"), 1)
    seed = reading.whole(entries["seed"], 0) if "seed" in entries else 0
    make = PLANS[kind].make
    assert make is not None
    if make is Sobol and candidates > LONGEST_SOBOL:
        message = f"{candidates} rows; a Sobol plan has at most {LONGEST_SOBOL}. Use lhs or random"
        reading.mistake(entries["candidates"], message)
    if reading.count > before or not bounds:
        return None
    return make(bounds, candidates, seed)


def flat_space(node: Node) -> dict[str, str]:
    """What `space` is where its keys stand outside of it."""
    entries = node.entries if isinstance(node, Fields) else {}
    names = ("plan", "variables", "candidates", "seed", "rows", "file", "where", "derive")
    inside = {name: entries[name] for name in names if name in entries}
    return {"space": written(Fields(inside, "", 0))} if inside else {}


def read_interval(
    reading: Reading, node: Node, unit: Unit, choices: bool = False
) -> tuple[float, float]:
    """A pair [low, high] in SI; where there may be `choices`, more values may be meant so."""
    before = reading.count
    if isinstance(node, Items) and len(node.items) > 2:
        ends = f"[{written(node.items[0])}, {written(node.items[-1])}]"
        ways = (
            f"{{choices: {written(node)}}} for these, or {ends} for a range" if choices else ends
        )
        said = f"{len(node.items)} values where a range [low, high] is expected; write {ways}"
        reading.mistake(node, range_by_steps(node, choices) or said)
        return 0.0, 0.0
    pair = reading.items(node, 2, "a pair [low, high]")
    if pair is None:
        return 0.0, 0.0
    low, high = (read_number(reading, item, unit) for item in pair)
    if reading.count == before and not low < high:
        ends = ", ".join(written(item) for item in reversed(pair))
        said = f"the low end is not below the high one; write [{ends}]"
        if low == high:
            said = (
                "both ends are the same value: what is not varied keeps that of the mechanism's "
                "file; take it out here, or write it in `derive`"
            )
        reading.mistake(node, said)
    return low, high


def _table(
    reading: Reading, node: Node, mechanism: Mechanism | None, beside: tuple[Key, ...]
) -> Plan | None:
    before = reading.count
    entries = reading.fields(node, PLAN.cases["table"].plus(*beside))
    if ("rows" in entries) == ("file" in entries):
        reading.mistake(node, "a table has either rows or a file")
        return None
    if mechanism is None:
        return None
    if "file" in entries:
        found = _table_of_file(reading, entries["file"], mechanism)
    else:
        found = _table_of_rows(reading, entries["rows"], mechanism)
    return found if reading.count == before else None


def _table_of_file(reading: Reading, node: Node, mechanism: Mechanism) -> Table | None:
    name = reading.text(node, "a CSV file, or a store of a sweep")
    if name is None:
        return None
    try:
        table = read_table(reading.folder / name, symbol_units(mechanism))
    except FileError as error:
        for wrong in error.mistakes:
            line = f", line {wrong.line}" if wrong.line is not None else ""
            what = f", {wrong.path}" if wrong.path else ""
            reading.mistake(node, f"{name}{line}{what}: {wrong.message}")
        return None
    wrong_names = [message for name in table.names if (message := unsweepable(mechanism, name))]
    for message in wrong_names:
        reading.mistake(node, message)
    return None if wrong_names else table


def _table_of_rows(reading: Reading, node: Node, mechanism: Mechanism) -> Table | None:
    before = reading.count
    items = reading.items(node, None, "a list of rows such as {lx1: 0.3, lx3: 1.2}") or ()
    names: list[str] = []
    values = []
    for item in items:
        row = read_variables(reading, item, mechanism)
        names = names or list(row)
        if reading.count == before and set(row) != set(names):
            reading.mistake(item, f"this row has {', '.join(row)}; the first {', '.join(names)}")
        numbers = {name: read_number(reading, entry, unit) for name, (entry, unit) in row.items()}
        values.append([numbers.get(name, 0.0) for name in names])
    if not items and reading.count == before:
        reading.mistake(node, "no row; at least one is needed")
    return (
        None if reading.count > before else Table(tuple(names), np.array(values, dtype=np.float64))
    )
