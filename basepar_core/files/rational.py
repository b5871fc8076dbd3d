"""What geometry slots take: rational functions of the symbols, of a degree that stays small."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from basepar_core.errors import ExpressionError
from basepar_core.expressions import Call, Expression, Name, Number, Pi, names

#: Degree of a geometry slot in its symbols; beyond it exact identities take too long.
_MAX_DEGREE = 32
_LIKE_PI = Number(Fraction(355, 113))


def substitute(expression: Expression, values: Mapping[str, Expression]) -> Expression:
    """The expression with some of its names replaced."""
    match expression:
        case Name(name) if name in values:
            return values[name]
        case Call(operator, arguments) if names(expression) & values.keys():
            return Call(operator, tuple(substitute(argument, values) for argument in arguments))
    return expression


def without_pi(expression: Expression) -> Expression:
    """The expression with a number like any other in the place of π, but within sin and cos."""
    match expression:
        case Pi():
            return _LIKE_PI
        case Call("+" | "-" | "*" | "/" | "^" as operator, arguments):
            return Call(operator, tuple(map(without_pi, arguments)))
    return expression


def check_rational(expression: Expression) -> None:
    """Reject what the exact field would accept but geometry slots do not, or not in time."""
    if _degree(expression) > _MAX_DEGREE:
        raise ExpressionError(
            f"of degree {_degree(expression)} in the symbols; at most {_MAX_DEGREE} in geometry"
        )


def _degree(expression: Expression) -> int:
    match expression:
        case Name():
            return 1
        case Call("tan", _):
            raise ExpressionError("'tan' is not allowed in geometry; write sin(…)/cos(…)")
        case Call("^", (base, Number(exponent))):
            return int(_degree(base) * abs(exponent))
        case Call("+" | "-", arguments):
            # A sum of fractions has all their denominators, hence not the maximum.
            return max(map(_degree, arguments)) if _polynomial(expression) else _all(arguments)
        case Call(_, arguments):
            return _all(arguments)
    return 0


def _all(arguments: Sequence[Expression]) -> int:
    return sum(map(_degree, arguments))


def _polynomial(expression: Expression) -> bool:
    match expression:
        case Call("/", (numerator, denominator)):
            return not names(denominator) and _polynomial(numerator)
        case Call("^", (base, Number(exponent))):
            return exponent >= 0 and _polynomial(base)
        case Call(_, arguments):
            return all(map(_polynomial, arguments))
    return True
