"""Conditions of a space that the mechanism's own geometry does not meet.

A sweep may look elsewhere on purpose, so these are only told. Mostly the comparison is the wrong
way round, and then nearly every variant is filtered.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from basepar_core.expressions import DIMENSIONLESS, Call, Name, evaluate, parse_unit
from basepar_core.expressions import names as names_of
from basepar_core.mechanism import Mechanism

from .filters import Condition, Filter, dimensions
from .plan_products import Derived, values_of
from .plans import Plan
from .sampling import sample

#: A number with its unit.
_LIMIT = re.compile(r"\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z]*)\s*")
#: By which a mistyped limit is off, or one in a wrong unit.
_FACTORS = (10.0, 0.1, 1e3, 1e-3)
_TURNED = {"<=": ">=", ">=": "<=", "<": ">", ">": "<"}


def unmet_at_nominal(
    mechanism: Mechanism, plan: Plan, where: Sequence[Condition]
) -> tuple[str, ...]:
    """A sentence for each condition that does not hold at the values of the file.

    Not of those with derived symbols, whose values in the file are not the sweep's.
    """
    derived = {one.name for one in plan.formulas} if isinstance(plan, Derived) else set()
    found = []
    for place, line in enumerate(where):
        if not derived & names_of(line.expression) and (told := _unmet(mechanism, plan, line)):
            at = f" (line {line.line})" if line.line else ""
            found.append(f"space.where[{place}]{at}: {told}")
    return tuple(found)


def _unmet(mechanism: Mechanism, plan: Plan, condition: Condition) -> str:
    """What is to be told of one condition; "" where it holds, or has no value."""
    comparison = condition.expression
    assert isinstance(comparison, Call)
    sign = comparison.operator
    left, right, holds = _compared(comparison, mechanism.nominal)
    if holds[sign] or not np.isfinite([left, right]).all():
        return ""
    values = ", ".join(_values(mechanism, comparison))
    text = (
        f"the file's own geometry does not meet {condition.text} ({values}: "
        f"{left:.6g} {sign} {right:.6g} does not hold, in SI)"
    )
    turned = _TURNED.get(sign)
    exchanged = _exchanged(mechanism, condition)
    other = condition.text.replace(sign, turned or sign, 1)
    ends = _beyond(mechanism, plan, condition) if turned is not None and holds[turned] else ""
    if turned is None or not holds[turned] or ends:
        text += f": with its symbols exchanged it holds, {exchanged}" * bool(exchanged)
        none = f". No row that was looked at meets it, and all meet {other}: {ends}"
        return text + none * bool(ends)
    text += f": if it is the wrong way round, write {other}"
    return text + f"; or, with its symbols exchanged, {exchanged}" * bool(exchanged)


def _beyond(mechanism: Mechanism, plan: Plan, condition: Condition) -> str:
    """From where to where the left side runs where no row meets the limit; "" where some do."""
    comparison = condition.expression
    assert isinstance(comparison, Call)
    sign = comparison.operator
    before, _, after = condition.text.partition(sign)
    match = _LIMIT.fullmatch(after)
    if match is None:
        return ""
    columns = sample(plan, Filter.of(mechanism, ()))
    with np.errstate(all="ignore"):
        left, right = values_of(mechanism, comparison.arguments, columns)
    values, limit = np.ravel(left), float(np.ravel(right)[0])
    values = values[np.isfinite(values)]
    if not values.size:
        return ""
    low, high = float(values.min()), float(values.max())
    if low == high or not (limit < low if sign[0] == "<" else high < limit):
        return ""
    size = parse_unit(match[2]).size if match[2] else 1.0
    text = f"{before.strip()} runs from {low / size:.4g} to {high / size:.4g} {match[2]}".rstrip()
    meant = next((x for x in _FACTORS if low <= limit * x <= high), None)
    asked = f"{float(match[1]) * (meant or 1):g} {match[2]}".rstrip()
    return text if meant is None else f"{text}; is {asked} meant?"


def _compared(
    comparison: Call, values: Mapping[str, float]
) -> tuple[float, float, dict[str, bool]]:
    """Both sides of a comparison, SI, and by its sign whether it holds."""
    with np.errstate(all="ignore"):
        left, right = map(float, evaluate(comparison.arguments, values))
    # Sums of decimal numbers may be one rounding apart.
    even = bool(np.isclose(left, right, rtol=1e-12, atol=0.0))
    less, more = left < right and not even, left > right and not even
    holds = {"<": less, "<=": less or even, "==": even, ">=": more or even, ">": more}
    return left, right, holds


def _exchanged(mechanism: Mechanism, condition: Condition) -> str:
    """A condition on two symbols with each in the other's place; "" where it does not hold.

    Also where it says the same as the comparison the other way round, as of `a <= b`.
    """
    comparison = condition.expression
    assert isinstance(comparison, Call)
    named, measures = sorted(names_of(comparison)), dimensions(mechanism)
    if len(named) != 2 or measures.get(named[0]) != measures.get(named[1]):
        return ""
    if all(isinstance(side, Name) for side in comparison.arguments):
        return ""
    first, second = named
    values = dict(mechanism.nominal)
    values |= {first: values[second], second: values[first]}
    if not _compared(comparison, values)[2][comparison.operator]:
        return ""
    other = {first: second, second: first}
    return re.sub(rf"\b({first}|{second})\b", lambda found: other[found[0]], condition.text)


def _values(mechanism: Mechanism, comparison: Call) -> list[str]:
    """The symbols of a comparison with their values, each in its own unit."""
    found = []
    for name in sorted(names_of(comparison)):
        symbols = (one for one in mechanism.geometry + mechanism.constants if one.name == name)
        unit = next((parse_unit(one.unit) for one in symbols if one.unit), DIMENSIONLESS)
        text = "" if unit is DIMENSIONLESS else f" {unit.text}"
        found.append(f"{name} {float(mechanism.nominal[name]) / unit.size:.6g}{text}")
    return found
