"""Factored fractions print as SymPy prints them."""

import random
from fractions import Fraction

import pytest
import sympy

from basepar_core.expressions import Number
from basepar_core.mechanism import Symbol
from basepar_core.symbolic import GeometryField

ONE = Number(Fraction(1))
LENGTHS = [Symbol(name, ONE) for name in ("lx2", "Dx", "lx10", "b", "_r")]
FIELD = GeometryField([*LENGTHS, Symbol("turn", ONE, "deg"), Symbol("alpha", ONE, "rad")])


def by_sympy(polynomial, generators):
    """The product of what FLINT factors it into, multiplied out nowhere."""
    content, factors = FIELD.quotients.factor(polynomial)
    product = sympy.Integer(content)
    for factor, power in factors:
        product *= factor.as_expr(*generators) ** power
    return product


def printed(fraction):
    generators = FIELD._sympy_generators
    top, bottom = (by_sympy(part, generators) for part in (fraction.numer, fraction.denom))
    upper = f"({top})" if fraction.denom != 1 and isinstance(top, sympy.Add) else str(top)
    lower = f"({bottom})" if isinstance(bottom, sympy.Add | sympy.Mul) else str(bottom)
    return upper if fraction.denom == 1 else f"{upper}/{lower}"


def drawn(rng):
    """A product of monomials, sums of two or three terms, powers, numbers and signs."""
    product = FIELD.field(rng.choice([1, 1, -1, 2, -3, 12]))
    gens = FIELD.field.gens
    for _ in range(rng.randrange(4)):
        terms = []
        for _ in range(rng.choice([1, 2, 2, 3])):
            term = FIELD.field(rng.choice([1, 1, -1, 2, -5]))
            for _ in range(rng.randrange(3)):
                term *= rng.choice(gens) ** rng.choice([1, 1, 2])
            terms.append(term)
        product *= sum(terms, FIELD.zero) ** rng.choice([1, 1, 1, 2])
    return product


@pytest.mark.parametrize("seed", range(300))
def test_fractions_print_as_sympy_prints_them(seed):
    rng = random.Random(seed)
    top, bottom = drawn(rng), drawn(rng)
    fraction = FIELD.reduce(top if bottom == 0 else top / bottom)
    assert FIELD.to_text(fraction) == printed(fraction)


@pytest.mark.parametrize("value", [0, 1, -1, 7, Fraction(-2, 3)])
def test_numbers(value):
    value = Fraction(value)
    fraction = FIELD.field(value.numerator) / value.denominator
    assert FIELD.to_text(fraction) == str(value)
    assert GeometryField([]).to_text(GeometryField([]).zero) == "0"
