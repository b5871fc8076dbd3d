"""The geometry field against sympy and against numbers."""

import itertools

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from basepar_core.errors import ExpressionError, FileError
from basepar_core.expressions.tree import Call, Name, Pi, evaluate, number
from basepar_core.files.mechanism_file import loads
from basepar_core.mechanism import Relation, Symbol
from basepar_core.symbolic.field import GeometryField

ONE, ZERO = number(1), number(0)
X, Y, T, Q = (Name(name) for name in "xytq")
SQRT3 = Relation("q", Call("+", (Call("^", (Q, number(2))), number(-3))), (number(-3), ZERO, ONE))
FIELD = GeometryField(
    [
        Symbol("x", ONE),
        Symbol("y", ONE),
        Symbol("t", ONE, "rad"),
        Symbol("u", ONE, "deg"),
        Symbol("q", ONE),
    ],
    [Symbol("k", ONE)],
    [SQRT3],
)
VALUES = {"x": 0.7, "y": -1.3, "t": 0.4, "u": 2.1, "q": np.sqrt(3), "k": 0.9}


def cos(argument):
    return Call("cos", (argument,))


def sin(argument):
    return Call("sin", (argument,))


def plus(*terms):
    return Call("+", terms)


def times(*factors):
    return Call("*", factors)


LEAVES = st.sampled_from(
    [
        X,
        Y,
        Q,
        Name("k"),
        number(2),
        number("3/7"),
        number(-1),
        cos(T),
        sin(T),
        cos(plus(times(number(2), T), Call("-", (Name("u"),)))),
        sin(Name("u")),
    ]
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: plus(*p)),
        st.tuples(inner, inner).map(lambda p: times(*p)),
        inner.map(lambda p: Call("-", (p,))),
        inner.map(lambda p: Call("^", (p, number(2)))),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_elements_have_the_value_of_their_expression(tree):
    element = FIELD.element(tree)
    again = FIELD.to_expression(element)
    first, second = (float(evaluate([e], VALUES)[0]) for e in (tree, again))
    # Some tens of operations on numbers of order one to a hundred.
    assert second == pytest.approx(first, rel=1e-9, abs=1e-9)
    text = sympy.sympify(str(FIELD.to_sympy(element)))
    assert float(text.subs(VALUES)) == pytest.approx(first, rel=1e-9, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(TREES, TREES)
def test_equal_functions_are_equal_elements(one, two):
    """(a + b)² and a² + 2ab + b² reduce to the same; a and a + 1 do not."""
    square = Call("^", (plus(one, two), number(2)))
    expanded = plus(
        Call("^", (one, number(2))), times(number(2), one, two), Call("^", (two, number(2)))
    )
    assert FIELD.element(square) == FIELD.element(expanded)
    assert not FIELD.is_zero(plus(square, Call("-", (expanded,)), ONE))


@pytest.mark.parametrize(
    "zero",
    [
        plus(times(cos(T), cos(T)), times(sin(T), sin(T)), number(-1)),
        plus(cos(times(number(2), T)), number(1), times(number(-2), cos(T), cos(T))),
        plus(
            sin(plus(T, Name("u"))),
            Call("-", (times(sin(T), cos(Name("u"))),)),
            Call("-", (times(cos(T), sin(Name("u"))),)),
        ),
        plus(times(Q, Q), number(-3)),
        plus(cos(Call("*", (number("1/3"), Pi()))), number("-1/2")),
        plus(sin(plus(T, Pi())), sin(T)),
        plus(Call("tan", (T,)), Call("-", (Call("/", (sin(T), cos(T))),))),
        plus(Call("/", (ONE, Q)), Call("-", (Call("/", (Q, number(3))),))),
    ],
)
def test_identities(zero):
    assert FIELD.is_zero(zero)


def test_nothing_is_zero_by_value_only():
    """At the nominal values x = y = 1; the field does not look."""
    assert not FIELD.is_zero(plus(X, Call("-", (Y,))))


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (Call("sqrt", (X,)), "not allowed in geometry.*relation"),
        (T, "angle 't' stands outside sin and cos"),
        (cos(X), "'x' inside sin or cos is not an angle"),
        (cos(times(number("1/2"), T)), "only whole multiples"),
        (cos(times(number("1/5"), Pi())), "not rational"),
        (Call("^", (X, number("1/2"))), "exponents are whole numbers"),
        (Call("/", (X, plus(times(Q, Q), number(-3)))), "zero identically"),
        (Name("w"), "No symbol of the geometry is named 'w'"),
    ],
)
def test_refusals(tree, message):
    with pytest.raises(ExpressionError, match=message):
        FIELD.element(tree)


def test_inverses_multiply_to_one():
    parts = [X, cos(T), plus(X, Q), plus(sin(T), Y), number("5/3")]
    for one, two in itertools.combinations(parts, 2):
        element = FIELD.element(Call("/", (one, two)))
        back = FIELD.element(Call("/", (two, one)))
        assert FIELD.reduce(element * back) == FIELD.one


def test_a_mechanism_without_symbols_has_a_field():
    field = GeometryField([], [], [])
    assert field.element(number("2/3")) == field.field(2) / 3
    assert field.to_sympy(field.element(number("2/3"))) == sympy.Rational(2, 3)
    assert evaluate([field.to_expression(field.element(number("2/3")))], {})[0] == 2 / 3


WITH_RELATION = """
name: one
space: planar
gravity: [0, -9.81]
geometry:
  d: {value: 0.5, unit: m}
  b: {value: 0.3, unit: m}
  py: {value: %s, unit: m}
relations: {py: "%s"}
bodies: {one: {}}
joints: {A: {type: revolute, connects: [ground, one], at: [[0, py], [0, 0]]}}
coordinates: [A]
"""


@pytest.mark.parametrize(
    ("relation", "value"),
    [
        ("py^2 = (4*d^4 - 4*b^2*d^2)/(4*d^2)", 0.4),
        ("py^2 = d^3/b", 0.645),
        ("py^2 = d^3*b^-1", 0.645),
        ("d/py^2 = 1/d", 0.5),
    ],
)
def test_relations_may_have_quotients(relation, value):
    source = WITH_RELATION % (value, relation)
    if relation.startswith("d/py"):  # py = d: rational, and reported as such
        with pytest.raises(FileError, match="factors"):
            loads(source)
        return
    mechanism = loads(source)
    field = GeometryField.of(mechanism)
    assert field.is_zero(mechanism.relations[0].polynomial)
    # The file's value is the root to all digits of float64.
    left, right = relation.replace("^", "**").split("=")
    values = {**mechanism.nominal}
    assert abs(eval(left, {}, values) - eval(right, {}, values)) < 1e-15
