"""Rows of expressions: what no swept symbol enters is not computed again."""

import numpy as np

from basepar_core.api import load
from basepar_core.expressions import Name, Rows, multiply, number


def test_only_what_is_swept_is_computed_again():
    a = Name("a")
    rows = Rows((multiply(a, Name("b")), a, number(3)), {"a": 2.0, "b": 5.0})
    known = {"a": 2.0, "b": np.array([1.0, 7.0])}
    np.testing.assert_array_equal(rows.at_values(known, {"b"}), [[2, 14], [2, 2], [3, 3]])
    assert rows.at_values(known, {"c"}) is rows.constant
    np.testing.assert_array_equal(rows.constant, [[10], [2], [3]])


def test_inertial_parameters_follow_the_symbols_they_name():
    it = load("slider-crank")
    width = it.nominal["width"]
    nominal = it.inertial_parameters(it.nominal)
    many = it.inertial_parameters({**it.nominal, "width": width * np.array([1.0, 2.0])})
    assert many.shape == (2, nominal.size)
    np.testing.assert_array_equal(many[0], nominal)
    np.testing.assert_array_equal(
        many[1], it.inertial_parameters({**it.nominal, "width": 2 * width})
    )
    assert (many[1] != nominal).any()
    nominal[:] = 0.0  # the caller's own
    assert it.inertial_parameters(it.nominal).any()
