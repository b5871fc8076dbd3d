"""Rational functions of the geometry's symbols, exact; zero is decided."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpq_mpoly_ctx

from .expressions import MalformedError, Numbers, names_of


class Field:
    """Rational functions modulo c² + s² = 1 of angles and the stated algebraic relations.

    π is a variable: no polynomial with rational coefficients vanishes there.

    Parameters
    ----------
    symbols
        As in the document: `angle` and `relation` tell the special ones.
    """

    def __init__(self, symbols: Mapping[str, Mapping[str, Any]]):
        if "pi" in symbols:
            raise MalformedError("no symbol is named pi")
        angles = [name for name, given in symbols.items() if given["angle"]]
        roots = [name for name, given in symbols.items() if given["relation"] is not None]
        free = [name for name in symbols if name not in angles and name not in roots]
        # Under lex what is replaced comes first: cosines, and roots after those they depend on.
        roots = _dependent_first(roots, symbols)
        sines = [f"s {a}" for a in angles]
        labels = [*(f"c {a}" for a in angles), *roots, *sines, *free, "pi", "-"]
        context = fmpq_mpoly_ctx.get(labels, "lex")
        generator = dict(zip(labels, context.gens(), strict=True))
        self.one = context.constant(1)
        self._relations: list[Any] = []
        values = {name: Ratio(self, generator[name], self.one) for name in (*free, *roots, "pi")}
        pairs = {
            a: tuple(Ratio(self, generator[f"{k} {a}"], self.one) for k in "cs") for a in angles
        }
        self.numbers = Numbers(self.number, values, pairs)  # type: ignore[arg-type]
        for c, s in pairs.values():
            self._relations.append((c * c + s * s - self.number(Fraction(1))).top)
        #: Algebraic symbols and their polynomials; each depends on later ones only.
        self.roots = [(name, self.numbers.of(symbols[name]["relation"]).top) for name in roots]
        self._relations += [polynomial for _, polynomial in self.roots]

    def number(self, x: Fraction) -> "Ratio":
        return Ratio(self, self.one * fmpq(x.numerator, x.denominator), self.one)

    def reduced(self, polynomial: Any) -> Any:
        """Remainder by all relations; their leading terms have no variable in common."""
        while True:
            before = polynomial
            for relation in self._relations:
                polynomial = divmod(polynomial, relation)[1]
            if polynomial == before:
                return polynomial


def _dependent_first(roots: Sequence[str], symbols: Mapping[str, Mapping[str, Any]]) -> list[str]:
    left, order = list(roots), []
    while left:
        needed = set().union(*(names_of(symbols[name]["relation"]) - {name} for name in left))
        free = [name for name in left if name not in needed]
        if not free:
            raise MalformedError(f"the relations of {', '.join(left)} go round in a circle")
        order += free
        left = [r for r in left if r not in free]
    return order


class Ratio:
    """An element: numerator over denominator, in lowest terms where the denominator is not 1.

    A chain of sums and products would otherwise have powers of one denominator, whose degree
    grows with every step: of an axis between two points of six symbols, terms in millions.
    """

    __slots__ = ("bottom", "field", "top")

    def __init__(self, field: Field, top: Any, bottom: Any):
        if bottom is not field.one and bottom != 0:
            if not bottom.is_constant() and (common := top.gcd(bottom)) != 1:
                top, bottom = top / common, bottom / common
            if bottom.is_constant():
                top, bottom = top * (1 / bottom.leading_coefficient()), field.one
        self.field, self.top, self.bottom = field, top, bottom

    def _other(self, x: Any) -> "Ratio":
        return x if isinstance(x, Ratio) else self.field.number(Fraction(x))

    def __add__(self, x: Any) -> "Ratio":
        x = self._other(x)
        if self.bottom is x.bottom or self.bottom == x.bottom:
            return Ratio(self.field, self.top + x.top, self.bottom)
        common = self.bottom.gcd(x.bottom)
        mine, other = self.bottom / common, x.bottom / common
        return Ratio(self.field, self.top * other + x.top * mine, mine * x.bottom)

    def __neg__(self) -> "Ratio":
        return Ratio(self.field, -self.top, self.bottom)

    def __sub__(self, x: Any) -> "Ratio":
        return self + -self._other(x)

    def __mul__(self, x: Any) -> "Ratio":
        x = self._other(x)
        if self.top == 0 or x.top == 0:  # most are
            return self if self.top == 0 else x
        top, bottom = self.field.reduced(self.top * x.top), self.bottom * x.bottom
        return Ratio(self.field, top, self.field.reduced(bottom))

    def __truediv__(self, x: Any) -> "Ratio":
        x = self._other(x)
        if x.is_zero():
            raise ZeroDivisionError("division by something that vanishes identically")
        return Ratio(self.field, self.top * x.bottom, self.bottom * x.top)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, x: Any) -> "Ratio":
        return self._other(x) - self

    def is_zero(self) -> bool:
        """Whether it vanishes identically."""
        return bool(self.field.reduced(self.top) == 0)

    def __eq__(self, x: object) -> bool:
        return (self - x).is_zero()

    __hash__ = None  # type: ignore[assignment]
