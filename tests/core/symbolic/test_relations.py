"""Algebraic numbers follow the symbols they depend on, against closed forms."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from basepar_core.expressions.tree import Name, evaluate, multiply, number, subtract
from basepar_core.files.mechanism_file import loads
from basepar_core.mechanism import Symbol
from basepar_core.symbolic.algebraic_roots import newton, polynomial, roots, symbol_values

GOOD = yaml.safe_load(
    (Path(__file__).parents[2] / "fixtures" / "malformed.yaml").read_text(encoding="utf-8")
)["good"]["planar"]


def with_relation(value, relation):
    text = GOOD.replace("r3: {value: 1.73}", f"r3: {{value: {value}, unit: m}}")
    return loads(text.replace("r3^2 = 3", relation))


@pytest.mark.parametrize("sign", [1, -1])
def test_root_follows_on_its_branch(sign):
    mechanism = with_relation(f"{sign * 0.4123}", "r3^2 = lx1^2 + lx2^2")
    lx1 = np.array([0.1, 0.05, 2.0, 100.0])
    # Newton ends at float64's rounding.
    assert_allclose(roots(mechanism, {"lx1": lx1})["r3"], sign * np.hypot(lx1, 0.4), rtol=1e-14)


def test_root_follows_two_symbols_at_once():
    mechanism = with_relation("0.4123", "r3^2 = lx1^2 + lx2^2")
    lx1, lx2 = np.array([0.3, 0.0]), np.array([0.4, 1.0])
    assert_allclose(roots(mechanism, {"lx1": lx1, "lx2": lx2})["r3"], [0.5, 1.0], rtol=1e-14)


def test_smaller_of_two_positive_roots_is_kept():
    """r² − lx2 r + 0.3 lx1: both roots are positive."""
    mechanism = with_relation("0.1", "r3^2 + 0.3 m * lx1 = lx2*r3")
    for lx2 in (0.4, 0.6, 5.0):
        small = (lx2 - np.sqrt(lx2**2 - 4 * 0.03)) / 2
        # The small root loses digits to cancellation in this closed form.
        found = roots(mechanism, {"lx2": lx2})["r3"]
        assert found == pytest.approx(small, rel=1e-12)


def test_where_the_root_stops_being_real_there_is_nan():
    mechanism = with_relation("0.387", "r3^2 = lx2^2 - lx1^2")
    found = roots(mechanism, {"lx1": np.array([0.3, 0.5])})["r3"]
    assert found[0] == pytest.approx(np.sqrt(0.07), rel=1e-14)
    assert np.isnan(found[1])


def test_a_root_that_stops_being_real_on_the_way_does_not_come_back():
    """Along lx1 from 0.1 to 0.7, (lx1 − 0.4)² falls below 0.01 and rises above it again."""
    mechanism = with_relation("0.2828427", "r3^2 = (lx1 - 0.4 m)^2 - 0.01 m^2")
    found = roots(mechanism, {"lx1": np.array([0.29, 0.5001, 0.7])})["r3"]
    assert found[0] == pytest.approx(np.sqrt(0.11**2 - 0.01), rel=1e-13)  # 0.0021 of 0.0121
    assert np.isnan(found[1:]).all()


def test_of_a_way_every_step_is_judged_by_itself():
    """As above: of two the branch is known, and the steps between show where it breaks."""
    mechanism = with_relation("0.2828427", "r3^2 = (lx1 - 0.4 m)^2 - 0.01 m^2")
    found = roots(mechanism, {"lx1": np.array([0.29, 0.4, 0.7])}, way=True)["r3"]
    assert_allclose(found, np.sqrt([0.11**2 - 0.01, np.nan, 0.08]), rtol=1e-13)
    # A cube is followed all the same: Newton's method from the nominal root does not get there.
    mechanism = with_relation("0.4", "r3^3 = lx1*lx2^2 + 0.048 m^3")
    found = roots(mechanism, {"lx1": np.array([-0.35])}, way=True)["r3"]
    assert_allclose(found, -0.2, rtol=1e-13)


def test_a_symbol_that_cancels_leaves_a_root_for_every_variant():
    mechanism = with_relation("0.387", "r3/lx1 = 0.15 m^2/(lx1*r3)")
    found = roots(mechanism, {"lx1": np.array([0.3, 0.5])})["r3"]
    assert_allclose(found, [0.15**0.5] * 2, rtol=1e-14)


def test_roots_that_are_given_stay():
    mechanism = with_relation("0.4123", "r3^2 = lx1^2 + lx2^2")
    values = {"lx1": np.array([0.3]), "r3": np.array([0.7])}
    assert roots(mechanism, values) == {}
    assert symbol_values(mechanism, values)["r3"] == 0.7


def test_a_root_at_which_two_meet():
    mechanism = with_relation("0.387", "r3^2 = lx2^2 - lx1^2")
    assert roots(mechanism, {"lx1": np.array([0.4])})["r3"] == 0


def test_a_root_of_a_cube():
    mechanism = with_relation("0.4", "r3^3 = lx1*lx2^2 + 0.048 m^3")
    lx1 = np.array([0.1, 0.3, 5.0])
    assert_allclose(roots(mechanism, {"lx1": lx1})["r3"], np.cbrt(0.16 * lx1 + 0.048), rtol=1e-14)


@pytest.mark.parametrize(
    ("value", "relation", "root"),
    [
        ("0.387", "r3^2 = lx2^2 - lx1^2", lambda lx1: np.sqrt(0.16 - lx1**2)),
        ("0.4", "r3^3 = lx1*lx2^2 + 0.048 m^3", lambda lx1: np.cbrt(0.16 * lx1 + 0.048)),
    ],
)
def test_a_root_does_not_depend_on_the_variants_beside_it(value, relation, root):
    """Not on one that has none, and not on how many there are."""
    mechanism = with_relation(value, relation)
    lx1 = np.linspace(0.05, 0.39, 9001)
    whole = roots(mechanism, {"lx1": np.append(lx1, 0.5)})["r3"]
    assert_allclose(whole[:-1], root(lx1), rtol=1e-14)
    for k in (0, 4095, 4096, 9000):
        assert roots(mechanism, {"lx1": lx1[k : k + 1]})["r3"] == whole[k]
        assert roots(mechanism, {"lx1": lx1[k]})["r3"] == whole[k]


def test_roots_of_numbers_need_no_following():
    assert roots(loads(GOOD), {"lx1": np.array([0.1, 0.2])}) == {}


def test_polynomial_in_its_own_symbol():
    """(x r)² − y as coefficients, and its degree."""
    x, y = Symbol("x", number(2)), Symbol("y", number(3))
    square = multiply(Name("x"), Name("r"), Name("x"), Name("r"))
    coefficients, factors = polynomial((x, y), "r", subtract(square, Name("y")))
    assert evaluate(coefficients, {"x": 2, "y": 3}) == [-3, 0, 4]
    assert factors == [2]


def test_newton_step_by_hand():
    # r² − 2 at 1.5: 1.5 − 0.25/3
    assert newton([-2, 0, 1], 1.5) == 1.5 - 0.25 / 3
