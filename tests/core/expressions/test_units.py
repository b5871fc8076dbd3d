"""Units against their definitions, written out by hand."""

from fractions import Fraction
from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from basepar_core.errors import ExpressionError
from basepar_core.expressions.grammar import parse_unit
from basepar_core.expressions.tree import ONE, evaluate
from basepar_core.expressions.units import UNITS, Dimension

# kg, m, s, cycle; factor; power of π: the SI brochure's definitions.
DEFINITIONS = {
    "m": ((0, 1, 0, 0), Fraction(1), 0),
    "mm": ((0, 1, 0, 0), Fraction(1, 1000), 0),
    "cm": ((0, 1, 0, 0), Fraction(1, 100), 0),
    "inch": ((0, 1, 0, 0), Fraction(127, 5000), 0),
    "kg": ((1, 0, 0, 0), Fraction(1), 0),
    "g": ((1, 0, 0, 0), Fraction(1, 1000), 0),
    "s": ((0, 0, 1, 0), Fraction(1), 0),
    "ms": ((0, 0, 1, 0), Fraction(1, 1000), 0),
    "N": ((1, 1, -2, 0), Fraction(1), 0),
    "J": ((1, 2, -2, 0), Fraction(1), 0),
    "W": ((1, 2, -3, 0), Fraction(1), 0),
    "rad": ((0, 0, 0, 0), Fraction(1), 0),
    "deg": ((0, 0, 0, 0), Fraction(1, 180), 1),
    "rev": ((0, 0, 0, 0), Fraction(2), 1),
    "rpm": ((0, 0, -1, 0), Fraction(1, 30), 1),
    "Hz": ((0, 0, -1, 1), Fraction(1), 0),
}


def test_units_are_exactly_those_of_the_format():
    assert set(UNITS) == set(DEFINITIONS)


@pytest.mark.parametrize("text", DEFINITIONS)
def test_unit_by_definition(text):
    powers, factor, circles = DEFINITIONS[text]
    unit = UNITS[text]
    assert unit.dimension.powers == powers
    assert (unit.factor, unit.pi) == (factor, circles)


@given(
    st.lists(st.tuples(st.sampled_from(sorted(UNITS)), st.integers(-2, 2)), min_size=1, max_size=4)
)
def test_products_of_powers_add_up(parts):
    text = "*".join(f"{name}^{power}" for name, power in parts)
    unit = parse_unit(text)
    for k in range(4):
        assert unit.dimension.powers[k] == sum(DEFINITIONS[n][0][k] * p for n, p in parts)
    expected = Fraction(1)
    for name, power in parts:
        expected *= DEFINITIONS[name][1] ** power
    assert unit.factor == expected
    assert unit.pi == sum(DEFINITIONS[n][2] * p for n, p in parts)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("N*m", "J"),
        ("J/s", "W"),
        ("kg*m/s^2", "N"),
        ("N*m/(rad/s)", "kg*m^2/s"),
        ("1/s", "s^-1"),
        ("g*mm", "g*mm"),
        ("m/s/s", "m/s^2"),
    ],
)
def test_equal_units(text, same):
    one, other = parse_unit(text), parse_unit(same)
    assert (one.dimension, one.factor, one.pi) == (other.dimension, other.factor, other.pi)


@pytest.mark.parametrize("text", ["Hz", "1/Hz"])
def test_hertz_is_no_angular_velocity(text):
    assert parse_unit(text).dimension not in (
        parse_unit("rad/s").dimension,
        parse_unit("s/rad").dimension,
    )


@pytest.mark.parametrize(
    ("text", "value"), [("deg", pi / 180), ("1/deg", 180 / pi), ("deg^2", (pi / 180) ** 2)]
)
def test_degrees_are_numbers(text, value):
    unit = parse_unit(text)
    assert unit.dimension == Dimension()
    # π enters exactly; what is left are two roundings of float64.
    assert float(evaluate([unit.scale(ONE)], {})[0]) == pytest.approx(value, rel=4e-16)


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("m", "m"),
        ("kg*m/s^2", "N"),
        ("J", "N*m"),
        ("kg/m", "kg/m"),
        ("kg*m^2", "kg*m^2"),
        ("1/s", "1/s"),
        ("m/s^2", "m/s^2"),
        ("Hz", "Hz"),
        ("rad", "no unit"),
    ],
)
def test_dimension_reads_like_its_unit(text, spelled):
    assert str(parse_unit(text).dimension) == spelled


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a unit is expected"),
        ("metre", "a unit is expected"),
        ("2 m", "a unit is expected"),
        ("m^0.5", "whole number up to 12"),
        ("m^99", "whole number up to 12"),
        ("m m", "'m' follows without an operator"),
        ("m/", "'/' follows without an operator"),
        ("(" * 100 + "m" + ")" * 100, "nested deeper than 40"),
    ],
)
def test_what_is_no_unit(text, message):
    with pytest.raises(ExpressionError, match=r"^Position \d+ of '") as caught:
        parse_unit(text)
    assert message in caught.value.message
