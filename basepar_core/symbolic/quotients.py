"""Quotients of polynomials on FLINT, for the many small sums that elimination is made of.

Elements of `GeometryField` are sympy's, whose sums of quotients cancel by a gcd in Python: 0.2 ms
each where neither is a monomial, against 10 µs here. Elimination carries its columns over and
brings β back; everything else stays sympy's.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import flint
from sympy.polys.fields import FracElement, FracField
from sympy.polys.rings import PolyElement

from basepar_core.errors import ExpressionError

#: A polynomial of FLINT, which has no annotations.
Polynomial = Any


class Quotient:
    """top / bottom without a common factor; the leading coefficient of `bottom` is positive."""

    __slots__ = ("_cost", "_size", "_unit", "bottom", "top")

    def __init__(self, top: Polynomial, bottom: Polynomial):
        self.top, self.bottom = top, bottom
        # Computed when asked for; `cached_property` locks and costs more than most of them.
        self._unit: int | None = None
        self._size = self._cost = -1.0

    def __bool__(self) -> bool:
        return bool(self.top)

    @property
    def unit(self) -> int:
        """±1 for these two, else 0."""
        if self._unit is None:
            plain = self.bottom.is_one() and self.top.is_constant()
            self._unit = next((sign for sign in (1, -1) if plain and self.top == sign), 0)
        return self._unit

    @property
    def size(self) -> float:
        """How much it costs a reader: 0 for ±1, degrees for monomials, terms for sums."""
        if self._size < 0:
            self._measure()
        return self._size

    @property
    def cost(self) -> float:
        """Size with the denominator three times: where it vanishes the quotient has no value."""
        if self._size < 0:
            self._measure()
        return self._cost

    def _measure(self) -> None:
        below = _size(self.bottom)
        self._size = _size(self.top) + below
        self._cost = self._size + 2 * below


def _size(polynomial: Polynomial) -> float:
    if len(polynomial) == 1 and polynomial.is_constant():
        return 0.0 if abs(polynomial.leading_coefficient()) == 1 else 0.5
    degrees = float(sum(polynomial.degrees()))
    if len(polynomial) == 1:
        return degrees + (0.0 if abs(polynomial.leading_coefficient()) == 1 else 0.5)
    return 3.0 * len(polynomial) + degrees


class Quotients:
    """Arithmetic of `Quotient` modulo relations.

    Parameters
    ----------
    field
        The field of the elements that come in and go out.
    relations
        Polynomials that vanish; the leading term of each is a power of a generator of its own.
    pairs
        Places of cosine and sine of each angle among the generators. Their relation is read
        both ways, whichever makes a quotient shorter: (s² − 1)/c is −c.
    """

    def __init__(
        self,
        field: FracField,
        relations: Sequence[PolyElement] = (),
        pairs: Sequence[tuple[int, int]] = (),
    ):
        self._field = field
        #: Whether no quotient has two readings, so that an inverse is one turned over.
        self.plain = not (relations or pairs)
        labels = tuple(f"x{k}" for k in range(field.ngens))
        self.context = flint.fmpz_mpoly_ctx.get(labels, flint.Ordering.lex)
        self._relations = [(*leading(r), self.polynomial(r)) for r in relations]
        gens = self.context.gens()
        # Under lex, s before c: the same relation with the sine in front.
        self._pairs = [(c, s, 1 - gens[c] ** 2) for c, s in pairs]

    def polynomial(self, polynomial: PolyElement) -> Polynomial:
        """A polynomial of the field's ring as FLINT's."""
        return self.context.from_dict({m: int(c) for m, c in polynomial.terms()})

    def polynomial_back(self, polynomial: Polynomial) -> PolyElement:
        """The same in the field's ring."""
        ring = self._field.ring
        terms = polynomial.to_dict().items()
        return ring.from_dict({tuple(map(int, m)): ring.domain(int(c)) for m, c in terms})

    def of(self, element: FracElement) -> Quotient:
        """An element of the field."""
        return self._reduced(self.polynomial(element.numer), self.polynomial(element.denom))

    def back(self, quotient: Quotient) -> FracElement:
        """The same as an element of the field."""
        top, bottom = map(self.polynomial_back, (quotient.top, quotient.bottom))
        return self._field.raw_new(top, bottom)

    def factor(self, polynomial: PolyElement) -> tuple[int, list[tuple[PolyElement, int]]]:
        """Content and irreducible factors with their powers."""
        content, factors = factors_of(self.polynomial(polynomial))
        return content, [(self.polynomial_back(f), power) for f, power in factors]

    def divide(self, one: Quotient, other: Quotient) -> Quotient:
        """one / other."""
        if other.unit:
            return one if other.unit == 1 else Quotient(-one.top, one.bottom)
        return self._reduced(one.top * other.bottom, one.bottom * other.top)

    def less(self, one: Quotient | None, factor: Quotient, other: Quotient) -> Quotient:
        """one − factor · other; None is zero."""
        top, bottom = factor.top * other.top, factor.bottom * other.bottom
        if one is None:
            return self._reduced(-top, bottom)
        if one.bottom == bottom:
            return self._reduced(one.top - top, bottom)
        return self._reduced(one.top * bottom - top * one.bottom, one.bottom * bottom)

    def _reduced(self, top: Polynomial, bottom: Polynomial) -> Quotient:
        top, bottom = self._normal(top), self._normal(bottom)
        if not bottom:
            raise ExpressionError("A denominator vanishes identically by the stated relations.")
        shortest = _cancelled(top, bottom)
        for _, s, square in self._pairs_in(shortest):
            again = _replace(s, square)
            shortest = min(_readings(shortest, again), key=lambda quotient: quotient.size)
        return shortest

    def _pairs_in(self, quotient: Quotient) -> list[tuple[int, int, Polynomial]]:
        """Angles with a square in a sum; monomials are as short as can be."""
        sums = [x for x in (quotient.top, quotient.bottom) if len(x) > 1]
        if not (self._pairs and sums):
            return []
        powers = [polynomial.degrees() for polynomial in sums]
        return [pair for pair in self._pairs if any(p[k] >= 2 for p in powers for k in pair[:2])]

    def _normal(self, polynomial: Polynomial) -> Polynomial:
        """Normal form; relations may bring in one another's generators, hence the loop."""
        before = None
        while self._relations and polynomial and polynomial != before:
            before, powers = polynomial, polynomial.degrees()
            for place, power, relation in self._relations:
                if powers[place] >= power:
                    polynomial = polynomial % relation
        return polynomial


