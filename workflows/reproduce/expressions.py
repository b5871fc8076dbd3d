"""Printed expressions as exact coefficients: base parameters in a field of geometry and φ.

Text of a paper goes through the grammar of mechanism files, never through an evaluator.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from basepar_core.expressions import Expression, number, parse_any
from basepar_core.mechanism import Mechanism, Symbol
from basepar_core.symbolic import Exact, GeometryField


class PrintedField:
    """Rational functions of a mechanism's geometry, and expressions linear in its parameters.

    Parameters
    ----------
    mechanism
        Whose geometry symbols the paper uses.
    parameters
        Short names of the inertial parameters (`mx1`).
    """

    def __init__(self, mechanism: Mechanism, parameters: Sequence[str]):
        zero = number(0)
        self._parameters = tuple(parameters)
        self._field = GeometryField(
            mechanism.geometry,
            [Symbol(name, zero) for name in parameters],
            mechanism.relations,
        )
        self._names: dict[str, Any] = dict.fromkeys(
            [*(symbol.name for symbol in mechanism.geometry), *parameters]
        )

    @cached_property
    def _generators(self) -> Mapping[str, Exact]:
        return {name: self._field.symbol(name) for name in self._parameters}

    def geometric(self, text: str) -> Exact:
        """An expression of the geometry."""
        return self._field.element(parse_any(text, self._names)[0])

    def element(self, expression: Expression) -> Exact:
        """One of ours, from its expression tree."""
        return self._field.element(expression)

    def coefficients(self, text: str) -> dict[str, Exact]:
        """Coefficients of an expression that is linear in the parameters; zeros left out."""
        whole = self.geometric(text)
        found = {name: whole.diff(x) for name, x in self._generators.items()}
        return {name: self._field.reduce(c) for name, c in found.items() if c != 0}

    def text(self, element: Exact) -> str:
        """In Python syntax, factored."""
        return self._field.to_text(element)

    def difference(self, ours: Exact, printed: Exact) -> str:
        """Ours less printed; "0" only if they are equal identically."""
        off = self._field.reduce(ours - printed)
        return "0" if off == 0 else self.text(off)
