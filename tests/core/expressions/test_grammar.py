"""The grammar against Python's own exact fractions, and against everything that is no grammar."""

from contextlib import suppress
from fractions import Fraction
from math import cos, pi, sin, sqrt, tan

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from basepar_core.errors import ExpressionError
from basepar_core.expressions.grammar import (
    bare_angles,
    did_you_mean,
    parse,
    parse_any,
    parse_comparison,
    parse_equation,
    parse_unit,
)
from basepar_core.expressions.tree import OPERATORS, Number, Pi, evaluate, multiply, names, number
from basepar_core.expressions.units import DIMENSIONLESS, LENGTH, NUMBER

EXACT = {**OPERATORS, "number": lambda value: value}
SYMBOLS = {"lx": LENGTH, "ly": LENGTH, "a": NUMBER, "rho": parse_unit("kg/m").dimension}
VALUES = {"lx": 0.3, "ly": 0.7, "a": 1.25, "rho": 2.7}


def read(text, unit=""):
    return parse(text, parse_unit(unit) if unit else DIMENSIONLESS, SYMBOLS)


# Exactness


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("0.2501", "m", "2501/10000"),
        ("1e-3", "m", "1/1000"),
        ("+.5", "", "1/2"),
        ("3.", "", "3"),
        ("3/10", "m", "3/10"),
        ("3/10", "mm", "3/10000"),
        ("-7", "mm", "-7/1000"),
        ("3/10 m", "m", "3/10"),
        ("300 mm", "m", "3/10"),
        ("300mm", "m", "3/10"),
        ("0.3 m", "mm", "3/10"),
        ("2/3 mm", "m", "2/3000"),
        ("(1 + 2) mm", "m", "3/1000"),
        ("2^3 m", "m", "8"),
        ("3 m^2/(2 m)", "m", "3/2"),
        ("2 m/s * 3 s", "m", "6"),
        ("2 m * 3 m / (4 m)", "m", "3/2"),
        ("0.1 N*m/(rad/s)", "kg*m^2/s", "1/10"),
        ("0.1 N*m*s/rad", "kg*m^2/s", "1/10"),
        ("6.28/s", "rad/s", "157/25"),
        ("6.28 s^-1", "rad/s", "157/25"),
        ("2700 g/m", "kg/m", "27/10"),
        ("0", "kg", "0"),
        ("0 m", "m", "0"),
        ("2*-3", "", "-6"),
        ("--3", "", "3"),
        ("-2^2", "", "-4"),
        ("2^-2", "", "1/4"),
        ("2^3^2", "", "512"),
        ("1 - 2 - 3", "", "-4"),
        ("12/3/2", "", "2"),
        ("1 + 0 m/m", "", "1"),
    ],
)
def test_numbers_are_exact_and_si(text, unit, value):
    assert read(text, unit) == Number(Fraction(value))


def test_bare_literal_takes_its_slots_unit_exactly():
    assert read("90", "deg") == multiply(number("1/2"), Pi())
    assert read("34 deg", "rad") == multiply(number("17/90"), Pi())


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("sqrt(2) rad/s", "rad/s", sqrt(2)),
        ("sqrt(lx^2 + ly^2)", "m", sqrt(0.3**2 + 0.7**2)),
        ("rho*sqrt(lx^2+ly^2)^3/3", "kg*m^2", 2.7 * (0.3**2 + 0.7**2) ** 1.5 / 3),
        ("sqrt(lx)*sqrt(lx)", "m", 0.3),
        ("(lx^2)^(1/2)", "m", 0.3),
        ("lx*sin(30 deg)", "m", 0.3 * sin(pi / 6)),
        ("lx*cos(a) + ly*tan(a)", "m", 0.3 * cos(1.25) + 0.7 * tan(1.25)),
        ("max(lx, ly, 0)", "m", 0.7),
        ("min(lx, ly)", "m", 0.3),
        ("abs(lx - ly)", "m", 0.4),
        ("a^a", "", 1.25**1.25),
        ("lx/2 mm", "m^2", 0.3 / 2 / 1000),
        ("-lx^2", "m^2", -0.09),
        ("rho*lx", "kg", 0.81),
        ("360 deg/s", "rad/s", 2 * pi),
    ],
)
def test_values(text, unit, value):
    # Both sides are a handful of float64 operations.
    assert float(evaluate([read(text, unit)], VALUES)[0]) == pytest.approx(value, rel=1e-14)


