"""Expressions of a certificate, in whatever numbers the caller computes with.

Python's own parser makes the tree; only whole numbers, names, + - * / **, and functions pass.
"""

import ast
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

#: Cosines of the multiples of π at which they are rational.
_COSINES = {
    Fraction(k, 6): Fraction(c, 2)
    for k, c in ((0, 2), (2, 1), (3, 0), (4, -1), (6, -2), (8, -1), (9, 0), (10, 1))
}


class MalformedError(ValueError):
    """Text that is no expression of a certificate, or has no value in these numbers."""


@lru_cache(maxsize=4096)
def parsed(text: str) -> ast.expr:
    """The tree of an expression."""
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, TypeError, ValueError, RecursionError, MemoryError):
        raise MalformedError(f"{text!r} is not an expression") from None


def names_of(text: str) -> set[str]:
    """Names in an expression, those of functions and π left out."""
    called = {id(node.func) for node in ast.walk(parsed(text)) if isinstance(node, ast.Call)}
    return {
        node.id
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Name) and id(node) not in called and node.id != "pi"
    }


class Numbers:
    """Numbers to compute with.

    Parameters
    ----------
    number
        Makes one from a Fraction.
    values
        By name.
    angles
        Cosine and sine by name; elsewhere than inside sin and cos an angle has no value.
    functions
        Of one argument each; they replace the treatment of angles.
    turns
        Values of angles, rad, for what is no rational function: `smooth`.
    """

    def __init__(
        self,
        number: Callable[[Fraction], Any],
        values: Mapping[str, Any],
        angles: Mapping[str, tuple[Any, Any]] | None = None,
        functions: Mapping[str, Callable[[Any], Any]] | None = None,
        turns: Mapping[str, Any] | None = None,
    ):
        self.number, self.values = number, values
        self.angles, self.functions, self.turns = angles or {}, functions, turns or {}

    def smooth(self, functions: Mapping[str, Callable[[Any], Any]]) -> "Numbers":
        """The same numbers for smooth functions of symbols: angles have values there."""
        return Numbers(self.number, {**self.values, **self.turns}, functions=functions)

    def of(self, text: str) -> Any:
        """Value of an expression.

        Raises
        ------
        MalformedError
            It is none of ours, or has a name that is not known.
        ZeroDivisionError
            It divides by zero.
        """
        return self._value(parsed(text))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                return self.number(Fraction(value))
            case ast.Name(id=name) if name in self.values:
                return self.values[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand)
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                return self._power(self._value(left), _whole(right))
            case ast.BinOp(left=left, op=op, right=right):
                return self._operate(op, self._value(left), self._value(right))
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
                if self.functions is not None and name in self.functions:
                    return self.functions[name](self._value(argument))
                if self.functions is None and name in ("sin", "cos", "tan"):
                    return self._circular(name, _turn(argument))
        raise MalformedError(f"{ast.unparse(node)!r} has no value here")

    def _operate(self, op: ast.operator, left: Any, right: Any) -> Any:
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div():
                return left / right
        raise MalformedError(f"{type(op).__name__} is not an operator of certificates")

    def _power(self, base: Any, exponent: int) -> Any:
        one = self.number(Fraction(1))
        result = one
        for _ in range(abs(exponent)):
            result = result * base
        return result if exponent >= 0 else one / result

    def _circular(self, name: str, turn: dict[str, Fraction]) -> Any:
        if set(turn) <= {"pi"} and name != "tan":
            half = turn.get("pi", Fraction(0))
            return self._cosine(half if name == "cos" else half - Fraction(1, 2))
        c, s = self.number(Fraction(1)), self.number(Fraction(0))
        for angle, count in turn.items():
            if angle == "pi":
                steps, (a, b) = 1, (self._cosine(count), self._cosine(count - Fraction(1, 2)))
            elif angle in self.angles and count.denominator == 1:
                steps, (a, b) = abs(int(count)), self.angles[angle]
                b = b if count > 0 else -b
            else:
                raise MalformedError(f"{count}*{angle} is no whole multiple of an angle")
            for _ in range(steps):
                c, s = c * a - s * b, c * b + s * a
        return c if name == "cos" else s if name == "sin" else s / c

    def _cosine(self, half_turns: Fraction) -> Any:
        if half_turns % 2 not in _COSINES:
            raise MalformedError(f"cos({half_turns}*pi) is not rational")
        return self.number(_COSINES[half_turns % 2])


def _whole(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(value)) if abs(value) <= 64:
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_whole(operand)
    raise MalformedError(f"{ast.unparse(node)!r} is not a small whole exponent")


def _turn(node: ast.expr) -> dict[str, Fraction]:
    """Multiples of angles and of π in the argument of a sine or cosine."""
    match node:
        case ast.Name(id=name):
            return {name: Fraction(1)}
        case ast.Constant(value=0):
            return {}
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return {name: -k for name, k in _turn(operand).items()}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            sign = 1 if isinstance(op, ast.Add) else -1
            total = _turn(left)
            for name, k in _turn(right).items():
                total[name] = total.get(name, Fraction(0)) + sign * k
            return total
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            plain = not names_of(ast.unparse(left)) and "pi" not in ast.unparse(left)
            factor, rest = (left, right) if plain else (right, left)
            return {name: _rational(factor) * k for name, k in _turn(rest).items()}
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return {name: k / _rational(right) for name, k in _turn(left).items()}
    raise MalformedError(f"{ast.unparse(node)!r} is not a sum of multiples of angles")


def _rational(node: ast.expr) -> Fraction:
    value = Numbers(lambda x: x, {}, functions={})._value(node)
    assert isinstance(value, Fraction)
    return value
