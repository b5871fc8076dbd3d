"""The report's pieces: formulas, numbers, axes."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import Markup

from workflows.report import charts, figures, mathml, numbers


def plain(markup: Markup) -> str:
    """A formula without the tags that only group, for comparing."""
    text = re.sub(r"</?(math|mrow|mspace)[^>]*>", "", str(markup))
    return text.replace("\u2062", " ").replace(' form="infix"', "").replace(' form="prefix"', "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("lx1", "<msub><mi>l</mi><mi>x</mi><mn>1</mn></msub>"),
        ("Dx", "<msub><mi>D</mi><mi>x</mi></msub>"),
        ("L7", "<msub><mi>L</mi><mn>7</mn></msub>"),
        ("theta", "<mi>θ</mi>"),
        ("theta2**2", "<msubsup><mi>θ</mi><mn>2</mn><mn>2</mn></msubsup>"),
        ("offset", "<mi>offset</mi>"),
        ("a**2", "<msup><mi>a</mi><mn>2</mn></msup>"),
        ("a^2", "<msup><mi>a</mi><mn>2</mn></msup>"),
        ("-a/b", "<mo>−</mo><mfrac><mi>a</mi><mi>b</mi></mfrac>"),
        ("-a + b", "<mi>b</mi><mo>−</mo><mi>a</mi>"),
        ("a - (b - c)", "<mi>a</mi><mo>−</mo><mi>b</mi><mo>+</mo><mi>c</mi>"),
        ("a*(b + c)", "<mi>a</mi><mo> </mo><mo>(</mo><mi>b</mi><mo>+</mo><mi>c</mi><mo>)</mo>"),
        (
            "(a + b)**2",
            "<msup><mo>(</mo><mi>a</mi><mo>+</mo><mi>b</mi><mo>)</mo><mn>2</mn></msup>",
        ),
        ("2*3", "<mn>2</mn><mo>·</mo><mn>3</mn>"),
        ("2*a", "<mn>2</mn><mo> </mo><mi>a</mi>"),
        ("sqrt(a)", "<msqrt><mi>a</mi></msqrt>"),
        ("a**(1/2)", "<msqrt><mi>a</mi></msqrt>"),
        ("(-a - b)/c", "<mo>−</mo><mfrac><mi>a</mi><mo>+</mo><mi>b</mi><mi>c</mi></mfrac>"),
        (
            "a*(-b - c)",
            "<mo>−</mo><mi>a</mi><mo> </mo><mo>(</mo><mi>b</mi><mo>+</mo><mi>c</mi><mo>)</mo>",
        ),
        ("-(-a)", "<mi>a</mi>"),
        ("a <= b", "<mi>a</mi><mo>≤</mo><mi>b</mi>"),
        ("a < b", "<mi>a</mi><mo>&lt;</mo><mi>b</mi>"),
    ],
)
def test_expressions(text, shown):
    assert plain(mathml.expression(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').x",
        "a.b",
        "[a]",
        "a if b else c",
        "lambda: 1",
        "a = b",
        "",
        "'x'",
        "a < b in c",
        "(" * 500 + ")" * 500,
        "+".join("a" * 3000),
    ],
)
def test_what_is_no_arithmetic_stays_text(text):
    shown = mathml.expression(text)
    assert shown == Markup("<code>{}</code>").format(text)


def test_hostile_text_is_escaped():
    hostile = "<script>x</script>"
    for shown in (
        mathml.expression(hostile),
        mathml.symbol(hostile),
        mathml.parameter(f"{hostile}.mx"),
        mathml.parameter(f"{hostile}.Ixx"),
        mathml.parameter(f"a.{hostile}"),
        mathml.term(hostile, hostile),
        mathml.nonzero(hostile),
        charts.indexed(hostile),
    ):
        assert "<script>" not in shown
        assert "script" in shown


@pytest.mark.parametrize(
    "text",
    [
        "-lx1**2/lx2",
        "(-lx2**2 - ly2**2)/lx2",
        "a - (b - c*(-d + e))/2",
        "-(a - b)*(c - d)**2/(-e)",
        "a/b/c",
        "a/(b*c)",
        "2*a*-b",
        "(a - b)/(-c - d)",
    ],
)
def test_formulas_keep_their_value(text):
    """Signs that move keep the value: the formula read back as Python."""
    shown = spoken(ElementTree.fromstring(str(mathml.expression(text))))
    names = sorted(set(re.findall(r"[A-Za-z]\w*", text)))
    values = dict(zip(names, np.random.default_rng(3).uniform(1, 2, len(names)), strict=True))
    hand, found = (eval(words, {}, values) for words in (text, shown))  # our own text
    assert found == pytest.approx(hand, rel=1e-12), shown


def spoken(element: ElementTree.Element) -> str:
    """A formula as Python, by what its elements mean."""
    parts = [spoken(child) for child in element]
    match element.tag:
        case "mfrac":
            return f"(({parts[0]})/({parts[1]}))"
        case "msup":
            return f"(({parts[0]})**({parts[1]}))"
        case "msubsup":
            return f"({parts[0]}{parts[1]}**({parts[2]}))"
        case "mo":
            return {"−": "-", "\u2062": "*", "·": "*"}.get(element.text or "", element.text or "")
    return (element.text or "") + "".join(parts)


@pytest.mark.parametrize(
    ("coefficient", "shown"),
    [
        ("1", "<mo>+</mo><msub><mi>m</mi><mtext>rod</mtext></msub>"),
        ("-1", "<mo>−</mo><msub><mi>m</mi><mtext>rod</mtext></msub>"),
        (
            "-1/a",
            "<mo>−</mo><mfrac><mn>1</mn><mi>a</mi></mfrac><msub><mi>m</mi><mtext>rod</mtext></msub>",
        ),
    ],
)
def test_terms(coefficient, shown):
    assert plain(mathml.term(coefficient, "rod.m")) == shown


def test_parameters():
    assert plain(mathml.parameter("rod.Ixy")) == (
        "<msub><mi>I</mi><mi>xy</mi><mo>,</mo><mtext>rod</mtext></msub>"
    )
    assert (
        plain(mathml.parameter("rod.mx")) == "<msub><mi>m</mi><mi>x</mi><mtext>rod</mtext></msub>"
    )


@pytest.mark.parametrize(("text", "shown"), [("-D31", "D"), ("L7/2", "L"), ("-3*a/4", "3a")])
def test_validity_has_neither_sign_nor_divisor(text, shown):
    words = re.sub("<[^>]*>", "", str(mathml.nonzero(text))).replace("\u2062", "")
    assert words.rstrip("0").rstrip("≠").rstrip("0123456789") == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.25, "0.2500"),
        (16590.4, "16,590"),
        (-2.5, "−2.500"),
        (10131234.0, "1.013 × 10⁷"),
        (-4.441e-16, "−4.441 × 10⁻¹⁶"),
        (99999.0, "1.000 × 10⁵"),
        (0.00099999, "0.001000"),
        (5e-324, "4.941 × 10⁻³²⁴"),
        (0.0, "0"),
        (math.inf, "∞"),
        (-math.inf, "−∞"),
        (math.nan, "–"),
    ],
)
def test_digits(value, shown):
    assert numbers.digits(value) == shown


def test_brief_and_share():
    assert [numbers.brief(x) for x in (0.25, 7.0, 100.0, 1e7)] == [
        "0.25",
        "7",
        "100",
        "1.000 × 10⁷",
    ]
    assert numbers.share(1, 3) == "33.3 %"
    assert numbers.share(1, 10**6) == "< 0.1 %"
    assert numbers.share(10**6 - 1, 10**6) == "> 99.9 %"
    assert numbers.share(0, 0) == "0.0 %"


@pytest.mark.parametrize("most", [2, 3, 5, 8])
@pytest.mark.parametrize(
    ("low", "high"),
    [(0.2, 1.5), (-3.0, 7.0), (0.2449, 0.2551), (6.7e13, 9.4e13), (0.0, 1.08), (1e-9, 3e-9)],
)
def test_linear_ticks_are_round_and_inside(low, high, most):
    scale = charts.Scale(low, high, 0, 100)
    ticks = scale.ticks(most)
    assert 2 <= len(ticks) <= most + 1
    unit = 10.0**scale.exponent
    for value, text in ticks:
        assert low - 1e-9 * abs(low) <= value <= high + 1e-9 * abs(high)
        assert float(text.replace("−", "-").replace(",", "")) * unit == pytest.approx(
            value, rel=1e-9, abs=1e-12 * unit
        )
        assert len(text) <= 6
    assert len({text for _, text in ticks}) == len(ticks)


def test_log_ticks_are_multiples_of_their_step():
    ticks = charts.Scale(1e-16, 1e7, 0, 100, log=True).ticks(8)
    exponents = [round(math.log10(value)) for value, _ in ticks]
    assert exponents == list(range(-15, 7, 3))


def test_scales_send_numbers_to_places():
    scale = charts.Scale(1, 100, 10, 30, log=True)
    np.testing.assert_allclose(scale(np.array([0.1, 1, 10, 100, 1e4])), [10, 10, 20, 30, 30])
    assert charts.wants_log(np.array([1.0, 2, 3, 1e6]))
    assert not charts.wants_log(np.array([1.0, 2, 3]))
    assert not charts.wants_log(np.array([-1.0, 2, 3e9]))


def test_medians_by_value_or_by_equal_parts():
    xs, ys = np.array([1.0, 1, 2, 2, 2]), np.array([1.0, 3, 5, 7, 100])
    np.testing.assert_array_equal(figures.medians(xs, ys), [[1, 2], [2, 7]])
    xs = np.linspace(0, 1, 1200)
    places, values = figures.medians(xs[::-1], xs[::-1] ** 2)
    assert len(places) == 12
    # A median of squares of hundred neighbours is the square of their median, nearly.
    np.testing.assert_allclose(values, places**2, atol=1e-5)


def test_axes_of_two_units_say_the_power_of_ten():
    scale = charts.Scale(6.7e13, 9.4e13, 0, 100)
    assert scale.title("Force", "N") == "Force, 10¹³ N"
    assert charts.Scale(0, 1, 0, 100).title("Force", "") == "Force"
