"""The low-mobility paper's symbolic tables: rules (3), transfers (4), base parameters (5)."""

from collections.abc import Mapping
from typing import Any

from basepar_core.symbolic import GeometryField, NullVector, Transfers, eliminate, joint_vectors

from .comparison import Table, exact, number
from .expressions import PrintedField
from .suspension import Suspension

CONDITIONS = {"1": "mass", "2": "first moment", "5": "second moment", "6": "second moment"}
LETTERS = {"S": "spherical", "R": "revolute", "U": "universal", "P": "prismatic"}

#: Entries of β by base parameter and eliminated one, in the printed field.
Rows = dict[str, dict[str, Any]]


def table_3(one: Suspension) -> Table:
    """Parameters without effect: our null vector of each, from the rule the paper names."""
    vectors = _sources(one)
    names = one.model.mechanism.parameter_names
    silent = {one.short[names[k]] for k in one.symbolic.no_effect}
    numbers = []
    for row in one.printed["table_3"]:
        kind = CONDITIONS[row["condition"]]
        for name in row["parameters"]:
            reason = vectors[name].reason
            same = kind in reason and f"of {row['body']} into the ground" in reason
            printed = f"without effect, condition {row['condition']} ({kind} of {row['body']})"
            ours = reason if name in silent else f"has an effect; {reason}"
            off = "0" if same and name in silent else "not the same"
            numbers.append(exact(name, printed, ours, off))
    count = number("parameters without effect", "13", str(len(silent)))
    return Table("Table 3", "parameters without effect, and by which rule", (*numbers, count))


def _sources(one: Suspension) -> dict[str, NullVector]:
    """By eliminated parameter, the null vector it was solved from."""
    mechanism = one.model.mechanism
    field = GeometryField.of(mechanism)
    vectors = joint_vectors(Transfers(mechanism, field))
    names = mechanism.parameter_names
    result = eliminate(field, vectors, names, one.wanted)
    return {one.short[names[row]]: vectors[k] for row, k in result.sources.items()}


def table_4(one: Suspension) -> Table:
    """Transfers over joints: our null vectors against Appendix A's, entry by entry."""
    types = {joint.name: joint.type for joint in one.model.mechanism.joints}
    numbers = []
    for name, row in one.printed["table_4"].items():
        said = {k: one.field.geometric(x) for k, x in row["vector"].items()}
        ours = one.transfers(row["joint"], CONDITIONS[row["condition"]])
        off, shown = _nearest(one.field, said, ours, name)
        where = f"{row['joint']} ({row['type']}), condition {row['condition']}: {name}"
        if LETTERS[row["type"]] != types[row["joint"]]:
            off = f"the joint is {types[row['joint']]}"
        printed = ", ".join(f"{k}: {x}" for k, x in row["vector"].items())
        numbers.append(exact(where, printed, shown, off))
    count = number("transfers", "16", str(len(one.wanted) - len(one.symbolic.no_effect)))
    note = "vectors as Appendix A has them; equal up to a factor, entry by entry, identically"
    return Table("Table 4", "multipole transfers over joints", (*numbers, count), note)


def _nearest(
    field: PrintedField, said: Mapping[str, Any], ours: list[dict[str, Any]], name: str
) -> tuple[str, str]:
    """How far the printed vector is from one of ours, and that one scaled alike."""
    for vector in ours:
        if name not in vector or vector.keys() != said.keys():
            continue
        factor = said[name] / vector[name]
        scaled = {k: factor * vector[k] for k in said}
        off = [f"{k}: {d}" for k in said if (d := field.difference(scaled[k], said[k])) != "0"]
        return ", ".join(off) or "0", ", ".join(f"{k}: {field.text(scaled[k])}" for k in said)
    return "no such null vector", "; ".join(", ".join(vector) for vector in ours)


def table_5(one: Suspension) -> Table:
    """Symbolic base parameters by null vectors: printed less ours is zero identically."""
    ours: Rows = {one.short[name]: {} for name in one.symbolic.base_names}
    for entry in one.symbolic.beta:
        row = ours[one.short[one.symbolic.base_names[entry.base]]]
        assert entry.expression is not None
        name = one.short[one.symbolic.eliminated_names[entry.eliminated]]
        row[name] = one.field.element(entry.expression)
    return _against_table_5(one, ours, "Table 5", "symbolic base parameters, by null vectors")


def table_5_without_rules(one: Suspension) -> Table:
    """The same from values of β over a finite field: no joint rule has a part in it."""
    names = [one.short[name] for name in one.model.mechanism.parameter_names]
    own = GeometryField.of(one.model.mechanism)
    ours: Rows = {one.short[name]: {} for name in one.symbolic.base_names}
    for (base, gone), x in one.black_box.entries.items():
        ours[names[base]][names[gone]] = one.field.element(own.to_expression(x))
    title = "symbolic base parameters, over finite fields without joint rules"
    return _against_table_5(one, ours, "Table 5, again", title)


def _against_table_5(one: Suspension, ours: Rows, name: str, title: str) -> Table:
    """β by (base, eliminated) against the printed rows, term by term."""
    numbers, zeros, zero = [], 0, one.field.geometric("0")
    for base, row in one.printed["table_5"].items():
        said = one.field.coefficients(row["text"])
        if one.field.difference(said.pop(base, zero), one.field.geometric("1")) != "0":
            raise ValueError(f"the printed row of {base} does not contain it")
        terms = ours[base]
        for gone in dict.fromkeys([*said, *terms]):
            a, b = terms.get(gone, zero), said.get(gone, zero)
            shown = one.field.text(b), one.field.text(a)
            numbers.append(exact(f"{base}: {gone}", *shown, one.field.difference(a, b)))
        zeros += len(one.wanted) - len({*said, *terms})
    note = (
        f"differences vanish identically in exact arithmetic; {zeros} entries are zero in both; "
        "by name, because Tables 2 and 5 number φb,25–29 and 33–38 differently (erratum 2)"
    )
    return Table(name, title, tuple(numbers), note)
