"""Expressions taken apart once, and rows of them, for one table of values after another."""

import pickle

import mpmath
import numpy as np
import pytest

from basepar_core.expressions import (
    NUMPY,
    Call,
    Name,
    Number,
    Pi,
    Rows,
    Steps,
    evaluate,
    number,
)

A, B = Name("a"), Name("b")
SQUARE = Call("^", (A, number(2)))
#: The exponent 2 is a whole number, the factor 2 one of the arithmetic's.
TWICE = Call("*", (SQUARE, number(2), Pi()))


def test_values_follow_what_they_are_asked_for():
    steps = Steps.of([TWICE, SQUARE, B, number("1/3")])
    assert steps.names == {"a", "b"}
    for a in (3.0, np.array([1.0, 2.0])):
        twice, square, b, third = steps.values({"a": a, "b": 5.0})
        # In another order of factors: a few roundings.
        np.testing.assert_allclose(twice, 2 * np.pi * a * a, rtol=1e-15)
        np.testing.assert_array_equal(square, a * a)
        assert (b, third) == (5.0, 1 / 3)
    with pytest.raises(KeyError, match="b"):
        steps.values({"a": 1.0})


def test_equal_subexpressions_are_one_step():
    copy = Call("^", (Name("a"), number(2)))
    steps = Steps.of([TWICE, Call("+", (copy, SQUARE))])
    assert [operator for operator, _ in steps.steps] == ["^", "*", "+"]


def test_every_arithmetic_has_its_own_numbers():
    """Also after another one, and in another precision."""
    exact = {**NUMPY, "number": lambda x: mpmath.mpf(x.numerator) / x.denominator}
    exact |= {"pi": lambda: +mpmath.pi, "^": lambda a, b: a**b}
    steps = Steps.of([TWICE, number("1/3")])
    assert steps.values({"a": 1.0})[1] == 1 / 3
    for digits in (30, 50):
        with mpmath.workdps(digits):
            twice, third = steps.values({"a": mpmath.mpf(1)}, exact)
            assert twice == 2 * mpmath.pi
            assert third == mpmath.mpf(1) / 3
    assert steps.values({"a": 1.0})[1] == 1 / 3


def test_steps_travel():
    steps = Steps.of([TWICE])
    steps.values({"a": 1.0})
    assert pickle.loads(pickle.dumps(steps)).values({"a": 2.0}) == evaluate([TWICE], {"a": 2.0})


def test_rows_of_one_swept_symbol_after_another():
    rows = Rows((SQUARE, B, Call("*", (A, B)), Number(number(7).value)), {"a": 2.0, "b": 3.0})
    nominal = [4.0, 3.0, 6.0, 7.0]
    at = np.array([5.0, 6.0])
    for _ in range(2):
        by_a = rows.at_values({"a": at, "b": 3.0}, {"a": 0}.keys())
        by_b = rows.at_values({"a": 2.0, "b": at}, {"b"})
        np.testing.assert_array_equal(by_a, [at**2, [3, 3], 3 * at, [7, 7]])
        np.testing.assert_array_equal(by_b, [[4, 4], at, 2 * at, [7, 7]])
        np.testing.assert_array_equal(rows.at_values(rows.nominal, {"c"})[:, 0], nominal)
