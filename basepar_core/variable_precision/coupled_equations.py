"""Equations of couplings, and the joint values in them, next to a configuration in float64."""

from collections.abc import Sequence
from dataclasses import replace

from flint import arb

from basepar_core.mechanism import Mechanism

from .constraints import Coupled, CoupledValue, Equation, Poses
from .exact_geometry import Geometry


def coupled_equations(mechanism: Mechanism, dims: Geometry) -> list[Coupled]:
    """Of all couplings."""
    found = []
    for coupling, (*factors, offset) in zip(mechanism.couplings, dims.constants, strict=True):
        names = [name for name, _ in coupling.terms]
        given = [mechanism.value(name) for name in names]
        values = (
            CoupledValue(name, dims.joints[value.number], value.place, factor)
            for name, value, factor in zip(names, given, factors, strict=True)
        )
        found.append(Coupled(tuple(values), offset))
    return found


def near(couplings: Sequence[Coupled], floats: Sequence[float]) -> list[Coupled]:
    """The same near some joint values, one per term."""
    waiting = iter(floats)
    return [
        replace(one, values=tuple(replace(value, near=next(waiting)) for value in one.values))
        for one in couplings
    ]


def values_in(equations: Sequence[Equation], at: Poses) -> dict[str, arb]:
    """Joint values that couplings among some equations name, by name."""
    coupled = [one for one in equations if isinstance(one, Coupled)]
    return {value.name: value.value(at) for one in coupled for value in one.values}
