"""Expressions of mechanism and sweep files as frozen trees, and their evaluation.

A tree holds exact numbers only (`0.2501` is 2501/10000); units were multiplied in by the
parser (`grammar.py`), so every value is SI. One `evaluate` serves floats, NumPy arrays, mpmath
and exact types: the arithmetic is the caller's, passed in as a table of functions.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational number."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Pi:
    """The circle's constant; degrees bring it in."""


@dataclass(frozen=True, slots=True)
class Name:
    """A symbol or a constant of the file."""

    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operator or a function on arguments.

    `operator` is one of `+` (n-ary), `*` (n-ary), `/`, `^` (binary), `-` (unary), the functions
    `sqrt sin cos tan abs min max`, or a comparison `< <= > >= ==` (binary; filters only).
    """

    operator: str
    arguments: tuple["Expression", ...]
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Kept: that of a tree goes through all of it, and `evaluate` looks up every node.
        object.__setattr__(self, "_hash", hash((self.operator, self.arguments)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type["Call"], tuple[Any, ...]]:
        # A kept hash would be another process's: those of text differ.
        return Call, (self.operator, self.arguments)


Expression = Number | Pi | Name | Call
ExactVector = Sequence[Expression]
ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))


def number(value: int | str | Fraction) -> Number:
    """Exact number; text is decimal or fraction, never a float."""
    return Number(Fraction(value))


def names(expression: Expression) -> frozenset[str]:
    """Names that occur in an expression."""
    match expression:
        case Name(name):
            return frozenset([name])
        case Call(_, arguments):
            return frozenset().union(*(names(argument) for argument in arguments))
    return frozenset()


def renamed(expression: Expression, old: str, new: str) -> Expression:
    """An expression with another name in the place of one."""
    match expression:
        case Name(name) if name == old:
            return Name(new)
        case Call(operator, arguments):
            return Call(operator, tuple(renamed(argument, old, new) for argument in arguments))
    return expression


def add(*terms: Expression) -> Expression:
    """Sum with zeros left out."""
    kept = tuple(term for term in terms if term != ZERO)
    return kept[0] if len(kept) == 1 else Call("+", kept) if kept else ZERO


def multiply(*factors: Expression) -> Expression:
    """Product with ones left out; zero if a factor is zero."""
    if ZERO in factors:
        return ZERO
    kept = tuple(factor for factor in factors if factor != ONE)
    return kept[0] if len(kept) == 1 else Call("*", kept) if kept else ONE


def negate(term: Expression) -> Expression:
    """The negative, numbers folded."""
    return Number(-term.value) if isinstance(term, Number) else Call("-", (term,))


def subtract(left: Expression, right: Expression) -> Expression:
    """left − right."""
    return add(left, negate(right))


def dot(a: ExactVector, b: ExactVector) -> Expression:
    """Scalar product as an expression."""
    return add(*(multiply(x, y) for x, y in zip(a, b, strict=True)))


def cross(a: ExactVector, b: ExactVector) -> tuple[Expression, Expression, Expression]:
    """Vector product as expressions."""
    return (
        subtract(multiply(a[1], b[2]), multiply(a[2], b[1])),
        subtract(multiply(a[2], b[0]), multiply(a[0], b[2])),
        subtract(multiply(a[0], b[1]), multiply(a[1], b[0])),
    )


def _product(*factors: Any) -> Any:
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result


def _total(*terms: Any) -> Any:
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def _extreme(choose: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def reduce(*values: Any) -> Any:
        result = values[0]
        for value in values[1:]:
            result = choose(result, value)
        return result

    return reduce


def _power(base: Any, exponent: Any) -> Any:
    return base**exponent


OPERATORS: Mapping[str, Callable[..., Any]] = {
    "+": _total,
    "*": _product,
    "/": lambda a, b: a / b,
    "^": _power,
    "-": lambda a: -a,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
}

NUMPY: Mapping[str, Callable[..., Any]] = {
    **OPERATORS,
    # Python's own floats would raise where NumPy's give inf and nan.
    "/": lambda a, b: np.asarray(a, float) / b,
    "^": lambda a, b: np.asarray(a, float) ** b,
    "number": float,
    "pi": lambda: np.pi,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "abs": np.abs,
    "min": _extreme(np.minimum),
    "max": _extreme(np.maximum),
}


@dataclass(frozen=True)
class Steps:
    """Expressions taken apart once, to be evaluated often; equal subexpressions are one step.

    Attributes
    ----------
    leaves
        What the steps begin with; whole exponents are plain numbers.
    steps
        Operators, and which of the leaves and of the steps before are their arguments.
    results
        Which of the leaves and steps are the expressions' values.
    """

    leaves: tuple[Expression | int, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]
    results: tuple[int, ...]

    @classmethod
    def of(cls, expressions: Iterable[Expression]) -> "Steps":
        """Take expressions apart."""
        wanted = list(expressions)
        leaves: dict[Expression | int, None] = {}
        calls: dict[Call, tuple[Expression | int, ...]] = {}

        def visit(node: Expression | int) -> None:
            if not isinstance(node, Call):
                leaves[node] = None
            elif node not in calls:
                arguments = _arguments(node)
                for argument in arguments:
                    visit(argument)
                calls[node] = arguments

        for expression in wanted:
            visit(expression)
        place = {node: k for k, node in enumerate([*leaves, *calls])}
        steps = [
            (node.operator, tuple(place[one] for one in arguments))
            for node, arguments in calls.items()
        ]
        return cls(tuple(leaves), tuple(steps), tuple(place[one] for one in wanted))

    def values(
        self,
        values: Mapping[str, Any],
        arithmetic: Mapping[str, Callable[..., Any]] = NUMPY,
    ) -> list[Any]:
        """As `evaluate`."""
        found = list(self._floats) if arithmetic is NUMPY else self._numbers(arithmetic)
        for k, name in self._names:
            found[k] = values[name]
        with np.errstate(all="ignore"):
            for operator, parts in self.steps:
                found.append(arithmetic[operator](*[found[k] for k in parts]))
        return [found[k] for k in self.results]

    @cached_property
    def names(self) -> frozenset[str]:
        """Names whose values are needed."""
        return frozenset(name for _, name in self._names)

    @cached_property
    def _names(self) -> list[tuple[int, str]]:
        return [(k, leaf.name) for k, leaf in enumerate(self.leaves) if isinstance(leaf, Name)]

    @cached_property
    def _floats(self) -> list[Any]:
        return self._numbers(NUMPY)

    def _numbers(self, arithmetic: Mapping[str, Callable[..., Any]]) -> list[Any]:
        """The leaves' numbers; those of names stay as they are."""
        found: list[Any] = list(self.leaves)
        for k, leaf in enumerate(self.leaves):
            if isinstance(leaf, Number):
                found[k] = arithmetic["number"](leaf.value)
            elif isinstance(leaf, Pi):
                found[k] = arithmetic["pi"]()
        return found


def _arguments(node: Call) -> tuple[Expression | int, ...]:
    match node:
        case Call("^", (base, Number(exact))) if exact.denominator == 1:
            return base, int(exact)
    return node.arguments


def evaluate(
    expressions: Iterable[Expression],
    values: Mapping[str, Any],
    arithmetic: Mapping[str, Callable[..., Any]] = NUMPY,
) -> list[Any]:
    """Values of several expressions at once; equal subexpressions are computed once.

    Parameters
    ----------
    expressions
        Trees whose names are all in `values`.
    values
        Scalars or arrays by name, SI. Arrays broadcast.
    arithmetic
        Functions by operator, `number` (from Fraction) and `pi`; NumPy's float64 by default.
        Division by zero and roots of negative numbers give inf and nan there, silently: a
        variant outside an expression's domain is the caller's to notice.
    """
    return Steps.of(expressions).values(values, arithmetic)