@st.composite
def rationals(draw, depth=4):
    """Text of a rational expression in a, b and numbers, and its value by Python's fractions."""
    kind = draw(st.sampled_from("nnasdmp-(" if depth else "na"))
    blank = draw(st.sampled_from(["", " ", "\n "]))
    if kind == "n":
        digits = draw(st.integers(0, 99))
        return f"{digits}", Fraction(digits)
    if kind == "a":
        name = draw(st.sampled_from(["a", "b_2"]))
        return name, {"a": A, "b_2": B}[name]
    text, value = draw(rationals(depth - 1))
    if kind == "(":
        return f"({blank}{text})", value
    if kind == "-":
        return f"-({text})", -value
    if kind == "p":
        exponent = draw(st.integers(0 if value == 0 else -2, 3))
        return f"({text})^{exponent}", value**exponent
    other, second = draw(rationals(depth - 1))
    if kind == "d" and second == 0:
        kind = "m"
    sign = {"s": "-", "d": "/", "m": "*"}[kind]
    return f"({text}){blank}{sign}{blank}({other})", OPERATORS_OF[sign](value, second)


A, B = Fraction(7, 3), Fraction(-5, 11)
OPERATORS_OF = {
    "-": lambda x, y: x - y,
    "/": lambda x, y: x / y,
    "*": lambda x, y: x * y,
}


@given(rationals())
def test_round_trip_against_fractions(drawn):
    text, value = drawn
    tree, _ = parse_any(text, {"a": NUMBER, "b_2": NUMBER})
    assert evaluate([tree], {"a": A, "b_2": B}, EXACT)[0] == value


@given(st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(1, 50)), min_size=1, max_size=8))
def test_precedence_and_association_are_pythons(parts):
    text = "a" + "".join(f"{sign}{digits}" for sign, digits in parts)
    python = "a" + "".join(f"{sign}Fraction({digits})" for sign, digits in parts)
    tree, _ = parse_any(text, {"a": NUMBER})
    expected = eval(python, {"a": A, "Fraction": Fraction})
    assert evaluate([tree], {"a": A}, EXACT)[0] == expected


