"""What somebody should know of a space before reading its results; nothing here is rejected.

A symbol's `bounds` are where a designer wants it, and a sweep may look beyond them on purpose;
a formula for a mass may turn negative far from the nominal geometry. Both are reported when a
sweep begins and by `basepar status`.
"""

import numpy as np

from basepar_core.dynamics import impossible_inertias, impossible_text
from basepar_core.expressions import DIMENSIONLESS, evaluate, parse_unit
from basepar_core.expressions import names as names_of
from basepar_core.mechanism import Mechanism, Symbol, meant_unit
from basepar_core.symbolic import symbol_values
from sweeps.store import Columns

from .filters import Filter
from .plan_products import Derived, extent
from .plans import Plan
from .sampling import sample


def notes(mechanism: Mechanism, plan: Plan, keeps: Filter) -> tuple[str, ...]:
    """Sentences about symbols beyond their bounds and about bodies of negative mass."""
    columns = sample(plan, keeps)
    return (*beyond_bounds(mechanism, plan, columns), *negative_masses(mechanism, columns))


def impossible_bodies(mechanism: Mechanism, plan: Plan) -> tuple[str, ...]:
    """Sentences about bodies that have an impossible inertia at the file's own values.

    Not of those with derived symbols, whose values in the file are not the sweep's.
    """
    derived = {one.name for one in plan.formulas} if isinstance(plan, Derived) else set()
    found = impossible_inertias(mechanism)
    return tuple(
        impossible_text(body.name, found[body.name])
        for body in mechanism.bodies
        if body.name in found and not derived & set().union(*map(names_of, body.parameters or ()))
    )


def beyond_bounds(mechanism: Mechanism, plan: Plan, columns: Columns) -> list[str]:
    """Swept symbols whose range leaves their `bounds`; derived ones as far as rows show it."""
    ends = extent(plan)
    if isinstance(plan, Derived):
        for formula in plan.formulas:
            values = columns[formula.name]
            if values.size:
                ends[formula.name] = float(values.min()), float(values.max())
    found = []
    for symbol in mechanism.geometry:
        if symbol.bounds is None or symbol.name not in ends:
            continue
        if said := _beyond(symbol, *ends[symbol.name]):
            found.append(said)
    return found


def _beyond(symbol: Symbol, least: float, most: float) -> str:
    """What to say of a range (SI) that leaves a symbol's bounds; "" where it does not."""
    assert symbol.bounds is not None
    low, high = map(float, evaluate(symbol.bounds, {}))
    slack = 1e-12 * max(abs(low), abs(high))  # 700 mm may be one rounding off 0.7
    if least >= low - slack and most <= high + slack:
        return ""
    unit = parse_unit(symbol.unit) if symbol.unit else DIMENSIONLESS
    size = unit.size
    swept = f"{symbol.name} is swept from {least / size:.4g} to {most / size:.4g} {unit.text}"
    bounds = f"its bounds {low / size:.4g} … {high / size:.4g} {unit.text}".rstrip()
    if most >= low and least <= high:
        return f"{swept.rstrip()}, beyond {bounds}"
    if (other := meant_unit(symbol, least, most)) is not None:
        return (
            f"{swept}, wholly outside {bounds}. In {other.text} these numbers lie within: bare "
            f"ones are in {unit.text}; write '{least / size:.4g} {other.text}' if that is meant"
        )
    return f"{swept.rstrip()}, wholly outside {bounds}"


def negative_masses(mechanism: Mechanism, columns: Columns) -> list[str]:
    """Bodies that have a negative mass in some of the sampled variants."""
    count = next(iter(columns.values())).size
    if not mechanism.has_inertias or not count:
        return []
    phi = np.broadcast_to(
        mechanism.inertial_parameters(symbol_values(mechanism, columns)),
        (count, len(mechanism.parameter_names)),
    )
    return [
        f"{body} has a negative mass in {(values < 0).sum():,} of {count:,} variants looked at"
        for body, values in _masses(mechanism, phi)
        if (values < 0).any()
    ]


def _masses(mechanism: Mechanism, phi: np.ndarray) -> list[tuple[str, np.ndarray]]:
    places = [
        (name.rsplit(".", 1)[0], k)
        for k, name in enumerate(mechanism.parameter_names)
        if name.rsplit(".", 1)[1] == "m"
    ]
    return [(body, phi[:, place]) for body, place in places]
