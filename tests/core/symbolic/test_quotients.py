"""Quotients on FLINT against sympy's field elements and against numbers."""

import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from basepar_core.expressions.tree import Call, Name, number
from basepar_core.mechanism import Relation, Symbol
from basepar_core.symbolic.field import GeometryField

ONE, ZERO = number(1), number(0)
#: r² = 3, and w² = x² + r, which brings in r again.
MINUS_3 = number(-3)
ROOT3 = Relation(
    "r", Call("+", (Call("^", (Name("r"), number(2))), MINUS_3)), (MINUS_3, ZERO, ONE)
)
MINUS_SQUARES = Call("-", (Call("+", (Call("^", (Name("x"), number(2))), Name("r"))),))
ROOT = Relation(
    "w", Call("+", (Call("^", (Name("w"), number(2))), MINUS_SQUARES)), (MINUS_SQUARES, ZERO, ONE)
)
SYMBOLS = [Symbol(name, ONE) for name in "xywr"]
FIELD = GeometryField(
    [*SYMBOLS, Symbol("t", ONE, "rad"), Symbol("u", ONE, "rad")], [], [ROOT, ROOT3]
)
RING = FIELD.quotients
COS, SIN = (FIELD.element(Call(name, (Name("t"),))) for name in ("cos", "sin"))
X, Y, W, R = (FIELD.symbol(name) for name in "xywr")
ELEMENTS = st.recursive(
    st.sampled_from([X, Y, W, R, COS, SIN, FIELD.one, -2 * FIELD.one, X / 3]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, inner)
        .filter(lambda p: FIELD.reduce(p[1]) != 0)
        .map(lambda p: p[0] / p[1]),
    ),
    max_leaves=5,
)


def same(quotient, element):
    return FIELD.reduce(RING.back(quotient) - element) == 0


@settings(max_examples=60, deadline=None)
@given(ELEMENTS, ELEMENTS, ELEMENTS)
def test_arithmetic_is_the_fields(one, two, three):
    a, b, c = map(RING.of, (one, two, three))
    assert same(a, one)
    assert same(RING.less(a, b, c), one - two * three)
    assert same(RING.less(None, b, c), -two * three)
    assert bool(RING.less(a, b, c)) == (FIELD.reduce(one - two * three) != 0)
    if FIELD.reduce(two) != 0:
        assert same(RING.divide(a, b), one / two)


def test_quotients_of_circles_are_short():
    """(s² − 1)/c is −c, 1/(1 − s²) is 1/c², and l²c² + l²s² is l²."""
    one = FIELD.one
    found = RING.of((SIN**2 - one) / COS)
    assert (found.size, same(found, -COS)) == (1.0, True)
    assert RING.of(one / (one - SIN**2)).size == 2.0
    assert RING.back(RING.of((X**2 * COS**2 + X**2 * SIN**2) / (X * Y))) == X / Y
    assert RING.back(RING.of(R**2 * X)) == 3 * X


def test_roots_of_roots_reduce():
    """w⁴ needs both relations, one after the other: x⁴ + 2 x² r + 3."""
    assert RING.back(RING.of(W**4)) == X**4 + 2 * X**2 * R + 3


def test_factors():
    content, factors = RING.factor((-6 * X**2 * (X + Y) ** 2).numer)
    assert content == -6
    assert {(str(f), power) for f, power in factors} == {("x", 2), ("x + y", 2)}
    sums = sympy.sympify(FIELD.to_text((X**2 - Y**2) / (2 * Y)))
    assert sums == sympy.sympify("(x - y)*(x + y)/(2*y)")


def test_coefficients_too_long_for_flints_wrapper_stay_in_one_factor():
    """Its factors are sorted by coefficients as machine integers: it raises beyond 64 bits."""
    polynomial = ((2**70 + 1) * X + 3 * Y).numer * (2**80 * X + 7 * Y + 1).numer * -6
    content, factors = RING.factor(polynomial)
    assert len(factors) == 1
    assert content * factors[0][0] == polynomial
