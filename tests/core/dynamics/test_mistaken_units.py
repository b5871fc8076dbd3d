"""Lengths in a wrong unit: the one that makes what is stated agree is named."""

import pytest

from basepar_core.dynamics import explanation, prepare
from basepar_core.dynamics.assembly import assemble
from basepar_core.errors import AssemblyError
from basepar_core.files import library_names, line_of_symbol, loads, mechanism_file

#: D is 0.0460 + 0.2187 m with a rod of 220 mm.
CRANK = """\
name: slider-crank
space: planar
gravity: [0, -9.81]
geometry:
  r: {value: 60, unit: mm}
  l: {value: 220, unit: mm}
  e: {value: 15, unit: mm}
bodies: {crank: {}, rod: {}, piston: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, rod], at: [[r, 0], [0, 0]]}
  C: {type: revolute, connects: [rod, piston], at: [[l, 0], [0, 0]]}
  D: {type: prismatic, connects: [ground, piston], at: [[0, e], [0, 0]], axis: [[1, 0], [1, 0]]}
coordinates: [A]
assembly: {A: 40 deg, B: -46 deg, C: 6 deg, D: 264 mm}
"""


def with_unit(symbol, value, unit):
    given = f"{symbol}: {{value: {value}, unit: "
    wrong = CRANK.replace(f"{given}mm}}", f"{given}{unit}}}")
    assert wrong != CRANK
    return loads(wrong)


@pytest.mark.parametrize("unit", ["m", "cm", "inch"])
def test_a_rod_with_which_the_loop_closes_elsewhere(unit):
    found = explanation(prepare(with_unit("l", 220, unit)))
    assert (found.symbol.name, found.symbol.unit, found.unit) == ("l", unit, "mm")
    assert found.value == "D"


@pytest.mark.parametrize(
    ("symbol", "value", "unit"), [("r", 60, "m"), ("r", 60, "cm"), ("e", 15, "m")]
)
def test_a_loop_that_stays_open(symbol, value, unit):
    with pytest.raises(AssemblyError) as caught:
        assemble(with_unit(symbol, value, unit))
    assert [*caught.value.where] == [f"geometry.{symbol}"]
    assert f"geometry.{symbol} in mm, not in {unit}, all loops" in caught.value.message
    assert caught.value.message.endswith("write unit: mm.")


@pytest.mark.parametrize("d", ["264 mm", "350 mm", "-170 mm", "5 m"])
def test_no_unit_explains_another_branch_or_a_rough_value(d):
    text = CRANK.replace("D: 264 mm", f"D: {d}")
    assert explanation(prepare(loads(text))) is None


def test_a_length_that_is_wrong_otherwise():
    text = CRANK.replace("l: {value: 220", "l: {value: 900")
    assert explanation(prepare(loads(text))) is None


@pytest.mark.parametrize("name", library_names())
def test_no_shipped_unit_is_mistaken(name):
    assert explanation(prepare(mechanism_file.load(name))) is None


def test_the_line_of_a_symbol():
    assert line_of_symbol(CRANK, "l") == 6
    assert line_of_symbol(CRANK, "x") is None
    assert line_of_symbol("", "l") is None
