"""Values of the assembly with the wrong sign: the one that makes all of them agree is named."""

import pytest

from basepar_core.dynamics import explanation, prepare
from basepar_core.dynamics.assembly import assemble
from basepar_core.errors import AssemblyError
from basepar_core.files import library_names, line_of_symbol, loads, mechanism_file

#: Of whole degrees, as somebody states it who measured it in a drawing.
BARS = """\
name: four-bar
space: planar
gravity: [0, -9.81]
bodies: {crank: {}, coupler: {}, rocker: {}}
joints:
  A: {type: revolute, connects: [ground, crank]}
  B: {type: revolute, connects: [crank, coupler], at: [[80 mm, 0], [0, 0]]}
  C: {type: revolute, connects: [coupler, rocker], at: [[260 mm, 0], [220 mm, 0]]}
  D: {type: revolute, connects: [ground, rocker], at: [[280 mm, 0], [0, 0]]}
coordinates: [A]
assembly: {A: 60 deg, B: -25 deg, C: 62 deg, D: 97 deg}
"""


def writes(text):
    return [one.write for one in explanation(prepare(loads(text))) or ()]


@pytest.mark.parametrize("right", ["A: 60 deg", "B: -25 deg", "C: 62 deg", "D: 97 deg"])
def test_the_only_value_of_the_wrong_sign(right):
    name, value = right.split(": ")
    wrong = BARS.replace(right, f"{name}: {value[1:] if value[0] == '-' else f'-{value}'}")
    assert wrong != BARS
    assert writes(wrong) == [right]


@pytest.mark.parametrize(
    "stated",
    [
        "A: 60 deg, B: -25 deg, C: 62 deg, D: 97 deg",
        "A: 60 deg, B: -25 deg, C: 62 deg, D: 457 deg",  # a turn on
        "A: 60 deg, B: -27 deg, C: 60 deg, D: 99 deg",
        "A: 60 deg, B: -127 deg, C: -62 deg, D: -129 deg",  # the other branch
        "A: 60 deg, B: 25 deg, C: -62 deg, D: 97 deg",  # two signs, or a joint's points
        "A: 60 deg, B: -80 deg, C: 62 deg, D: 97 deg",
        "A: -60 deg",
    ],
)
def test_what_no_single_sign_explains(stated):
    assert writes(BARS.replace("A: 60 deg, B: -25 deg, C: 62 deg, D: 97 deg", stated)) == []


@pytest.mark.parametrize(
    ("name", "value", "right"), [("parallelogram", "A", "60 deg"), ("watt-ii", "C", "70.1 deg")]
)
def test_loops_that_stay_open(name, value, right):
    text = mechanism_file.load(name).source
    wrong = text.replace(f"{value}: {right}", f"{value}: -{right}")
    assert wrong != text
    with pytest.raises(AssemblyError) as caught:
        assemble(loads(wrong))
    assert [*caught.value.where] == [f"assembly.{value}"]
    assert caught.value.message.endswith(
        f"With the sign of assembly.{value} turned round all loops close as stated: write "
        f"{value}: {right}."
    )


def test_a_length():
    text = mechanism_file.load("quick-return").source
    wrong = text.replace("S: 0.34 m", "S: -0.34 m")
    assert wrong != text
    assert writes(wrong) == ["S: 0.34 m"]


@pytest.mark.parametrize("name", library_names())
def test_no_shipped_sign_is_mistaken(name):
    assert explanation(prepare(mechanism_file.load(name))) is None


def test_the_line_of_a_value():
    assert line_of_symbol(BARS, "C", "assembly") == 11
    assert line_of_symbol(BARS, "E", "assembly") is None
