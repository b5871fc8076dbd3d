"""Reduced models for use: functions in a file, held against the full model; tables for papers."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import sympy

from basepar_core.dynamics import Model, Motion, column_values, cycle, select
from basepar_core.errors import UsageError
from basepar_core.reduction import (
    Generalised,
    Part,
    ReducedMechanism,
    criterion_label,
    inertia_ratio,
    is_usable,
    mass_columns,
)
from basepar_core.texts import csv_cell, latex, naming, plural
from basepar_core.torque_code import torque_program

from .base import latex_name, to_sympy
from .torque_code import operations, write
from .trial_run import seconds_of

FORMS = {".py": "python", ".c": "c"}
#: Calls of the Python functions that are timed; the least of the rounds counts.
_CALLS, _ROUNDS = 100, 5


def check_ending(path: Path) -> str:
    """python or c, by the file's ending.

    Raises
    ------
    UsageError
    """
    if path.suffix not in FORMS:
        raise UsageError(f"--export {path}: the file ends in .py or .c.", ["--export"])
    return FORMS[path.suffix]


def size_of(found: ReducedMechanism, asked: str | None) -> int:
    """A number of parameters: as asked, or where a criterion stops (the first by default).

    Raises
    ------
    UsageError
    """
    criteria = found.selection.criteria
    if asked is None or asked in criteria:
        return int(found.selection.size[0, criteria.index(asked) if asked else 0])
    if not asked.isdecimal():
        raise UsageError(
            f"--size {asked}: a number, or one of the criteria {', '.join(criteria)}.", ["--size"]
        )
    found.generalised(int(asked))  # rejects what the path has not
    return int(asked)


def export(model: Model, found: ReducedMechanism, size: int, path: Path) -> dict[str, Any]:
    """Write a reduced model's functions, and hold it against the full base model.

    Returns
    -------
    file, size, parameters, torque_error, validation (if any), operations and Python seconds per
    torque of the reduced and of the base model, and its inertia against the full one's.
    """
    form = check_ending(path)
    kept, whole = found.generalised(size), found.generalised(found.base.rank)
    mechanism = model.mechanism
    names = found.base.parameters[len(mechanism.parameter_names) :]
    further = select(mechanism, names)
    inertial = mechanism.inertial_parameters(mechanism.nominal)
    phi = np.concatenate([inertial, column_values(mechanism, further, mechanism.nominal)])
    motion = cycle(mechanism, model.assembled.coordinates)
    columns = mass_columns(model, motion, further)
    ratio = inertia_ratio(columns, kept.full(kept.nominal(phi)), phi)
    step = found.base.rank - size
    error = float(found.path.torque_error[0, step])
    facts: dict[str, Any] = {"file": str(path), "size": size, "parameters": list(kept.names)}
    facts["torque_error"] = error
    if found.validation is not None:
        facts["validation"] = float(found.validation[step])
    facts["inertia"], facts["forward_dynamics"] = list(ratio), is_usable(ratio)
    for name, one in (("reduced", kept), ("base", whole)):
        program = torque_program(model, one.columns, further)
        values = one.nominal(phi)
        facts[name] = {
            "operations": operations(program).document(),
            "python_seconds": _seconds(write(program, values, "python"), motion),
        }
        if name == "reduced":
            with naming(path):
                path.write_text(write(program, values, form, _about(found, size, ratio)), "utf-8")
    return facts


def _about(found: ReducedMechanism, size: int, ratio: tuple[float, float]) -> list[str]:
    error = found.path.torque_error[0, found.base.rank - size]
    lines = [
        "Written by basepar, which may write over it.",
        f"{size} of {found.base.rank} base parameters; relative torque error {error:.3g} over "
        "the cycle.",
        f"Inertia between {ratio[0]:.3g} and {ratio[1]:.3g} times the full model's.",
    ]
    if not is_usable(ratio):
        lines.append("NOT for forward dynamics: use acceleration() of a larger model.")
    return lines


def _seconds(text: str, motion: Motion) -> float:
    """Processor time of one torque in Python, loops included, following the cycle."""
    count = min(_CALLS, motion.t.size)
    samples = [
        tuple(x[:, k].tolist() for x in (motion.q, motion.q_dot, motion.q_ddot))
        for k in range(count)
    ]
    return seconds_of(text, samples, _ROUNDS)


def lines(facts: Mapping[str, Any]) -> list[str]:
    """What an export came to, in words."""
    few, all_ = facts["reduced"], facts["base"]
    count = [part["operations"]["total"] for part in (few, all_)]
    speed = [1e6 * part["python_seconds"] for part in (few, all_)]
    low, high = facts["inertia"]
    found = [
        f"{facts['file']}: {plural(facts['size'], 'parameter')}, torque error "
        f"{facts['torque_error']:.3g}",
        f"operations {count[0]} against {count[1]} of all base parameters "
        f"({count[0] / max(count[1], 1):.0%}); in Python {speed[0]:.1f} against {speed[1]:.1f} µs",
        f"inertia {low:.3g} to {high:.3g} times the full model's",
    ]
    if not facts["forward_dynamics"]:
        found.append("Not for forward dynamics: it leaves motions without their inertia.")
    return found


def as_csv(found: ReducedMechanism) -> str:
    """The path, one row per step; numbers in full."""
    document = found.document()
    names = list(document["steps"][0]["criteria"])
    second = ["validation"] * (found.validation is not None)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    stops = {name: chosen["size"] for name, chosen in document["selected"].items()}
    writer.writerow(["step", "removed", "size", "torque_error", *second, *names, "selected_by"])
    for step in document["steps"]:
        chosen = " ".join(name for name, size in stops.items() if size == step["size"])
        row = [
            step["step"],
            csv_cell(step["removed"] or ""),
            step["size"],
            repr(step["torque_error"]),
        ]
        row += [repr(step[name]) for name in second]
        row += ["" if x is None else repr(x) for x in step["criteria"].values()]
        writer.writerow([*row, chosen])
    return file.getvalue()


def as_latex(found: ReducedMechanism, size: int) -> str:
    """The path as a table, and the generalised base parameters of a size as equations."""
    header, lines = found.table()
    columns = "r l r r" + " r" * (len(header) - 4)
    titles = " & ".join(latex(criterion_label(title)) for title in header)
    rows = []
    for line in lines:
        name = f"${latex_name(line[1])}$" if line[1] else "--"
        cells = [line[0], name, line[2], *(_latex_number(cell) for cell in line[3:])]
        rows.append(" & ".join(cells) + r" \\")
    table = "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            titles + r" \\",
            r"\hline",
            *rows,
            r"\hline",
            r"\end{tabular}",
        ]
    )
    return f"{table}\n\n{_equations(found.generalised(size))}\n"


def _latex_number(cell: str) -> str:
    number, _, mark = cell.partition(" ")
    if number in ("", "–"):
        return "--"
    mantissa, _, exponent = number.partition("e")
    text = rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa
    return f"${text}$" + ("*" if mark else "")


def _equations(kept: Generalised) -> str:
    rows = []
    for place, (name, parts) in enumerate(zip(kept.names, kept.parts, strict=True), start=1):
        terms = [_term(part) for part in parts[1:]]
        signed = "".join(f" - {t[1:].lstrip()}" if t[0] == "-" else f" + {t}" for t in terms)
        rows.append(rf"\phi_{{g,{place}}} &= {latex_name(name)}{signed}")
    return "\\begin{align}\n" + " \\\\\n".join(rows) + "\n\\end{align}"


def _term(part: Part) -> str:
    """A coefficient, its numbers to five digits, and its parameter."""
    if part.expression is None:
        coefficient: Any = sympy.Float(part.value, 5)
    else:
        exact = to_sympy(part.expression)
        rounded = {n: sympy.Float(n, 5) for n in exact.atoms(sympy.Rational) if len(str(n)) > 6}
        coefficient = exact.xreplace(rounded)
    text = sympy.latex(coefficient)
    if coefficient.is_Add:
        text = rf"\left({text}\right)"
    if abs(coefficient) == 1:
        return ("-" if coefficient < 0 else "") + latex_name(part.parameter)
    return rf"{text}\, {latex_name(part.parameter)}"
