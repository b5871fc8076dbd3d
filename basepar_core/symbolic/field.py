"""The exact field in which geometry lives: rational functions of the symbols.

An angle symbol α enters as the pair cos α, sin α with c² + s² = 1, an algebraic number as its
symbol with its own polynomial. Elements are sympy's sparse fractions; a fraction is zero exactly
when its numerator reduces to zero modulo these relations, which form a Gröbner basis (each has
its own leading symbol) of a prime ideal, so this is a field and division is safe.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import sympy
from sympy.polys.domains import ZZ
from sympy.polys.fields import FracElement, FracField
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyElement

from basepar_core.errors import ExpressionError
from basepar_core.expressions import (
    Call,
    Expression,
    Name,
    Number,
    Pi,
    add,
    multiply,
    names,
    negate,
    number,
)
from basepar_core.mechanism import Mechanism, Relation, Symbol

from .factored_text import FactoredText, Terms
from .quotients import Quotients, leading

#: cos and sin of the multiples of 30° at which they are rational, by the angle over π.
_RATIONAL_COSINES = {
    Fraction(0): Fraction(1),
    Fraction(1, 3): Fraction(1, 2),
    Fraction(1, 2): Fraction(0),
    Fraction(2, 3): Fraction(-1, 2),
    Fraction(1): Fraction(-1),
    Fraction(4, 3): Fraction(-1, 2),
    Fraction(3, 2): Fraction(0),
    Fraction(5, 3): Fraction(1, 2),
}


class GeometryField:
    """Rational functions of a mechanism's geometry symbols, modulo its relations.

    Parameters
    ----------
    geometry, constants
        Symbols; those with unit rad, deg or rev among `geometry` are angles.
    relations
        Polynomials of the algebraic numbers among `geometry`.
    """

    def __init__(
        self,
        geometry: Sequence[Symbol],
        constants: Sequence[Symbol] = (),
        relations: Sequence[Relation] = (),
    ):
        algebraic = [relation.symbol for relation in relations]
        angles = [symbol.name for symbol in (*geometry, *constants) if symbol.is_angle]
        free = [s.name for s in (*geometry, *constants) if s.name not in (*angles, *algebraic)]
        # Under lex, cosines and algebraic numbers come first: they are what gets replaced.
        self._meaning: list[Expression] = [Call("cos", (Name(a),)) for a in angles]
        self._meaning += [Name(name) for name in algebraic]
        self._meaning += [Call("sin", (Name(a),)) for a in angles]
        self._meaning += [Name(name) for name in free]
        labels = [f"c_{a}" for a in angles] + algebraic + [f"s_{a}" for a in angles] + free
        # A ring needs at least one generator; "_" never occurs in a mechanism without symbols.
        self.field = FracField(labels or ["_"], ZZ, lex)
        self.ring = self.field.ring
        generators = dict(zip(labels, self.field.gens, strict=False))
        self._names = {name: generators[name] for name in (*free, *algebraic)}
        self._angles = {a: (generators[f"c_{a}"], generators[f"s_{a}"]) for a in angles}
        self._relations: list[PolyElement] = [
            (c**2 + s**2 - 1).numer for c, s in self._angles.values()
        ]
        self._leading = [leading(relation) for relation in self._relations]
        # A quotient in a relation asks whether it divides by zero: the angles' hold already.
        stated = [self._fraction(relation.polynomial).numer for relation in relations]
        self._relations += stated
        self._leading += map(leading, stated)

    @classmethod
    def of(cls, mechanism: Mechanism) -> "GeometryField":
        """The field of a mechanism's geometry."""
        return cls(mechanism.geometry, mechanism.constants, mechanism.relations)

    @property
    def generators(self) -> tuple[Expression, ...]:
        """What each generator of the ring stands for: a symbol, or an angle's sine or cosine."""
        return tuple(self._meaning)

    @cached_property
    def quotients(self) -> Quotients:
        """Fast arithmetic of many elements."""
        # Cosines and roots, each with its relation, stand before the sines.
        pairs = [(k, len(self._relations) + k) for k in range(len(self._angles))]
        return Quotients(self.field, self._relations, pairs)

    @property
    def zero(self) -> FracElement:
        return self.field.zero

    @property
    def one(self) -> FracElement:
        return self.field.one

    def element(self, expression: Expression) -> FracElement:
        """An expression as a reduced fraction.

        Raises
        ------
        ExpressionError
            Where it is not a rational function of the symbols, or divides by zero identically.
        """
        return self.reduce(self._fraction(expression))

    def symbol(self, name: str) -> FracElement:
        """A symbol that is no angle."""
        return self._names[name]

    def is_zero(self, expression: Expression) -> bool:
        """Whether an expression vanishes identically."""
        return self.element(expression) == 0

    def reduce(self, fraction: FracElement) -> FracElement:
        """Normal form modulo the relations; zero if and only if it is zero in the field."""
        if not (self._reducible(fraction.numer) or self._reducible(fraction.denom)):
            return fraction
        denominator = fraction.denom.rem(self._relations)
        if denominator == 0:
            raise ExpressionError("A denominator vanishes identically by the stated relations.")
        return self.field.new(fraction.numer.rem(self._relations), denominator)

    def _reducible(self, polynomial: PolyElement) -> bool:
        """Whether a relation may replace something; most entries contain no such power."""
        return any(m[k] >= n for m in polynomial for k, n in self._leading)

    def _fraction(self, node: Expression) -> FracElement:
        match node:
            case Number(value):
                return self.field(value.numerator) / value.denominator
            case Name(name) if name in self._names:
                return self._names[name]
            case Name(name) if name in self._angles:
                raise ExpressionError(
                    f"The angle {name!r} stands outside sin and cos; in geometry an angle may "
                    f"occur only inside them."
                )
            case Name(name):
                raise ExpressionError(f"No symbol of the geometry is named {name!r}.")
            case Call("cos" | "sin" | "tan" as function, (argument,)):
                return self._circular(function, argument)
            case Call(operator, arguments):
                return self._operate(operator, arguments)
        raise ExpressionError("pi stands outside sin and cos; geometry is rational functions.")

    def _operate(self, operator: str, arguments: tuple[Expression, ...]) -> FracElement:
        if operator == "^":
            base, exponent = arguments
            if not (isinstance(exponent, Number) and exponent.value.denominator == 1):
                raise ExpressionError("In geometry exponents are whole numbers.")
            return self._power(self._fraction(base), int(exponent.value))
        values = [self._fraction(argument) for argument in arguments]
        if operator == "+":
            return sum(values[1:], values[0])
        if operator == "*":
            result = values[0]
            for value in values[1:]:
                result = result * value
            return result
        if operator == "-":
            return -values[0]
        if operator == "/":
            return self._divide(*values)
        raise ExpressionError(
            f"{operator!r} is not allowed in geometry, only rational functions of symbols; for "
            f"an algebraic number declare a symbol r and a relation, such as r^2 = 3."
        )

    def _divide(self, numerator: FracElement, denominator: FracElement) -> FracElement:
        if self.reduce(denominator) == 0:
            raise ExpressionError("Division by something that is zero identically.")
        return numerator / denominator

    def _power(self, base: FracElement, exponent: int) -> FracElement:
        if exponent < 0:
            return self._divide(self.one, base ** (-exponent))
        return base**exponent

    def _circular(self, function: str, argument: Expression) -> FracElement:
        """cos, sin or tan of an integer combination of angles, or of a rational point."""
        combination = integer_combination(argument)
        if function != "tan" and combination.keys() <= {Pi()}:
            turn = combination.get(Pi(), Fraction(0))  # cos 60° is rational though sin 60° is not
            return self._cosine(turn if function == "cos" else turn - Fraction(1, 2))
        c, s = self._cos_sin(combination)
        return c if function == "cos" else s if function == "sin" else self._divide(s, c)

    def _cos_sin(self, combination: dict[Name | Pi, Fraction]) -> tuple[FracElement, FracElement]:
        c, s = self.one, self.zero
        for angle, count in combination.items():
            if isinstance(angle, Pi):
                part = self._cosine(count), self._cosine(count - Fraction(1, 2))
            elif angle.name in self._angles:
                if count.denominator != 1:
                    raise ExpressionError(
                        f"{count} times the angle {angle.name!r} inside sin or cos: only whole "
                        f"multiples are rational in its cosine and sine."
                    )
                part = self._multiple(angle.name, int(count))
            else:
                raise ExpressionError(
                    f"{angle.name!r} inside sin or cos is not an angle; give it the unit rad or "
                    f"deg.",
                    [angle.name],
                )
            c, s = c * part[0] - s * part[1], c * part[1] + s * part[0]
        return self.reduce(c), self.reduce(s)

    def _multiple(self, angle: str, count: int) -> tuple[FracElement, FracElement]:
        c1, s1 = self._angles[angle]
        c, s = self.one, self.zero
        for _ in range(abs(count)):
            c, s = c * c1 - s * s1, c * s1 + s * c1
        return c, s if count >= 0 else -s

    def _cosine(self, half_turns: Fraction) -> FracElement:
        value = rational_cosine(half_turns)
        return self.field(value.numerator) / value.denominator

    def to_expression(self, fraction: FracElement) -> Expression:
        """A fraction as an expression tree in the symbols of the file."""
        numerator = self._polynomial(fraction.numer)
        if fraction.denom == 1:
            return numerator
        return Call("/", (numerator, self._polynomial(fraction.denom)))

    def _polynomial(self, polynomial: PolyElement) -> Expression:
        terms = []
        for exponents, coefficient in polynomial.terms():
            factors = [
                self._meaning[k] if power == 1 else Call("^", (self._meaning[k], number(power)))
                for k, power in enumerate(exponents)
                if power
            ]
            term = multiply(number(abs(int(coefficient))), *factors)
            terms.append(negate(term) if coefficient < 0 else term)
        return add(*terms)

    @cached_property
    def _sympy_generators(self) -> list[sympy.Expr]:
        return [
            getattr(sympy, node.operator)(sympy.Symbol(next(iter(names(node)))))
            if isinstance(node, Call)
            else sympy.Symbol(node.name)  # type: ignore[union-attr]
            for node in self._meaning
        ]

    def to_sympy(self, fraction: FracElement) -> sympy.Expr:
        """A fraction as a factored sympy expression in the symbols of the file.

        Factored, because a base parameter's coefficient is read as lengths over lengths.
        """
        generators = self._sympy_generators or [sympy.Symbol("_")]
        numerator = self._factored(fraction.numer, generators)
        return numerator / self._factored(fraction.denom, generators)

    @cached_property
    def _printer(self) -> FactoredText:
        return FactoredText(self._meaning or [Name("_")])

    def to_text(self, fraction: FracElement) -> str:
        """A fraction in Python syntax: `-lx2/(lx2**2 + ly2**2)`."""
        return self._printer.fraction(*map(self._factors, (fraction.numer, fraction.denom)))

    def _factors(self, polynomial: PolyElement) -> tuple[int, list[tuple[Terms, int]]]:
        if polynomial == 0:
            return 0, []
        content, factors = self.quotients.factor(polynomial)
        return content, [(dict(factor), power) for factor, power in factors]

    def _factored(self, polynomial: PolyElement, generators: list[Any]) -> sympy.Expr:
        if polynomial == 0:
            return sympy.Integer(0)
        content, factors = self.quotients.factor(polynomial)
        result = sympy.Integer(content)
        for factor, power in factors:
            result *= factor.as_expr(*generators) ** power
        return result


