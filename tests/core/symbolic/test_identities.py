"""What plain arithmetic says of geometry, against the exact field."""

import pytest

from basepar_core.errors import ExpressionError
from basepar_core.expressions.grammar import parse_any
from basepar_core.expressions.tree import ONE, subtract
from basepar_core.mechanism import Symbol
from basepar_core.symbolic.field import GeometryField
from basepar_core.symbolic.zero_test import Identities

SYMBOLS = (Symbol("a", ONE, "m"), Symbol("b", ONE, "m"), Symbol("t", ONE, "rad"))
NAMES = {"a": None, "b": None, "t": None}


def read(text):
    return parse_any(text, NAMES)[0]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1/3 - 2/6", True),
        ("0.1 + 0.2 - 0.3", True),
        ("2^10 - 1024", False),
        ("1/7", True),
        ("a - a", False),
        ("(a + b)^2 - a^2 - 2*a*b - b^2", False),
        ("(a + b)/2", False),
        ("a/b", False),
        ("sin(t)^2 + cos(t)^2 - 1", False),
    ],
)
def test_same_answers_as_the_field(text, plain):
    asked, field = Identities(SYMBOLS, (), ()), GeometryField(SYMBOLS)
    asked.check(read(text))
    assert asked.is_zero(read(text)) == field.is_zero(read(text))
    assert asked.is_zero(subtract(read(text), ONE)) == field.is_zero(subtract(read(text), ONE))
    if plain:
        assert "field" not in vars(asked)  # the field was not asked


@pytest.mark.parametrize("text", ["sqrt(a)", "t", "t*a", "c", "a/(b - b)", "a^0.5"])
def test_what_is_no_rational_function_is_refused_alike(text):
    tree = parse_any(text, NAMES | {"c": None})[0]
    with pytest.raises(ExpressionError) as theirs:
        GeometryField(SYMBOLS).element(tree)
    with pytest.raises(ExpressionError) as ours:
        Identities(SYMBOLS, (), ()).check(tree)
    assert ours.value.message == theirs.value.message