# Units and names that do not fit


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("3 s", "m", "'3 s' is in s, but m is expected here"),
        ("0 s", "m", "'0 s' is in s, but m is expected here"),
        ("2*3", "m", "'2*3' has no unit, but m is expected here; a factor in m is missing"),
        ("3 deg", "m", "'3 deg' is in deg, but m is expected here"),
        ("3 m", "", "'3 m' is in m, but a number without a unit is expected here"),
        ("lx^2", "m", "'lx^2' is in m^2, but m is expected here; a factor in 1/m is missing"),
        ("1 rad/s", "Hz", "is in rad/s, but Hz is expected here; one Hz is 2π rad/s: divide"),
        ("1/s", "Hz", "is in 1/s, but Hz is expected here; one Hz is 2π rad/s: divide"),
        ("0.06 N*m/A", "N*m", "Position 10 of '0.06 N*m/A': 'A' is no unit here; electrical"),
        ("A + 1 m", "m", "no symbol 'A' is declared"),
        ("2*A", "m", "no symbol 'A' is declared"),
        ("1 Hz", "rad/s", "is in Hz, but rad/s is expected here; write '1 rev/s'"),
        ("lx + 1", "m", "Position 4 of 'lx + 1': '+' joins m and no unit; inside an expression "),
        ("lx + 1", "m", "a bare number has no unit: write '1 mm' or '1 m'"),
        ("1/2 - lx", "m", "write '0.5 mm' or '0.5 m'"),
        ("lx + 1/3", "m", "write '1/3 mm' or '1/3 m'"),
        ("20 kg*cm", "kg*m^2", "write '20 kg*cm^2' if that is meant"),
        ("20 mm^2", "m", "write '20 mm' if that is meant"),
        ("lx - rho", "m", "Position 4 of 'lx - rho': '-' joins m and kg/m"),
        ("max(lx, 2)", "m", "Position 1 of 'max(lx, 2)': max joins m and no unit"),
        ("sin(lx)", "", "Position 1 of 'sin(lx)': sin of something in m; it needs rad"),
        ("2^lx", "", "Position 2 of '2^lx': the exponent is in m"),
        ("lx^a", "", "Position 3 of 'lx^a': something in m has a variable exponent"),
        (
            "lx m",
            "m^2",
            "Position 4 of 'lx m': the unit 'm' follows 'lx'; a unit follows a ",
        ),
        ("lx/m", "", "the unit 'm' follows 'lx'"),
        (
            "2*m",
            "m",
            "Position 3 of '2*m': 'm' is a unit and follows a number or ')', as in '2",
        ),
        ("lx9", "m", "Position 1 of 'lx9': no symbol 'lx9' is declared; did you mean 'lx'?"),
        ("2*pi", "", "Position 3 of '2*pi': no symbol 'pi' is declared; π is written '180 deg'"),
        ("lx < ly", "m", "Position 4 of 'lx < ly': a comparison has its place in filters only"),
        ("lx = ly", "m", "a comparison has its place in filters only"),
        ("cosh(a)", "", "Position 1 of 'cosh(a)': no function 'cosh' (sqrt, sin, cos, tan, abs, "),
        ("cosh(a)", "", "did you mean 'cos'?"),
        ("a(2)", "", "'a' is not a function; write '*' before '('"),
        ("sin a", "", "Position 1 of 'sin a': sin needs parentheses: sin(…)"),
        ("sin(a, a)", "", "sin takes one argument, not 2"),
        ("a a", "", "Position 3 of 'a a': 'a' follows without an operator; write '*'"),
        ("a**2", "", "Position 2 of 'a**2': stray '**'; powers are written '^'"),
        ("0,5", "m", "Position 2 of '0,5': stray ','; a decimal point is '.'"),
        ("max(a", "", "Position 4 of 'max(a': '(' is never closed; inside [ ] or { } of a file"),
        ("(a))", "", "Position 4 of '(a))': ')' follows"),
        ("", "", "Position 1 of '': a number, a name or '(' is expected, but it ends there"),
        ("a +", "", "Position 4 of 'a +': a number, a name or '(' is expected, but it ends"),
        ("*a", "", "but found '*'"),
        ("1/0", "m", "Position 2 of '1/0': division by zero"),
        ("lx/(2 - 2)", "m", "Position 3 of 'lx/(2 - 2)': division by zero"),
        ("0^-1", "", "division by zero"),
        ("3 − 2", "", "Position 3 of '3 − 2': stray '−'; write '-'"),
        ("30°", "deg", "stray '°'; write 'deg'"),
        ("lx²", "m^2", "stray '²'; write '^2'"),
        ("__import__('os')", "", "stray '_'"),
    ],
)
def test_refusals_name_place_units_and_remedy(text, unit, message):
    with pytest.raises(ExpressionError) as caught:
        read(text, unit)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9^9^9^9", "the exponent is beyond ±64"),
        ("((9^64)^64)^64", "more than 300 digits"),
        ("a^65", "the exponent is beyond ±64"),
        ("a^(1/1000)", "the exponent is beyond ±64"),
        ("1e999999999", "a number beyond 1e±60"),
        ("1e" + "9" * 3000, "a number beyond 1e±60"),
        ("1" * 3000, "a number beyond 1e±60 or 60 digits"),
        ("(" * 1000 + "a" + ")" * 1000, "nested deeper than 40"),
        ("(" * 10_000, "10000 characters; at most 4000"),
        ("sin(" * 700 + "a" + ")" * 700, "nested deeper than 40"),
        ("a^" * 1500 + "a", "nested deeper than 40"),
        ("a" + "/a" * 1500, "nested deeper than 40"),
        ("2" + "*3" * 1900, "more than 300 digits"),
    ],
)
def test_absurd_sizes_are_refused_at_once(text, message):
    with pytest.raises(ExpressionError) as caught:
        read(text)
    assert message in caught.value.message
    assert len(caught.value.message) < 300


def test_long_sums_are_wide_not_deep():
    text = "a" + " + a" * 900
    assert evaluate([read(text)], {"a": Fraction(1)}, EXACT)[0] == 901


@pytest.mark.parametrize("text", ["-" * 3000 + "a", "+" * 3001 + "a"])
def test_signs_may_pile_up(text):
    assert evaluate([read(text)], {"a": Fraction(3)}, EXACT)[0] == 3


WORDS = (
    *("lx", "a", "2", "0", "1.5", "1e3", "m", "deg", "Hz", "sqrt", "max", "sin"),
    *("(", ")", "^", "-", "+", "*", "/", ",", "<"),
)


@settings(max_examples=500)
@given(
    st.one_of(
        st.text(max_size=60),
        st.text("0123456789.eE+-*/^() ,<=>abcmNskgdegrad_sqrtlx", max_size=60),
        st.lists(
            st.sampled_from(WORDS),
            max_size=20,
        ).map(" ".join),
    )
)
@example("٣")  # a digit to Python, not to a file
@example("1e")
@example("²")
def test_text_is_an_expression_or_an_expression_error(text):
    for function in (parse_any, parse_comparison, parse_equation):
        with suppress(ExpressionError):
            function(text, SYMBOLS)
    with suppress(ExpressionError):
        assert names(read(text, "m")) <= SYMBOLS.keys()
    with suppress(ExpressionError):
        parse_unit(text)


