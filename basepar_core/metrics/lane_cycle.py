"""A closed cycle in complex lanes: one per variant and symbol, with that symbol's derivatives."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from basepar_core.arrays import Array
from basepar_core.compiled import Engine
from basepar_core.dynamics import LANES, Geometry, Motion
from basepar_core.expressions import Expression, evaluate
from basepar_core.mechanism import Point
from basepar_core.single_dof import Reaction

from .analytic import ANALYTIC
from .closed_cycle import ClosedCycle
from .freed import freed_engine, with_virtual


@dataclass(frozen=True)
class LaneCycle(ClosedCycle):
    """As its base, where `values` are all symbols and constants, complex (lane,)."""

    _geometry: Geometry | None = field(default=None, repr=False)
    _again: Callable[[Engine, Motion], "LaneCycle"] | None = field(default=None, repr=False)

    @cached_property
    def symbols(self) -> dict[str, Array]:
        return dict(self.values)

    @cached_property
    def parameters(self) -> Array:
        bodies = self.model.mechanism.bodies
        return self._of_symbols([entry for body in bodies for entry in body.parameters or ()])

    def _of_symbols(self, expressions: Sequence[Expression]) -> Array:
        """Expressions in symbols alone, (lane, expression)."""
        return evaluated(expressions, self.values, self.count)

    def _reactions(self, wanted: tuple[Reaction, ...]) -> Array:
        assert self._again is not None
        motion = with_virtual(self.motion, len(wanted))
        return self._again(freed_engine(self.model, wanted), motion).torques[..., -len(wanted) :]

    def _local(self, points: Sequence[Point]) -> Array:
        found = self._of_symbols([entry for point in points for entry in point.at])
        return found.reshape(self.count, len(points), 3).transpose(1, 2, 0)

    def _parts(self) -> Iterator[tuple[slice, Geometry]]:
        assert self._geometry is not None
        step = max(1, LANES // self.q.shape[2])
        for start in range(0, self.count, step):
            part = slice(start, min(start + step, self.count))
            yield part, self._geometry.take(np.arange(self.count)[part]).over_samples()


def evaluated(expressions: Sequence[Expression], known: Mapping[str, Array], count: int) -> Array:
    """Expressions of complex symbols, (lane, expression)."""
    found = evaluate(expressions, known, ANALYTIC)
    table: Array = np.empty((count, len(expressions)), complex)
    for k, column in enumerate(found):
        table[:, k] = column
    return table
