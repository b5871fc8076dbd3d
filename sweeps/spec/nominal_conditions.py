"""Conditions of a space that the mechanism's own geometry does not meet.

A sweep may look elsewhere on purpose, so these are only told. Mostly the comparison is the wrong
way round, and then nearly every variant is filtered.
"""

from collections.abc import Sequence

import numpy as np

from basepar_core.expressions import DIMENSIONLESS, Call, evaluate, parse_unit
from basepar_core.expressions import names as names_of
from basepar_core.mechanism import Mechanism

from .filters import Condition
from .plan_products import Derived
from .plans import Plan

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
        if not derived & names_of(line.expression) and (told := _unmet(mechanism, line)):
            at = f" (line {line.line})" if line.line else ""
            found.append(f"space.where[{place}]{at}: {told}")
    return tuple(found)


def _unmet(mechanism: Mechanism, condition: Condition) -> str:
    """What is to be told of one condition; "" where it holds, or has no value."""
    comparison = condition.expression
    assert isinstance(comparison, Call)
    sign = comparison.operator
    with np.errstate(all="ignore"):
        left, right = map(float, evaluate(comparison.arguments, mechanism.nominal))
    # Sums of decimal numbers may be one rounding apart.
    even = bool(np.isclose(left, right, rtol=1e-12, atol=0.0))
    holds = {"<=": left < right or even, ">=": left > right or even, "==": even}
    holds |= {"<": left < right and not even, ">": left > right and not even}
    if holds[sign] or not np.isfinite([left, right]).all():
        return ""
    values = ", ".join(_values(mechanism, comparison))
    text = (
        f"the file's own geometry does not meet {condition.text} ({values}: "
        f"{left:.6g} {sign} {right:.6g} does not hold, in SI)"
    )
    turned = _TURNED.get(sign)
    if turned is None or not holds[turned]:
        return text
    other = condition.text.replace(sign, turned, 1)
    return f"{text}: if it is the wrong way round, write {other}"


def _values(mechanism: Mechanism, comparison: Call) -> list[str]:
    """The symbols of a comparison with their values, each in its own unit."""
    found = []
    for name in sorted(names_of(comparison)):
        symbols = (one for one in mechanism.geometry + mechanism.constants if one.name == name)
        unit = next((parse_unit(one.unit) for one in symbols if one.unit), DIMENSIONLESS)
        text = "" if unit is DIMENSIONLESS else f" {unit.text}"
        found.append(f"{name} {float(mechanism.nominal[name]) / unit.size:.6g}{text}")
    return found