@pytest.mark.parametrize(
    ("text", "value", "result"),
    [("1/a", 0.0, np.inf), ("a^-2", 0.0, np.inf), ("a^64", 1e60, np.inf), ("sqrt(a)", -1.0, None)],
)
def test_outside_a_domain_numbers_say_so_silently(text, value, result):
    found = evaluate([read(text)], {"a": value})[0]
    assert np.isnan(found) if result is None else found == result


# Comparisons and equations


def test_filter_compares_equal_units():
    tree = parse_comparison("lx + max(ly, 0) <= 900 mm", SYMBOLS)
    assert tree.operator == "<="
    assert bool(evaluate([tree], {"lx": 0.2, "ly": 0.7})[0])
    assert not bool(evaluate([tree], {"lx": 0.21, "ly": 0.7})[0])


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "=="])
def test_every_comparison(sign):
    tree = parse_comparison(f"a {sign} 1", SYMBOLS)
    for value in (0, 1, 2):
        expected = eval(f"{value} {sign} 1")
        assert bool(evaluate([tree], {"a": value})[0]) is expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lx < 3", "Position 4 of 'lx < 3': '<' compares m and no unit"),
        ("lx < 3", "write '3 mm' or '3 m'"),
        ("lx < 3 deg", "compares m and deg; give it in mm or m"),
        ("lx", "Position 3 of 'lx': < <= > >= == is missing; it reads like 'a + b <= 0.5 m'"),
        (
            "lx < ly < 3 m",
            "Position 9 of 'lx < ly < 3 m': a second '<'; write two conditions: 'lx < ly' and "
            "'ly < 3 m'",
        ),
        ("lx = ly", "stray '='; write <= or >=; it reads like 'a + b <= 0.5 m'"),
    ],
)
def test_what_is_no_filter(text, message):
    with pytest.raises(ExpressionError) as caught:
        parse_comparison(text, SYMBOLS)
    assert message in caught.value.message


def test_quantities_of_joints_are_names():
    known = {"stroke(D)": NUMBER, "stroke(J.2)": LENGTH, "condition": NUMBER}
    assert names(parse_comparison("stroke(D) >= 40 deg", known)) == {"stroke(D)"}
    assert names(parse_comparison("stroke( J.2 ) >= 40 mm", known)) == {"stroke(J.2)"}
    known["point_range(P.x)"] = LENGTH
    assert names(parse_comparison("2*point_range(P.x) >= 9 mm", known)) == {"point_range(P.x)"}
    with pytest.raises(ExpressionError, match="no function 'stroke'"):
        parse_comparison("stroke(E) >= 40 deg", known)
    with pytest.raises(ExpressionError, match="called 'stoke'; did you mean 'stroke'"):
        parse_comparison("stoke(D) >= 40 deg", known)


def test_equation_has_two_sides():
    left, right = parse_equation("a^2 = 3", SYMBOLS)
    assert evaluate([left, right], {"a": Fraction(5)}, EXACT) == [25, 3]


def test_suggestion_only_where_something_is_close():
    assert did_you_mean("lx1", ["lx2", "rho"]) == "; did you mean 'lx2'?"
    assert did_you_mean("zebra", ["lx2", "rho"]) == ""


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("swing >= 40", [40]),
        ("0.5 <= swing", [Fraction(1, 2)]),
        ("swing - 2*20 > 0", [40]),
        ("abs(swing - 40) <= 5", [40, 5]),
        ("max(swing, 3) <= a", [3]),
        ("2*swing + 1 rad >= 40 deg + 7", [7]),
        ("swing >= 40 deg", []),
        ("swing >= 0.7 rad", []),
        ("swing > 0", []),
        ("swing/(30 deg) >= 2", []),
        ("sin(swing) <= 0.5", []),
        ("swing >= a", []),
        ("a >= 40", []),
    ],
)
def test_numbers_beside_angles(text, bare):
    assert list(bare_angles(text, {**SYMBOLS, "swing": NUMBER}, {"swing"})) == bare


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("60 rps", "the unit 'rps' is unknown; .* 60 rps is 376.99 rad/s"),
        ("(a + 1) furlong", "the unit 'furlong' is unknown; units are m, mm, .*"),
        ("2.5 dm", "2.5 dm is 250 mm"),
    ],
)
def test_unknown_units_are_reported_as_such(text, said):
    with pytest.raises(ExpressionError, match=said):
        parse_any(text, {"a": NUMBER})


def test_unknown_units_of_symbols_have_their_size():
    with pytest.raises(ExpressionError, match=r"1 ft is 304.8 mm"):
        parse_unit("ft")