def factors_of(polynomial: Polynomial) -> tuple[int, list[tuple[Polynomial, int]]]:
    """Content and irreducible factors with their powers; one factor where FLINT's wrapper fails.

    It sorts factors by their coefficients as machine integers, and raises where they are longer.
    """
    try:
        content, factors = polynomial.factor()
    except OverflowError:
        content, factors = polynomial.content(), [(polynomial.primitive()[1], 1)]
    return int(content), [(factor, int(power)) for factor, power in factors]


def leading(relation: PolyElement) -> tuple[int, int]:
    """The generator that a relation replaces, and from which power."""
    powers = relation.leading_expv()
    return next((place, power) for place, power in enumerate(powers) if power)


def _cancelled(top: Polynomial, bottom: Polynomial) -> Quotient:
    common = top.gcd(bottom)
    if not common.is_one():
        top, bottom = top / common, bottom / common
    if bottom.leading_coefficient() < 0:
        top, bottom = -top, -bottom
    return Quotient(top, bottom)


def _replace(place: int, square: Polynomial) -> Callable[[Polynomial], Polynomial]:
    """Replace the square of a generator in a polynomial."""

    def replaced(polynomial: Polynomial) -> Polynomial:
        context = polynomial.context()
        total = context.from_dict({})
        for powers, coefficient in polynomial.to_dict().items():
            rest = list(powers)
            rest[place] = powers[place] % 2
            term = context.from_dict({tuple(rest): coefficient})
            total += term * square ** (powers[place] // 2)
        return total

    return replaced


def _readings(quotient: Quotient, again: Callable[[Polynomial], Polynomial]) -> Iterator[Quotient]:
    """A quotient as it stands, and with top, bottom or both read the other way."""
    yield quotient
    top, bottom = again(quotient.top), again(quotient.bottom)
    yield _cancelled(top, bottom)
    yield _cancelled(top, quotient.bottom)
    yield _cancelled(quotient.top, bottom)
