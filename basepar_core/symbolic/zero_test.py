"""Exact questions about a mechanism's geometry, answered without computer algebra where possible.

To load it takes a quarter of a second, and most files ask only for what plain arithmetic tells:
sums and products of symbols are rational functions, and an axis of numbers is zero or is not.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from basepar_core.expressions import OPERATORS, Call, Expression, Name, Number, evaluate
from basepar_core.mechanism import Relation, Symbol

if TYPE_CHECKING:
    from .field import GeometryField

_EXACT: Mapping[str, Callable[..., Any]] = {
    **{operator: OPERATORS[operator] for operator in "+-*/"},
    "number": Fraction,
}


class Identities:
    """Questions to the field of a geometry; parameters as `field.GeometryField`."""

    def __init__(
        self,
        geometry: Sequence[Symbol],
        constants: Sequence[Symbol],
        relations: Sequence[Relation],
    ) -> None:
        self._parts = geometry, constants, relations
        self._lengths = {s.name for s in (*geometry, *constants) if not s.is_angle}

    @cached_property
    def field(self) -> "GeometryField":
        from .field import GeometryField

        return GeometryField(*self._parts)

    def check(self, expression: Expression) -> None:
        """Raise ExpressionError where an expression is no rational function of the symbols."""
        if not self._is_polynomial(expression):
            self.field.element(expression)

    def is_zero(self, expression: Expression) -> bool:
        """Whether an expression vanishes identically."""
        number = _number(expression)
        return self.field.is_zero(expression) if number is None else number == 0

    def _is_polynomial(self, node: Expression) -> bool:
        match node:
            case Number():
                return True
            case Name(name):
                return name in self._lengths
            case Call("+" | "-" | "*", arguments):
                return all(map(self._is_polynomial, arguments))
            case Call("/", (numerator, Number(value))):
                return value != 0 and self._is_polynomial(numerator)
            case Call("^", (base, Number(exponent))):
                return exponent.denominator == 1 and exponent >= 0 and self._is_polynomial(base)
        return False


def _number(expression: Expression) -> Fraction | None:
    """Value of an expression of numbers; None of any other, or where it divides by zero."""
    try:
        return Fraction(evaluate([expression], {}, _EXACT)[0])
    except (KeyError, ZeroDivisionError):
        return None