def rational_cosine(half_turns: Fraction) -> Fraction:
    """Cosine of an angle over π.

    Raises
    ------
    ExpressionError
        It is not rational.
    """
    value = _RATIONAL_COSINES.get(half_turns % 2)
    if value is None:
        degrees = half_turns * 180
        raise ExpressionError(
            f"The sine or cosine of this fixed angle is not rational; {_symbol_for(degrees)} "
            f"Or declare an algebraic number with a relation such as r^2 = 3."
        )
    return value


def integer_combination(argument: Expression) -> dict[Name | Pi, Fraction]:
    """Coefficients of a linear combination of angles and of π."""
    match argument:
        case Number(value) if value == 0:
            return {}
        case Name() | Pi():
            return {argument: Fraction(1)}
        case Call("+", terms):
            total: dict[Name | Pi, Fraction] = {}
            for term in terms:
                for angle, count in integer_combination(term).items():
                    total[angle] = total.get(angle, Fraction(0)) + count
            return total
        case Call("-", (term,)):
            return {angle: -count for angle, count in integer_combination(term).items()}
        case Call("*", factors):
            scale = Fraction(1)
            rest = []
            for factor in factors:
                exact = _rational(factor)
                if exact is None:
                    rest.append(factor)
                else:
                    scale *= exact
            if len(rest) == 1:
                return {a: scale * k for a, k in integer_combination(rest[0]).items()}
        case Call("/", (numerator, denominator)):
            exact = _rational(denominator)
            if exact:
                return {a: k / exact for a, k in integer_combination(numerator).items()}
    if (bare := _rational(argument)) is not None:
        raise ExpressionError(f"{bare} in sin or cos has no unit; {_symbol_for(bare)}")
    raise ExpressionError(
        "Inside sin and cos geometry allows whole-number combinations of angle symbols, such as "
        "2*a - b, and angles such as 90 deg."
    )


def _symbol_for(degrees: Fraction) -> str:
    """The remedy for an angle that cannot stand in geometry as a number."""
    return (
        f"declare an angle symbol, `alpha: {{value: {degrees}, unit: deg}}` in `geometry`, and "
        f"write alpha in its place."
    )


def _rational(node: Expression) -> Fraction | None:
    """Value of a number written with + − * / only; None for anything else."""
    match node:
        case Number(value):
            return value
        case Call("-", (argument,)):
            inner = _rational(argument)
            return None if inner is None else -inner
        case Call("/" | "*" | "+" as operator, arguments):
            values = [_rational(argument) for argument in arguments]
            known = [value for value in values if value is not None]
            if len(known) < len(values) or (operator == "/" and known[1] == 0):
                return None
            if operator == "/":
                return known[0] / known[1]
            return sum(known, Fraction(0)) if operator == "+" else prod(known, start=Fraction(1))
    return None
