"""Couplings among the equations of all bodies' poses, for putting a mechanism together."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from basepar_core.arrays import Array
from basepar_core.errors import AssemblyError
from basepar_core.mechanism import Coupling, Mechanism

from .kinematics import Geometry


@dataclass(frozen=True)
class CoupledBodies:
    """The equation of a coupling; `table`: its coefficients, then its offset."""

    coupling: Coupling
    table: Array

    @property
    def name(self) -> str:
        return self.coupling.name

    def equation(self, value: Callable[[str], tuple[float, Array]]) -> tuple[float, Array]:
        """Residual and derivatives, of joint values and their derivatives."""
        read = [value(name) for name, _ in self.coupling.terms]
        factors = self.table[:-1]
        gap = float(factors @ [found for found, _ in read] - self.table[-1])
        return gap, factors @ np.array([row for _, row in read])

    def left_open(self, gap: float, allowed: float) -> AssemblyError:
        """What to say where it does not hold."""
        return AssemblyError(
            f"Coupling {self.name!r} is off by {abs(gap):.4g} (m or rad; allowed {allowed:g}) at "
            f"the nominal geometry: the loops, or the values of the coordinates, contradict it. "
            f"Check its coefficients and `offset`.",
            [f"couplings.{self.name}"],
        )


def coupled_bodies(mechanism: Mechanism, dims: Geometry) -> Iterator[CoupledBodies]:
    """Of all couplings, at geometry without a batch."""
    for coupling, table in zip(mechanism.couplings, dims.constants, strict=True):
        yield CoupledBodies(coupling, table[..., 0])
