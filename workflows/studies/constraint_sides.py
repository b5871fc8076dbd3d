"""Constraints as numbers to be drawn: what each one holds, and where its limit is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from basepar_core.expressions import Call, evaluate, parse_any, parse_unit
from sweeps.spec import Condition

from .feasibility import Verdict
from .quantity_names import known_values, quantities
from .spec import StudySpec
from .units import Unit, shown_units

_SIGN = re.compile(r"<=|>=|==|<|>")
#: A limit with its unit: `40 deg`.
_LIMIT = re.compile(r"[-+\d.eE*/^() ]*\d\s*([A-Za-z][\w*/^]*)")
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


@dataclass(frozen=True)
class Side:
    """One constraint: `text sign limit`.

    Attributes
    ----------
    text
        What is held: the side of the constraint that varies, or the difference of both.
    sign
        `<=`, `<`, `>=`, `>` or `==`.
    limit
        SI.
    values
        (variant,), SI.
    unit
        What it is shown in.
    """

    text: str
    sign: str
    limit: float
    values: np.ndarray = field(repr=False)
    unit: Unit


def sides(spec: StudySpec, verdict: Verdict, symbols: Mapping[str, np.ndarray]) -> list[Side]:
    """What a study's constraints hold, over its variants.

    Parameters
    ----------
    spec, verdict
        The study and its judgement.
    symbols
        All swept symbols, SI, those that follow from others too, each (variant,).
    """
    known = known_values(spec.mechanism, symbols, verdict.results)
    shown = shown_units(spec)
    count = len(verdict.parameters)
    return [_side(spec, line, known, shown, count) for line in spec.constraints]


def _side(
    spec: StudySpec,
    line: Condition,
    known: Mapping[str, Any],
    shown: Mapping[str, Unit],
    count: int,
) -> Side:
    assert isinstance(line.expression, Call)
    sign = line.expression.operator
    left, right = evaluate(line.expression.arguments, known)
    before, _, after = _SIGN.sub("\0", line.text, count=1).partition("\0")
    before, after = before.strip(), after.strip()
    if np.ndim(right) == 0:
        text, limit, values, said = before, float(right), left, after
    elif np.ndim(left) == 0:
        text, limit, values, said = after, float(left), right, before
        sign = _TURNED[sign]
    else:
        text, limit, values, said = f"{before} - ({after})", 0.0, left - right, ""
    spread = np.broadcast_to(np.asarray(values, float), count)
    return Side(text, sign, limit, spread, _unit(spec, text, said, shown))


def _unit(spec: StudySpec, text: str, limit: str, shown: Mapping[str, Unit]) -> Unit:
    spelled = {"".join(name.split()): unit for name, unit in shown.items()}
    own = spelled.get("".join(text.split()))
    if own is not None:
        return own
    _, dimension = parse_any(text, quantities(spec.mechanism, spec.own, spec.targets))
    match = _LIMIT.fullmatch(limit)
    if match:
        found = parse_unit(match[1])
        if found.dimension == dimension:
            return Unit(match[1], 1.0 / found.size)
    said = "1" if dimension is None else str(dimension)
    return Unit("1" if said == "no unit" else said)
