"""Couplings among the loops' equations, written out."""

from collections.abc import Sequence
from dataclasses import dataclass

from basepar_core.dynamics import Geometry, Topology

from .scalar_graph import ScalarGraph


@dataclass(frozen=True)
class CoupledRow:
    """Node of how far values are from holding, and of coefficients by speed."""

    gap: int
    factors: dict[int, int]

    def second(self, g: ScalarGraph, rates: Sequence[int]) -> int:
        """Node of its second derivative at rates of the speeds."""
        return g.sum([g.multiply(factor, rates[k]) for k, factor in self.factors.items()])


def coupled_loops(
    g: ScalarGraph, topology: Topology, dims: Geometry, values: Sequence[int]
) -> list[CoupledRow]:
    """Rows of all couplings; `values` are nodes of the tree's values by speed."""
    found = []
    for coupling, table in zip(topology.couplings, dims.constants, strict=True):
        *numbers, offset = (g.real(float(x)) for x in table[:, 0])
        factors = dict(zip(coupling.speeds, numbers, strict=True))
        terms = [g.multiply(x, values[speed]) for speed, x in factors.items()]
        found.append(CoupledRow(g.sum([*terms, g.negate(offset)]), factors))
    return found
