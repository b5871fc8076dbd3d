"""Rows of expressions: what no swept symbol enters is not computed again; trees as keys."""

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from basepar_core.api import load
from basepar_core.expressions import Name, Rows, add, multiply, number


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


LOOKED_UP = """
import pickle, sys
from basepar_core.expressions import Name, add, multiply, number
sent = pickle.load(sys.stdin.buffer)
assert {sent: 7}[add(multiply(Name("a"), Name("b")), number(3))] == 7
"""


@pytest.mark.parametrize("seed", ["1", "2"])
def test_a_tree_is_a_key_in_another_process_too(seed):
    tree = add(multiply(Name("a"), Name("b")), number(3))
    surroundings = {**os.environ, "PYTHONHASHSEED": seed}
    words = [sys.executable, "-c", LOOKED_UP]
    subprocess.run(words, input=pickle.dumps(tree), env=surroundings, check=True)
    for same in (copy.deepcopy(tree), replace(tree)):
        assert (same, hash(same)) == (tree, hash(tree))
    assert replace(tree, operator="*") == multiply(*tree.arguments)
