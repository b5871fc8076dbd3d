"""The section `relations`: algebraic numbers, and the roots that their values pick.

The value in the file is approximate, but what follows needs the root itself, or axes that are
equally long by the relation would not quite be so. A quadratic root is written out with its
square root; another one is refined to more digits than any later calculation takes.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import mpmath

from basepar_core.errors import ExpressionError
from basepar_core.expressions import (
    OPERATORS,
    ZERO,
    Call,
    Expression,
    Number,
    add,
    evaluate,
    multiply,
    negate,
    number,
    parse_equation,
    subtract,
)
from basepar_core.mechanism import Relation, Symbol
from basepar_core.symbolic import newton, polynomial

from .rational import check_rational, substitute
from .reader import Reading
from .yaml_nodes import Node

_DIGITS = 250
_NEWTON_STEPS = 60  # far beyond quadratic convergence from within 5 %
#: A value this far from its root, relatively, was meant for another one, or mistyped.
_TOO_FAR = 0.05

_PRECISE = {
    **OPERATORS,
    "number": lambda value: mpmath.mpf(value.numerator) / value.denominator,
    "pi": lambda: +mpmath.pi,
    "sqrt": mpmath.sqrt,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "abs": abs,
    "min": min,
    "max": max,
}


def read_relations(
    reading: Reading,
    node: Node | None,
    geometry: tuple[Symbol, ...],
    constants: tuple[Symbol, ...],
) -> tuple[tuple[Symbol, ...], tuple[Relation, ...]]:
    """Relations, and the geometry with its algebraic numbers at their roots."""
    entries = reading.entries(node, "a mapping such as r3: r3^2 = 3") or {}
    declared = {symbol.name: symbol for symbol in geometry}
    free = [s for s in (*geometry, *constants) if s.name not in entries and not s.is_angle]
    relations = []
    for name, entry in entries.items():
        if name in reading.spoilt or (name not in declared and "symbols" in reading.unknown):
            continue
        if name not in declared:
            reading.mistake(
                entry, f"{name!r} is not declared in geometry; declare it there, with a value"
            )
            continue
        before = reading.count
        _check_symbol(reading, entry, declared[name])
        difference = _difference(reading, name, entry, free)
        if difference is not None and reading.count == before:
            coefficients = _coefficients(reading, entry, name, difference, free)
            if coefficients:
                declared[name] = _at_root(reading, entry, declared[name], coefficients, free)
            reading.values[name] = declared[name].value
            relations.append(Relation(name, difference, coefficients))
    return tuple(declared.values()), tuple(relations)


def _check_symbol(reading: Reading, node: Node, symbol: Symbol) -> None:
    if symbol.is_angle:
        reading.mistake(node, f"{symbol.name!r} is an angle; a relation makes a number or length")
    if symbol.bounds is not None:
        reading.mistake(node, f"{symbol.name!r} follows from its relation; it has no bounds")


def _difference(
    reading: Reading, name: str, node: Node, free: Sequence[Symbol]
) -> Expression | None:
    """What vanishes; None where it cannot be read (reported)."""
    text = reading.text(node, f"an equation such as {name}^2 = 3")
    if text is None:
        return None
    allowed = [name, *(symbol.name for symbol in free)]
    dimensions = {key: reading.dimensions[key] for key in allowed}
    try:
        left, right = parse_equation(text, dimensions)
        difference = subtract(left, right)
        check_rational(difference)
    except ExpressionError as error:
        what = f"only {name!r} itself, lengths and numbers without a relation, and constants"
        reading.complain(node, text, dimensions, error, what)
        return None
    return difference


def _coefficients(
    reading: Reading, node: Node, name: str, difference: Expression, free: Sequence[Symbol]
) -> tuple[Expression, ...]:
    """Of an irreducible polynomial in the symbol; empty where it is none (reported)."""
    try:
        coefficients, factors = polynomial(free, name, difference)
    except ExpressionError as error:
        reading.mistake(node, error.message)
        return ()
    if len(factors) > 1:
        reading.mistake(
            node, f"it factors; state the factor of which {name!r} is a root, or no relation"
        )
    elif factors in ([], [1]):
        what = "is rational" if factors else "does not occur"
        reading.mistake(node, f"{name!r} {what} in it; write the expression itself")
    else:
        return coefficients
    return ()


def _at_root(
    reading: Reading,
    node: Node,
    symbol: Symbol,
    coefficients: Sequence[Expression],
    free: Sequence[Symbol],
) -> Symbol:
    """The symbol at the root near its value; placeholder where there is none (reported)."""
    if any(value.name in reading.dubious for value in (symbol, *free)):
        return symbol
    numbers = [substitute(entry, reading.values) for entry in coefficients]
    root = _nearest(reading, node, symbol, numbers)
    return symbol if root is None else replace(symbol, value=root)


def _nearest(
    reading: Reading, node: Node, symbol: Symbol, coefficients: Sequence[Expression]
) -> Expression | None:
    root = _root_near(coefficients, symbol.value)
    if root is None:
        (start,) = evaluate([symbol.value], {})
        reading.mistake(
            node,
            f"the value of {symbol.name!r}, {float(start):.6g}, is near no root of its relation; "
            f"give a value within 5 % of the root that is meant",
        )
    return root


def _root_near(coefficients: Sequence[Expression], value: Expression) -> Expression | None:
    """The root of a polynomial within 5 % of a value, exact or to 250 digits; None: there is none.

    Parameters
    ----------
    coefficients
        Ascending, free of names.
    """
    with mpmath.workdps(_DIGITS):
        start = evaluate([value], {}, _PRECISE)[0]
        try:
            numbers = evaluate(coefficients, {}, _PRECISE)
            root = _refined(numbers, start)
        except ArithmeticError:  # a coefficient, or the slope where the value stands
            root = None
        if root is not None and abs(root - start) <= _TOO_FAR * abs(root):
            return _closed_form(coefficients, numbers, root)
    return None


def _refined(numbers: Sequence[mpmath.mpf], start: mpmath.mpf) -> mpmath.mpf | None:
    """The root that Newton goes to, to all digits; None where it goes nowhere."""
    root = start
    for _ in range(_NEWTON_STEPS):
        root = newton(numbers, root)
    step = abs(newton(numbers, root) - root)
    return root if step <= abs(root) * mpmath.mpf(10) ** (10 - _DIGITS) else None


def _closed_form(
    coefficients: Sequence[Expression], numbers: Sequence[mpmath.mpf], root: mpmath.mpf
) -> Expression:
    if len(coefficients) != 3:
        exact = Fraction(int(mpmath.nint(root * 10**_DIGITS)), 10**_DIGITS)
        return Number(exact)
    c, b, a = coefficients
    half = _quotient(b, multiply(number(2), a))
    square = subtract(multiply(half, half), _quotient(c, a))
    if isinstance(half, Number) and not isinstance(square, Number):
        square = _folded(square)
    deviation = Call("sqrt", (square,))
    middle = -numbers[1] / (2 * numbers[2])
    return add(negate(half), deviation if root >= middle else negate(deviation))


def _quotient(numerator: Expression, denominator: Expression) -> Expression:
    if isinstance(numerator, Number) and isinstance(denominator, Number):
        return Number(numerator.value / denominator.value)
    return ZERO if numerator == ZERO else Call("/", (numerator, denominator))


def _folded(node: Expression) -> Expression:
    """Arithmetic of exact numbers done, so that a root reads `sqrt(3)`."""
    if not isinstance(node, Call):
        return node
    arguments = tuple(_folded(argument) for argument in node.arguments)
    if node.operator in "+-*/" and all(isinstance(argument, Number) for argument in arguments):
        values = [argument.value for argument in arguments]  # type: ignore[union-attr]
        return Number(OPERATORS[node.operator](*values))
    return Call(node.operator, arguments)
