"""Rows of couplings: linear relations of the tree's values, whose coefficients are constants."""

from collections.abc import Iterator
from dataclasses import dataclass

from basepar_core.arrays import Array

from .kinematics import Poses, Twists
from .topology import CoupledValues, Topology


@dataclass(frozen=True)
class CoupledRows:
    """The one row of a coupling; `number` is its place among the geometry's constants."""

    values: CoupledValues
    number: int

    @property
    def are_lengths(self) -> tuple[bool, ...]:
        return (self.values.is_length,)

    @property
    def are_linear(self) -> bool:
        return True

    @property
    def constants(self) -> tuple[int, ...]:
        return (self.number,)

    @property
    def speeds(self) -> frozenset[int]:
        return frozenset(self.values.speeds)

    def gaps(self, at: Poses) -> list[Array]:
        table = at.constants[self.number]
        return [(table[:-1] * at.q[list(self.values.positions)]).sum(axis=0) - table[-1]]

    def put(self, at: Poses, jacobian: Array) -> None:
        jacobian[0, list(self.values.speeds)] = at.constants[self.number][:-1]

    def accelerations(
        self, at: Poses, moving: Twists, u_dot: Array, alpha: list[Array], a: list[Array]
    ) -> list[Array]:
        factors = at.constants[self.number][:-1]
        return [(factors * u_dot[list(self.values.speeds)]).sum(axis=0)]


def coupled_rows(graph: Topology) -> Iterator[CoupledRows]:
    """Of all couplings, in the mechanism's order."""
    return (CoupledRows(values, k) for k, values in enumerate(graph.couplings))


def coupled_positions(graph: Topology) -> list[int]:
    """Positions of all couplings' values, term by term."""
    return [place for values in graph.couplings for place in values.positions]
