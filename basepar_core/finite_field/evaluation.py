"""Geometry expressions as affine forms in the lengths that are still unknown.

All other symbols have values in a field. Which symbols must get values first, because a joint's
point is not affine in them, is decided once by the shape of the expressions.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from basepar_core.errors import ExpressionError
from basepar_core.expressions import Call, Expression, Name, Number, Pi, names
from basepar_core.symbolic import integer_combination, rational_cosine

from .arithmetic import Scalar

#: The name under which π has a value, where it is a number like any other.
PI = "π"
#: Σ coefficient·name, the constant under None; zeros are left out.
Affine = dict[str | None, Scalar]


@dataclass(frozen=True)
class Evaluator:
    """Values of expressions in a field.

    Attributes
    ----------
    number
        A rational number in the field.
    values
        Symbols and constants that have values.
    angles
        Cosine and sine of angle symbols.
    """

    number: Callable[[Fraction], Scalar]
    values: Mapping[str, Scalar]
    angles: Mapping[str, tuple[Scalar, Scalar]]

    def scalar(self, expression: Expression) -> Scalar:
        """A value; every name in it has one.

        Raises
        ------
        ZeroDivisionError
            A denominator vanishes in this field.
        """
        form = self.affine(expression)
        if form.keys() - {None}:
            raise KeyError(f"no value for {sorted(k for k in form if k)}")
        return form.get(None, self.number(Fraction(0)))

    def vector(self, entries: Iterable[Expression]) -> Any:
        """A tuple of values."""
        return tuple(self.scalar(entry) for entry in entries)

    def affine(self, node: Expression) -> Affine:
        """An affine form in the names that have no value."""
        match node:
            case Number(value):
                return {None: self.number(value)} if value else {}
            case Name(name):
                if name in self.values:
                    value = self.values[name]
                    return {None: value} if value != 0 else {}
                return {name: self.number(Fraction(1))}
            case Pi() if PI in self.values:
                return {None: self.values[PI]}
            case Call("cos" | "sin" | "tan" as function, (argument,)):
                return self._constant(self._circular(function, argument))
            case Call("+", terms):
                return combine([(1, self.affine(term)) for term in terms])
            case Call("-", (term,)):
                return combine([(-1, self.affine(term))])
            case Call("*", factors):
                return self._product(factors)
            case Call("/", (top, bottom)):
                below = self.scalar(bottom)
                return {name: x / below for name, x in self.affine(top).items()}
            case Call("^", (base, Number(exponent))):
                return self._power(base, int(exponent))
        raise ExpressionError(f"{node!r} is not a rational function of the geometry.")

    def _constant(self, value: Scalar) -> Affine:
        return {None: value} if value != 0 else {}

    def _power(self, base: Expression, exponent: int) -> Affine:
        if exponent == 1:
            return self.affine(base)
        value = self.scalar(base)
        result = self.number(Fraction(1))
        for _ in range(abs(exponent)):
            result = result * value
        return self._constant(result if exponent >= 0 else 1 / result)

    def _product(self, factors: tuple[Expression, ...]) -> Affine:
        scale, form = self.number(Fraction(1)), None
        for factor in factors:
            part = self.affine(factor)
            if part.keys() - {None}:
                if form is not None:
                    raise ExpressionError("A product of unknown lengths is not affine.")
                form = part
            else:
                scale = scale * part.get(None, 0)
        if form is None:
            return self._constant(scale)
        return {name: scale * x for name, x in form.items()} if scale != 0 else {}

    def _circular(self, function: str, argument: Expression) -> Scalar:
        combination = integer_combination(argument)
        turn = combination.get(Pi(), Fraction(0))
        if function != "tan" and combination.keys() <= {Pi()}:
            return self.number(
                rational_cosine(turn - (Fraction(1, 2) if function == "sin" else 0))
            )
        c, s = self.number(Fraction(1)), self.number(Fraction(0))
        for angle, count in combination.items():
            if isinstance(angle, Pi):
                part = tuple(
                    self.number(rational_cosine(x)) for x in (count, count - Fraction(1, 2))
                )
            else:
                part = self._multiple(angle.name, int(count))
            c, s = c * part[0] - s * part[1], c * part[1] + s * part[0]
        return c if function == "cos" else s if function == "sin" else s / c

    def _multiple(self, angle: str, count: int) -> tuple[Scalar, Scalar]:
        c1, s1 = self.angles[angle]
        c, s = self.number(Fraction(1)), self.number(Fraction(0))
        for _ in range(abs(count)):
            c, s = c * c1 - s * s1, c * s1 + s * c1
        return c, s if count >= 0 else -s


def combine(terms: Iterable[tuple[Scalar, Affine]]) -> Affine:
    """Linear combination of affine forms."""
    total: Affine = {}
    for factor, form in terms:
        for name, x in form.items():
            total[name] = total[name] + factor * x if name in total else factor * x
    return {name: x for name, x in total.items() if x != 0}


def spoilers(
    slots: Iterable[Expression], unknown: frozenset[str], is_length: Callable[[str], bool]
) -> frozenset[str]:
    """Names that need values before the slots are affine in the rest.

    In a product of two unknown factors the one of lengths stays unknown; denominators and bases
    of powers are given values.
    """
    spoiled: set[str] = set()

    def open_(node: Expression) -> frozenset[str]:
        return (names(node) & unknown) - spoiled

    def visit(node: Expression) -> None:
        if not isinstance(node, Call):
            return
        match node:
            case Call("*", factors):
                wide = [factor for factor in factors if open_(factor)]
                wide.sort(key=lambda factor: not all(map(is_length, open_(factor))))
                for factor in wide[1:]:
                    spoiled.update(open_(factor))
            case Call("/", (_, bottom)):
                spoiled.update(open_(bottom))
            case Call("^", (base, exponent)) if exponent != Number(Fraction(1)):
                spoiled.update(open_(base))
            case Call("sin" | "cos" | "tan", (argument,)):
                spoiled.update(open_(argument))
        for argument in node.arguments:
            visit(argument)

    for slot in slots:
        visit(slot)
    return frozenset(spoiled)
