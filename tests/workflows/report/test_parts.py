"""The report's pieces: formulas, numbers, axes."""

import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from markupsafe import Markup

pytest.importorskip("matplotlib")

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


def ticks(low: float, high: float, most: int, log: str = "") -> tuple[np.ndarray, list[str], str]:
    """Numbers at an axis of a wide plot, their texts, and the axis's title."""
    axes = charts.axes_of(720, 300, log=log)
    axes.set_xlim(low, high)
    charts.x_title(axes, "force", "N", most)
    return axes.get_xticks(), [t.get_text() for t in axes.get_xticklabels()], axes.get_xlabel()


@pytest.mark.parametrize("most", [2, 3, 5, 8])
@pytest.mark.parametrize(
    ("low", "high"),
    [(0.2, 1.5), (-3.0, 7.0), (0.2449, 0.2551), (6.7e13, 9.4e13), (0.0, 1.08), (1e-9, 3e-9)],
)
@pytest.mark.slow
def test_linear_ticks_are_inside_and_say_what_they_are(low, high, most):
    values, texts, title = ticks(low, high, most)
    assert 1 <= len(values) <= most + 1
    unit = 10.0 ** charts.exponent(low, high)
    power = numbers.power(charts.exponent(low, high))
    assert title == ("force, N" if unit == 1 else f"force, {power} N")
    for value, text in zip(values, texts, strict=True):
        assert low <= value <= high
        said = float(text.replace("−", "-").replace(",", "")) * unit
        assert said == pytest.approx(value, rel=1e-9, abs=1e-12 * unit)
        assert len(text) <= 6
    assert len(set(texts)) == len(texts)


def test_log_ticks_are_powers_of_ten():
    values, texts, _ = ticks(1e-16, 1e7, 8, "x")
    exponents = [round(math.log10(value)) for value in values]
    assert len(set(np.diff(exponents))) == 1
    assert texts == [numbers.power(k) for k in exponents]


def test_numbers_at_an_axis_have_room():
    """As many as fit: each within the distance to its neighbour, 7 pixels a letter."""
    for width in (168.0, 340.0, 720.0):
        axes = charts.axes_of(width, 150)
        axes.set_xlim(0.24491, 0.25512)
        charts.x_title(axes, "D", "m", 12)
        places = np.diff(axes.get_xticks()) * (width - charts.LEFT - charts.RIGHT) / 0.01021
        widest = max(len(text.get_text()) for text in axes.get_xticklabels())
        assert places.min() > 7 * widest


def test_logarithms_where_numbers_spread():
    assert charts.wants_log(np.array([1.0, 2, 3, 1e6]))
    assert not charts.wants_log(np.array([1.0, 2, 3]))
    assert not charts.wants_log(np.array([-1.0, 2, 3e9]))


def test_a_plot_is_text_of_the_page_s_colours_and_says_its_points():
    """Every colour is a variable of the stylesheet, every point there, and what it says."""
    rng = np.random.default_rng(4)
    xs, ys = rng.uniform(1, 2, (2, 300))
    hostile = "<b>&"
    for symbol in ("lx1", hostile):
        shown = figures.scatter(figures.Cloud(symbol, "m", xs, ys, "RMS", "N m", 3, 5), "a & b")
        root = ElementTree.fromstring(str(shown))
        assert (root.tag, root.get("class"), root.get("aria-label")) == ("svg", "plot", "a & b")
        styles = " ".join(e.get("style", "") for e in root.iter())
        assert "#" not in re.sub(r"url\(#[^)]*\)", "", styles)
        assert "var(--muted)" in styles
        assert "font-family" not in styles
        (points,) = (e.get("d") for e in root.iter("path") if e.get("d", "").count("M") > 100)
        assert points.count("M") == points.count("L") == 300
        words = ["".join(e.itertext()) for e in root.iter("text")]
        assert "RMS, N m" in words
        shown_name = "lx1\u200b, m" if symbol == "lx1" else f"{hostile}, m"
        assert shown_name in words
        said = {e.text for e in root.iter("title")}
        assert said == {f"best: {numbers.digits(ys[3])}", f"worst: {numbers.digits(ys[5])}"}


def test_medians_by_value_or_by_equal_parts():
    xs, ys = np.array([1.0, 1, 2, 2, 2]), np.array([1.0, 3, 5, 7, 100])
    np.testing.assert_array_equal(figures.medians(xs, ys), [[1, 2], [2, 7]])
    xs = np.linspace(0, 1, 1200)
    places, values = figures.medians(xs[::-1], xs[::-1] ** 2)
    assert len(places) == 12
    # A median of squares of hundred neighbours is the square of their median, nearly.
    np.testing.assert_allclose(values, places**2, atol=1e-5)
